import MPDProtocol
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Commands against the fixture library, as a client sees them.
@Suite struct CommandTests {
    /// One row a question: what is asked, and the lines that come.
    @Test(arguments: [
        ("list artist", ["Artist: ", "Artist: Alpha", "Artist: Beta", "Artist: Björk", "OK"]),
        ("list album artist Alpha", ["Album: First", "Album: Second", "OK"]),
        ("list album Alpha", ["Album: First", "Album: Second", "OK"]),
        (#"list album "(Artist == 'Björk')""#, ["Album: Odd", "OK"]),
        ("list artist window 1:3", ["Artist: Alpha", "Artist: Beta", "OK"]),
        ("list album artist Alpha window 1:", ["Album: Second", "OK"]),
        ("list album group artist window 2", ["Artist: Beta", "Album: Odd", "OK"]),
        ("list file window 8:", ["file: Beta - \"Odd\"/01 back\\slash.flac", "OK"]),
        ("list artist window 3:1", ["ACK [2@0] {list} Malformed range: 3:1"]),
        ("list artist window", ["ACK [2@0] {list} should be \"Album\" for 3 arguments"]),
        (
            "listfiles Alpha",
            [
                "directory: First", "Last-Modified: 2020-09-13T12:26:40Z", "directory: Second",
                "Last-Modified: 2020-09-13T12:26:40Z", "OK",
            ]
        ),
        ("listfiles nowhere", ["ACK [52@0] {listfiles} Failed to open nowhere: No such file or directory"]),
        ("listfiles \"no  where \"", ["ACK [52@0] {listfiles} Failed to open no where : No such file or directory"]),
        ("listfiles loose.mp3", ["ACK [52@0] {listfiles} Failed to open loose.mp3: Not a directory"]),
        ("listfiles ../x", ["ACK [2@0] {listfiles} Bad relative path"]),
        ("listfiles /etc", ["ACK [4@0] {listfiles} Access to local files via TCP is not allowed"]),
        ("listall /etc", ["ACK [50@0] {listall} No such directory"]),
        ("listall ../x", ["ACK [50@0] {listall} No such directory"]),
        ("listallinfo http://x/y", ["ACK [50@0] {listallinfo} No such directory"]),
        (
            "readcomments Alpha/First/01.flac",
            [
                "ARTIST: Alpha", "ALBUM: First", "ALBUMARTIST: Alpha", "TITLE: First 1", "TRACKNUMBER: 1", "OK",
            ]
        ),
        ("readcomments Alpha", ["ACK [50@0] {readcomments} No such song"]),
        ("readcomments \"\"", ["ACK [2@0] {readcomments} Bad relative path"]),
        ("getfingerprint \"\"", ["ACK [2@0] {getfingerprint} Bad relative path"]),
        ("getfingerprint Alpha/First/01.flac", ["ACK [5@0] {getfingerprint} Decoding failed"]),
        ("getfingerprint nowhere", ["ACK [50@0] {getfingerprint} No such song"]),
        ("stringnormalization available", ["stringnormalization: strip_diacritics", "OK"]),
        ("stringnormalization", ["OK"]),
        ("stringnormalization enable", ["ACK [2@0] {stringnormalization} Not enough arguments"]),
        ("stringnormalization enable x", ["ACK [2@0] {stringnormalization} Unknown string normalization"]),
        ("stringnormalization all x", ["ACK [2@0] {stringnormalization} Too many arguments"]),
        ("stringnormalization x", ["ACK [2@0] {stringnormalization} Unknown sub command"]),
        ("count artist Alpha", ["songs: 7", "playtime: 420", "OK"]),
        (
            "count group albumartist",
            [
                "AlbumArtist: ", "songs: 1", "playtime: 0", "AlbumArtist: Alpha", "songs: 7", "playtime: 420",
                "AlbumArtist: Beta", "songs: 1", "playtime: 61", "AlbumArtist: Björk", "songs: 1", "playtime: 61", "OK",
            ]
        ),
        ("search artist BJÖRK window 5:", ["OK"]),
        ("find nonsense x", ["ACK [2@0] {find} Unknown filter type"]),
        (#"find "(Artist == 'x'""#, ["ACK [2@0] {find} ')' expected"]),
        ("lsinfo nowhere", ["ACK [50@0] {lsinfo} No such directory"]),
        ("lsinfo mpd-client://cantata/2.5.0", ["ACK [2@0] {lsinfo} Unsupported URI scheme"]),
        ("add nowhere", ["ACK [50@0] {add} No such directory"]),
        ("addid Alpha", ["ACK [50@0] {addid} No such song"]),
        ("addid \"\"", ["ACK [2@0] {addid} Bad relative path"]),
        ("albumart \"\" 0", ["ACK [2@0] {albumart} Bad relative path"]),
        ("albumart a:// 0", ["ACK [2@0] {albumart} Unsupported URI scheme"]),
        ("albumart nowhere/ 0", ["ACK [2@0] {albumart} Bad relative path"]),
        ("readpicture loose.mp3/ 0", ["ACK [2@0] {readpicture} Bad relative path"]),
        ("binarylimit 8400896", ["OK"]),
        ("binarylimit 8400897", ["ACK [2@0] {binarylimit} Number too large: 8400897"]),
        ("albumart / 0", ["ACK [4@0] {albumart} Access to local files via TCP is not allowed"]),
        ("readpicture // 0", ["ACK [4@0] {readpicture} Access to local files via TCP is not allowed"]),
        ("readpicture \"\" 0", ["ACK [2@0] {readpicture} Bad relative path"]),
        ("addid loose.mp3 +0", ["ACK [55@0] {addid} No current song"]),
        ("addid loose.mp3 7", ["ACK [2@0] {addid} Number too large: 7"]),
        // The place is looked at before the songs.
        ("add nowhere +0", ["ACK [55@0] {add} No current song"]),
        ("add nowhere 007", ["ACK [2@0] {add} Number too large: 007"]),
        ("add ../x x", ["ACK [2@0] {add} Integer expected: x"]),
        ("add foo://bar/x -0", ["ACK [55@0] {add} No current song"]),
        ("addid nowhere +x", ["ACK [55@0] {addid} No current song"]),
        (#"findadd "(base 'nowhere')" position +0"#, ["ACK [55@0] {findadd} No current song"]),
        ("searchadd nonsense x position 7", ["ACK [2@0] {searchadd} Number too large: 7"]),
        ("searchadd artist x sort nonsense window x position x", ["ACK [2@0] {searchadd} Integer expected: x"]),
        ("searchaddpl list artist x sort nonsense position x", ["ACK [2@0] {searchaddpl} Integer expected: x"]),
        ("load nowhere 0 7", ["ACK [2@0] {load} Number too large: 7"]),
        ("load ../x x", ["ACK [2@0] {load} Bad relative path"]),
        ("load nowhere x y", ["ACK [2@0] {load} Integer or range expected: x"]),
        ("listplaylist ../x x", ["ACK [2@0] {listplaylist} Bad relative path"]),
        ("searchplaylist ../x nonsense x", ["ACK [2@0] {searchplaylist} Bad relative path"]),
        ("searchplaylist list window x", ["ACK [2@0] {searchplaylist} Unknown filter type"]),
        ("outputset 9 \"\" x", ["ACK [50@0] {outputset} No such audio output"]),
        ("count \"(prio >= 1)\"", ["songs: 0", "playtime: 0", "OK"]),
        ("count \"((prio >= 0) AND (artist == 'Alpha'))\"", ["songs: 7", "playtime: 420", "OK"]),
        ("move 0 +x", ["ACK [55@0] {move} No current song"]),
        ("move 0: x", ["ACK [2@0] {move} Open-ended range not supported"]),
        ("moveid 99 x", ["ACK [50@0] {moveid} No such song"]),
        ("move 0 007", ["ACK [2@0] {move} Bad song index"]),
        ("playlistadd list //", ["ACK [50@0] {playlistadd} No such directory"]),
        ("playlistadd list foo://x/y 9", ["ACK [2@0] {playlistadd} Bad position"]),
        ("playlistadd list foo://x/y", ["ACK [2@0] {playlistadd} Unsupported URI scheme"]),
        ("playlistadd list ../x", ["ACK [50@0] {playlistadd} No such directory"]),
        ("delete \"1\t:\"", ["ACK [2@0] {delete} Integer or range expected: 1 :"]),
        ("sticker get \"a\\\"b\\\\c\u{200B}\" x y", [#"ACK [2@0] {sticker} unknown sticker domain "a\"b\\c\u200b""#]),
        ("update ../x", ["ACK [2@0] {update} Malformed path"]),
        ("config", ["ACK [4@0] {config} Command only permitted to local clients"]),
        ("playlistinfo 1", ["ACK [2@0] {playlistinfo} Bad song index"]),
        ("playlistinfo -1", ["OK"]),
        ("plchanges 4294967295", ["OK"]),
        ("playid 77", ["ACK [50@0] {playid} No such song"]),
        ("setvol 101", ["ACK [2@0] {setvol} Number too large: 101"]),
        ("next", ["ACK [55@0] {next} Not playing"]),
    ])
    func answers(_ question: String, _ lines: [String]) throws {
        #expect(try TestServer().client().ask(question) == lines)
    }

    /// MPD loses the format of songs that it sorts.
    @Test(arguments: ["find", "search"])
    func tellsNoFormatOfWhatIsSorted(_ command: String) throws {
        let client = try TestServer().client()
        let records = try client.ask("\(command) artist Alpha")
        #expect(records.contains("Format: 44100:16:2"))
        for order in ["Title", "-Last-Modified", "track window 0:7"] {
            let sorted = try client.ask("\(command) artist Alpha sort \(order)")
            #expect(sorted.sorted() == records.filter { $0 != "Format: 44100:16:2" }.sorted())
        }
    }

    @Test func comparesWithoutDiacritics() throws {
        let client = try TestServer().client()
        #expect(try client.ask("count artist Bjork") == ["songs: 0", "playtime: 0", "OK"])
        #expect(try client.ask("stringnormalization enable STRIP_DIACRITICS") == ["OK"])
        #expect(try client.ask("stringnormalization") == ["stringnormalization: strip_diacritics", "OK"])
        for question in ["count artist Bjork", "searchcount artist BJORK", "count \"(any contains 'jork')\""] {
            #expect(try client.ask(question) == ["songs: 1", "playtime: 61", "OK"])
        }
        #expect(try client.ask("list album artist Bjork") == ["Album: Odd", "OK"])
        #expect(try client.ask("find artist Bjork").count > 1)
        #expect(try client.ask("searchadd artist Bjork") == ["OK"])
        #expect(try client.ask("playlistfind artist Bjork").count > 1)
        #expect(try client.ask("stringnormalization clear") == ["OK"])
        #expect(try client.ask("playlistfind artist Bjork") == ["OK"])
        #expect(try client.ask("stringnormalization all") == ["OK"])
        #expect(try client.ask("stringnormalization disable strip_diacritics") == ["OK"])
        #expect(try client.ask("count artist Bjork") == ["songs: 0", "playtime: 0", "OK"])
    }

    @Test func listsAllForASlash() throws {
        let client = try TestServer().client()
        #expect(try client.ask("listall /") == client.ask("listall"))
        #expect(try client.ask("listallinfo /") == client.ask("listallinfo \"\""))
    }

    /// What is not offered cannot be asked for.
    @Test func hidesTagsThatAreNotOffered() throws {
        let client = try TestServer().client()
        #expect(try client.ask("tagtypes all") == ["OK"])
        #expect(try !client.ask("tagtypes").contains("tagtype: Comment"))
        #expect(try client.ask("tagtypes reset comment title") == ["OK"])
        #expect(try client.ask("tagtypes") == ["tagtype: Title", "OK"])
    }

    @Test func listsFoldersBehindSongs() throws {
        let client = try TestServer().client()
        let names = try client.ask("lsinfo /").filter { $0.hasPrefix("file: ") || $0.hasPrefix("directory: ") }
        #expect(names == ["file: loose.mp3", "directory: Alpha", "directory: Beta - \"Odd\"", "directory: Shelves"])
        #expect(try client.ask(#"lsinfo "Beta - \"Odd\"""#).first == #"file: Beta - "Odd"/01 back\slash.flac"#)
    }

    @Test func addsFoldersInLibraryOrder() throws {
        let client = try TestServer().client()
        #expect(try client.ask("add Alpha/Second") == ["OK"])
        let uris = try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { $0.dropFirst(6) }
        #expect(
            uris == [
                "Alpha/Second/1-01.flac", "Alpha/Second/1-02.flac", "Alpha/Second/2-01.flac", "Alpha/Second/2-02.flac",
            ]
        )
        #expect(try client.ask(#"addid "Alpha/First/01.flac" 0"#) == ["Id: 5", "OK"])
        #expect(try client.ask("playlistid 5").contains("Pos: 0"))
        #expect(try client.ask("playlist").first == "0:file: Alpha/First/01.flac")
    }

    @Test func tagMaskHidesTagsAndSurvivesTheList() throws {
        let client = try TestServer().client()
        client.send("command_list_begin\ntagtypes \"clear\"\ntagtypes enable Title\ncommand_list_end\n")
        #expect(try client.reply() == ["OK"])
        let record = try client.ask("find title \"First 1\"")
        #expect(record.contains("Title: First 1"))
        #expect(!record.contains { $0.hasPrefix("Artist: ") })
        #expect(record.contains("duration: 60.000"))
        #expect(try client.ask("tagtypes") == ["tagtype: Title", "OK"])
        #expect(try client.ask("tagtypes enable Title Nonsense") == ["ACK [2@0] {tagtypes} Unknown tag type"])
    }

    @Test func permissionComesBeforeArguments() throws {
        let server = try TestServer {
            $0.passwords = [PasswordRule(password: Secret("pw"), permissions: [.read])]
        }
        let client = try server.client()
        #expect(try client.ask("play a b c") == [#"ACK [4@0] {play} you don't have permission for "play""#])
        #expect(try client.ask("status") == [#"ACK [4@0] {status} you don't have permission for "status""#])
        #expect(try client.ask("password no") == ["ACK [3@0] {password} incorrect password"])
        #expect(try client.ask("password pw") == ["OK"])
        #expect(try client.ask("status").last == "OK")
        #expect(try client.ask("notcommands").contains("command: play"))
        #expect(try !client.ask("commands").contains("command: play"))
    }

    @Test func everyRowChecksItsArguments() throws {
        let client = try TestServer().client()
        for command in CommandTable.standard.rows {
            if command.arguments.upperBound < .max {
                let words = Array(repeating: "x", count: command.arguments.upperBound + 1).joined(separator: " ")
                #expect(
                    try client.ask("\(command.name) \(words)").first?.hasPrefix("ACK [2@0] {\(command.name)}") == true
                )
            }
            if command.arguments.lowerBound > 0 {
                #expect(try client.ask(command.name).first?.hasPrefix("ACK [2@0] {\(command.name)}") == true)
            }
        }
    }

    /// Some clients take a server whose `uptime` is 0 for another kind of server.
    @Test func theFirstSecondCountsAsOne() throws {
        let uptime = try #require(try TestServer().client().value("uptime", of: "stats").flatMap(Int.init))
        #expect(uptime >= 1)
    }

    @Test func updateGivesItsJob() throws {
        let client = try TestServer().client()
        #expect(try client.ask("update") == ["updating_db: 1", "OK"])
        #expect(try client.value("updating_db", of: "status") == "1")
    }

    /// Requests that come while a job is under way are one job, which has a comparison of its own.
    @Test func updatesThatWaitAreAskedForWhenTheirJobBegins() throws {
        let server = try TestServer()
        let (client, listener) = try (server.client(), server.client())
        let asked = Mutex<[Bool]>([])
        let core = server.core
        #expect(try client.ask("ping") == ["OK"])
        core.post { server in
            server.requestSync = { rescans in
                asked.withLock { asked in
                    asked.append(rescans)
                    return UInt64(asked.count)
                }
            }
        }
        listener.send("idle database\n")
        for (command, job) in [("update", 1), ("update", 2), ("rescan", 3), ("update", 4)] {
            #expect(try client.ask(command) == ["updating_db: \(job)", "OK"])
        }
        #expect(asked.withLock { $0 } == [false])
        core.post { server in server.syncEnded(server.active, didChange: false, through: 1) }
        #expect(waitUntil { asked.withLock { $0 } == [false, true] })
        // Who waits for a later number sees a smaller one, and waits on.
        #expect(try client.value("updating_db", of: "status") == "2")
        core.post { server in server.syncEnded(server.active, didChange: false, through: 2) }
        #expect(try listener.reply() == ["changed: database", "OK"])
        #expect(try client.value("updating_db", of: "status") == nil)
        #expect(try client.ask("update") == ["updating_db: 5", "OK"])
        #expect(asked.withLock { $0 } == [false, true, false])
    }
}
