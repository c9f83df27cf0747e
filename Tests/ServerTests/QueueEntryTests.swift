import Library
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// The search in the queue, parts of songs, tags of entries, and the options of the sound, as clients see them.
@Suite struct QueueEntryTests {
    /// Second, then First, of the fixture; First's last song has a priority.
    private static func client() throws -> MPDTestClient {
        let client = try TestServer { $0.queueMode = .mpd }.client()
        for command in ["add Alpha/Second", "add Alpha/First", "prio 7 6"] {
            #expect(try client.ask(command) == ["OK"])
        }
        return client
    }

    private static func positions(_ question: String) throws -> [String] {
        try client().ask(question).compactMap { line in
            if line.hasPrefix("Pos: ") { return String(line.dropFirst(5)) }
            return line.hasPrefix("ACK") ? line : nil
        }
    }

    @Test(
        arguments: [
            ("playlistfind title \"First 2\"", ["5"]),
            ("playlistfind title \"first 2\"", []),
            ("playlistsearch title \"first 2\"", ["5"]),
            ("playlistsearch any FIRST", ["4", "5", "6"]),
            ("playlistfind \"(base 'Alpha/Second')\"", ["0", "1", "2", "3"]),
            ("playlistfind \"(base 'nowhere')\"", []),
            ("playlistfind \"(prio >= 1)\"", ["6"]),
            ("playlistfind \"((Album == 'First') AND (!(prio >= 1)))\"", ["4", "5"]),
            ("playlistfind artist Alpha sort -track", ["6", "1", "3", "5", "0", "2", "4"]),
            ("playlistfind artist Alpha sort prio", ["0", "1", "2", "3", "4", "5", "6"]),
            ("playlistfind artist Alpha sort -prio window 0:2", ["6", "0"]),
            ("playlistfind album First window 1:2", ["5"]),
            ("playlistfind album First window 7:", []),
            ("playlistfind album First window 8:", ["ACK [2@0] {playlistfind} Bad song index"]),
            ("playlistfind album First sort title window 3:", []),
            ("playlistfind album First sort title window 4:", ["ACK [2@0] {playlistfind} Bad song index"]),
            ("playlistfind album First sort nonsense", ["ACK [2@0] {playlistfind} Unknown sort tag"]),
            ("playlistfind title", ["ACK [2@0] {playlistfind} Incorrect number of filter arguments"]),
            ("playlistsearch", ["ACK [2@0] {playlistsearch} too few arguments for \"playlistsearch\""]),
        ] as [(String, [String])]
    )
    func finds(_ question: String, _ wanted: [String]) throws {
        #expect(try Self.positions(question) == wanted)
    }

    @Test func findsInLargeQueuesOnAWorker() throws {
        let client = try TestServer().client()
        client.send("command_list_begin\n" + String(repeating: "add Alpha\n", count: 400) + "command_list_end\n")
        #expect(try client.reply() == ["OK"])
        #expect(try client.ask("playlistfind title \"First 2\"").count { $0.hasPrefix("file: ") } == 400)
        #expect(
            try client.ask("playlistsearch title first sort -track window 799:801").filter { $0.hasPrefix("Pos: ") }
                == ["Pos: 2794", "Pos: 0"]
        )
    }

    @Test(arguments: [
        ("rangeid 1 10:15", ["Range: 10.000-15.000", "Time: 5", "duration: 5.000"]),
        ("rangeid 1 2.5:", ["Range: 2.500-", "Time: 58", "duration: 57.500"]),
        ("rangeid 1 :7.125", ["Range: 0.000-7.125", "Time: 7", "duration: 7.125"]),
        ("rangeid 1 5:60", ["Range: 5.000-", "Time: 55", "duration: 55.000"]),
        ("rangeid 1 0:60", ["Time: 60", "duration: 60.000"]),
        ("rangeid 1 :", ["Time: 60", "duration: 60.000"]),
    ])
    func choosesParts(_ command: String, _ wanted: [String]) throws {
        let client = try Self.client()
        #expect(try client.ask("rangeid 1 3:4") == ["OK"])
        #expect(try client.ask(command) == ["OK"])
        let lines = try client.ask("playlistinfo 0").filter { line in
            ["Range: ", "Time: ", "duration: "].contains { line.hasPrefix($0) }
        }
        #expect(lines == wanted)
        #expect(try client.ask("plchangesposid 4") == ["cpos: 0", "Id: 1", "OK"])
    }

    @Test(arguments: [
        ("rangeid 1 61:", "ACK [2@0] {rangeid} Invalid start offset"),
        ("rangeid 1 5:4", "ACK [2@0] {rangeid} Bad range"),
        ("rangeid 99 1:2", "ACK [50@0] {rangeid} No such song"),
        ("addtagid 1 title x", "ACK [4@0] {addtagid} Cannot edit tags of local file"),
        ("addtagid 99 title x", "ACK [50@0] {addtagid} No such song"),
        ("addtagid 99 nonsense x", "ACK [2@0] {addtagid} Unknown tag type: nonsense"),
        ("cleartagid 1", "ACK [4@0] {cleartagid} Cannot edit tags of local file"),
        ("cleartagid 1 nonsense", "ACK [2@0] {cleartagid} Unknown tag type: nonsense"),
        ("cleartagid 99 title", "ACK [50@0] {cleartagid} No such song"),
        ("mixrampdb abc", "ACK [2@0] {mixrampdb} Float expected: abc"),
        ("crossfade -5", "ACK [2@0] {crossfade} Number too large: -5"),
        ("replay_gain_mode TRACK", "ACK [2@0] {replay_gain_mode} Unrecognized replay gain mode"),
    ])
    func refuses(_ command: String, _ wanted: String) throws {
        #expect(try Self.client().ask(command) == [wanted])
    }

    @Test func showsTheOptionsOfTheSound() throws {
        let client = try TestServer().client()
        for command in ["crossfade 5", "mixrampdb -3.5", "mixrampdelay 1.5"] {
            #expect(try client.ask(command) == ["OK"])
        }
        let status = try client.ask("status")
        #expect(status.contains("xfade: 5"))
        #expect(status.contains("mixrampdb: -3.5"))
        #expect(status.contains("mixrampdelay: 1.5"))
        // A short number, kept as a long one.
        #expect(try client.ask("mixrampdelay 0.1") == ["OK"])
        #expect(try client.ask("status").contains("mixrampdelay: 0.10000000149011612"))
        for command in ["crossfade 0", "mixrampdelay nan"] { #expect(try client.ask(command) == ["OK"]) }
        #expect(try !client.ask("status").contains { $0.hasPrefix("xfade") || $0.hasPrefix("mixrampdelay") })
    }

    /// Unlike `random` and the others these are told each time, also when nothing has changed.
    @Test(arguments: ["crossfade 0", "mixrampdb 0", "mixrampdelay 0", "replay_gain_mode off"])
    func optionsOfTheSoundAreAlwaysTold(_ command: String) throws {
        let server = try TestServer()
        let (listener, client) = try (server.client(), server.client())
        listener.send("idle options\n")
        #expect(try client.ask("random 0") == ["OK"])
        #expect(try client.ask(command) == ["OK"])
        #expect(try listener.reply() == ["changed: options", "OK"])
    }
}
