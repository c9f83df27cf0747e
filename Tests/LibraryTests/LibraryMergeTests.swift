import Glibc
import MPDProtocol
import Testing

@testable import Library

/// One library of several servers' libraries.
struct LibraryMergeTests {
    /// Another server that calls its songs as the fixture's does, and has some of its paths.
    private func other(_ records: [SongRecord], _ id: String, isComplete: Bool = true) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        builder.addAlias(uri: "old/place.flac", songID: "ff2")
        let info = LibraryInfo(
            serverID: id,
            serverName: id,
            lastSync: 1_800_000_000,
            isComplete: isComplete,
            syncState: ["ids": "3"]
        )
        return try builder.build(info: info, file: nil)
    }

    private func uris(_ library: LibrarySnapshot) -> [String] {
        (0..<library.songCount).map { String(decoding: library.uri(SongIndex($0)), as: UTF8.self) }
    }

    @Test func isBothSideBySide() async throws {
        let main = try LibraryFixture.snapshot()
        let second = try other(LibraryFixture.records, "s2")
        // The identity that another's begins with.
        let third = try other(Array(LibraryFixture.records.prefix(3)), "s", isComplete: false)
        let merge = LibraryMerge(main, [.init(path: "b", library: second), .init(path: "Ünï", library: third)])
        let result = try await merge.build(file: nil)
        let library = result.snapshot
        #expect(result.hidden == 0)
        #expect(library.info.serverID == "s1" && library.info.lastSync == 1_800_000_000)
        let wanted = uris(main) + uris(second).map { "b/\($0)" } + uris(third).map { "Ünï/\($0)" }
        #expect(Set(uris(library)) == Set(wanted) && library.songCount == wanted.count)
        for (server, part, root) in [("s1", main, ""), ("s2", second, "b/"), ("s", third, "Ünï/")] {
            for place in 0..<part.songCount {
                let song = SongIndex(place)
                let local = try #require(library.localID(part.songID(song), of: server))
                let found = try #require(library.song(id: local))
                #expect(library.uri(found) == Array(root.utf8) + part.uri(song))
                #expect(library.origin(found) == (server, part.songID(song)))
                // All that does not name something is as it was.
                var (mine, theirs) = (library.record(found), part.record(song))
                for path in [\SongRecord.albumID, \.artistID, \.coverArt] {
                    #expect(mine[keyPath: path].map { library.origin(ofID: $0).id } == theirs[keyPath: path])
                    (mine[keyPath: path], theirs[keyPath: path]) = (nil, nil)
                }
                (mine.songID, mine.uri, theirs.songID, theirs.uri) = ("", "", "", "")
                #expect(mine == theirs)
            }
            #expect(library.holds(server) && library.isComplete(server) == (server != "s"))
        }
        #expect(library.idGeneration(of: "s2") == "3" && library.idGeneration.isEmpty)
        #expect(!library.holds("s3") && library.localID("x", of: "s3") == nil)
        // Former paths, each server's own.
        func id(_ uri: String) -> String? { library.song(uri: Array(uri.utf8)).map { library.origin($0).id } }
        #expect(id("old/place.flac") == "ff1" && id("b/old/place.flac") == "ff2")
        #expect(library.directory(path: "b") != nil)
    }

    @Test func aFolderHidesWhatStandsBelowIt() async throws {
        let records =
            LibraryFixture.records + [
                SongRecord(songID: "z1", uri: "Alphabet/1.mp3"), SongRecord(songID: "z2", uri: "Alphabet.mp3"),
            ]
        let below = records.filter { $0.uri.hasPrefix("Alpha/") }
        try #require(below.count > 1)
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        builder.addAlias(uri: "Alpha/was/here.mp3", songID: "z1")
        builder.addAlias(uri: "was/there.mp3", songID: below[0].songID)
        builder.addAlias(uri: "was/elsewhere.mp3", songID: "z2")
        let main = try builder.build(info: LibraryInfo(serverID: "s1", serverName: "s1"), file: nil)
        // One path of it is the first one's, too.
        let songs = [
            SongRecord(songID: "x", uri: String(below[0].uri.dropFirst(6))), SongRecord(songID: "y", uri: "y"),
        ]
        let second = try other(songs, "s2")
        let result = try await LibraryMerge(main, [.init(path: "Alpha", library: second)]).build(file: nil)
        #expect(result.hidden == below.count)
        let library = result.snapshot
        let wanted = uris(main).filter { !$0.hasPrefix("Alpha/") } + uris(second).map { "Alpha/\($0)" }
        #expect(uris(library).sorted() == wanted.sorted())
        let song = try #require(library.song(uri: Array(below[0].uri.utf8)))
        #expect(library.origin(song) == ("s2", "x"))
        func id(_ uri: String) -> String? { library.song(uri: Array(uri.utf8)).map { library.origin($0).id } }
        #expect(id("Alpha/was/here.mp3") == nil && id("was/there.mp3") == nil && id("was/elsewhere.mp3") == "z2")
        // A song is hidden like a folder.
        let loose = try await LibraryMerge(main, [.init(path: "Alphabet.mp3", library: second)]).build(file: nil)
        #expect(loose.hidden == 1 && loose.snapshot.directory(path: "Alphabet.mp3") != nil)
    }

    @Test func songsWithoutAPlaceAreCounted() async throws {
        let main = try LibraryFixture.snapshot()
        // As long as a URI may be, and with the folder in front longer.
        let long = Array(repeating: "x", count: 4000).joined()
        let second = try other([SongRecord(songID: "x", uri: long), SongRecord(songID: "y", uri: "y")], "s2")
        try #require(second.songCount == 2)
        let result = try await LibraryMerge(main, [.init(path: "b", library: second)]).build(file: nil)
        #expect(result.lost == 1 && result.snapshot.songCount == main.songCount + 1)
        let none = try await LibraryMerge(main, [.init(path: "b", library: main)]).build(file: nil)
        #expect(none.lost == 0)
    }

    @Test func anImageIsFoundAgainUnlessSomethingHasChanged() async throws {
        let file = "/tmp/shelvmpd-merge-\(getpid())"
        defer { _ = unsafe unlink(file) }
        let main = try LibraryFixture.snapshot()
        let second = try other(LibraryFixture.records, "s2")
        let merge = LibraryMerge(main, [.init(path: "b", library: second)])
        #expect(merge.open(file: file) == nil)
        _ = try await merge.build(file: file)
        #expect(merge.open(file: file)?.songCount == 2 * main.songCount)
        #expect(LibraryMerge(main, [.init(path: "c", library: second)]).open(file: file) == nil)
        let changed = try other(Array(LibraryFixture.records.dropLast()), "s2")
        #expect(LibraryMerge(main, [.init(path: "b", library: changed)]).open(file: file) == nil)
        #expect(LibraryMerge(second, [.init(path: "b", library: main)]).open(file: file) == nil)
    }

    @Test func withoutRoomOnTheDiskItIsInMemory() async throws {
        let main = try LibraryFixture.snapshot()
        let merge = LibraryMerge(main, [.init(path: "b", library: try other(LibraryFixture.records, "s2"))])
        let result = try await merge.build(preferring: "/proc/no/such/place")
        #expect(result.snapshot.songCount == 2 * main.songCount)
        #expect(result.problem != nil)
        let file = "/tmp/shelvmpd-merge-kept-\(getpid())"
        defer { _ = unsafe unlink(file) }
        #expect(try await merge.build(preferring: file).problem == nil)
        #expect(merge.open(file: file) != nil)
    }
}
