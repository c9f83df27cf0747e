import Support
import Testing

/// ncmpcpp's visualizer draws what an output of type `fifo` writes.
@Suite(
    .enabled(
        if: RealPeer.supysonic.isWanted && RealPeer.visualizer.isWanted,
        "ncmpcpp with its visualizer, tmux, supysonic, gunicorn or ffmpeg is not installed"
    )
)
struct VisualizerTests {
    /// How many places of a screen its bars fill, wholly or in part.
    private func bars(_ terminal: Terminal) -> Int {
        terminal.screen.reduce(0) { $0 + $1.unicodeScalars.count { ("\u{2581}"..."\u{2588}").contains($0) } }
    }

    @Test func barsStandWhileASongPlays() throws {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic) { folder in
            """
            audio_output {
                type   "fifo"
                name   "Visualizer"
                path   "\(folder.path("fifo"))"
                format "44100:16:2"
            }

            """
        }
        defer { instance.stop() }
        try instance.startAndSync(songs: library.songs.count)
        let client = try instance.client()
        for words in ["add Queue/Ten", "repeat 1"] { #expect(try client.ask(words) == ["OK"]) }
        let configuration = instance.folder.write(
            "ncmpcpp",
            """
            mpd_host = 127.0.0.1
            mpd_port = \(instance.port)
            ncmpcpp_directory = \(instance.folder.path)
            lyrics_directory = \(instance.folder.path)
            user_interface = classic
            visualizer_data_source = \(instance.folder.path("fifo"))
            visualizer_output_name = Visualizer
            visualizer_in_stereo = yes
            visualizer_type = spectrum
            """
        )
        let words = ["ncmpcpp", "-c", configuration, "-b", "/dev/null", "-s", "visualizer"]
        let terminal = try #require(Terminal(["env", "-u", "MPD_HOST", "-u", "MPD_PORT"] + words))
        defer { terminal.stop() }

        try terminal.await("Music visualizer")
        #expect(bars(terminal) == 0)
        // When it is paused the picture stands; when it is stopped ncmpcpp takes it away. What it reads after it has heard of
        // the stop it still draws, and nothing comes after that: on a busy machine the next stop takes it away.
        for _ in 0..<2 {
            var isGone = false
            for _ in 0..<5 where !isGone {
                #expect(try client.ask("play") == ["OK"])
                #expect(waitUntil { bars(terminal) > 10 }, "\(terminal.screen)")
                #expect(try client.ask("stop") == ["OK"])
                isGone = waitUntil(milliseconds: 5_000) { bars(terminal) == 0 }
            }
            #expect(isGone, "\(terminal.screen)")
        }
        #expect(instance.log.split(separator: "\n").allSatisfy { !$0.hasPrefix("error:") })
    }
}
