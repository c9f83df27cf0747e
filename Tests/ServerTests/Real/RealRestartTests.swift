import Support
import Testing

/// A Subsonic server that is away, and comes back.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealRestartTests {
    @Test func theLibraryIsThereAndMusicWaitsForTheServer() throws {
        let library = try #require(ToneLibrary.shared)
        let server = try #require(SupysonicServer(music: library.path))
        let instance = try RealInstance(server)
        try instance.startAndSync(songs: library.songs.count)
        instance.stop()
        server.stop()

        // From the first answer on.
        try instance.start()
        let client = try instance.client()
        #expect(try client.value("songs", of: "stats") == "\(library.songs.count)")

        #expect(try client.ask("add \"Queue/Ten/01 - Ten 01.ogg\"") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let waiting = try #require(try client.status { $0["error"] != nil }, "\(instance.log)")
        #expect(waiting["state"] == "play")
        #expect(waiting["error"]?.contains("connecting failed") == true, "\(waiting["error"] ?? "")")
        let later = try client.pairs(of: "status")
        #expect(later["elapsed"] == waiting["elapsed"])
        #expect(later["song"] == "0")

        #expect(server.restart())
        let playing = try client.status { $0["error"] == nil && $0["elapsed"].flatMap(Double.init) ?? 0 > 0.2 }
        #expect(playing?["state"] == "play", "\(instance.log)")
        #expect(!instance.log.contains(server.password + "\""))
    }
}
