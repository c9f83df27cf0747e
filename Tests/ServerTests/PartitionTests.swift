import Library
import Logging
import MPDProtocol
import Playback
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Rooms: what each has for itself, what goes between them, and who hears of it.
@Suite struct PartitionTests {
    private static func outputs(_ names: String...) -> [OutputState] {
        names.map { OutputState(name: $0, plugin: "null", isEnabled: true) }
    }

    /// What has happened for a client, without waiting.
    private func news(_ client: MPDTestClient) throws -> [String] {
        client.send("idle\nnoidle\n")
        return try client.reply().filter { $0 != "OK" }.map { String($0.dropFirst("changed: ".count)) }
    }

    @Test(arguments: [
        ("partition nosuch", "ACK [50@0] {partition} partition does not exist"),
        ("partition", "ACK [2@0] {partition} wrong number of arguments for \"partition\""),
        ("newpartition kitchen", "ACK [56@0] {newpartition} name already exists"),
        ("newpartition default", "ACK [56@0] {newpartition} name already exists"),
        ("newpartition \"\"", "ACK [2@0] {newpartition} bad name"),
        ("newpartition \"a b\"", "ACK [2@0] {newpartition} bad name"),
        ("newpartition küche", "ACK [2@0] {newpartition} bad name"),
        ("newpartition a-B_9", "OK"),
        ("delpartition \"a b\"", "ACK [2@0] {delpartition} bad name"),
        ("delpartition nosuch", "ACK [50@0] {delpartition} no such partition"),
        ("delpartition default", "ACK [5@0] {delpartition} cannot delete the default partition"),
        ("delpartition kitchen", "OK"),
        ("moveoutput nosuch", "ACK [50@0] {moveoutput} No such output"),
        ("moveoutput one", "OK"),
    ])
    func whatIsAnswered(_ command: String, _ answer: String) throws {
        let client = try TestServer(outputs: Self.outputs("one")).client()
        #expect(try client.ask("newpartition kitchen") == ["OK"])
        #expect(try client.ask(command).last == answer)
    }

    @Test func aRoomWithSomebodyOrSomethingInItStays() throws {
        let server = try TestServer(outputs: Self.outputs("one"))
        let (client, guest) = (try server.client(), try server.client())
        for line in ["newpartition kitchen", "partition kitchen", "moveoutput one", "partition default"] {
            #expect(try client.ask(line) == ["OK"])
        }
        #expect(try guest.ask("partition kitchen") == ["OK"])
        let prefix = "ACK [5@0] {delpartition} partition still has"
        #expect(try client.ask("delpartition kitchen") == ["\(prefix) clients"])
        #expect(try guest.ask("partition default") == ["OK"])
        #expect(try client.ask("delpartition kitchen") == ["\(prefix) outputs"])
        #expect(try client.ask("moveoutput one") == ["OK"])
        let player = server.players["kitchen"]
        #expect(try client.ask("delpartition kitchen") == ["OK"])
        #expect(player.takeCalls().last == .shutdown)
        #expect(try client.ask("listpartitions") == ["partition: default", "OK"])
    }

