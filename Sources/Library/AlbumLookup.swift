public import MPDProtocol

/// Which songs are of which albums and artists of the server.
extension LibrarySnapshot {
    /// The albums of these songs by the server's ids, each once.
    public func albumIDs(of songs: some Sequence<SongIndex>) -> [String] {
        var seen: Set<UInt32> = []
        var ids: [String] = []
        for song in songs {
            let id = self.songs.albumIDs[song.place]
            guard id != ImageLayout.none, seen.insert(id).inserted else { continue }
            ids.append(texts[Int(id)].string)
        }
        return ids
    }

    /// The first song of each of these albums, as far as they are here. Looks at every song: not for the core.
    public func firstSongs(ofAlbums ids: Set<String>) -> [String: SongIndex] {
        guard !ids.isEmpty else { return [:] }
        var first: [String: SongIndex] = [:]
        var seen: Set<UInt32> = []
        for place in 0..<songCount {
            let id = songs.albumIDs[place]
            guard id != ImageLayout.none, seen.insert(id).inserted else { continue }
            let text = texts[Int(id)].string
            if ids.contains(text) { first[text] = SongIndex(place) }
        }
        return first
    }

    /// When each of these albums was played last (Unix time in seconds), and how often its songs were, as they say. Looks at
    /// every song: not for the core.
    func plays(ofAlbums ids: Set<String>) -> [String: (last: Int64, count: Int)] {
        guard !ids.isEmpty else { return [:] }
        var plays: [UInt32: (last: Int64, count: Int)] = [:]
        var others: Set<UInt32> = []
        for place in 0..<songCount {
            let id = songs.albumIDs[place]
            guard id != ImageLayout.none, !others.contains(id) else { continue }
            if plays[id] == nil, !ids.contains(texts[Int(id)].string) {
                others.insert(id)
                continue
            }
            let former = plays[id] ?? (0, 0)
            plays[id] = (max(former.last, Int64(songs.played[place])), former.count &+ Int(songs.playCounts[place]))
        }
        return plays.reduce(into: [:]) { $0[texts[Int($1.key)].string] = $1.value }
    }

    /// The values of a tag that a song has itself.
    public func values(of tag: Tag, _ song: SongIndex) -> [[UInt8]] {
        songs.tagRange(song.place).compactMap { index in
            let entry = songs.tags[index]
            guard entry >> ImageLayout.valueBits == UInt32(tag.rawValue) else { return nil }
            return values[Int(entry & ImageLayout.valueMask)].array
        }
    }

    /// The songs of which something is true, in database order, within these places.
    public func songs(in places: Range<Int>, _ isWanted: (SongIndex) -> Bool) -> [SongIndex] {
        places.clamped(to: 0..<songCount).lazy.map { SongIndex($0) }.filter(isWanted)
    }

    /// Whether something is true of any song.
    public func hasSongs(_ isWanted: (SongIndex) -> Bool) -> Bool {
        (0..<songCount).contains { isWanted(SongIndex($0)) }
    }

    /// The places of the songs at and below a directory; nil where there is none.
    public func places(below path: [UInt8]) -> Range<Int>? {
        if path.isEmpty { return 0..<songCount }
        return directory(path: path).map { subtree($0.place) }
    }
}
