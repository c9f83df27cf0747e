import MPDProtocol
import Support
import Testing

@testable import ShelvMPD

/// `shelv_queue` and what `shelvmpd queue` makes of it.
@Suite struct QueueOverviewTests {
    @Test func eachEntryHasItsSection() throws {
        let client = try TestServer().client()
        for line in ["add Alpha/First", "play 1", "random 1", "add loose.mp3", "addid loose.mp3 +0"] {
            #expect(try client.ask(line).last == "OK")
        }
        let lines = try client.ask("shelv_queue")
        #expect(
            lines.filter { $0.hasPrefix("Section: ") } == [
                "Section: history", "Section: current", "Section: play_next", "Section: album_queue",
                "Section: user_queue",
            ]
        )
        #expect(lines.filter { $0 == "Loose: 1" }.count == 1)
        #expect(lines.filter { !$0.hasPrefix("Section: ") && !$0.hasPrefix("Loose: ") }.count > 20)
        let overview = QueueOverview(reply: lines.dropLast().map { Array($0.utf8) }, status: [])
        #expect(
            overview.text.hasSuffix(
                """
                Current (stopped)
                  1  2  Alpha – First 2
                Play Next
                  2  5  loose.mp3  [prio 1]
                Album queue
                  3  3  Alpha – First 3
                User queue
                  4  4  loose.mp3  [not dealt yet]

                """
            )
        )
        let refused = try client.ask("shelv_queue 1").last
        #expect(refused == "ACK [2@0] {shelv_queue} wrong number of arguments for \"shelv_queue\"")
    }

    @Test func itIsFetchedWithThePasswordOfTheConfiguration() throws {
        let rule = PasswordRule(password: Secret("a \"b\\"), permissions: [.read])
        let server = try TestServer { $0.passwords = [rule] }
        var configuration = Configuration()
        configuration.addresses = [.unix(path: "/nowhere/socket"), .host("127.0.0.1", port: UInt16(server.port))]
        let text = "the server says: you don't have permission for \"shelv_queue\""
        #expect(throws: ServerConnectionError(text, isRefusal: true)) { try QueueOverview.fetch(by: configuration) }
        configuration.passwords = [rule]
        #expect(try QueueOverview.fetch(by: configuration).text == "The queue is empty.\n")
    }
}
