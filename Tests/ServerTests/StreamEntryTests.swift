import Library
import Playback
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// Entries that are URLs, as clients see them. What is expected here is what mpd 0.23.12 answered, where nothing else is said.
@Suite struct StreamEntryTests {
    private static func client() throws -> MPDTestClient { try TestServer { $0.queueMode = .mpd }.client() }

    private static let radio = "http://127.0.0.1:1/x.mp3"

    @Test(
        arguments: [
            ("addid \(radio)", ["Id: 1", "OK"]), ("add \(radio)", ["OK"]), ("addid HTTPS://h/z", ["Id: 1", "OK"]),
            ("add foo://bar/x", ["ACK [2@0] {add} Unsupported URI scheme"]),
            ("addid foo://bar/x", ["ACK [2@0] {addid} Unsupported URI scheme"]),
            ("addid \" http://lead\"", ["ACK [2@0] {addid} Unsupported URI scheme"]),
            ("add lavf://file:/etc/passwd", ["ACK [2@0] {add} Unsupported URI scheme"]),
            ("add edl://x", ["ACK [2@0] {add} Unsupported URI scheme"]),
            ("add FILE:///etc/passwd", ["ACK [4@0] {add} Access to local files via TCP is not allowed"]),
            ("addid file://etc", ["ACK [2@0] {addid} Malformed file:// URI"]),
            ("add HTTP:/x", ["ACK [50@0] {add} No such directory"]),
            ("add mailto:x", ["ACK [50@0] {add} No such directory"]),
            ("add \(radio) 99", ["ACK [2@0] {add} Number too large: 99"]),
            ("addid \(radio) +0", ["ACK [55@0] {addid} No current song"]),
        ] as [(String, [String])]
    )
    func adds(_ command: String, _ wanted: [String]) throws {
        #expect(try Self.client().ask(command) == wanted)
    }

    @Test func handlersAreWhatCanBeAdded() throws {
        let client = try Self.client()
        let handlers = try client.ask("urlhandlers").dropLast().map { $0.dropFirst("handler: ".count) }
        #expect(handlers.contains("http://") && handlers.contains("https://"))
        for handler in handlers { #expect(try client.ask("add \(handler)host/x") == ["OK"]) }
    }

    @Test func standsWhereItWasPut() throws {
        let client = try Self.client()
        for command in ["add Alpha/First", "add \(Self.radio) 1", "prioid 9 4", "move 1 0"] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(try client.ask("playlistinfo 0") == ["file: \(Self.radio)", "Pos: 0", "Id: 4", "Prio: 9", "OK"])
        #expect(try client.ask("playlist").first == "0:file: \(Self.radio)")
    }

    @Test(
        arguments: [
            ("http://user:pw@127.0.0.1:1/y.mp3", "http://127.0.0.1:1/y.mp3"), ("http://a/b@c", "http://a/b@c"),
            ("http://user:pw@h?x=@", "http://h?x=@"), ("http://u:p@", "http://"), ("http://", "http://"),
            // MPD ends at the first "@" and shows the rest of the password.
            ("http://user:a@b@c/d", "http://c/d"),
        ]
    )
    func passwordsAreNotShown(_ uri: String, _ shown: String) throws {
        let client = try Self.client()
        #expect(try client.ask("add \"\(uri)\"") == ["OK"])
        #expect(try client.ask("playlistinfo").first == "file: \(shown)")
        #expect(try client.ask("playlist").first == "0:file: \(shown)")
    }

    // MARK: Tags

    @Test func eachEntryHasItsOwnTags() throws {
        let server = try TestServer { $0.queueMode = .mpd }
        let (client, listener) = try (server.client(), server.client())
        for command in ["add \(Self.radio)", "add \(Self.radio)"] { #expect(try client.ask(command) == ["OK"]) }
        let version = try client.value("playlist", of: "status").flatMap { Int($0) } ?? 0
        let edits = [
            "addtagid 1 Title hello", "addtagid 1 title \"second\"", "addtagid 1 Artist \"A\tB\"",
            "addtagid 1 Artist \"\"", "addtagid 1 artist \"  sp  \"", "addtagid 1 comment co", "addtagid 1 Genre \"é\"",
            "addtagid 1 Track 05/9",
        ]
        for edit in edits {
            listener.send("idle\n")
            #expect(try client.ask(edit) == ["OK"])
            #expect(try listener.reply() == ["changed: playlist", "OK"])
        }
        let record = [
            "file: \(Self.radio)", "Title: hello", "Title: second", "Artist: A B", "Artist:   sp  ", "Genre: é",
            "Track: 05/9", "Pos: 0", "Id: 1", "OK",
        ]
        #expect(try client.ask("playlistid 1") == record)
        #expect(try client.ask("playlistid 2") == ["file: \(Self.radio)", "Pos: 1", "Id: 2", "OK"])
        // What changes nothing counts, too.
        #expect(try client.value("playlist", of: "status") == "\(version + edits.count)")
        #expect(try client.ask("plchangesposid \(version)") == ["cpos: 0", "Id: 1", "OK"])

        #expect(try client.ask("tagtypes disable title genre") == ["OK"])
        #expect(
            try client.ask("playlistid 1")
                == ["file: \(Self.radio)", "Artist: A B", "Artist:   sp  ", "Track: 05/9", "Pos: 0", "Id: 1", "OK"]
        )
        #expect(try client.ask("cleartagid 1 artist") == ["OK"])
        #expect(try client.ask("tagtypes all") == ["OK"])
        #expect(
            try client.ask("playlistid 1")
                == [
                    "file: \(Self.radio)", "Title: hello", "Title: second", "Genre: é", "Track: 05/9", "Pos: 0",
                    "Id: 1", "OK",
                ]
        )
        #expect(try client.ask("cleartagid 1") == ["OK"])
        #expect(try client.ask("cleartagid 1") == ["OK"])
        #expect(try client.ask("playlistid 1") == ["file: \(Self.radio)", "Pos: 0", "Id: 1", "OK"])
        #expect(try client.value("playlist", of: "status") == "\(version + edits.count + 3)")
    }

