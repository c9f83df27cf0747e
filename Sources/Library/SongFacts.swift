import MPDProtocol

/// What is known about one song; constant time, for any thread.
extension LibrarySnapshot {
    /// The server's id.
    public func songID(_ song: SongIndex) -> String { songs.ids[song.place].string }

    /// The URI; valid UTF-8.
    public func uri(_ song: SongIndex) -> [UInt8] {
        var uri = directories.paths[Int(songs.directories[song.place])].array
        if !uri.isEmpty { uri.append(UInt8(ascii: "/")) }
        unsafe uri.append(contentsOf: songs.names[song.place].buffer)
        return uri
    }

    /// Milliseconds.
    public func duration(_ song: SongIndex) -> UInt32? {
        let duration = songs.durations[song.place]
        return duration == ImageLayout.none ? nil : duration
    }

    /// Unix time in seconds, from 1970 to 2106.
    public func lastModified(_ song: SongIndex) -> Int64? { Self.time(songs.lastModified[song.place]) }

    /// Unix time in seconds, from 1970 to 2106.
    public func added(_ song: SongIndex) -> Int64? { Self.time(songs.added[song.place]) }

    public func format(_ song: SongIndex) -> AudioFormat? {
        let row = kind(song)
        guard let sampleFormat = SampleFormat(rawValue: UInt8(truncatingIfNeeded: songs.kindTable[row + 1])) else {
            return nil
        }
        return AudioFormat(
            sampleRate: songs.kindTable[row],
            sampleFormat: sampleFormat,
            channels: UInt8(truncatingIfNeeded: songs.kindTable[row + 1] >> 8)
        )
    }

    /// Bytes of the original file.
    public func size(_ song: SongIndex) -> Int64? { Int64(exactly: songs.sizes[song.place]) }

    public func suffix(_ song: SongIndex) -> String { texts[Int(songs.kindTable[kind(song) + 2])].string }

    /// The MIME type; may be empty.
    public func contentType(_ song: SongIndex) -> String { texts[Int(songs.kindTable[kind(song) + 3])].string }

    /// kbit/s.
    public func bitRate(_ song: SongIndex) -> Int? {
        let rate = songs.bitRates[song.place]
        return rate == ImageLayout.unknownBitRate ? nil : Int(rate)
    }

    public func coverArt(_ song: SongIndex) -> String? { text(songs.coverArts[song.place]) }

    public func albumID(_ song: SongIndex) -> String? { text(songs.albumIDs[song.place]) }

    public func artistID(_ song: SongIndex) -> String? { text(songs.artistIDs[song.place]) }

    public func replayGain(_ song: SongIndex) -> ReplayGain? {
        let gain = songs.gains[song.place]
        if gain == ImageLayout.none { return nil }
        func value(_ index: Int) -> Float? {
            let value = songs.gainTable[Int(gain) * ImageLayout.gainWords + index]
            return value.isNaN ? nil : value
        }
        return ReplayGain(
            trackGain: value(0),
            albumGain: value(1),
            trackPeak: value(2),
            albumPeak: value(3),
            baseGain: value(4),
            fallbackGain: value(5)
        )
    }

    /// 1...5; 0 is none.
    public func userRating(_ song: SongIndex) -> UInt8 { songs.marks[song.place] & ImageLayout.ratingMask }

    public func playCount(_ song: SongIndex) -> UInt32 { songs.playCounts[song.place] }

    /// When it was played last, Unix time in seconds; nil where the server does not tell.
    public func played(_ song: SongIndex) -> Int64? { Self.time(songs.played[song.place]) }

    /// The tags in the order of replies.
    public func tags(_ song: SongIndex) -> [TagValue] {
        songs.tagRange(song.place).compactMap { index in
            let entry = songs.tags[index]
            guard let tag = Tag(rawValue: UInt8(entry >> ImageLayout.valueBits)) else { return nil }
            return TagValue(tag, values[Int(entry & ImageLayout.valueMask)].string)
        }
    }

    /// All there is, as it was added; for a builder that goes on from this snapshot.
    public func record(_ song: SongIndex) -> SongRecord {
        SongRecord(
            songID: songID(song),
            uri: String(decoding: uri(song), as: UTF8.self),
            tags: tags(song),
            duration: duration(song),
            lastModified: lastModified(song),
            added: added(song),
            format: format(song),
            size: size(song),
            suffix: suffix(song),
            contentType: contentType(song),
            bitRate: bitRate(song),
            coverArt: coverArt(song),
            albumID: albumID(song),
            artistID: artistID(song),
            replayGain: replayGain(song),
            userRating: userRating(song),
            playCount: playCount(song),
            played: played(song)
        )
    }

    /// The former URIs and the songs that they lead to.
    public var formerURIs: [(uri: String, song: SongIndex)] {
        (0..<aliases.count).map { (aliases[$0].string, SongIndex(rawValue: aliasSongs[$0])) }
    }

    /// Differs between two snapshots of a server if the server has given its ids to other songs in between.
    public var idGeneration: String { info.syncState["ids"] ?? "" }

    /// When the server was begun to be read for this library, Unix time in seconds; 0 if that is not known. What is newer
    /// may not be in it.
    public var lastFullRead: Int64 { info.syncState["fullBegan"].flatMap { Int64($0) } ?? 0 }

    /// Whether the server has ever done so.
    public var hasReassignedIDs: Bool { info.syncState["ids"] != nil }

    private func kind(_ song: SongIndex) -> Int { Int(songs.kinds[song.place]) * ImageLayout.kindWords }

    private func text(_ id: UInt32) -> String? { id == ImageLayout.none ? nil : texts[Int(id)].string }

    private static func time(_ seconds: UInt32) -> Int64? { seconds == 0 ? nil : Int64(seconds) }
}
