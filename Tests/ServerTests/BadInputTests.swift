import Support
import Testing

@testable import ShelvMPD

/// Clients that are broken, hostile or absent: the others must not notice.
@Suite struct BadInputTests {
    @Test func dropsEndlessLinesAndServesOthers() throws {
        let server = try TestServer()
        let other = try server.client()
        let client = try server.client()
        client.send([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20))
        #expect(try client.rest() == "")
        #expect(try other.ask("ping") == ["OK"])
    }

    @Test func survivesBinaryNoise() throws {
        let server = try TestServer()
        var noise = SeededNumbers(seed: SeededNumbers.seed(usually: 7))
        for _ in 0..<200 {
            let client = try server.client()
            client.send((0..<Int(noise.next() % 600)).map { _ in UInt8(truncatingIfNeeded: noise.next()) })
        }
        #expect(try server.client().ask("ping") == ["OK"])
    }

    @Test func survivesHalfCommandsThatEnd() throws {
        let server = try TestServer()
        for text in ["pi", "command_list_begin\nping\n", "idle", "idle\n", "add \"unfinished", "status\nsta"] {
            try server.client().send(text)
        }
        #expect(try server.client().ask("ping") == ["OK"])
    }

    @Test func hundredsOfSilentClientsCostNothing() throws {
        let server = try TestServer()
        let silent = try (0..<500).map { _ in try MPDTestClient(port: server.port) }
        let client = try server.client()
        for _ in 0..<100 { #expect(try client.ask("status").last == "OK") }
        #expect(silent.count == 500)
    }

    @Test func dropsTheSilentButNotThoseWhoWait() throws {
        let server = try TestServer { $0.connectionTimeout = .milliseconds(500) }
        let waiting = try server.client()
        waiting.send("idle options\n")
        let silent = try server.client()
        #expect(try silent.rest() == "")
        #expect(try server.client().ask("repeat 1") == ["OK"])
        #expect(try waiting.reply() == ["changed: options", "OK"])
    }

    @Test func refusesClientsBeyondTheLimitWithoutAWord() throws {
        let server = try TestServer { $0.maxConnections = 2 }
        let first = try server.client()
        let second = try server.client()
        let third = try MPDTestClient(port: server.port, readsGreeting: false)
        #expect(try third.rest() == "")
        #expect(try first.ask("ping") == ["OK"])
        #expect(try second.ask("ping") == ["OK"])
    }

    @Test func clientsNeverTakeTheLastFiles() {
        #expect(FileLimit.clients(wanted: nil, files: 1024) == 832)
        #expect(FileLimit.clients(wanted: 100, files: 1024) == 100)
        #expect(FileLimit.clients(wanted: 5000, files: 1024) == 832)
        for files in FileLimit.least...2000 {
            let clients = FileLimit.clients(wanted: nil, files: files)
            #expect(clients >= 32 && files - clients >= 64)
        }
    }

    @Test func dropsListsBeyondTheLimit() throws {
        let server = try TestServer { $0.maxCommandListSize = 1000 }
        let client = try server.client()
        client.send("command_list_begin\n" + String(repeating: "ping\n", count: 300) + "command_list_end\n")
        #expect(try client.rest() == "")
    }

    @Test func aClientThatDoesNotReadHoldsUpNobody() throws {
        let server = try TestServer()
        let deaf = try server.client()
        deaf.send(String(repeating: "commands\n", count: 20_000))
        let client = try server.client()
        for _ in 0..<50 { #expect(try client.ask("ping") == ["OK"]) }
        // What it asked is still there when it begins to read.
        for _ in 0..<20_000 { #expect(try deaf.reply().last == "OK") }
    }
}
