import MPDProtocol
import Support
import Testing

@testable import ShelvMPD

/// What `shelvmpd import` reads of an mpd, and how it finds songs.
@Suite struct ImportTests {
    private func song(
        _ uri: String,
        _ artist: String = "",
        _ album: String = "",
        _ title: String = "",
        _ track: String = "",
        _ seconds: Double? = nil
    ) -> OldSong {
        OldSong(uri: uri, artist: artist, album: album, title: title, track: track, seconds: seconds)
    }

    @Test func songsAreFoundOrLeftAlone() {
        let matcher = SongMatcher([
            song("Alpha/First/01 - One.flac", "Alpha", "First", "One", "1", 200),
            song("Alpha/Second/01 - One.flac", "Alpha", "Second", "One", "1", 100),
            song("Béta/Únique/07 Seven.mp3", "Béta", "Únique", "Seven", "7", 70),
            song("x/Gamma/Live/03.ogg", "Gamma", "Live", "Three", "3", 30),
            song("y/Gamma/Live/03.ogg", "Gamma", "Live", "Three", "3", 40),
            song("Epsilon/Hits/CD 1/07 - Eight.flac", "Epsilon", "Hits", "Eight", "7", 50),
            song("Zeta/CD 2/07 - Eight.flac", "Zeta", "CD 2", "Eight", "7", 50),
        ])
        let table: [(OldSong, String?, SongMatcher.Way?)] = [
            (song("Alpha/First/01 - One.flac"), "Alpha/First/01 - One.flac", .path),
            (song("music/alpha/first/01 - One.mp3"), "Alpha/First/01 - One.flac", .tail),
            (song("Be\u{301}ta/U\u{301}nique/07 Seven.flac"), "Béta/Únique/07 Seven.mp3", .tail),
            (song("old/1.mp3", "alpha", "SECOND", "One", "01/10"), "Alpha/Second/01 - One.flac", .tags),
            (song("old/1.mp3", "Alpha", "", "One", "", 99), "Alpha/Second/01 - One.flac", .title),
            (song("old/1.mp3", "Alpha", "", "One"), nil, nil),
            (song("old/7.mp3", "Béta", "Best of", "Seven", "1"), "Béta/Únique/07 Seven.mp3", .title),
            (song("07 Seven.opus"), "Béta/Únique/07 Seven.mp3", .file),
            (song("Gamma/Live/03.ogg"), nil, nil),
            (song("z/03.ogg", "Gamma", "Live", "Three", "3", 41), "y/Gamma/Live/03.ogg", .tags),
            (song("nothing.flac"), nil, nil),
            // Tags that say something else are believed more than the end of a path.
            (song("Nobody/First/01 - One.flac", "Nobody", "First", "A wholly other song", "1"), nil, nil),
            (song("Nobody/First/01 - One.flac", "Nobody", "First", "One", "1"), nil, nil),
            (song("Alpha/First/01 - One.flac", "Alpha", "First", "Une", "1"), "Alpha/First/01 - One.flac", .path),
            (song("07 Seven.opus", "Delta"), nil, nil),
            (song("p/First/01 - One.mp3", "The ALPHA", "", "One (live)"), "Alpha/First/01 - One.flac", .tail),
            (song("p/First/01 - One.mp3", "?", "", "?"), "Alpha/First/01 - One.flac", .tail),
            // Folders of one disc are called alike everywhere.
            (song("p/CD 1/07 - Eight.mp3"), nil, nil),
        ]
        for (old, uri, way) in table {
            let match = matcher.match(old)
            #expect(match?.uri == uri && match?.way == way, "\(old)")
        }
    }

