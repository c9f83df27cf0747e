import Glibc
import Library
import Logging
import Playback
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What a restart leaves of the queue and of what clients have set, through the protocol.
@Suite struct PersistenceTests {
    /// What must be the same afterwards. A restart raises the version and pauses.
    private static func view(_ client: MPDTestClient) throws -> [String] {
        let kept = [
            "volume", "repeat", "random", "single", "consume", "xfade", "mixrampdb", "mixrampdelay",
            "playlistlength", "song", "songid", "nextsong",
        ]
        let status = try client.ask("status").filter { line in kept.contains { line.hasPrefix($0 + ": ") } }
        return status + (try client.ask("replay_gain_status")) + (try client.ask("playlistinfo"))
    }

    private static func sections(_ server: PersistentServer) -> [Section]? {
        server.onCore { server in
            let queue = server.defaultPartition.queue
            return (0..<queue.count).compactMap { queue.section(at: $0) }
        }
    }

    @Test func everythingComesBack() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        for line in [
            "add Alpha", "play 2", "addid loose.mp3 +0", "prio 9 5", "add loose.mp3", "repeat 1", "single oneshot",
            "consume 1", "setvol 37", "random 1", "add Alpha/First", "pause 1",
            "crossfade 5", "mixrampdb -17.5", "mixrampdelay 2", "replay_gain_mode album",
        ] {
            #expect(try client.ask(line).last == "OK", "\(line)")
        }
        let calls = server.player.takeCalls()
        guard case .load(let playback, _, _, _)? = calls.last(where: { if case .load = $0 { true } else { false } })
        else {
            Issue.record("nothing was loaded")
            return
        }
        server.player.report(
            .position(playback, PlaybackPosition(elapsed: .milliseconds(21_250), time: 0, advances: false))
        )
        let view = try Self.view(client)
        let sections = Self.sections(server)
        let version = Int(try client.value("playlist", of: "status") ?? "") ?? 0
        server.end()

