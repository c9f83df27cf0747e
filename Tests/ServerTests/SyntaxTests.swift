import Support
import Testing

/// Requests over a socket: what is answered, and what closes the connection.
@Suite struct SyntaxTests {
    @Test func greetsBeforeAnythingIsAsked() throws {
        let server = try TestServer()
        #expect(try server.client().greeting == "OK MPD 0.24.0")
    }

    @Test func answersPipelinedRequestsInOrder() throws {
        let client = try TestServer().client()
        client.send("ping\nnonsense\nping 1\nsetvol x\nping\r\n")
        #expect(try client.reply() == ["OK"])
        #expect(try client.reply() == [#"ACK [5@0] {} unknown command "nonsense""#])
        #expect(try client.reply() == [#"ACK [2@0] {ping} wrong number of arguments for "ping""#])
        #expect(try client.reply() == ["ACK [2@0] {setvol} Integer expected: x"])
        #expect(try client.reply() == ["OK"])
    }

    @Test(arguments: ["PING\n", " ping\n", "\n", "GET / HTTP/1.1\r\n", "\u{0}\u{1}\n", "1\n", "\"ping\"\n"])
    func closesOnWhatNoClientSays(_ line: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("ping\n" + line + "ping\n")
        #expect(try client.rest() == "OK\n")
        #expect(try server.client().ask("ping") == ["OK"])
    }

    @Test func runsCommandListsAsOneAnswer() throws {
        let client = try TestServer().client()
        client.send("command_list_ok_begin\nping\nping\ncommand_list_end\n")
        #expect(try client.reply() == ["list_OK", "list_OK", "OK"])
        client.send("command_list_begin\nping\nping 1\nping\ncommand_list_end\nping\n")
        #expect(try client.reply() == [#"ACK [2@1] {ping} wrong number of arguments for "ping""#])
        #expect(try client.reply() == ["OK"])
    }

    @Test func closeEndsAListWithoutFurtherWords() throws {
        let client = try TestServer().client()
        client.send("command_list_ok_begin\nping\nclose\nping\ncommand_list_end\nping\n")
        #expect(try client.rest() == "list_OK\n")
    }

    @Test func answersAClientThatHasStoppedSending() throws {
        let client = try TestServer().client()
        client.send("ping\ngetvol\n")
        client.finishSending()
        #expect(try client.rest() == "OK\nvolume: 100\nOK\n")
    }

    @Test func tellsEveryIdleClientOnce() throws {
        let server = try TestServer()
        let clients = try (0..<5).map { _ in try server.client() }
        for client in clients { client.send("idle mixer\n") }
        // The requests of one connection are handled before those that come later on another.
        #expect(try server.client().ask("setvol 40") == ["OK"])
        for client in clients {
            #expect(try client.reply() == ["changed: mixer", "OK"])
            #expect(try client.ask("ping") == ["OK"])
        }
    }

    @Test func keepsEventsBetweenTwoIdles() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("random 1") == ["OK"])
        #expect(try client.ask("setvol 3") == ["OK"])
        client.send("idle mixer\n")
        #expect(try client.reply() == ["changed: mixer", "OK"])
        client.send("idle\n")
        #expect(try client.reply() == ["changed: options", "OK"])
        client.send("idle\nnoidle\n")
        #expect(try client.reply() == ["OK"])
        client.send("noidle\nping\n")
        #expect(try client.reply() == ["OK"])
    }

    @Test func idleEndsAList() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("command_list_ok_begin\nping\nidle mixer\nsetvol 3\ncommand_list_end\n")
        #expect(try server.client().ask("getvol") == ["volume: 100", "OK"])
        #expect(try server.client().ask("setvol 40") == ["OK"])
        #expect(try client.reply() == ["list_OK", "changed: mixer", "OK"])
        #expect(try client.ask("getvol") == ["volume: 40", "OK"])

        // What is pending is told at once.
        #expect(try server.client().ask("setvol 50") == ["OK"])
        client.send("command_list_begin\nidle mixer\nsetvol 3\ncommand_list_end\n")
        #expect(try client.reply() == ["changed: mixer", "OK"])
        #expect(try client.ask("getvol") == ["volume: 50", "OK"])

        client.send("command_list_ok_begin\nping\nidle mixer x\nsetvol 3\ncommand_list_end\n")
        #expect(try client.reply() == ["list_OK", "ACK [2@1] {idle} Unrecognized idle event: x"])
        client.send("command_list_begin\nidle mixer\ncommand_list_end\nnoidle\nping\n")
        #expect(try client.reply() == ["OK"])
        #expect(try client.reply() == ["OK"])
        client.send("command_list_begin\nidle mixer\ncommand_list_end\nping\n")
        #expect(try client.rest() == "")
    }

    @Test func whileIdleOnlyNoidleIsLegal() throws {
        let client = try TestServer().client()
        client.send("idle\nping\n")
        #expect(try client.rest() == "")
    }
}
