import Library
import Logging
import MPDProtocol
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// `albumart` and `readpicture`: where pictures come from, in which pieces, and what is said when there is none.
@Suite struct CoverTests {
    // MARK: Pieces

    @Test func givesFullPiecesAndSizeBeforeBytes() throws {
        let picture = CoverServer.picture(1, count: 20_000)
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(picture) })
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        let client = try server.client()
        let path = "Artist/Album 0/song-0.flac"
        let whole = try client.picture("albumart", path)
        #expect(whole.bytes == picture)
        #expect(whole.pieces == [8192, 8192, 3616])
        client.send("readpicture \"\(path)\" 19990\n")
        let (lines, bytes) = try client.binaryReply()
        #expect(lines == ["size: 20000", "type: image/png", "binary: 10", "OK"])
        #expect(bytes == Array(picture[19_990...]))
        #expect(try client.ask("binarylimit 1000000") == ["OK"])
        #expect(try client.picture("readpicture", path).pieces == [20_000])
        client.send("albumart \"\(path)\" 20000\n")
        #expect(try client.binaryReply().lines == ["size: 20000", "binary: 0", "OK"])
        #expect(try client.ask("albumart \"\(path)\" 20001") == ["ACK [2@0] {albumart} Offset too large"])
        #expect(try client.ask("readpicture \"\(path)\" 20001") == ["ACK [2@0] {readpicture} Bad file offset"])
        #expect(subsonic.requests() == 1)
    }

    @Test func aPieceLargerThanTheOutputBufferArrivesWhole() throws {
        let picture = CoverServer.picture(2, count: 5_000_000)
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(picture) })
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        let client = try server.client()
        #expect(try client.ask("binarylimit 8000000") == ["OK"])
        let whole = try client.picture("albumart", "Artist/Album 0/")
        #expect(whole.pieces == [5_000_000])
        #expect(whole.bytes == picture)
    }

    /// The cover is replaced between two pieces: each reader gets one picture.
    @Test func aReaderGetsOneVersion() throws {
        let (old, new) = (CoverServer.picture(3, count: 20_000), CoverServer.picture(4, count: 30_000))
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(old) })
        defer { subsonic.stop() }
        let today = Mutex<Int64>(Int64(1_800_000_000))
        let clock = Covers.Clock(today: { today.withLock { $0 } })
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers(clock: clock))
        let (reader, other) = (try server.client(), try server.client())
        reader.send("albumart \"Artist/Album 0/song-0.flac\" 0\n")
        var bytes = try #require(try reader.binaryReply().bytes)
        subsonic.answer { _ in CoverServer.answer(new) }
        // The picture is old by now: it is shown once more, and fetched behind that.
        today.withLock { $0 += 100 * 86_400 }
        #expect(waitUntil { (try? other.picture("albumart", "Artist/Album 0/song-0.flac").bytes) == new })
        while bytes.count < old.count {
            reader.send("albumart \"Artist/Album 0/song-0.flac\" \(bytes.count)\n")
            let (lines, piece) = try reader.binaryReply()
            #expect(lines.first == "size: 20000")
            bytes += try #require(piece)
        }
        #expect(bytes == old)
    }

    // MARK: What is asked for

    @Test func foldersShelvesAndArtistsHavePictures() throws {
        let album = CoverServer.picture(5, count: 100)
        let artist = CoverServer.picture(6, count: 100)
        let subsonic = try #require(
            CoverServer { request in
                if request.path.hasSuffix("getArtist.view") {
                    return .json(
                        #"{"subsonic-response":{"status":"ok","artist":{"id":"artist-1","name":"A","coverArt":"ar-1"}}}"#
                    )
                }
                return CoverServer.answer(request.parameter("id") == "ar-1" ? artist : album)
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(3), covers: subsonic.covers())
        let client = try server.client()
        for path in ["Artist/Album 1/", "Artist/Album 1", "Artist/Album 1/not-there.flac", "Shelves/Recently Added/"] {
            let isShelf = path.hasPrefix("Shelves")
            #expect(try client.picture("albumart", path).bytes == (isShelf ? [] : album), "\(path)")
        }
        let shelved = "Shelves/Random/Artist - Album 2"
        #expect(try client.picture("albumart", shelved + "/").bytes == album)
        #expect(try client.picture("readpicture", shelved + "/song-2.flac").bytes == album)
        #expect(try client.picture("albumart", "Artist/").bytes == artist)
        #expect(try client.picture("readpicture", "Artist/").bytes == artist)
        for (nothing, ack) in [
            ("Nobody/Album/song.flac", "[50@0] {albumart} No file exists"),
            ("http://radio.example/live", "[50@0] {albumart} No file exists"),
            ("Nobody/", "[2@0] {albumart} Bad relative path"),
            ("/", "[4@0] {albumart} Access to local files via TCP is not allowed"),
        ] {
            #expect(try client.picture("albumart", nothing).ack == "ACK \(ack)", "\(nothing)")
        }
        #expect(try client.picture("readpicture", "Artist/Album 1").ack == "ACK [50@0] {readpicture} No such song")
        #expect(try client.ask("readpicture http://radio.example/live 0") == ["OK"])
        #expect(try client.ask("albumart ../x 0") == ["ACK [2@0] {albumart} Bad relative path"])
    }

    /// supysonic tells no cover of an artist: then one of the albums' is shown.
    /// Navidrome: `mf-…` is the picture in the song's file, `al-…` that of the album.
    @Test func albumArtIsTheAlbumsWhereTheSongHasItsOwn() throws {
        let pictures = ["al-album-0": CoverServer.picture(1, count: 100), "mf-0": CoverServer.picture(2, count: 200)]
        let subsonic = try #require(
            CoverServer { request in
                request.parameter("id").flatMap { pictures[$0] }.map { CoverServer.answer($0) } ?? CoverServer.missing
            }
        )
        defer { subsonic.stop() }
        var records = CoverServer.records(2)
        records[0].coverArt = "mf-0"
        records[1].coverArt = "mf-0"
        let server = try TestServer(records, covers: subsonic.covers())
        let client = try server.client()
        let song = "Artist/Album 0/song-0.flac"
        #expect(try client.picture("albumart", song).bytes == pictures["al-album-0"])
        #expect(try client.picture("readpicture", song).bytes == pictures["mf-0"])
        #expect(try client.picture("albumart", "Artist/Album 0/").bytes == pictures["al-album-0"])
        // The album of the other song has none.
        #expect(try client.picture("albumart", "Artist/Album 1/song-1.flac").bytes == pictures["mf-0"])
    }

    @Test func anArtistWithoutAPictureHasThatOfAnAlbum() throws {
        let album = CoverServer.picture(5, count: 100)
        let subsonic = try #require(
            CoverServer { request in
                request.path.hasSuffix("getArtist.view")
                    ? .json(#"{"subsonic-response":{"status":"ok","artist":{"id":"artist-1","name":"A"}}}"#)
                    : CoverServer.answer(album)
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(3), covers: subsonic.covers())
        #expect(try server.client().picture("albumart", "Artist/").bytes == album)
    }

    @Test func theServerIsAskedForTheSize() throws {
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(CoverServer.picture(1, count: 100)) })
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers(size: 640))
        _ = try server.client().picture("albumart", "Artist/Album 0/")
        #expect(subsonic.http.requests.last?.parameter("size") == "640")
        #expect(subsonic.http.requests.last?.parameter("id") == "art-0")
    }

    // MARK: Errors

    @Test(arguments: ["json", "xml", "html", "404", "empty", "text"])
    func whatIsNoPictureIsNotGivenOut(_ kind: String) throws {
        let subsonic = try #require(CoverServer { _ in Self.error(kind) })
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        let client = try server.client()
        for _ in 0..<3 {
            #expect(
                try client.ask("albumart \"Artist/Album 0/song-0.flac\" 0") == ["ACK [50@0] {albumart} No file exists"]
            )
            #expect(try client.ask("readpicture \"Artist/Album 0/song-0.flac\" 0") == ["OK"])
        }
        // Remembered: certain ones for an hour, others until the server is tried again; web pages are tried some times.
        #expect(subsonic.requests() == (["html", "text"].contains(kind) ? 3 : 1))
    }

    private static func error(_ kind: String) -> HTTPTestResponse {
        switch kind {
        case "json": CoverServer.missing
        case "xml":
            HTTPTestResponse(
                headers: [("Content-Type", "text/xml")],
                body: Array(
                    #"<?xml version="1.0"?><subsonic-response status="failed"><error code="70" message="x"/></subsonic-response>"#
                        .utf8
                )
            )
        case "html": .html("<html><body>Log in to this network</body></html>")
        case "404": HTTPTestResponse(status: 404)
        case "empty": CoverServer.answer([])
        default: CoverServer.answer(Array("no picture".utf8), type: "text/plain")
        }
    }

    @Test func absenceIsForgottenAfterAWhile() throws {
        let subsonic = try #require(CoverServer { _ in CoverServer.missing })
        defer { subsonic.stop() }
        let now = Mutex(Instant(nanoseconds: 1_000_000_000_000))
        let clock = Covers.Clock(now: { now.withLock { $0 } })
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers(clock: clock))
        let client = try server.client()
        let command = "albumart \"Artist/Album 0/\" 0"
        #expect(try client.ask(command).last?.hasPrefix("ACK [50@0]") == true)
        subsonic.answer { _ in CoverServer.answer(CoverServer.picture(1, count: 50)) }
        #expect(try client.ask(command).last?.hasPrefix("ACK [50@0]") == true)
        now.withLock { $0 = $0.advanced(by: .seconds(3601)) }
        #expect(try client.picture("albumart", "Artist/Album 0/").pieces == [50])
    }

    /// Two answers of 503, then the picture.
    @Test func whatMayPassIsTriedAgain() throws {
        let subsonic = try #require(
            CoverServer { request in
                request.number <= 2
                    ? HTTPTestResponse(status: 503) : CoverServer.answer(CoverServer.picture(1, count: 50))
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        #expect(try server.client().picture("albumart", "Artist/Album 0/").pieces == [50])
        #expect(subsonic.requests() == 3)
    }

    @Test func nothingThatIsSecretIsLogged() async throws {
        let subsonic = try #require(CoverServer { _ in .html("<html>me geheim</html>", status: 500) })
        defer { subsonic.stop() }
        let lines = Mutex<[String]>([])
        let log = Log(level: .debug) { _, line in lines.withLock { $0.append(line) } }
        _ = try await subsonic.fetcher(log: log).fetch(.art("art-0"))
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(!text.isEmpty)
        for secret in ["geheim", "t=", "s="] { #expect(!text.contains(secret), "\(text)") }
    }
}
