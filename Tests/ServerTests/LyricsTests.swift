import Library
import MPDProtocol
import SubsonicKit
import Support
import Testing

@testable import ShelvMPD

/// Lyrics by `readcomments`.
@Suite struct LyricsTests {
    private static let song = [
        SongRecord(songID: "s", uri: "a.flac", tags: [TagValue(.artist, "Ann"), TagValue(.title, "Song")])
    ]
    private static let tags = ["ARTIST: Ann", "TITLE: Song"]

    private static func ok(_ payload: String) -> HTTPTestResponse {
        .json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"\#(payload.isEmpty ? "" : ",")\#(payload)}}"#)
    }

    @Test func serversThatKnowThemByIDAreAskedByID() throws {
        let subsonic = try #require(
            CoverServer { request in
                if request.path.contains("getOpenSubsonicExtensions") {
                    return Self.ok(#""openSubsonicExtensions":[{"name":"songLyrics","versions":[1]}]"#)
                }
                return Self.ok(
                    #""lyricsList":{"structuredLyrics":[{"lang":"en","synced":true,"offset":-100,"#
                        + #""line":[{"start":0,"value":"One"},{"start":61500,"value":"Two\nhalves"}]},"#
                        + #"{"lang":"de","synced":true,"kind":"translation","line":[{"start":0,"value":"Eins"}]}]}"#
                )
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(Self.song, covers: subsonic.covers())
        let client = try server.client()
        #expect(
            try client.ask("readcomments a.flac") == Self.tags + [
                "LYRICS: One", "LYRICS: Two halves", "SYNCEDLYRICS: [00:00.10]One",
                "SYNCEDLYRICS: [01:01.60]Two halves", "OK",
            ]
        )
        #expect(subsonic.http.requests.contains { $0.path.contains("getLyricsBySongId") && $0.parameter("id") == "s" })
        let count = subsonic.http.requests.count
        _ = try client.ask("readcomments a.flac")
        #expect(subsonic.http.requests.count == count)
    }

    @Test func oldServersAreAskedByArtistAndTitle() throws {
        let subsonic = try #require(
            CoverServer { request in
                if request.path.contains("getOpenSubsonicExtensions") { return HTTPTestResponse(status: 404) }
                return Self.ok(#""lyrics":{"artist":"Ann","title":"Song","value":"[00:01.50]One\n[01:02.345]Two\n"}"#)
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(Self.song, covers: subsonic.covers())
        #expect(
            try server.client().ask("readcomments a.flac") == Self.tags + [
                "LYRICS: One", "LYRICS: Two", "SYNCEDLYRICS: [00:01.50]One", "SYNCEDLYRICS: [01:02.34]Two", "OK",
            ]
        )
        let last = try #require(subsonic.http.requests.last)
        #expect(last.parameter("artist") == "Ann" && last.parameter("title") == "Song")
    }

    @Test func withoutLyricsThereAreTheTags() throws {
        let subsonic = try #require(CoverServer { _ in Self.ok("") })
        defer { subsonic.stop() }
        let server = try TestServer(Self.song, covers: subsonic.covers())
        let client = try server.client()
        for _ in 0..<3 { #expect(try client.ask("readcomments a.flac") == Self.tags + ["OK"]) }
        #expect(subsonic.http.requests.filter { $0.path.contains("getLyrics") }.count == 1)
        let silent = try TestServer(Self.song, covers: subsonic.covers()) { $0.showsLyrics = false }
        #expect(try silent.client().ask("readcomments a.flac") == Self.tags + ["OK"])
        #expect(subsonic.http.requests.filter { $0.path.contains("getLyrics") }.count == 1)
    }

    /// The server says nothing: the tags come all the same, and covers are still asked for.
    @Test func aServerThatHangsDelaysNobodyElse() throws {
        let subsonic = try #require(CoverServer { _ in Self.ok("") })
        defer { subsonic.stop() }
        let gate = subsonic.http.makeGate()
        subsonic.answer { request in
            if request.path.contains("getCoverArt") { return CoverServer.answer(CoverServer.picture(1, count: 70)) }
            var answer = Self.ok("")
            answer.stepsBefore = [.wait(gate)]
            return answer
        }
        let server = try TestServer(Self.song + CoverServer.records(1), covers: subsonic.covers())
        let (client, other) = (try server.client(), try server.client())
        client.send("readcomments a.flac\n")
        #expect(waitUntil { !subsonic.http.requests.isEmpty })
        #expect(try other.ask("status").last == "OK")
        #expect(try client.reply() == Self.tags + ["OK"])
        #expect(try other.picture("albumart", "Artist/Album 0/").pieces == [70])
        gate.open()
    }

    @Test func textsAreRead() {
        #expect(Lyrics(text: "One\n\nTwo\n\n").lines.map(\.text) == ["One", "", "Two"])
        let lrc = Lyrics(text: "[ti:Song]\r\n[00:10.5][00:02]Again\n[0:03.123]Then\n[99:99]no\n")
        #expect(lrc.isSynced)
        #expect(lrc.lines.map(\.start) == [2000, 3123, 10_500])
        #expect(lrc.lines.map(\.text) == ["Again", "Then", "Again"])
        #expect(Lyrics(text: "[x]").lines.map(\.text) == ["[x]"])
        #expect(Lyrics(text: "").lines.isEmpty)
    }

    /// Some servers give the transcript of a whole audio book, or a file that is no text.
    @Test func endlessLyricsAreCut() throws {
        let subsonic = try #require(
            CoverServer { request in
                if request.path.contains("getOpenSubsonicExtensions") {
                    return Self.ok(#""openSubsonicExtensions":[{"name":"songLyrics","versions":[1]}]"#)
                }
                let lines = String(
                    repeating: #"{"start":1000,"value":"These are the words of one line of many"},"#,
                    count: 60_000
                )
                return Self.ok(#""lyricsList":{"structuredLyrics":[{"synced":true,"line":[\#(lines.dropLast())]}]}"#)
            }
        )
        defer { subsonic.stop() }
        let answer = try TestServer(Self.song, covers: subsonic.covers()).client().ask("readcomments a.flac")
        #expect(Array(answer.prefix(3)) == Self.tags + ["LYRICS: These are the words of one line of many"])
        #expect(answer.filter { $0 == "LYRICS: …" }.count == 1)
        #expect(Array(answer.suffix(2)) == ["SYNCEDLYRICS: …", "OK"])
        #expect(answer.count < 10_000)
    }

    @Test func aLineIsCutAtTheBorderOfACharacter() {
        let lyrics = Lyrics(lines: [.init(text: "x" + String(repeating: "é", count: 100_000)), .init(text: "next")])
        let pairs = LyricsComments.pairs(LyricsComments.bytes(of: [lyrics]))
        #expect(pairs.map(\.value) == ["x" + String(repeating: "é", count: 1999) + "…", "next"])
    }
}