        server = try await PersistentServer(folder)
        client = try server.client()
        #expect(try Self.view(client) == view)
        #expect(Self.sections(server) == sections)
        #expect(try client.value("elapsed", of: "status") == "21.250")
        #expect(try client.value("state", of: "status") == "pause")
        #expect(try Int(client.value("playlist", of: "status") ?? "") ?? 0 >= version + 10_000)
        // The volume first, then the song, at its place and without a sound.
        let restored = server.player.takeCalls()
        #expect(restored.first == .volume(37))
        #expect(
            restored.contains {
                if case .load(_, _, .milliseconds(21_250), paused: true) = $0 { true } else { false }
            }
        )
        let id = try #require(try Int(client.value("Id", of: "addid loose.mp3") ?? ""))
        #expect(id > 10_000)
        // The way back from random, too.
        #expect(try client.ask("random 0") == ["OK"])
        server.end()
    }

    @Test func playsOnWhereThatIsWanted() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        _ = try client.ask("add Alpha")
        _ = try client.ask("play 1")
        server.end()
        server = try await PersistentServer(folder, pauses: false)
        client = try server.client()
        #expect(try client.value("state", of: "status") == "play")
        _ = try client.ask("pause 1")
        server.end()
        // What was paused stays so, and what was stopped.
        server = try await PersistentServer(folder, pauses: false)
        client = try server.client()
        #expect(try client.value("state", of: "status") == "pause")
        _ = try client.ask("stop")
        server.end()
        server = try await PersistentServer(folder, pauses: false)
        client = try server.client()
        #expect(try client.value("state", of: "status") == "stop")
        #expect(try client.value("song", of: "status") == "1")
        #expect(server.player.takeCalls().allSatisfy { $0 == .volume(100) })
        server.end()
    }

    @Test func outputsComeBackByTheirNames() async throws {
        let folder = try #require(TemporaryFolder())
        let outputs = ["a", "b", "c"].map { OutputState(name: $0, plugin: "null", isEnabled: $0 != "c") }
        var server = try await PersistentServer(folder, outputs: outputs)
        var client = try server.client()
        for line in ["disableoutput 0", "enableoutput 2"] { #expect(try client.ask(line) == ["OK"]) }
        server.end()
        server = try await PersistentServer(folder, outputs: outputs.reversed())
        client = try server.client()
        #expect(
            try client.ask("outputs").filter { $0.hasPrefix("outputenabled") }
                == ["outputenabled: 1", "outputenabled: 1", "outputenabled: 0"]
        )
        #expect(server.player.takeCalls() == [.volume(100), .output(0, true), .output(2, false)])
        server.end()
    }

    @Test(arguments: [QueueMode.threeTier, .mpd]) func randomEditsComeBack(mode: QueueMode) async throws {
        let folder = try #require(TemporaryFolder())
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        let rounds = unsafe getenv("SHELV_SOAK") == nil ? 6 : 100
        for round in 0..<rounds {
            let server = try await PersistentServer(folder, mode: mode)
            let client = try server.client()
            var lines: [String] = []
            for _ in 0..<25 {
                let length = Int(try client.value("playlistlength", of: "status") ?? "") ?? 0
                let line = Self.edit(length, &random)
                lines.append(line)
                _ = try client.ask(line)
            }
            let view = try Self.view(client)
            let sections = Self.sections(server)
            let wasPlaying = try client.value("state", of: "status") != "stop"
            if round.isMultiple(of: 2) {
                server.end()
            } else {
                #expect(server.settle())
                server.kill()
            }
            let next = try await PersistentServer(folder, mode: mode)
            let nextClient = try next.client()
            let comment: Comment = "SHELV_SEED=\(seed), round \(round): \(lines.joined(separator: "; "))"
            #expect(try Self.view(nextClient) == view, comment)
            #expect(Self.sections(next) == sections, comment)
            #expect(try nextClient.value("state", of: "status") == (wasPlaying ? "pause" : "stop"), comment)
            next.end()
        }
    }

    private static func edit(_ length: Int, _ random: inout SeededNumbers) -> String {
        let songs = [
            "Alpha/First/01.flac", "Alpha/First/02.flac", "Alpha/Second/1-01.flac", "loose.mp3", "Alpha/First/03.flac",
        ]
        let song = songs[Int.random(in: 0..<songs.count, using: &random)]
        func position() -> Int { Int.random(in: 0..<max(1, length), using: &random) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return "add Alpha"
        case 1, 2, 3: return "add \(song)"
        case 4: return "addid \(song) \(position())"
        case 5: return "addid \(song) +0"
        case 6: return "delete \(position())"
        case 7: return "move \(position()) \(position())"
        case 8: return "swap \(position()) \(position())"
        case 9: return "prio \(Int.random(in: 0...255, using: &random)) \(position())"
        case 10: return "play \(position())"
        case 11: return "next"
        case 12: return "previous"
        case 13: return "random \(Int.random(in: 0...1, using: &random))"
        case 14: return "repeat \(Int.random(in: 0...1, using: &random))"
        case 15: return "single \(["0", "1", "oneshot"].randomElement(using: &random) ?? "0")"
        case 16: return "consume \(["0", "1", "oneshot"].randomElement(using: &random) ?? "0")"
        case 17: return "setvol \(Int.random(in: 0...100, using: &random))"
        case 18: return length > 12 ? "clear" : "shuffle"
        default: return "pause"
        }
    }

    // MARK: Songs that the library does not have

    @Test func songsThatVanishStayMarkedAndComeBack() async throws {
        let folder = try #require(TemporaryFolder())
        let rest = LibraryFixture.records.filter { !$0.uri.hasPrefix("Alpha/First/") && $0.uri != "loose.mp3" }
        var server = try await PersistentServer(folder)
        var client = try server.client()
        for line in ["add Alpha/First", "add loose.mp3", "add Alpha/Second"] { _ = try client.ask(line) }
        let whole = try client.ask("playlistinfo")
        try server.replaceLibrary(rest)
        let marked = try client.ask("playlistinfo")
        #expect(marked.count == whole.count + 1)
        #expect(marked.contains("file: Alpha/First/01.flac") && marked.contains("Title: [gone] First 1"))
        #expect(marked.contains("Title: [gone] loose.mp3") && marked.contains("Title: Second 1-1"))
        // Their tags are not searched, their priority is.
        #expect(try client.ask("playlistfind title \"First 1\"") == ["OK"])
        #expect(try client.ask("playlistsearch \"(Artist != 'x')\"").count { $0.hasPrefix("file: ") } == 4)
        let everything = "playlistfind \"(!((Title == 'x') AND (prio >= 1)))\""
        #expect(try client.ask(everything).count { $0.hasPrefix("file: ") } == 8)
        server.end()

        // The next start has a library without them.
        server = try await PersistentServer(folder, rest)
        client = try server.client()
        #expect(try client.ask("playlistinfo") == marked)
        // Starting one is a permanent failure: the next one that is there plays.
        _ = try client.ask("play 2")
        #expect(try client.value("error", of: "status")?.hasSuffix(": the song is not on the server any more") == true)
        #expect(waitUntil(milliseconds: 5000) { (try? client.value("song", of: "status")) == "4" })
        _ = try client.ask("stop")
        try server.replaceLibrary(LibraryFixture.records)
        #expect(try client.ask("playlistinfo") == whole)
        server.end()
    }

    @Test func anIncompleteLibraryDecidesNothing() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        for line in ["add Alpha/First", "play 1"] { _ = try client.ask(line) }
        let whole = try client.ask("playlistinfo")
        #expect(server.settle())
        server.kill()

        // The copy of the library is lost, and the server has not answered yet.
        server = try await PersistentServer(folder, [], isComplete: false)
        client = try server.client()
        #expect(try client.ask("playlistinfo") == whole)
        #expect(try client.value("state", of: "status") == "pause")
        #expect(
            server.player.takeCalls().contains {
                if case .load(_, "First-2", .zero, paused: true) = $0 { true } else { false }
            }
        )
        // It has arrived, without one of them.
        try server.replaceLibrary(LibraryFixture.records.filter { $0.songID != "First-3" })
        #expect(try client.ask("playlistinfo") == whole.map { $0 == "Title: First 3" ? "Title: [gone] First 3" : $0 })
        server.end()
    }

    @Test func songsOfAnotherServerAreNotTakenForOnesOfThis() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        _ = try client.ask("add Alpha/First")
        server.end()
        server = try await PersistentServer(folder, serverID: "other")
        client = try server.client()
        #expect(try client.ask("playlistinfo").filter { $0.hasPrefix("Title: [gone] First") }.count == 3)
        server.end()
    }

    @Test func aCurrentSongThatHasGoneStaysCurrent() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        _ = try server.client().ask("add Alpha/First")
        _ = try server.client().ask("play 1")
        server.end()
        server = try await PersistentServer(folder, LibraryFixture.records.filter { $0.songID != "First-2" })
        let client = try server.client()
        #expect(try client.value("state", of: "status") == "stop")
        #expect(try client.value("song", of: "status") == "1")
        server.end()
    }

    // MARK: Damage

    @Test func aDamagedQueueIsKeptAside() async throws {
        let damages = [
            "UPDATE queue_block SET content = x'01'", "UPDATE queue_block SET digest = digest + 1",
            "DELETE FROM queue_block", "DELETE FROM queue_list WHERE list = 0", "UPDATE queue SET mode = 'x'",
            "UPDATE queue SET state = 7", "UPDATE queue SET version = -1", "UPDATE queue_list SET blocks = x'FF'",
            "UPDATE queue SET single = 'oneshot'",
        ]
        for damage in damages {
            let folder = try #require(TemporaryFolder())
            var server = try await PersistentServer(folder)
            for line in ["add Alpha", "random 1", "play", "setvol 20"] { _ = try server.client().ask(line) }
            server.end()
            let store = try Store(path: folder.path("store.sqlite"), log: .silent)
            try await store.write("damage") { database throws(StoreError) in try database.run(damage) }
            store.close()

            let lines = Mutex<[String]>([])
            server = try await PersistentServer(folder, log: Log { _, line in lines.withLock { $0.append(line) } })
            let client = try server.client()
            #expect(try client.value("playlistlength", of: "status") == "0", "\(damage)")
            #expect(try client.value("volume", of: "status") == "20", "\(damage)")
            #expect(folder.names.contains("store.sqlite.damaged-1"), "\(damage)")
            #expect(
                lines.withLock { $0.count == 1 && $0[0].hasPrefix("The saved queue cannot be used: ") },
                "\(damage)"
            )
            _ = try client.ask("add Alpha/First")
            server.end()
            // It is a good queue from then on.
            server = try await PersistentServer(folder, log: Log { _, line in lines.withLock { $0.append(line) } })
            #expect(try server.client().value("playlistlength", of: "status") == "3", "\(damage)")
            server.end()
            #expect(lines.withLock { $0.count } == 1, "\(damage)")
        }
    }

    @Test func valuesThatCannotBeAreNotRestored() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        for line in ["add Alpha", "play 3"] { _ = try server.client().ask(line) }
        server.end()
        let store = try Store(path: folder.path("store.sqlite"), log: .silent)
        try await store.write("nonsense") { database throws(StoreError) in
            try database.run("UPDATE partition_setting SET value = '1000' WHERE name = 'volume'")
            try database.run("UPDATE queue SET current = 9999999999, next_id = 4294967295")
            try database.run("UPDATE queue_position SET elapsed = -5")
        }
        store.close()
        server = try await PersistentServer(folder)
        let client = try server.client()
        #expect(try client.value("volume", of: "status") == "100")
        #expect(try client.value("state", of: "status") == "stop")
        #expect(try client.value("playlistlength", of: "status") == "7")
        #expect(try client.ask("addid loose.mp3").last == "OK")
        server.end()
    }

    @Test func aFullDiskIsTriedAgain() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        let client = try server.client()
        _ = try client.ask("add Alpha")
        #expect(server.settle())
        _ = try await server.store.read { database throws(StoreError) in
            try database.rows("PRAGMA max_page_count = 1")
        }
        for _ in 0..<40 { _ = try client.ask("add Alpha") }
        server.onCore { server in server.defaultPartition.saver?.noteChange() }
        _ = try await server.store.read { database throws(StoreError) in
            try database.rows("PRAGMA max_page_count = 100000")
        }
        let length = try client.value("playlistlength", of: "status")
        server.end()
        server = try await PersistentServer(folder)
        #expect(try server.client().value("playlistlength", of: "status") == length)
        server.end()
    }
}

