import Support
import Testing

/// Programs of the Linux desktop in front: each does its work, and is refused nothing.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct OtherClientTests {
    /// A started server with ten songs in its queue, and a proxy before it.
    private func playing() throws -> (instance: RealInstance, proxy: MPDProxy, client: MPDTestClient) {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.startAndSync(songs: library.songs.count)
        let client = try instance.client()
        #expect(try client.ask("add Queue/Ten") == ["OK"])
        #expect(try client.ask("play 2") == ["OK"])
        return (instance, try #require(MPDProxy(to: instance.port)), client)
    }

    @Test(.enabled(if: RealPeer.ncmpc.isWanted, "ncmpc or tmux is not installed"))
    func ncmpcShowsAllItsScreens() throws {
        let (instance, proxy, client) = try playing()
        defer { proxy.stop() }
        let terminal = try #require(
            Terminal(["env", "HOME=\(instance.folder.path)", "ncmpc", "-h", "127.0.0.1", "-p", "\(proxy.port)"])
        )
        defer { terminal.stop() }
        try terminal.await("Queue Band - Ten 03", "0:20")
        for (key, texts) in [
            ("3", ["[Alpha Band]", "[Queue]"]), ("4", ["Artists", "[Gamma Trio]"]), ("5", ["New search"]),
            ("8", ["[X] Silence"]), ("9", ["Chat"]), ("2", ["Queue Band - Ten 01"]),
        ] {
            terminal.press(key)
            try terminal.awaitAll(texts)
        }
        terminal.press(">")
        #expect(try client.status { $0["song"] == "3" } != nil)
        terminal.press("z")
        #expect(try client.status { $0["random"] == "1" } != nil)
        // It asks for partitions, which are not there yet.
        #expect(proxy.refusals.filter { !$0.contains("listpartitions") } == [])
    }

    @Test(.enabled(if: RealPeer.mpDris2.isWanted, "mpDris2, playerctl or dbus-run-session is not installed"))
    func mpDris2IsThePlayerOfTheDesktop() throws {
        let (instance, proxy, _) = try playing()
        defer { proxy.stop() }
        let script = instance.folder.write(
            "desktop.sh",
            """
            mpDris2 2>"$HOME/errors" &
            bridge=$!
            for attempt in $(seq 100); do playerctl -l 2>/dev/null | grep -q mpd && break; sleep 0.1; done
            # What was asked takes a moment to come round.
            until_is() {
                for attempt in $(seq 100); do
                    [ "$(playerctl $2 2>/dev/null)" = "$1" ] && { echo "$2: $1"; return; }
                    sleep 0.1
                done
                echo "$2: $(playerctl $2 2>&1), not $1"
            }
            until_is "Ten 03" "metadata title"
            until_is "Queue Band" "metadata artist"
            until_is "20000000" "metadata mpris:length"
            playerctl next
            until_is "Ten 04" "metadata title"
            playerctl pause
            until_is "Paused" "status"
            playerctl position 5
            until_is "5.000000" "position"
            playerctl shuffle On
            until_is "On" "shuffle"
            playerctl loop Track
            until_is "Track" "loop"
            playerctl volume 0.5
            until_is "0.500000" "volume"
            kill $bridge
            """
        )
        let environment = [
            "HOME": instance.folder.path, "XDG_CONFIG_HOME": instance.folder.path, "MPD_HOST": "127.0.0.1",
            "MPD_PORT": "\(proxy.port)", "DBUS_SESSION_BUS_ADDRESS": "",
        ]
        let run = try #require(TestProcess.run(["dbus-run-session", "--", "sh", script], environment: environment))
        let wanted = [
            "metadata title: Ten 03", "metadata artist: Queue Band", "metadata mpris:length: 20000000",
            "metadata title: Ten 04", "status: Paused", "position: 5.000000", "shuffle: On", "loop: Track",
            "volume: 0.500000",
        ]
        #expect(run.output.split(separator: "\n").map(String.init) == wanted, "\(run.errors)")
        #expect(proxy.refusals == [])
    }

    @Test(.enabled(if: RealPeer.mpdSima.isWanted, "mpd-sima is not installed"))
    func mpdSimaAddsSongsWhenTheQueueRunsOut() throws {
        let (instance, proxy, client) = try playing()
        defer { proxy.stop() }
        let configuration = instance.folder.write(
            "sima.cfg",
            """
            [MPD]
            host = 127.0.0.1
            port = \(proxy.port)
            [sima]
            internal = Random
            history_duration = 0
            queue_length = 2
            [random]
            flavour = pure
            track_to_add = 2
            """
        )
        let sima = try #require(
            TestProcess(
                ["mpd-sima", "-c", configuration, "--var-dir", instance.folder.path],
                environment: ["HOME": instance.folder.path, "XDG_CONFIG_HOME": instance.folder.path]
            )
        )
        defer { sima.stop() }
        #expect(waitUntil { proxy.requests.contains { $0.hasPrefix("idle") } })
        #expect(try client.ask("play 9") == ["OK"])
        #expect(try client.status { ($0["playlistlength"].flatMap(Int.init) ?? 0) > 10 } != nil, "\(sima.errors)")
        #expect(proxy.refusals == [])
    }
}
