import Support
import Testing

/// The requests of Home Assistant's media player, which keeps two connections: one waits, one asks.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct HomeAssistantTests {
    @Test func followsARoomThroughItsDayAndAnUpgrade() throws {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.startAndSync(songs: library.songs.count)
        var listener = try instance.client()
        var client = try instance.client()
        #expect(client.greeting.hasPrefix("OK MPD 0."))
        let commands = try client.ask("commands")
        for name in ["status", "currentsong", "setvol", "pause", "seekcur", "repeat", "single", "random", "idle"] {
            #expect(commands.contains("command: \(name)"))
        }
        #expect(try listener.ask("status").last == "OK")
        listener.send("idle\n")

        // What somebody presses.
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("add \"Queue/Ten\"") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let changes = try listener.reply()
        #expect(changes.last == "OK")
        #expect(changes.contains("changed: playlist"))
        for (command, key, value) in [
            ("setvol 35", "volume", "35"), ("repeat 1", "repeat", "1"), ("random 1", "random", "1"),
            ("random 0", "random", "0"), ("single 1", "single", "1"), ("repeat 0", "repeat", "0"),
            ("pause 1", "state", "pause"), ("pause 0", "state", "play"),
        ] {
            listener.send("noidle\nidle\n")
            #expect(try client.ask(command) == ["OK"])
            #expect(try client.value(key, of: "status") == value, "\(command)")
        }
        #expect(try client.ask("seekcur 5.0") == ["OK"])

        // What it polls: each field in the form that its parser takes.
        let status = try client.pairs(of: "status")
        for key in ["volume", "repeat", "random", "consume", "playlist", "playlistlength", "song", "songid"] {
            #expect(status[key].flatMap(Int.init) != nil, "\(key): \(status[key] ?? "none")")
        }
        #expect(status["elapsed"].flatMap(Double.init) ?? 0 >= 5)
        #expect(status["time"]?.split(separator: ":").compactMap { Int($0) }.count == 2)
        let song = try client.pairs(of: "currentsong")
        #expect(song["Title"] == "Ten 01" && song["Artist"] == "Queue Band" && song["Id"] == status["songid"])

        // The server is replaced under it.
        instance.stop()
        #expect(throws: MPDTestClient.Failure.closed) { while true { _ = try listener.reply() } }
        #expect(throws: MPDTestClient.Failure.closed) { try client.ask("status") }
        try instance.start()
        client = try instance.client()
        listener = try instance.client()
        listener.send("idle\n")
        #expect(try client.value("songs", of: "stats") == "\(library.songs.count)")
        #expect(try client.ask("setvol 20") == ["OK"])
        #expect(try listener.reply().contains("changed: mixer"))
    }
}