    @Test(arguments: [
        ("addtagid 1 Foo x", "ACK [2@0] {addtagid} Unknown tag type: Foo"),
        ("addtagid 99 Foo x", "ACK [2@0] {addtagid} Unknown tag type: Foo"),
        ("addtagid 99 Title x", "ACK [50@0] {addtagid} No such song"),
        ("addtagid abc Title x", "ACK [2@0] {addtagid} Integer expected: abc"),
        ("addtagid -1 Title x", "ACK [2@0] {addtagid} Number too large: -1"),
        ("cleartagid 99", "ACK [50@0] {cleartagid} No such song"),
        ("cleartagid 1 foo", "ACK [2@0] {cleartagid} Unknown tag type: foo"),
    ])
    func refuses(_ command: String, _ wanted: String) throws {
        let client = try Self.client()
        #expect(try client.ask("add \(Self.radio)") == ["OK"])
        #expect(try client.ask(command) == [wanted])
    }

    @Test func playsAndShowsParts() throws {
        let server = try TestServer { $0.queueMode = .mpd }
        let client = try server.client()
        #expect(try client.ask("add \"http://h/a b\"") == ["OK"])
        #expect(try client.ask("rangeid 1 2.5:4") == ["OK"])
        #expect(
            try client.ask("playlistinfo")
                == [
                    "file: http://h/a b", "Range: 2.500-4.000", "Time: 2", "duration: 1.500", "Pos: 0", "Id: 1", "OK",
                ]
        )
        #expect(try client.ask("rangeid 1 3:") == ["OK"])
        #expect(
            try client.ask("playlistinfo") == ["file: http://h/a b", "Range: 3.000-", "Pos: 0", "Id: 1", "OK"]
        )
        #expect(try client.ask("play") == ["OK"])
        let source = try #require(server.player.source(PlaybackID(1)))
        #expect(source.stream?.url == "http://h/a%20b")
        #expect(source.start == .seconds(3))
    }

    @Test func whatLeavesTheQueueIsForgotten() throws {
        let library = try LibraryBuilder().build(info: LibraryInfo(serverID: "s", serverName: "s"), file: nil)
        let table = SongTable(library: library)
        let kept = table.key(for: StreamSong(uri: Array("http://h/kept".utf8)))
        #expect(table.key(for: StreamSong(uri: Array("http://h/kept".utf8))) == kept)
        for number in 0..<1_500 { _ = table.key(for: StreamSong(uri: Array("http://h/\(number)".utf8))) }
        #expect(table.hasManyStreams)
        table.forgetStreams(except: [kept])
        #expect(!table.hasManyStreams)
        #expect(table.uri(of: kept) == Array("http://h/kept".utf8))
        let next = table.key(for: StreamSong(uri: Array("http://h/7".utf8)))
        #expect(table.song(next) != nil && next != kept)
    }
}

// MARK: Searching