    @Test func filesOfAnMPDAreRead() throws {
        let state = """
            sw_volume: 50
            mount_begin
            uri: nas
            mount_end
            state: play
            random: 1
            repeat: 0
            single: 2
            crossfade: 5
            mixrampdb: 0.000000
            mixrampdelay: -1.000000
            playlist_begin
            0:a/b: c.flac
            Prio: 7
            song_begin: http://radio/x
            Title: News
            mtime: 5
            song_end
            2:/music/d.mp3
            song_begin: e.mp3
            Range: 1500-20000
            song_end
            playlist_end
            3:after.mp3
            partition: kitchen
            consume: 1
            playlist_begin
            0:f.mp3
            song_begin: g.mp3
            Range: 500-
            song_end
            playlist_end
            partition: empty
            random: 0
            """
        let old = OldState(Array(state.utf8), folder: "/music")
        #expect(old.mounts == 1 && old.rooms.map(\.name) == ["default", "kitchen"])
        let queue = try #require(old.rooms.first?.entries)
        #expect(queue.map(\.song.uri) == ["a/b: c.flac", "http://radio/x", "d.mp3", "e.mp3"])
        #expect(queue.map(\.priority) == [0, 7, 0, 0] && queue[1].song.title == "News")
        #expect(queue[1].tags == [OldState.Tag(name: "Title", value: "News")])
        #expect(queue[3].start == 1500 && queue[3].end == 20_000)
        #expect(old.rooms[0].options.map { "\($0.name) \($0.value)" } == ["random 1", "single oneshot", "crossfade 5"])
        #expect(old.rooms[1].options.map(\.name) == ["consume"] && old.rooms[1].entries[1].end == nil)
        #expect(old.rooms[1].entries[1].hasRange && !old.rooms[1].entries[0].hasRange)
        let list = "\u{FEFF}#EXTM3U\r\n#EXTINF:12,Alpha - One - Two\r\n/music/a/1.flac\r\n\r\n./b.mp3\n"
        let songs = OldCollection.playlist(Array(list.utf8), folder: "/music")
        #expect(
            songs == [
                OldSong(uri: "a/1.flac", artist: "Alpha", title: "One - Two", seconds: 12), OldSong(uri: "b.mp3"),
            ]
        )
        let database = """
            info_begin
            format: 2
            info_end
            directory: Alpha
            mtime: 1
            begin: Alpha
            directory: First
            begin: Alpha/First
            song_begin: 01.flac
            Time: 2.5
            Artist: A
            Artist: B
            Title: One: Two
            song_end
            end: Alpha/First
            song_begin: loose.flac
            Title: Loose
            song_end
            end: Alpha
            song_begin: top.flac
            song_end
            """
        let tags = OldCollection.tags(Array(database.utf8))
        #expect(tags.keys.sorted() == ["Alpha/First/01.flac", "Alpha/loose.flac", "top.flac"])
        #expect(tags["Alpha/First/01.flac"]?.artist == "A" && tags["Alpha/First/01.flac"]?.title == "One: Two")
        #expect(tags["Alpha/First/01.flac"]?.seconds == 2.5)
    }

    @Test func aCommandIsOneLine() throws {
        let server = try TestServer()
        let client = try server.client()
        _ = try client.ask("add \"\"")
        let count = try client.ask("playlistinfo").count
        var configuration = Configuration()
        configuration.addresses = [.host("127.0.0.1", port: UInt16(server.port))]
        let connection = try ServerConnection(configuration)
        for text in ["a\nclear\nb", "a\r\nclear", "a\u{0}b", String(repeating: "ä", count: 5000)] {
            #expect(throws: ServerConnectionError.self) {
                try connection.ask("find Title \(ServerConnection.quoted(text))")
            }
        }
        #expect(try connection.ask("find Title \(ServerConnection.quoted("a\rb\tc"))").isEmpty)
        #expect(try client.ask("playlistinfo").count == count && count > 1)
    }

    @Test func stickersAreCalledAsHere() {
        let table: [(name: String, value: String, scale: Int, result: String?)] = [
            ("rating", "8", 10, "rating=8"), ("rating", "4", 5, "rating=8"), ("Rating", "0", 10, nil),
            ("rating", "x", 10, "?"), ("rating", "nan", 10, "?"), ("stars", "2.5", 10, "rating=5"),
            ("rating", "-3", 10, "?"), ("rating", "****", 10, "?"), ("lastPlayed", "2024-01-02", 10, "?"),
            ("playCount", "3.0", 10, "playCount=3"), ("playCount", "0", 10, nil), ("playCount", "2.5", 10, "?"),
            ("skipcount", "1e300", 10, "?"), ("rating", "0.2", 10, "rating=1"),
            ("FMPS_Rating", "0.9", 10, "rating=9"), ("rating", "99", 10, "rating=10"), ("love", "1", 10, "like=2"),
            ("love", "0", 10, nil), ("playCount", "3", 10, "playCount=3"), ("playcount", "3", 10, "playCount=3"),
            ("last_played", "1700000000", 10, "lastPlayed=1700000000"), ("my note", "a=b", 10, "my note=a=b"),
        ]
        for (name, value, scale, result) in table {
            let translated: String? =
                switch StickerTranslation(scale: scale).translate(name, value) {
                case .sticker(let name, let value): "\(name)=\(value)"
                case .nothing: nil
                case .unreadable: "?"
                }
            #expect(translated == result, "\(name)=\(value)")
        }
    }

    /// A running server, a configuration that names it, and mpd's files.
    private func importing(
        _ words: [String],
        by rules: String = "",
        _ folder: TemporaryFolder,
        _ server: TestServer
    ) async throws -> (status: ShelvMPD.ExitStatus, output: String, complaints: String) {
        let text = """
            bind_to_address "127.0.0.1"
            port "\(server.port)"
            \(rules)
            subsonic_server {
                url      "http://127.0.0.1:1"
                user     "me"
                password "x"
            }
            """
        let path = folder.write("c.conf", text)
        let terminal = ScriptedConsole(hasKeyboard: false)
        let status = try await terminal.run(
            ["import", "--config", path] + words,
            Environment(["HOME": folder.path])
        )
        return (status, terminal.written, terminal.complaints)
    }

    private func stickerFile(_ folder: TemporaryFolder, _ rows: [[String]]) throws -> String {
        let path = folder.path("sticker.sql")
        let database = try Database(path: path)
        try database.script("CREATE TABLE sticker (type VARCHAR, uri VARCHAR, name VARCHAR, value VARCHAR)")
        for row in rows {
            try database.run(
                "INSERT INTO sticker VALUES (?, ?, ?, ?)",
                .text(row[0]),
                .text(row[1]),
                .text(row[2]),
                .text(row[3])
            )
        }
        return path
    }

    @Test func whatIsLostIsTold() async throws {
        let server = try TestServer()
        let client = try server.client()
        let folder = try #require(TemporaryFolder())
        let files = try client.ask("listall").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
        let artist = try #require(try client.ask("list Artist").first { $0.hasPrefix("Artist: ") }?.dropFirst(8))
        let stickers = try stickerFile(
            folder,
            [
                ["song", files[0], "note", "a"], ["song", files[0], "rating", "abc"], ["song", files[0], "love", "0"],
                ["song", files[1], "x", "a\nclear\nb"], ["song", "gone.mp3", "note", "b"],
                ["Artist", String(artist), "mood", "c"], ["Artist", "nobody", "mood", "d"],
                ["Nonsense", "n", "e", "f"],
            ]
        )
        for isDry in [true, false] {
            let words = ["--stickers", stickers] + (isDry ? ["--dry-run"] : [])
            let result = try await importing(words, folder, server)
            #expect(result.status == .failure)
            let done = isDry ? "would be taken over" : "taken over"
            let line = "Stickers: 1 mood, 1 note \(done); 1 say nothing; 1 of songs that are not here"
            #expect(result.output.contains(line), "\(result)")
            for line in [
                "\"abc\" is not understood", "x of \(files[1]): it holds a line feed", "Artist nobody, with 1 sticker",
                "Nonsense n", "Not taken over: 4",
            ] { #expect(result.complaints.contains(line), "\(line): \(result)") }
        }
        #expect(try client.ask("sticker get song \"\(files[0])\" note") == ["sticker: note=a", "OK"])
        #expect(try client.ask("sticker get Artist \"\(artist)\" mood") == ["sticker: mood=c", "OK"])
        let again = try await importing(["--stickers", stickers, "--dry-run"], folder, server)
        #expect(again.output.contains("Stickers: none would be taken over; 2 were there already"), "\(again)")
    }

    @Test func queuesComeAsTheyWere() async throws {
        let server = try TestServer()
        let client = try server.client()
        let folder = try #require(TemporaryFolder())
        let files = try client.ask("listall").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
        let state = folder.write(
            "state",
            """
            state: play
            repeat: 1
            crossfade: 5
            playlist_begin
            0:\(files[0])
            song_begin: \(files[1])
            Range: 1500-2500
            song_end
            song_begin: http://127.0.0.1:1/radio
            Title: News
            song_end
            Prio: 9
            3:\(files[0])
            4:gone.mp3
            playlist_end
            partition: kitchen
            random: 0
            playlist_begin
            0:\(files[1])
            playlist_end
            """
        )
        let result = try await importing(["--queue", state], folder, server)
        #expect(result.status == .success && result.complaints.isEmpty, "\(result)")
        for line in [
            "Options: repeat 1, crossfade 5 taken over",
            "Queue: 4 of 5 entries taken over, 1 with a part, 1 with a priority, 1 with tags",
            "Queue of kitchen: 1 of 1 entries taken over",
        ] { #expect(result.output.contains(line), "\(line): \(result)") }
        let status = try client.ask("status")
        #expect(status.contains("repeat: 1") && status.contains("xfade: 5") && status.contains("state: stop"))
        let queue = try client.ask("playlistinfo")
        for line in ["Range: 1.500-2.500", "Title: News", "Prio: 9"] { #expect(queue.contains(line), "\(queue)") }
        _ = try client.ask("partition kitchen")
        #expect(try client.ask("playlistinfo").first == "file: \(files[1])")
    }

    @Test func theRightPasswordIsTaken() async throws {
        let rules = """
            default_permissions "read"
            password "user@read,add,player,control"
            password "boss@read,add,player,control,admin"
            """
        let server = try TestServer { configuration in
            configuration.defaultPermissions = [.read]
            configuration.passwords = [
                PasswordRule(password: Secret("user"), permissions: [.read, .add, .player, .control]),
                PasswordRule(password: Secret("boss"), permissions: [.read, .add, .player, .control, .admin]),
            ]
        }
        let client = try server.client()
        let folder = try #require(TemporaryFolder())
        let file = try #require(try client.ask("listall").first { $0.hasPrefix("file: ") }?.dropFirst(6))
        let stickers = try stickerFile(folder, [["song", String(file), "note", "a"]])
        let result = try await importing(["--stickers", stickers], by: rules, folder, server)
        #expect(result.status == .success && result.output.contains("Stickers: 1 note taken over"), "\(result)")
        let lacking = rules.split(separator: "\n").dropLast().joined(separator: "\n")
        let failure = await #expect(throws: CommandFailure.self) {
            try await importing(["--stickers", stickers], by: lacking, folder, server)
        }
        #expect(failure?.description.contains("does not allow sticker") == true)
    }
}