    @Test func thereAreAtMostSixteen() throws {
        let client = try TestServer().client()
        for number in 1...15 { #expect(try client.ask("newpartition p\(number)") == ["OK"]) }
        #expect(try client.ask("newpartition p16") == ["ACK [5@0] {newpartition} too many partitions"])
        let names = ["default"] + (1...15).map { "p\($0)" }
        #expect(try client.ask("listpartitions") == names.map { "partition: \($0)" } + ["OK"])
    }

    @Test func onlyAdministratorsBuildRooms() throws {
        let server = try TestServer { $0.defaultPermissions = [.read, .add, .player, .control] }
        let client = try server.client()
        for name in ["newpartition x", "delpartition x", "moveoutput x"] {
            let word = name.split(separator: " ")[0]
            #expect(try client.ask(name) == ["ACK [4@0] {\(word)} you don't have permission for \"\(word)\""])
        }
        #expect(try client.ask("partition default") == ["OK"])
    }

    /// Two rooms play two songs; each has its queue, its options, its volume and its clock.
    @Test func eachRoomHasItsOwn() throws {
        let server = try TestServer(outputs: Self.outputs("one", "two")) { $0.queueMode = .mpd }
        let (a, b) = (try server.client(), try server.client())
        for line in ["newpartition kitchen", "partition kitchen", "moveoutput two"] {
            #expect(try b.ask(line) == ["OK"])
        }
        let first = "Alpha/First/01.flac"
        let second = "Alpha/First/02.flac"
        for line in ["add \"\(first)\"", "repeat 1", "setvol 30", "play"] { #expect(try a.ask(line) == ["OK"]) }
        for line in ["add \"\(second)\"", "add \"\(second)\"", "setvol 60", "crossfade 3", "play 1"] {
            #expect(try b.ask(line) == ["OK"])
        }
        func status(_ client: MPDTestClient) throws -> [String] {
            try client.ask("status").filter { line in
                ["volume", "repeat", "partition", "playlistlength", "xfade", "song", "state"]
                    .contains { line.hasPrefix($0 + ":") }
            }
        }
        #expect(
            try status(a) == [
                "volume: 30", "repeat: 1", "partition: default", "playlistlength: 1", "state: play", "song: 0",
            ]
        )
        let kitchen = try status(b)
        #expect(
            kitchen == [
                "volume: 60", "repeat: 0", "partition: kitchen", "playlistlength: 2", "state: play", "xfade: 3",
                "song: 1",
            ]
        )
        #expect(try a.value("file", of: "currentsong") == first)
        #expect(try b.value("file", of: "currentsong") == second)
        // Both players count from 1, and neither's reports reach the other room.
        _ = (try news(a), try news(b))
        server.players["kitchen"].report(.ended(PlaybackID(1), .endOfFile))
        #expect(try b.value("state", of: "status") == "stop")
        #expect(try a.value("state", of: "status") == "play")
        #expect(try news(b).contains("player"))
        #expect(try news(a) == [])
    }