// MARK: URLs

extension PersistenceTests {
    @Test func streamsComeBackWithTheirTags() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        let url = "http://u:pw@h/a b?x=1"
        for command in [
            "add Alpha/First", "add \"\(url)\"", "add \"\(url)\"", "addtagid 4 Title \"Tom: \\\"x\\\"\"",
            "addtagid 4 Artist \"Éva\"", "addtagid 4 Title second", "rangeid 5 1:2", "prioid 7 5",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        #expect(server.settle())
        // One edit more, which changes nothing but tags.
        #expect(try client.ask("cleartagid 4 Artist") == ["OK"])
        let entries = try client.ask("playlistinfo")
        #expect(entries.contains("Title: Tom: \"x\"") && entries.contains("Range: 1.000-2.000"))
        server.end()

        server = try await PersistentServer(folder)
        client = try server.client()
        #expect(try client.ask("playlistinfo") == entries)
        // The whole address is there, to be played.
        let key = "http://u:pw@h/a%20b?x=1"
        #expect(try client.ask("playid 4") == ["OK"])
        let calls = server.player.takeCalls()
        #expect(calls.contains { if case .load(_, key, _, _) = $0 { true } else { false } })
        // A new library does not touch them.
        try server.replaceLibrary([])
        let left = try client.ask("playlistid 4")
        #expect(left.contains("Title: second") && !left.contains { $0.contains("[gone]") })
        server.end()
    }
}
