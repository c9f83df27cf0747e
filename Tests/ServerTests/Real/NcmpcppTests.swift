import Support
import Testing

/// ncmpcpp in front: its screens show what there is, its keys do what they say, and it never shows an error.
@Suite(
    .enabled(
        if: RealPeer.supysonic.isWanted && RealPeer.ncmpcpp.isWanted,
        "ncmpcpp, tmux, supysonic, gunicorn or ffmpeg is not installed"
    )
)
struct NcmpcppTests {
    @Test func showsAndDoesWhatItsKeysSay() throws {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.startAndSync(songs: library.songs.count)
        let client = try instance.client()
        #expect(try client.ask("add Queue/Ten") == ["OK"])
        let configuration = instance.folder.write(
            "ncmpcpp",
            """
            mpd_host = 127.0.0.1
            mpd_port = \(instance.port)
            ncmpcpp_directory = \(instance.folder.path)
            lyrics_directory = \(instance.folder.path)
            user_interface = classic
            """
        )
        let terminal = try #require(
            Terminal(["env", "-u", "MPD_HOST", "-u", "MPD_PORT", "ncmpcpp", "-c", configuration, "-b", "/dev/null"])
        )
        defer { terminal.stop() }

        // The queue.
        try terminal.await("Playlist (10 items, length: 3 minutes, 20 seconds)", "Volume: 100%", "Ten 01", "Ten 10")
        terminal.press("Enter")
        #expect(try client.status { $0["state"] == "play" && $0["song"] == "0" } != nil)
        try terminal.await("(2000) - Ten 01")
        terminal.press(">")
        #expect(try client.status { $0["song"] == "1" } != nil)
        try terminal.await("(2000) - Ten 02")

        // Seeking: each key press goes on by a second, after the last of them.
        terminal.press("f", "f", "f")
        #expect(try client.status { ($0["elapsed"].flatMap(Double.init) ?? 0) >= 1 } != nil)
        // Volume and modes.
        terminal.press("-", "-")
        try terminal.await("Volume: 96%")
        #expect(try client.value("volume", of: "status") == "96")
        terminal.press("r")
        try terminal.await("[r", "Repeat mode is on")
        terminal.press("y")
        try terminal.await("Single mode is on")
        #expect(try client.status { $0["repeat"] == "1" && $0["single"] == "1" } != nil)
        terminal.press("p")
        #expect(try client.status { $0["state"] == "pause" } != nil)
        #expect(try client.value("elapsed", of: "status") != nil)

        // The browser.
        terminal.press("2")
        try terminal.await("Browse: /", "[Alpha Band]", "[Queue]")
        terminal.press("Down", "Down", "Down", "Down", "Enter")
        try terminal.await("Browse: Gapless", "[One Tone]")

        // The media library: artists, albums, songs.
        terminal.press("4")
        try terminal.await("Media library", "Artists", "Queue Band", "(1999) First Light", "01 - Intro")
        terminal.press("Down", "Down", "Down")
        try terminal.await("(1987) The Long Box")

        // The search screen.
        terminal.press("3")
        try terminal.await("Search engine", "Artist       : <empty>")
        terminal.press("Down", "Enter")
        terminal.type("Gamma")
        terminal.press("Enter")
        try terminal.await("Artist       : Gamma")
        terminal.press("End", "Up", "Enter")
        try terminal.await("Search results: Found 4 songs", "Gamma Trio - Box 22")

        #expect(terminal.screen.allSatisfy { !$0.contains("MPD: ") && !$0.lowercased().contains("error") })
        #expect(instance.log.split(separator: "\n").allSatisfy { !$0.hasPrefix("error:") })
    }
}
