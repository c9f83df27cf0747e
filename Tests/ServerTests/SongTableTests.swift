import Library
import QueueEngine
import Support
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

    @Test func aTranslationOfAnotherLibraryIsNotUsed() throws {
        let libraries = try [["x": "a", "y": "b"], ["w": "0", "x": "a", "y": "b"], ["w": "0", "y": "b", "z": "a"]].map {
            try Self.library("s1", $0)
        }
        let table = SongTable(library: libraries[0])
        let song = try #require(libraries[0].song(uri: Array("b".utf8)))
        let key = table.key(for: song)
        // From the second to the third, though the table has the first.
        table.replaceLibrary(with: libraries[2], SongTranslation(from: libraries[1], to: libraries[2]))
        #expect(String(decoding: table.uri(of: key), as: UTF8.self) == "b")
    }

    /// Some songs of one of two servers, with ids that may be others than before.
    private static func someLibrary(_ numbers: inout SeededNumbers) throws -> LibrarySnapshot {
        let generation = numbers.next() % 3
        var builder = LibraryBuilder()
        for song in 0..<12 as Range<UInt64> where numbers.next() % 4 != 0 {
            builder.add(SongRecord(songID: "id\((song + generation) % 12)", uri: "\(song)"))
        }
        let server = numbers.next() % 3 == 0 ? "s2" : "s1"
        var info = LibraryInfo(serverID: server, serverName: server, isComplete: numbers.next() % 3 != 0)
        if generation > 0 { info.syncState["ids"] = "\(generation)" }
        return try builder.build(info: info, file: nil)
    }

    /// Gives some songs and URLs their keys.
    private static func giveKeys(_ tables: [SongTable], _ numbers: inout SeededNumbers) {
        for _ in 0..<numbers.next() % 5 {
            let number = numbers.next()
            for table in tables {
                if number % 4 == 0 || table.library.songCount == 0 {
                    _ = table.key(for: StreamSong(uri: Array("http://\(number % 8)".utf8)))
                } else {
                    _ = table.key(for: SongIndex(rawValue: UInt32(number % UInt64(table.library.songCount))))
                }
            }
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func whatWasPreparedIsBroughtUpToDate(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let first = try Self.someLibrary(&numbers)
        let (atOnce, prepared) = (SongTable(library: first), SongTable(library: first))
        for _ in 0..<12 {
            let next = try Self.someLibrary(&numbers)
            let translation = SongTranslation(from: atOnce.library, to: next)
            Self.giveKeys([atOnce, prepared], &numbers)
            let replacement = try #require(SongReplacement(prepared.names, translation))
            Self.giveKeys([atOnce, prepared], &numbers)
            let living = Set((0..<UInt32(numbers.next() % 20)).map { SongKey($0) })
            let reachable: Set<String> = numbers.next() % 2 == 0 ? ["s2"] : []
            for table in [atOnce, prepared] {
                table.forgetStreams(except: living)
                table.setServers(reachable: reachable, libraries: reachable.isEmpty ? [:] : ["s1": first])
            }
            let changed = atOnce.replaceLibrary(with: next, translation)
            let same = try #require(prepared.replaceLibrary(by: replacement))
            #expect(prepared.library === next && atOnce.names.count == prepared.names.count)
            for key in (0..<UInt32(atOnce.names.count)).map({ SongKey($0) }) {
                #expect("\(atOnce.song(key).map { "\($0)" } ?? "")" == "\(prepared.song(key).map { "\($0)" } ?? "")")
                #expect(changed.contains(key) == same.contains(key))
            }
            #expect(atOnce.takeNewIDs() == prepared.takeNewIDs())
            for song in (0..<UInt32(next.songCount)).map({ SongIndex(rawValue: $0) }) where numbers.next() % 8 == 0 {
                #expect(atOnce.key(for: song) == prepared.key(for: song))
            }
        }
    }

    @Test func whatWasPreparedBeforeTheLibraryWasReplacedIsNotUsed() throws {
        let (first, second) = (try Self.library("s1", ["x": "a"]), try Self.library("s2", ["x": "b"]))
        let table = SongTable(library: first)
        let key = table.key(for: SongIndex(rawValue: 0))
        let toSecond = SongTranslation(from: first, to: second)
        let early = try #require(SongReplacement(table.names, toSecond))
        #expect(SongReplacement(table.names, SongTranslation(from: second, to: first)) == nil)
        table.replaceLibrary(with: second, toSecond)
        table.replaceLibrary(with: first, SongTranslation(from: second, to: first))
        // The library is the same, but what the keys stand for may have changed twice.
        #expect(table.replaceLibrary(by: early) == nil && table.library === first)
        let right = try #require(SongReplacement(table.names, toSecond))
        #expect(try #require(table.replaceLibrary(by: right)).contains(key))
        #expect(table.replaceLibrary(by: right) == nil && table.library === second)
        #expect(String(decoding: table.uri(of: key), as: UTF8.self) == "a")
    }

    @Test func whatAFolderHidesIsNotGone() async throws {
        let (first, second) = (try Self.library("s1", ["x": "m/1", "y": "2"]), try Self.library("s2", ["x": "1"]))
        let both = try await LibraryMerge(first, [.init(path: "m", library: second)]).build(file: nil).snapshot
        let table = SongTable(library: first)
        let keys = try ["m/1", "2"].map { table.key(for: try #require(first.song(uri: Array($0.utf8)))) }
        table.setServers(reachable: [], libraries: ["s1": first, "s2": second])
        table.replaceLibrary(with: both, SongTranslation(from: first, to: both))
        guard case .gone(let hidden) = table.song(keys[0]) else { return #expect(Bool(false), "it is shown") }
        #expect(!hidden.isRemoved && table.unseen(hidden)?.library === first)
        // Once the server itself does not have it, it is.
        let rest = try Self.library("s1", ["y": "2"])
        table.setServers(reachable: [], libraries: ["s1": rest, "s2": second])
        guard case .gone(let gone) = table.song(keys[0]) else { return #expect(Bool(false), "it is shown") }
        #expect(gone.isRemoved && table.unseen(gone) == nil)
    }

    @Test func anUnseenSongIsNotTakenForAnotherWithItsID() throws {
        let shown = try Self.library("s1", [:])
        let table = SongTable(library: shown)
        func unseen(_ uri: String, in own: LibrarySnapshot) -> Bool {
            table.setServers(reachable: ["s2"], libraries: ["s2": own])
            let song = SongTable.GoneSong(serverID: "s2", songID: "x", record: [], uri: Array(uri.utf8))
            return table.unseen(song) != nil
        }
        let plain = try Self.library("s2", ["x": "a/b"])
        let renewed = try Self.library("s2", ["x": "a/b"], generation: "1")
        #expect(unseen("a/b", in: plain) && unseen("former/place", in: plain) && unseen("", in: plain))
        #expect(unseen("a/b", in: renewed) && unseen("m/a/b", in: renewed))
        #expect(!unseen("other", in: renewed) && !unseen("ma/b", in: renewed) && !unseen("", in: renewed))
        table.setServers(reachable: ["s2"], libraries: ["s1": renewed])
        #expect(table.unseen(SongTable.GoneSong(serverID: "s2", songID: "x", record: [], uri: [])) == nil)
    }
}
