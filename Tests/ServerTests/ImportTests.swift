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
            state: play
            playlist_begin
            0:a/b: c.flac
            song_begin: http://radio/x
            Title: News
            song_end
            2:/music/d.mp3
            playlist_end
            3:after.mp3
            """
        let queue = OldCollection.queue(Array(state.utf8), folder: "/music")
        #expect(queue.map(\.uri) == ["a/b: c.flac", "http://radio/x", "d.mp3"] && queue[1].title == "News")
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
            ("rating", "x", 10, nil), ("rating", "nan", 10, nil), ("stars", "2.5", 10, "rating=5"),
            ("FMPS_Rating", "0.9", 10, "rating=9"), ("rating", "99", 10, "rating=10"), ("love", "1", 10, "like=2"),
            ("love", "0", 10, nil), ("playCount", "3", 10, "playCount=3"), ("playcount", "3", 10, "playCount=3"),
            ("last_played", "1700000000", 10, "lastPlayed=1700000000"), ("my note", "a=b", 10, "my note=a=b"),
        ]
        for (name, value, scale, result) in table {
            let translated = StickerTranslation(scale: scale).translate(name, value).map { "\($0.name)=\($0.value)" }
            #expect(translated == result, "\(name)=\(value)")
        }
    }
}
