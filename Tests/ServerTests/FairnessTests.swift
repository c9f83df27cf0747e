import Support
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
}
