import Glibc
import MPDProtocol
import Testing

@testable import Library

/// How many songs to measure with, from the environment; nil skips.
private let costSongs: Int? = unsafe getenv("SHELV_COST_SONGS").flatMap { unsafe Int(String(cString: $0)) }

/// What a large library costs. Prints a table:
/// `SHELV_COST_SONGS=100000 swift test -c release -Xswiftc -enable-testing --filter LibraryCostTests`.
@Suite("Cost of a large library", .enabled(if: costSongs != nil), .serialized)
struct LibraryCostTests {
    @Test("building, opening, asking")
    func costs() async throws {
        let songs = costSongs ?? 1000
        let file = "/tmp/shelvmpd-cost-\(getpid())"
        defer { _ = unsafe unlink(file) }

        var builder = LibraryBuilder()
        try measure("add", times: 1) { for number in 0..<songs { builder.add(record(number)) } }
        var built: LibrarySnapshot?
        try measure("build", times: 1) { built = try builder.build(info: LibraryFixture.info, file: file) }
        builder = LibraryBuilder()
        let library = try #require(built)
        print("image: \(library.imageSize) bytes, \(library.imageSize / max(songs, 1)) a song")
        print("peak memory: \(status("VmHWM")), now: \(status("VmRSS"))")
        try measure("open") { _ = try LibrarySnapshot.open(file: file) }
        let clock = ContinuousClock()
        let began = clock.now
        let merge = LibraryMerge(library, [.init(path: "mounted", library: library)])
        let merged = try await merge.build(file: file + "-merged").snapshot
        defer { _ = unsafe unlink(file + "-merged") }
        print("merging it with itself: \(merged.songCount) songs in \(clock.now - began)")
        print("peak memory: \(status("VmHWM")), now: \(status("VmRSS"))")

        func text(_ kind: TextMatch.Operator, _ text: String, folds: Bool = false) -> TextMatch {
            TextMatch(kind, Array(text.utf8), foldsCase: folds)
        }
        func drain(_ source: some ReplySource) {
            var source = source
            var piece: [UInt8] = []
            var hasMore = true
            while hasMore {
                piece.removeAll(keepingCapacity: true)
                hasMore = source.appendNext(to: &piece, limit: 1 << 16)
            }
        }
        try measure("listallinfo") { drain(library.reply(treeOf: .root, mask: .standard)) }
        try measure("listall") { drain(library.reply(treeOf: .root, mask: nil)) }
        try measure("list artist") { drain(library.reply(try library.list(.artist))) }
        try measure("list album group albumartist group date") {
            drain(library.reply(try library.list(.album, groups: [.date, .albumArtist])))
        }
        try measure("list album of an artist") {
            drain(library.reply(try library.list(.album, matching: .tag(.artist, text(.equals, "Artist 17")))))
        }
        try measure("find artist X") { _ = try library.select(.tag(.artist, text(.equals, "Artist 17"))) }
        try measure("search title, rare") {
            _ = try library.select(.tag(.title, text(.contains, "song 777", folds: true)))
        }
        try measure("search title e") { _ = try library.select(.tag(.title, text(.contains, "e", folds: true))) }
        try measure("search any, rare") { _ = try library.select(.anyTag(text(.contains, "song 777", folds: true))) }
        try measure("search title, case-sensitive") { _ = try library.select(.tag(.title, text(.contains, "ong 777"))) }
        try measure("regex title") { _ = try library.select(.tag(.title, text(.regex, "^Sch.ne.*77$"))) }
        try measure("search file") { _ = try library.select(.uri(text(.contains, "track 777", folds: true))) }
        try measure("find all, sort title, window") {
            _ = try library.select(.base([]), sort: SortOrder(.tag(.title)), window: 0..<50)
        }
        try measure("find all, sort -track") {
            _ = try library.select(.base([]), sort: SortOrder(.tag(.track), isDescending: true))
        }
        try measure("count group artist") { drain(library.reply(try library.count(group: .artist))) }
        try measure("modified-since") { _ = try library.select(.modifiedSince(1_600_000_500)) }
        try measure("1000 look-ups by id and URI") {
            for number in 0..<1000 {
                let song = library.song(id: record(number * 97 % songs).songID)
                _ = song.map { library.song(uri: library.uri($0)) }
            }
        }
        print("memory after all that: \(status("VmRSS")), anonymous \(status("RssAnon"))")
    }

    /// Twelve songs an album, ten albums an artist; every tenth name is not ASCII.
    private func record(_ number: Int) -> SongRecord {
        let album = number / 12
        let artist = album / 10
        let title = (number % 10 == 3 ? "Schöne Größe " : "A long winding ") + "Song \(number &* 7919 % 1_000_003)"
        let artistName = artist % 10 == 3 ? "Künstler \(artist)" : "Artist \(artist)"
        return SongRecord(
            songID: "s\(String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 36))",
            uri: "\(artistName)/Album \(album)/\(number % 12 + 1) - track \(number).flac",
            tags: [
                TagValue(.artist, artistName), TagValue(.albumArtist, artistName), TagValue(.album, "Album \(album)"),
                TagValue(.title, title), TagValue(.track, "\(number % 12 + 1)"), TagValue(.disc, "1"),
                TagValue(.genre, "Genre \(artist % 40)"), TagValue(.date, "\(1960 + album % 60)"),
                TagValue(.musicBrainzTrackID, "\(String(UInt64(number) &* 77_777_777_777, radix: 16))-0000-4000-8000"),
            ],
            duration: UInt32(120_000 + number % 200_000),
            lastModified: 1_600_000_000 + Int64(number % 1000),
            added: 1_600_000_000,
            format: AudioFormat(sampleRate: 44100, sampleFormat: .s16, channels: 2),
            size: 30_000_000,
            suffix: "flac",
            contentType: "audio/flac",
            bitRate: 900,
            coverArt: "al-\(album)",
            albumID: "album\(album)",
            artistID: "artist\(artist)"
        )
    }

    /// Prints the best of several times.
    private func measure(_ name: String, times: Int = 5, _ body: () throws -> Void) throws {
        var best = Duration.seconds(3600)
        for _ in 0..<times {
            let start = ContinuousClock.now
            try body()
            best = min(best, .now - start)
        }
        let microseconds = best.components.seconds * 1_000_000 + best.components.attoseconds / 1_000_000_000_000
        print("\(name): \(microseconds) µs")
    }

    /// A line of `/proc/self/status`.
    private func status(_ key: String) -> String {
        guard let file = unsafe fopen("/proc/self/status", "r") else { return "?" }
        defer { _ = unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe fread($0.baseAddress, 1, $0.count, file) }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix(key) }.map {
            $0.split(whereSeparator: \.isWhitespace).dropFirst().joined(separator: " ")
        }
            ?? "?"
    }
}
