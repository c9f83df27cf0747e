import Library
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// Entries of the queue stay with their songs when the server gives the songs other ids.
@Suite struct RenewedIDTests {
    private static let lines = ["add Alpha", "add loose.mp3", "play 2", "add Alpha/First"]

    private static func renewed(_ records: [SongRecord], moved: Bool = false) -> [SongRecord] {
        records.map { record in
            var record = record
            record.songID = "new-" + record.songID
            if moved { record.uri = "Moved/" + record.uri }
            return record
        }
    }

    private static func shown(_ client: MPDTestClient) throws -> [String] { try client.ask("playlistinfo") }

    @Test func whileItRunsAndAfterARestart() async throws {
        let folder = try #require(TemporaryFolder())
        let new = Self.renewed(LibraryFixture.records)
        var server = try await PersistentServer(folder)
        var client = try server.client()
        for line in Self.lines { #expect(try client.ask(line).last == "OK") }
        #expect(server.settle())
        let before = try Self.shown(client)
        try server.replaceLibrary(new)
        #expect(try Self.shown(client) == before)
        let ids = server.onCore { server in
            let queue = server.defaultPartition.queue
            return queue.entries.compactMap { server.songs.names.identity($0.key)?.songID }
        }
        #expect(ids?.allSatisfy { $0.hasPrefix("new-") } == true)
        #expect(server.settle())
        server.kill()
        // What was saved names the new ids: nothing has to be guessed any more.
        server = try await PersistentServer(folder, new)
        client = try server.client()
        #expect(try Self.shown(client) == before)
        #expect(server.onCore { $0.songs.hasNewIDs } == false)
        server.end()
    }

    @Test(arguments: [false, true])
    func whileItWasOff(moved: Bool) async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        for line in Self.lines { #expect(try client.ask(line).last == "OK") }
        let before = try Self.shown(client)
        server.end()
        let new = Self.renewed(LibraryFixture.records, moved: moved)
        let former = Dictionary(uniqueKeysWithValues: zip(LibraryFixture.records.map(\.uri), new.map(\.songID)))
        for _ in 0..<2 {
            server = try await PersistentServer(folder, new, formerURIs: moved ? former : [:])
            client = try server.client()
            let now = try Self.shown(client)
            #expect(now == (moved ? before.map { $0.replacing("file: ", with: "file: Moved/") } : before))
            #expect(server.settle())
            server.end()
        }
    }

    @Test func aSongInThePlaceOfAnotherIsNotTakenForIt() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        let client = try server.client()
        #expect(try client.ask("add Alpha/First/01.flac").last == "OK")
        // The first song is gone, and the second has its path now.
        var records = LibraryFixture.records.filter { $0.songID != "First-1" }
        let second = try #require(records.firstIndex { $0.songID == "First-2" })
        records[second].uri = "Alpha/First/01.flac"
        try server.replaceLibrary(records)
        let identity = server.onCore { server in
            server.defaultPartition.queue.entries.first.flatMap { server.songs.names.identity($0.key)?.songID }
        }
        #expect(identity == "First-1")
        server.end()
    }
}
