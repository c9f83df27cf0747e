import MPDProtocol

@testable import Library

/// A library of a few songs with all that songs can have.
enum SmallLibrary {
    static let records = (0..<12).map { record($0) }

    private static func record(_ number: Int) -> SongRecord {
        let (artist, album) = ("\(number % 3)", "\(number / 3)")
        var tags = [TagValue(.artist, "Artist \(artist)"), TagValue(.album, "Album \(album)")]
        tags += [
            TagValue(.title, "Title \(number)"), TagValue(.track, "\(number)"), TagValue(.date, "199\(number % 10)"),
        ]
        tags += [TagValue(.genre, "Pop"), TagValue(.genre, "É")]
        return SongRecord(
            songID: "id\(number)",
            uri: "Artist \(artist)/Album \(album)/\(number) é.flac",
            tags: tags,
            duration: UInt32(1000 * number),
            lastModified: 1_580_472_000 + Int64(number),
            added: 1_600_000_000,
            format: AudioFormat(sampleRate: 44100, sampleFormat: .s16, channels: 2),
            size: 12_345_678,
            suffix: "flac",
            contentType: "audio/flac",
            bitRate: 900,
            coverArt: "al-\(album)",
            albumID: "al\(album)",
            artistID: "ar\(artist)",
            replayGain: ReplayGain(trackGain: -7.5, trackPeak: 0.98),
            userRating: UInt8(number % 6),
            playCount: 3,
            played: 1_650_000_000
        )
    }

    static let snapshot: LibrarySnapshot? = build(records)

    static func build(_ records: [SongRecord]) -> LibrarySnapshot? {
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        return try? builder.build(info: LibraryInfo(serverID: "fuzz", serverName: "fuzz"), file: nil)
    }

    /// Uses every accessor and query once, and checks the form of the replies.
    static func askEverything(_ library: LibrarySnapshot, checksLines: Bool) {
        func check(_ source: some ReplySource) {
            var source = source
            var bytes: [UInt8] = []
            while source.appendNext(to: &bytes, limit: 65536) {}
            if checksLines { RequestTarget.checkLines(bytes) }
        }
        for song in library.songs(below: .root) {
            _ = library.record(song)
            _ = library.song(id: library.songID(song))
            _ = library.song(uri: library.uri(song))
            _ = library.directory(of: song)
        }
        check(library.reply(songs: library.songs(below: .root), mask: .all))
        for number in 0..<library.directoryCount {
            let directory = DirectoryIndex(rawValue: UInt32(number))
            _ = library.directory(path: library.path(directory))
            _ = library.subdirectories(of: directory)
            check(library.reply(contentsOf: directory, mask: .all))
            check(library.reply(treeOf: directory, mask: .all))
        }
        _ = library.formerURIs
        _ = library.song(uri: "old/place.flac")
        for tag in [Tag.artist, .albumArtistSort, .date, .track] {
            if let listing = try? library.list(tag, groups: [.album]) { check(library.reply(listing)) }
            if let count = try? library.count(group: tag) { check(library.reply(count)) }
            _ = try? library.select(.and([]), sort: SortOrder(.tag(tag)), window: nil)
            let match = TextMatch(.contains, Array("a".utf8), foldsCase: true, isNegated: false)
            _ = try? library.select(.tag(tag, match), sort: nil, window: nil)
        }
    }
}