    /// The program's own volume is there also while nothing is on; that of a sound system is not.
    @Test func outputsThatAreOffHaveAVolume() throws {
        let client = try TestServer(outputs: Self.outputs("one", "two")).client()
        for line in ["setvol 40", "disableoutput 0", "disableoutput 1"] { #expect(try client.ask(line) == ["OK"]) }
        #expect(try client.ask("getvol") == ["volume: 40", "OK"])
        #expect(try client.ask("setvol 30") == ["OK"])
        #expect(try client.ask("volume 5") == ["OK"])
        #expect(try client.value("volume", of: "status") == "35")
        #expect(try client.ask("enableoutput 0") == ["OK"])
        #expect(try client.ask("getvol") == ["volume: 35", "OK"])

        let hardware = OutputState(name: "card", plugin: "alsa", isEnabled: true, mixer: .hardware)
        let silent = OutputState(name: "silent", plugin: "null", isEnabled: true, mixer: .none)
        let other = try TestServer(outputs: [hardware, silent]).client()
        #expect(try other.ask("setvol 40") == ["OK"])
        #expect(try other.ask("disableoutput 0") == ["OK"])
        #expect(try other.ask("getvol") == ["OK"])
        #expect(try other.ask("setvol 30") == ["ACK [5@0] {setvol} All outputs are disabled"])
        #expect(try other.ask("volume 5") == ["ACK [52@0] {volume} No mixer"])
        #expect(try other.ask("enableoutput 0") == ["OK"])
        #expect(try other.ask("getvol") == ["volume: 40", "OK"])
        let none = try TestServer(outputs: [silent]).client()
        #expect(try none.ask("setvol 30") == ["ACK [5@0] {setvol} No mixer"])
    }

    @Test func aRoomWithoutOutputsHasNoVolume() throws {
        let server = try TestServer(outputs: Self.outputs("one"))
        let client = try server.client()
        #expect(try client.ask("setvol 20") == ["OK"])
        for line in ["newpartition kitchen", "partition kitchen"] { #expect(try client.ask(line) == ["OK"]) }
        #expect(try client.value("volume", of: "status") == nil)
        #expect(try client.ask("outputs") == ["OK"])
        #expect(try client.ask("setvol 50").last?.hasPrefix("ACK") == true)
        #expect(try client.ask("add \"\"") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        #expect(try client.value("state", of: "status") == "play")
        // What comes is not louder than it was.
        #expect(try client.ask("moveoutput one") == ["OK"])
        #expect(try client.value("volume", of: "status") == "20")
        let calls = server.players["kitchen"].takeCalls()
        #expect(calls.suffix(2) == [.volume(20), .putOutput("one", at: 0, true)])
    }

    @Test func whatIsMovedLeavesADummy() throws {
        let server = try TestServer(outputs: Self.outputs("one", "two"))
        let client = try server.client()
        func outputs() throws -> [String] {
            try client.ask("outputs").filter { !$0.hasPrefix("outputid") && $0 != "OK" }
        }
        func rows(_ name: String, _ plugin: String, _ isEnabled: Int) -> [String] {
            ["outputname: \(name)", "plugin: \(plugin)", "outputenabled: \(isEnabled)"]
        }
        for line in ["newpartition kitchen", "partition kitchen", "moveoutput one"] {
            #expect(try client.ask(line) == ["OK"])
        }
        #expect(try outputs() == rows("one", "null", 1))
        #expect(server.player.takeCalls() == [.putOutput(nil, at: 0, false)])
        #expect(try client.ask("disableoutput 0") == ["OK"])
        #expect(try client.ask("partition default") == ["OK"])
        #expect(try outputs() == rows("one", "dummy", 0) + rows("two", "null", 1))
        // News of what has gone is none.
        server.player.report(.output(index: 0, problem: "broken"))
        #expect(try outputs() == rows("one", "dummy", 0) + rows("two", "null", 1))
        // Back in its place, as it was.
        #expect(try client.ask("moveoutput one") == ["OK"])
        #expect(try outputs() == rows("one", "null", 0) + rows("two", "null", 1))
        #expect(server.player.takeCalls() == [.putOutput("one", at: 0, false)])
    }

    @Test func whoIsInARoomHearsOfThatRoom() throws {
        let server = try TestServer(outputs: Self.outputs("one"))
        let (a, b) = (try server.client(), try server.client())
        #expect(try b.ask("newpartition kitchen") == ["OK"])
        #expect(try news(a) == ["partition"])
        #expect(try b.ask("partition kitchen") == ["OK"])
        // All of the room is news for who comes, and who is there already hears nothing.
        #expect(try news(b) == ["playlist", "player", "mixer", "output", "options", "partition"])
        #expect(try b.ask("partition kitchen") == ["OK"])
        #expect(try news(b) == [])
        b.send("idle\n")
        for line in ["add \"\"", "play", "setvol 3", "repeat 1", "disableoutput 0", "subscribe x", "clear"] {
            #expect(try a.ask(line) == ["OK"])
        }
        #expect(try news(a) == ["playlist", "player", "mixer", "output", "options", "subscription"])
        b.send("noidle\n")
        #expect(try b.reply() == ["OK"])
        // What concerns all.
        for (line, event) in [("moveoutput one", "output"), ("update", "update"), ("newpartition x", "partition")] {
            #expect(try b.ask(line).last == "OK")
            #expect(try news(a) == [event])
            #expect(try news(b) == [event])
        }
    }

    @Test func messagesStayInTheRoom() throws {
        let server = try TestServer()
        let (a, b) = (try server.client(), try server.client())
        for line in ["newpartition kitchen", "partition kitchen", "subscribe news"] {
            #expect(try b.ask(line) == ["OK"])
        }
        #expect(try a.ask("channels") == ["OK"])
        #expect(try a.ask("sendmessage news x").last?.hasPrefix("ACK [50@0]") == true)
        #expect(try a.ask("partition kitchen") == ["OK"])
        #expect(try a.ask("channels") == ["channel: news", "OK"])
        #expect(try a.ask("sendmessage news x") == ["OK"])
        #expect(try b.ask("readmessages") == ["channel: news", "message: x", "OK"])
    }

    /// A list that goes from room to room edits each of them, and holds up nobody afterwards.
    @Test func aListMayGoThroughRooms() throws {
        let server = try TestServer(
            (0..<5_000).map { SongRecord(songID: "\($0)", uri: "d/\($0)", size: 1, suffix: "mp3") }
        )
        let (a, b) = (try server.client(), try server.client())
        #expect(try a.ask("newpartition kitchen") == ["OK"])
        let lines = [
            "add \"\"", "findadd \"(base 'd')\"", "partition kitchen", "add \"\"", "add d/1", "partition default",
            "add d/2",
        ]
        a.send("command_list_begin\n\(lines.joined(separator: "\n"))\ncommand_list_end\n")
        #expect(try a.reply() == ["OK"])
        #expect(try b.ask("add d/3") == ["OK"])
        #expect(try b.value("playlistlength", of: "status") == "10002")
        #expect(try b.ask("partition kitchen") == ["OK"])
        #expect(try b.ask("add d/3") == ["OK"])
        #expect(try b.value("playlistlength", of: "status") == "5002")
    }

    /// What an earlier room of the same name had left behind does not reach the new one.
    @Test func aNewRoomHasNothingOfTheOldOne() throws {
        let server = try TestServer()
        let client = try server.client()
        let build = ["newpartition kitchen", "partition kitchen"]
        for line in build + ["add \"\"", "repeat 1", "play"] { #expect(try client.ask(line) == ["OK"]) }
        let old = server.players["kitchen"]
        for line in ["partition default", "delpartition kitchen"] + build + ["add \"\"", "play"] {
            #expect(try client.ask(line) == ["OK"])
        }
        old.report(.ended(PlaybackID(1), .endOfFile))
        #expect(try client.value("state", of: "status") == "play")
        #expect(try client.value("repeat", of: "status") == "0")
    }

    /// Rooms that are made later are as the configuration says by then.
    @Test func aRoomIsMadeByThePresentConfiguration() throws {
        let server = try TestServer { $0.findsDevices = true }
        let client = try server.client()
        #expect(try client.ask("newpartition first") == ["OK"])
        var configuration = Configuration()
        configuration.maxPlaylistLength = 1
        configuration.findsDevices = true
        configuration.starvationLimit = .seconds(7)
        server.adopt(configuration)
        #expect(try client.ask("newpartition second") == ["OK"])
        #expect(try client.ask("partition second") == ["OK"])
        #expect(try client.ask("add loose.mp3") == ["OK"])
        #expect(try client.ask("add loose.mp3").last?.hasPrefix("ACK [51@0]") == true)
        #expect(server.players.configuration(of: "second")?.starvationLimit == .seconds(7))
        #expect(server.players.configuration(of: "first")?.starvationLimit != .seconds(7))
        // A device may come to any room; there, too, it is gone back to when it comes back.
        for name in ["default", "first", "second"] {
            #expect(server.players.configuration(of: name)?.findsDevices == true, "\(name)")
        }
    }

    /// Devices are found once, for all rooms.
    @Test func aDeviceIsNotFoundAgainWhereItIsNot() throws {
        let server = try TestServer(outputs: Self.outputs("one"))
        let client = try server.client()
        let air = AudioDevice(driver: "pulse", device: "air", description: "Air")
        let hall = AudioDevice(driver: "pulse", device: "hall", description: "Hall")
        server.player.report(.devices([air]))
        for line in ["newpartition kitchen", "partition kitchen", "moveoutput Air"] {
            #expect(try client.ask(line) == ["OK"])
        }
        server.player.report(.devices([air, hall]))
        // The other rooms' players see the same, and perhaps later.
        server.players["kitchen"].report(.devices([air]))
        func names() throws -> [String] { try client.ask("outputs").filter { $0.hasPrefix("outputname") } }
        #expect(try names() == ["outputname: Air"])
        server.player.report(.devices([hall]))
        #expect(try client.ask("outputs").contains("attribute: problem=not connected"))
        #expect(try client.ask("partition default") == ["OK"])
        #expect(try names() == ["outputname: one", "outputname: Air", "outputname: Hall"])
        #expect(try !client.ask("outputs").contains("attribute: problem=not connected"))
    }

    @Test func songsThatGoAreGoneInAllRooms() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        let (a, b) = (try server.client(), try server.client())
        for line in ["newpartition kitchen", "partition kitchen"] { #expect(try b.ask(line) == ["OK"]) }
        for client in [a, b] { #expect(try client.ask("add loose.mp3") == ["OK"]) }
        _ = (try news(a), try news(b))
        try server.replaceLibrary(LibraryFixture.records.filter { $0.songID != "loose" })
        for client in [a, b] {
            #expect(try client.ask("idle playlist") == ["changed: playlist", "OK"])
            #expect(try client.value("file", of: "playlistinfo") == "loose.mp3")
        }
        server.end()
    }

    // MARK: Kept

    /// Rooms, what is in them and what belongs to them come back; what was removed does not.
    @Test func roomsComeBack() async throws {
        let folder = try #require(TemporaryFolder())
        let outputs = Self.outputs("one", "two", "three")
        var server = try await PersistentServer(folder, outputs: outputs)
        var client = try server.client()
        for line in [
            "newpartition b", "newpartition gone", "newpartition a", "partition gone", "add loose.mp3", "partition b",
            "moveoutput two", "moveoutput three", "disableoutput 1", "add \"\"", "delete 0", "setvol 11", "random 1",
            "play 2", "partition a", "add Alpha/First", "add loose.mp3", "repeat 1", "partition default",
            "add loose.mp3",
            "delpartition gone", "newpartition gone",
        ] {
            #expect(try client.ask(line) == ["OK"], "\(line)")
        }
        func view() throws -> [[String]] {
            try ["default", "b", "gone", "a"].map { name in
                try client.ask("partition \(name)") + client.ask("plchangesposid 0") + client.ask("playlistinfo")
                    + client.ask("status").filter { line in
                        ["volume", "repeat", "random", "partition", "playlistlength", "songid"]
                            .contains { line.hasPrefix($0 + ":") }
                    }
            }
        }
        let before = try view()
        #expect(try client.ask("listpartitions").dropLast().map { $0.dropFirst(11) } == ["default", "b", "a", "gone"])
        #expect(server.settle())
        server.kill()

        server = try await PersistentServer(folder, outputs: outputs)
        client = try server.client()
        #expect(try client.ask("listpartitions").dropLast().map { $0.dropFirst(11) } == ["default", "b", "a", "gone"])
        #expect(try view() == before)
        #expect(try client.ask("partition b") == ["OK"])
        #expect(try client.value("state", of: "status") == "pause")
        func rows() throws -> [String] {
            try client.ask("outputs").filter { $0.hasPrefix("outputname") || $0.hasPrefix("outputenabled") }
        }
        #expect(try rows() == ["outputname: two", "outputenabled: 1", "outputname: three", "outputenabled: 0"])
        #expect(server.players["b"].takeCalls().contains(.volume(11)))
        server.end()

        // An output is configured no more, and another one is new; a while later the old one is there again.
        server = try await PersistentServer(folder, outputs: Self.outputs("one", "three", "four"))
        client = try server.client()
        #expect(
            try rows().filter { $0.hasPrefix("outputname") } == [
                "outputname: one", "outputname: three", "outputname: four",
            ]
        )
        #expect(try client.ask("partition b") == ["OK"])
        #expect(try rows() == ["outputname: three", "outputenabled: 0"])
        server.end()
        server = try await PersistentServer(folder, outputs: outputs)
        client = try server.client()
        #expect(try client.ask("partition b") == ["OK"])
        #expect(try rows() == ["outputname: two", "outputenabled: 1", "outputname: three", "outputenabled: 0"])
        server.end()
    }

    /// Answered is kept: a kill right behind the `OK` loses nothing, and what was off does not come back on.
    @Test func anOutputThatIsOffStaysOffWhenItIsMoved() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder, outputs: Self.outputs("one", "two"))
        var client = try server.client()
        for line in ["setvol 7", "newpartition kitchen", "partition kitchen", "disableoutput 0", "moveoutput one"] {
            _ = try client.ask(line)
        }
        #expect(try client.ask("partition default") == ["OK"])
        #expect(try client.ask("disableoutput 1") == ["OK"])
        #expect(try client.ask("partition kitchen") == ["OK"])
        #expect(try client.ask("moveoutput two") == ["OK"])
        server.kill()
        server = try await PersistentServer(folder, outputs: Self.outputs("one", "two"))
        client = try server.client()
        #expect(try client.ask("partition kitchen") == ["OK"])
        let rows = try client.ask("outputs").filter { $0.hasPrefix("outputname") || $0.hasPrefix("outputenabled") }
        #expect(rows == ["outputname: one", "outputenabled: 1", "outputname: two", "outputenabled: 0"])
        #expect(try client.value("volume", of: "status") == "7")
        server.end()
    }

    /// What was put off of a room that is removed meanwhile is done no more.
    @Test func anAbandonedRoomWritesNothing() async throws {
        let folder = try #require(TemporaryFolder())
        let records = (0..<1200).map { SongRecord(songID: "\($0)", uri: "d/\($0)", size: 1, suffix: "mp3") }
        let server = try await PersistentServer(folder, records)
        #expect(try server.client().ask("add \"\"") == ["OK"])
        let moment = try #require(server.onCore { $0.defaultPartition.saver?.moment() } ?? nil)
        let writers = ["kept", "gone"].map { QueueWriter(server.store, partition: $0) }
        writers[0].save(moment) { _ in }
        // Told behind the queue and before the songs.
        writers[1].save(moment) { [writers] _ in writers[1].abandon() }
        #expect(try await rows(of: "gone", in: ["queue"], server) == 1)
        writers[1].save(moment) { _ in }
        for _ in 0..<10 { await server.store.flush() }
        #expect(try await rows(of: "gone", in: ["queue_song"], server) == 0)
        #expect(try await rows(of: "kept", in: ["queue_song"], server) > 0)
        server.end()
    }

    /// What the store could not forget it forgets with the next change.
    @Test func aRoomIsErasedOnceTheStoreTakesIt() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        let client = try server.client()
        for line in ["newpartition kitchen", "partition kitchen", "add \"\"", "partition default"] {
            #expect(try client.ask(line) == ["OK"])
        }
        #expect(server.settle())
        try await server.store.write("a test") { database throws(StoreError) in
            try database.run("ALTER TABLE output_home RENAME TO elsewhere")
        }
        #expect(try client.ask("delpartition kitchen").last?.hasPrefix("ACK") == true)
        #expect(try await rows(of: "kitchen", in: Self.tables, server) > 0)
        try await server.store.write("a test") { database throws(StoreError) in
            try database.run("ALTER TABLE elsewhere RENAME TO output_home")
        }
        #expect(try client.ask("newpartition hall") == ["OK"])
        #expect(try await rows(of: "kitchen", in: Self.tables, server) == 0)
        server.end()
    }

