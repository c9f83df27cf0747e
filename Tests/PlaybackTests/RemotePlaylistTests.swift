import SubsonicKit
import Support
import Testing

@testable import Playback

/// Playlists of the network: their forms, addresses relative to theirs, and what is not read.
@Suite struct RemotePlaylistTests {
    private static let base = "http://h:8000/radio/list.m3u"

    private static func rows(_ text: String, type: String? = nil, base: String = base) -> [String]? {
        guard case .playlist(let playlist)? = RemotePlaylist.read(Array(text.utf8), mediaType: type, base: base) else {
            return nil
        }
        return playlist.rows.map { row in
            let duration = row.duration.map { " \($0.components.seconds)s" } ?? ""
            return String(decoding: row.address.text, as: UTF8.self) + (row.title.map { " “\($0)”" } ?? "") + duration
        }
    }

    @Test func readsM3U() {
        let text = """
            #EXTM3U\r
            #EXTINF:123,Artist - Title\r
            one.mp3\r
            #EXTINF:-1 tvg-id="x",Radio, live\r
            http://other/stream\r
            # a comment

            ../up/two.mp3
            /root.ogg
            //third/x
            file:///etc/passwd
            C:\\Music\\x.mp3
            lavf://file:/etc/passwd
            """
        #expect(
            Self.rows(text) == [
                "http://h:8000/radio/one.mp3 “Artist - Title” 123s", "http://other/stream “Radio, live”",
                "http://h:8000/up/two.mp3", "http://h:8000/root.ogg", "http://third/x",
            ]
        )
    }

    @Test func plainLinesNeedAName() {
        let text = "http://a/1\nhttp://a/2\n"
        #expect(Self.rows(text) == ["http://a/1", "http://a/2"])
        #expect(Self.rows(text, type: "audio/x-mpegurl; charset=utf-8", base: "http://h/x?id=1") != nil)
        #expect(Self.rows(text, type: "text/plain", base: "http://h/x") == nil)
        #expect(Self.rows("<html><body>no</body></html>") == nil)
    }

    @Test func tellsSegmentsFromPlaylists() {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\nsegment0.ts\n"
        #expect(RemotePlaylist.read(Array(text.utf8), mediaType: nil, base: Self.base) == .segments)
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n"
        #expect(RemotePlaylist.read(Array(master.utf8), mediaType: nil, base: Self.base) == .segments)
    }

    @Test func readsPLS() {
        let text =
            "[playlist]\nNumberOfEntries=2\nFile2=b.mp3\nTitle2=Second\nLength2=-1\nFile1=http://a/x\nTitle1=First\nLength1=7\n"
        #expect(Self.rows(text) == ["http://a/x “First” 7s", "http://h:8000/radio/b.mp3 “Second”"])
        #expect(
            Self.rows("[Reference]\r\nRef1=http://a/1?MSWMExt=.asf\r\nRef2=http://a/2\r\n") == [
                "http://a/1?MSWMExt=.asf", "http://a/2",
            ]
        )
    }

    @Test func readsXSPF() {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <playlist version="1" xmlns="http://xspf.org/ns/0/"><title>All</title><trackList>
            <track><location>http://a/x?b=1&amp;c=2</location><title>R &amp; B &#233;</title><duration>61000</duration></track>
            <track><title><![CDATA[<b>]]></title><location>y.ogg</location></track>
            <track><title>without</title></track>
            </trackList></playlist>
            """
        #expect(Self.rows(text) == ["http://a/x?b=1&c=2 “R & B é” 61s", "http://h:8000/radio/y.ogg “<b>”"])
    }

    @Test func readsASX() {
        let text = """
            <ASX version="3.0"><TITLE>All</TITLE>
            <Entry><Title>One</Title><Ref HREF="http://a/1"/><ref href='http://a/1b' /></Entry>
            <entry><ref href = "two.wma"></entry>
            </ASX>
            """
        #expect(Self.rows(text) == ["http://a/1 “One”", "http://a/1b “One”", "http://h:8000/radio/two.wma"])
    }

    @Test func oldTextsAreLatin() {
        let text: [UInt8] = Array("#EXTM3U\n#EXTINF:1,Caf".utf8) + [0xE9] + Array("\nx\n".utf8)
        guard case .playlist(let playlist)? = RemotePlaylist.read(text, mediaType: nil, base: Self.base) else {
            Issue.record("no playlist")
            return
        }
        #expect(playlist.rows.map(\.title) == ["Café"])
    }

    /// Whatever is read, it neither traps nor takes long.
    @Test func anyBytesMayCome() {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 7))
        let seeds = [
            "#EXTM3U\n#EXTINF:1,x\n../a\n", "[playlist]\nFile1=a\n", "<asx><ref href=\"a\"/><entry></asx>",
            "<?xml?><playlist><track><location>&#x;&amp</location></track>",
        ]
        for round in 0..<400 {
            var bytes = Array(seeds[round % seeds.count].utf8)
            for _ in 0..<6 {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
                default: bytes.remove(at: place)
                }
            }
            _ = RemotePlaylist.read(bytes, mediaType: "audio/x-mpegurl", base: Self.base)
        }
    }

    // MARK: Over the network

    private static func load(_ path: String, _ handler: @escaping HTTPTestServer.Handler) async throws -> RemotePlaylist
    {
        let server = try #require(HTTPTestServer(handler))
        defer { server.stop() }
        let transport = try CurlTransport()
        defer { transport.shutdown() }
        let address = try #require(StreamAddress("\(server.url)\(path)".utf8))
        return try await RemotePlaylist.load(address, by: transport)
    }

    @Test func loadsFromWhereItIsSentTo() async throws {
        let playlist = try await Self.load("/go?token=s3cret") { request in
            if request.path == "/go" {
                return HTTPTestResponse(status: 302, headers: [("Location", "/there/list.m3u")])
            }
            return HTTPTestResponse(headers: [("Content-Type", "audio/x-mpegurl")], body: Array("a.mp3\n".utf8))
        }
        #expect(
            playlist.rows.map { String(decoding: $0.address.text, as: UTF8.self) }.first?.hasSuffix("/there/a.mp3")
                == true
        )
    }

    @Test(
        arguments: [
            (404, "", "status 404", false), (503, "", "status 503", true),
            (200, "#EXTM3U\n", "nothing that can be played", false),
            (200, "#EXTM3U\n#EXT-X-TARGETDURATION:1\nx\n", "one stream", false),
            (200, "<html></html>", "no playlist", false),
            (200, "\u{1}\u{2}", "no playlist", false),
            (200, String(repeating: "x", count: 2 << 20), "longer than", false),
        ] as [(Int, String, String, Bool)]
    )
    func saysWhyThereIsNone(_ status: Int, _ body: String, _ wanted: String, _ isTransient: Bool) async throws {
        await #expect {
            _ = try await Self.load("/x.m3u?token=s3cret") { _ in
                HTTPTestResponse(status: status, headers: [("Content-Type", "text/plain")], body: Array(body.utf8))
            }
        } throws: { error in
            guard let error = error as? RemotePlaylistError else { return false }
            return error.description.contains(wanted) && error.isTransient == isTransient
                && !error.description.contains("s3cret")
        }
    }
}
