import Support
import Testing

@testable import ShelvMPD

/// Covers and lyrics from Debian's supysonic.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealCoverTests {
    @Test func coversComeFromTheServerAndStayWithoutIt() throws {
        let tones = try #require(ToneLibrary.shared)
        let music = try #require(TemporaryFolder())
        let tone = try #require(contents(of: tones.path + "/Alpha Band/First Light/01 - Intro.flac"))
        let other = try #require(contents(of: tones.path + "/Queue/Short/01 - Short 01.ogg"))
        _ = music.write("Alpha/With/01 - Intro.flac", tone)
        _ = music.write("Alpha/Without/01 - Short 1.ogg", other)
        let making = TestProcess.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=s=300x300", "-frames:v", "1",
            "-update", "1", music.path("Alpha/With/cover.png"),
        ])
        #expect(making?.end == .exited(0))
        let cover = try #require(contents(of: music.path("Alpha/With/cover.png")))
        let server = try #require(SupysonicServer(music: music.path))
        defer { server.stop() }

        let instance = try RealInstance(server)
        defer { instance.stop() }
        try instance.startAndSync(songs: 2)
        var client = try instance.client()
        for path in ["Alpha/With/01 - Intro.flac", "Alpha/With/"] {
            #expect(try client.picture("albumart", path).bytes == cover, "\(path)")
        }
        client.send("readpicture \"Alpha/With/01 - Intro.flac\" 0\n")
        #expect(try client.binaryReply().lines[1] == "type: image/png")
        #expect(
            try client.picture("albumart", "Alpha/Without/").ack == "ACK [50@0] {albumart} No file exists"
        )
        #expect(try client.ask("readpicture \"Alpha/Without/01 - Short 1.ogg\" 0") == ["OK"])
        // It knows no lyrics; that takes nothing away.
        #expect(try client.value("TITLE", of: "readcomments \"Alpha/With/01 - Intro.flac\"") == "Intro")
        #expect(!instance.log.contains("p=") && !instance.log.contains(server.password + "&"))
        let covers = instance.folder.path("cache/covers")
        #expect(
            waitUntil {
                TemporaryFolder.names(in: covers).contains { CoverServer.keptCovers(in: "\(covers)/\($0)") > 0 }
            }
        )

        server.stop()
        instance.kill()
        try instance.start()
        client = try instance.client()
        #expect(try client.picture("albumart", "Alpha/With/").bytes == cover)
        #expect(try client.value("TITLE", of: "readcomments \"Alpha/With/01 - Intro.flac\"") == "Intro")
    }
}
