import Library
import MPDProtocol
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Requests by the thousand, lists that are one act, and clients that do not read or have said all.
@Suite struct FairnessTests {
    @Test func aLongListIsOneAct() throws {
        let server = try TestServer()
        let client = try server.client()
        let other = try server.client()
        let additions = String(repeating: "addid loose.mp3\n", count: 2000)
        client.send("command_list_begin\nclear\n\(additions)playlistinfo 1999\ncommand_list_end\n")
        // Each before the list or behind it, but not in its middle.
        for _ in 0..<300 { #expect(try other.ask("clear") == ["OK"]) }
        #expect(try client.reply().last == "OK")
    }

    @Test func aListWhoseClientDoesNotReadHoldsUpNoEdits() throws {
        let server = try TestServer()
        let deaf = try server.client()
        let lines = String(repeating: "addid loose.mp3\n", count: 1000) + String(repeating: "commands\n", count: 5000)
        deaf.send("command_list_begin\n\(lines)command_list_end\n")
        let client = try server.client()
        #expect(try client.ask("clear") == ["OK"])
        #expect(try deaf.reply().last == "OK")
        #expect(try client.ask("clear") == ["OK"])
    }

    @Test func allIsAnsweredThatWasAskedBeforeTheEndOfSending() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(String(repeating: "noidle\n", count: 1000) + "ping\n")
        client.finishSending()
        #expect(try client.rest() == "OK\n")
    }

    @Test func noRequestIsLeftLyingWhenRepliesFillTheRoom() throws {
        let server = try TestServer()
        let client = try server.client()
        let name = String(repeating: "x", count: 499)
        client.send(String(repeating: "\(name)\n", count: 130))
        for _ in 0..<130 { #expect(try client.reply().last?.hasPrefix("ACK [5@0]") == true) }
    }

    /// Ten thousand songs go in piece by piece; what others see is one act all the same.
    @Test func addsMuchInPiecesAsOneAct() throws {
        let names = (0..<10_000).map { number in
            String(repeating: "0", count: 5 - String(number).count) + String(number) + ".flac"
        }
        let server = try TestServer(names.map { SongRecord(songID: $0, uri: $0) })
        let (client, other) = try (server.client(), server.client())
        #expect(try client.ask("addid 00007.flac").last == "OK")
        client.send("add \"\" 0\n")
        other.send("addid 00003.flac 0\nstatus\n")
        #expect(try client.reply() == ["OK"])
        #expect(try other.reply().last == "OK")
        #expect(try other.reply().contains("playlistlength: 10002"))
        let uris = try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
        // The other client's song stands before all or behind none, never in between.
        let mine = uris[0] == "00003.flac" ? Array(uris.dropFirst()) : uris
        #expect(Array(mine.prefix(10_000)) == names || uris == names + ["00003.flac", "00007.flac"])
        #expect(uris.last == "00007.flac")
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("add /") == ["OK"])
        #expect(
            try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { $0.dropFirst(6) }.elementsEqual(
                names.map { $0[...] }
            )
        )
    }

    /// Of twenty clients that read long listings, one gets its piece between two looks at the sockets: who asks for little
    /// waits for one of them, and not for twenty.
    @Test func longListingsTakeTurns() throws {
        let server = try TestServer((0..<5000).map { SongRecord(songID: "\($0)", uri: "Folder/\($0).flac") })
        let other = try server.client()
        let port = server.port
        let isOver = Atomic(false)
        let served = Mutex<[Int]>([])
        let threads = (0..<20).compactMap { _ in
            TestThread {
                guard let reader = try? MPDTestClient(port: port) else { return }
                reader.send(String(repeating: "listallinfo\n", count: 5000))
                while !isOver.load(ordering: .relaxed), reader.discard() {}
            }
        }
        #expect(threads.count == 20)
        // Whether most are at their listings, which is seldom where the readers are slower than the server; then how many got something
        // between this call and the next.
        for _ in 0..<60_000 where served.withLock({ $0.count }) < 200 {
            server.core.post { server in
                let before = server.connections.mapValues { ($0.id, $0.lastActivity) }
                guard server.connections.values.count(where: \.isAtLength) > 10 else { return }
                server.core.post { server in
                    let count = server.connections.count { descriptor, connection in
                        before[descriptor].map { $0.0 == connection.id && $0.1 != connection.lastActivity } ?? false
                    }
                    served.withLock { $0.append(count) }
                }
            }
            #expect(try other.ask("ping") == ["OK"])
        }
        isOver.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        let counts = served.withLock { $0 }
        #expect(counts.count >= 200)
        #expect(counts.contains { $0 > 0 })
        // A listing may end and the next one begin, and the pings count too.
        #expect(counts.reduce(0, +) <= 3 * counts.count, "\(counts)")
    }

    /// To tell five hundred clients of an event takes several turns of the loop: those who ask meanwhile do not wait for all.
    @Test func anEventForVeryManyIsToldInTurns() throws {
        let server = try TestServer()
        let waiting = try (0..<500).map { _ in try server.client() }
        for client in waiting { client.send("idle options\n") }
        let other = try server.client()
        let count = Mutex(0)
        // What was posted before a request has been done when it is answered.
        while count.withLock({ $0 }) < waiting.count {
            server.core.post { server in
                let idle = server.connections.values.count(where: \.protocolState.idle.isWaiting)
                count.withLock { $0 = idle }
            }
            #expect(try other.ask("ping") == ["OK"])
        }
        server.core.post { server in
            server.raise(.options)
            server.core.post { server in
                let untold = server.connections.values.count(where: \.isQueued)
                count.withLock { $0 = untold }
            }
        }
        for client in waiting { #expect(try client.reply() == ["changed: options", "OK"]) }
        #expect((1..<500).contains(count.withLock { $0 }))
        for client in waiting { #expect(try client.ask("ping") == ["OK"]) }
    }

    @Test func whoComesFirstIsServedFirst() {
        var line = WaitingLine<Int>()
        var expected = 0
        // Never empty for long, so that room is given back in between.
        for number in 0..<10_000 {
            line.append(number)
            if number % 3 != 0 {
                #expect(line.next() == expected)
                expected += 1
            }
        }
        #expect(line.count == 10_000 - expected)
        while let next = line.next() {
            #expect(next == expected)
            expected += 1
        }
        #expect(expected == 10_000 && line.count == 0)
    }
}
