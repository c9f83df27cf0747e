import Library
import QueueEngine
import Testing

@testable import ShelvMPD

/// Songs that were found in a library which has been replaced since.
@Suite struct SongTableTests {
    private static func library(_ server: String, _ songs: [String: String], generation: String = "") throws
        -> LibrarySnapshot
    {
        var builder = LibraryBuilder()
        for (id, uri) in songs { builder.add(SongRecord(songID: id, uri: uri)) }
        var info = LibraryInfo(serverID: server, serverName: server, isComplete: true)
        if !generation.isEmpty { info.syncState["ids"] = generation }
        return try builder.build(info: info, file: nil)
    }

    private static func keys(of found: LibrarySnapshot, in library: LibrarySnapshot) -> [String] {
        let table = SongTable(library: library)
        let songs = (0..<UInt32(found.songCount)).map { SongIndex(rawValue: $0) }
        return table.keys(for: songs, of: found).map { String(decoding: table.uri(of: $0), as: UTF8.self) }.sorted()
    }

    @Test func anotherServersSongWithTheSameIDIsAnotherSong() throws {
        let (first, second) = (try Self.library("s1", ["x": "first"]), try Self.library("s2", ["x": "second"]))
        #expect(Self.keys(of: first, in: second) == [])
        #expect(Self.keys(of: first, in: first) == ["first"])
    }

    @Test func songsOfAServerThatIsMountedOrUnmountedAreFound() async throws {
        let (first, second) = (try Self.library("s1", ["x": "first"]), try Self.library("s2", ["x": "second"]))
        let both = try await LibraryMerge(first, [.init(path: "m", library: second)]).build(file: nil).snapshot
        #expect(Self.keys(of: second, in: both) == ["m/second"])
        #expect(Self.keys(of: first, in: both) == ["first"])
        #expect(Self.keys(of: both, in: second) == ["second"])
        #expect(Self.keys(of: both, in: first) == ["first"])
    }

    @Test func idsThatWereGivenAnewAreNoGuide() throws {
        let former = try Self.library("s1", ["x": "a", "y": "b"])
        let new = try Self.library("s1", ["x": "b", "y": "c"], generation: "1")
        #expect(Self.keys(of: former, in: new) == ["b"])
    }
}