    /// While the disk is full, rooms are made, removed and furnished: who asks hears that it is not kept, it holds all the same,
    /// nothing piles up, and the log hears of it once. Once there is room, all is kept as it is then.
    @Test func whatAFullStoreRefusesIsKeptLater() async throws {
        let folder = try #require(TemporaryFolder())
        let lines = Mutex<[String]>([])
        let log = Log(level: .notice) { _, line in lines.withLock { $0.append(line) } }
        let outputs = Self.outputs("one", "two")
        var server = try await PersistentServer(folder, outputs: outputs, log: log, retryDelay: .milliseconds(20))
        var client = try server.client()
        for line in ["newpartition kitchen", "partition kitchen", "add loose.mp3", "partition default"] {
            #expect(try client.ask(line) == ["OK"])
        }
        #expect(server.settle())
        try await server.store.write("a test") { database throws(StoreError) in
            for event in ["INSERT", "DELETE"] {
                try database.run(
                    "CREATE TRIGGER full\(event) BEFORE \(event) ON partition BEGIN SELECT raise(abort, 'no room'); END"
                )
            }
        }
        for round in 0..<100 {
            #expect(try client.ask("newpartition room\(round)").last?.contains("no room") == true)
            #expect(try client.ask("delpartition room\(round)").last?.contains("no room") == true)
        }
        for line in ["delpartition kitchen", "newpartition kitchen", "newpartition hall"] {
            #expect(try client.ask(line).last?.hasPrefix("ACK [52@0]") == true, "\(line)")
        }
        #expect(try client.ask("partition hall") == ["OK"])
        #expect(try client.ask("moveoutput two").last?.hasPrefix("ACK [52@0]") == true)
        // Some retries later.
        for _ in 0..<3 {
            let isTriedAgain = Mutex(false)
            server.onCore { server in
                _ = server.timers.schedule(at: .now.advanced(by: .milliseconds(50))) { _ in
                    isTriedAgain.withLock { $0 = true }
                }
            }
            #expect(waitUntil { isTriedAgain.withLock { $0 } })
        }
        #expect(server.onCore { $0.overduePlan.erasures.count <= 2 } == true)
        #expect(lines.withLock { $0 } == ["cannot keep the partitions: a statement failed: no room"])
        try await server.store.write("a test") { database throws(StoreError) in
            for event in ["INSERT", "DELETE"] { try database.run("DROP TRIGGER full\(event)") }
        }
        #expect(waitUntil { lines.withLock { $0.last == "can keep the partitions again" } })
        #expect(server.settle())
        server.kill()
        server = try await PersistentServer(folder, outputs: outputs)
        client = try server.client()
        #expect(
            try client.ask("listpartitions").sorted()
                == ["OK", "partition: default", "partition: hall", "partition: kitchen"]
        )
        #expect(try client.ask("partition kitchen") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "0")
        #expect(try client.ask("partition hall") == ["OK"])
        #expect(try client.value("outputname", of: "outputs") == "two")
        server.end()
    }

    /// Songs get other ids while the queue is being written: what is written then is not taken for what shall be there.
    @Test func whatIsForgottenDuringAWriteStaysForgotten() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        #expect(try server.client().ask("add \"\"") == ["OK"])
        let moment = try #require(server.onCore { $0.defaultPartition.saver?.moment() } ?? nil)
        let writer = QueueWriter(server.store, partition: "room")
        writer.save(moment) { _ in }
        try await server.store.write("a test") { database throws(StoreError) in
            try writer.update { _ throws(StoreError) in writer.forget() }
            try database.run("DELETE FROM queue_block WHERE partition = 'room'")
        }
        writer.save(moment) { _ in }
        await server.store.flush()
        #expect(try await rows(of: "room", in: ["queue_block"], server) > 0)
        server.end()
    }

    private static let tables = [
        "queue", "queue_list", "queue_block", "queue_position", "queue_song", "partition_setting",
    ]

    private func rows(of partition: String, in tables: [String], _ server: PersistentServer) async throws -> Int64 {
        try await server.store.read { database throws(StoreError) in
            var count: Int64 = 0
            for table in tables {
                let sql = "SELECT count(*) FROM \(table) WHERE partition = '\(partition)'"
                count += try database.value(sql)?.integer ?? 0
            }
            return count
        }
    }

    @Test func nothingIsLeftOfARoomThatIsRemoved() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        let client = try server.client()
        for line in ["newpartition kitchen", "partition kitchen", "add \"\"", "play", "partition default"] {
            #expect(try client.ask(line) == ["OK"])
        }
        #expect(server.settle())
        #expect(try client.ask("delpartition kitchen") == ["OK"])
        #expect(try await rows(of: "kitchen", in: Self.tables, server) == 0)
        server.end()
    }
}