extension StreamEntryTests {
    @Test(
        arguments: [
            ("playlistfind title \"Évening News\"", ["0"]), ("playlistfind title \"évening news\"", []),
            ("playlistsearch title \"ÉVENING\"", ["0"]), ("playlistsearch any second", ["0"]),
            ("playlistfind \"(AlbumArtist == 'Speaker')\"", ["0"]), ("playlistfind \"(Album == '')\"", ["0", "1"]),
            ("playlistfind \"(Title != 'x')\"", ["0", "1"]), ("playlistfind \"(Title =~ '^.v')\"", ["0"]),
            ("playlistfind \"(base 'http://u:pw@h/dir')\"", ["0"]), ("playlistfind \"(base 'http://h')\"", ["1"]),
            ("playlistfind \"(file == 'http://u:pw@h/dir/x.mp3')\"", ["0"]),
            ("playlistfind \"(file == 'http://h/dir/x.mp3')\"", []),
            ("playlistfind \"(modified-since '2001-01-01')\"", []),
            ("playlistfind \"((Title == 'Évening News') AND (prio >= 1))\"", []),
            ("playlistfind \"(!(prio >= 1))\"", ["0"]),
        ] as [(String, [String])]
    )
    func finds(_ question: String, _ wanted: [String]) throws {
        let client = try Self.client()
        let commands = [
            "add http://u:pw@h/dir/x.mp3", "add http://h/y.mp3", "addtagid 1 Title \"Évening News\"",
            "addtagid 1 Artist Speaker", "addtagid 1 Artist Second", "prioid 3 2",
        ]
        for command in commands { #expect(try client.ask(command) == ["OK"]) }
        let found = try client.ask(question).filter { $0.hasPrefix("Pos: ") || $0.hasPrefix("ACK") }
        #expect(found == wanted.map { "Pos: \($0)" })
    }

    // MARK: What streams tell

    /// Starts the first entry, a URL, and says that it sounds.
    private static func playing(_ commands: [String] = []) throws -> (TestServer, MPDTestClient, PlaybackID) {
        let server = try TestServer { $0.queueMode = .mpd }
        let client = try server.client()
        for command in ["add \(radio)"] + commands + ["play"] { #expect(try client.ask(command) == ["OK"]) }
        let id = PlaybackID(1)
        server.player.report(.started(id))
        // Its event belongs to nobody who comes later.
        let gate = TestGate()
        server.core.post { _ in gate.open() }
        gate.wait(timeout: 10_000)
        return (server, client, id)
    }

    @Test func whatAStreamTellsTakesThePlaceOfItsTags() throws {
        let (server, client, id) = try Self.playing(["addtagid 1 Artist mine", "addtagid 1 Title mine"])
        let listener = try server.client()
        _ = try client.ask("status")
        listener.send("idle player playlist\n")
        server.player.report(
            .tags(id, [StreamTag("icy-name", "Radio"), StreamTag("icy-title", "A - B"), StreamTag("title", "other")])
        )
        #expect(try listener.reply() == ["changed: playlist", "changed: player", "OK"])
        let record = ["file: \(Self.radio)", "Title: A - B", "Name: Radio", "Pos: 0", "Id: 1", "OK"]
        #expect(try client.ask("currentsong") == record)
        let version = try client.value("playlist", of: "status")
        // The same once more is no news.
        server.player.report(.tags(id, [StreamTag("icy-name", "Radio"), StreamTag("icy-title", "A - B")]))
        server.player.report(.tags(PlaybackID(77), [StreamTag("icy-title", "late")]))
        #expect(try client.value("playlist", of: "status") == version)
        // They stay when it ends, and can be added to.
        #expect(try client.ask("stop") == ["OK"])
        #expect(try client.ask("addtagid 1 Title again") == ["OK"])
        #expect(
            try client.ask("playlistinfo")
                == ["file: \(Self.radio)", "Title: A - B", "Name: Radio", "Title: again", "Pos: 0", "Id: 1", "OK"]
        )
    }

    @Test func aLiveStreamCannotBeMovedIn() throws {
        let (server, client, id) = try Self.playing(["add http://h/other"])
        server.player.report(.seekable(id, false))
        #expect(try client.ask("status").last == "OK")
        _ = server.player.takeCalls()
        #expect(try client.ask("seekcur 10") == ["ACK [5@0] {seekcur} Not seekable"])
        #expect(try client.ask("seek 0 3") == ["ACK [5@0] {seek} Not seekable"])
        #expect(try client.ask("seekid 1 3") == ["ACK [5@0] {seekid} Not seekable"])
        #expect(try client.value("error", of: "status") == "Not seekable")
        #expect(server.player.takeCalls() == [])
        #expect(try client.ask("seek 1 3") == ["OK"])
    }

    @Test func aStreamHasNoLengthUntilItIsTold() throws {
        let (server, client, id) = try Self.playing()
        var status = try client.ask("status")
        #expect(!status.contains { $0.hasPrefix("duration") })
        #expect(status.contains { $0.hasPrefix("time: ") && $0.hasSuffix(":0") })
        server.player.report(.duration(id, .milliseconds(8_045)))
        status = try client.ask("status")
        #expect(status.contains("duration: 8.045"))
    }
}
