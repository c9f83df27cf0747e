import Glibc
import Support
import Testing

/// The program, a real Subsonic server behind it, real clients in front, and the sound that comes out.
@Suite(
    .serialized,
    .enabled(if: RealPeer.supysonic.isWanted && RealPeer.mpc.isWanted, "supysonic, gunicorn, ffmpeg or mpc is missing")
)
struct EndToEndTests {
    private func library() throws -> (ToneLibrary, SupysonicServer) {
        let library = try #require(ToneLibrary.shared)
        return (library, try #require(SupysonicServer(music: library.path)))
    }

    private func started(_ server: SupysonicServer, _ library: ToneLibrary, output: String = "type \"null\"") throws
        -> RunningServer
    {
        let running = try #require(RunningServer(server, output: output))
        let count = String(library.songs.count)
        #expect(running.wait(for: "songs", of: "stats") { $0 == count }, "\(running.log)")
        // Songs show while they arrive; what is kept for the next start is complete.
        #expect(running.wait(for: "updating_db") { $0 == nil })
        return running
    }

    @Test func mpcBrowsesQueuesAndPlays() throws {
        let (library, server) = try library()
        defer { server.stop() }
        let running = try started(server, library)
        #expect(running.mpc("ls")?.split(separator: "\n").contains("Queue") == true)
        #expect(
            running.mpc("listall")?.split(separator: "\n").map(String.init).sorted()
                == library.songs.map(\.path).sorted()
        )
        #expect(running.mpc("search", "artist", "queue band")?.split(separator: "\n").count == 13)
        #expect(running.mpc("find", "title", "Ten 03") == "Queue/Ten/03 - Ten 03.ogg\n")
        #expect(running.mpc("add", "Queue/Ten") != nil)
        #expect(running.mpc("play") != nil)
        #expect(running.wait(for: "state") { $0 == "play" })
        #expect(running.mpc("current") == "Queue Band - Ten 01\n")
        #expect(running.mpc("next") != nil)
        #expect(running.mpc("current") == "Queue Band - Ten 02\n")
        #expect(running.wait(for: "audio") { $0 == "44100:f:2" }, "\(running.log)")
        #expect(running.mpc("pause")?.contains("[paused]  #2/10") == true)
        #expect(running.mpc("status")?.contains("[paused]  #2/10") == true)
        #expect(running.mpc("seek", "0:05")?.contains("0:05/0:20") == true)
        #expect(running.mpc("clear") != nil)
        #expect(running.mpc("playlist") == "")
        #expect(running.stop() == .exited(0), "\(running.log)")
    }

    @Test func theLibraryIsThereWithoutTheServerAndPlayingComesBackWithIt() throws {
        let (library, server) = try library()
        defer { server.stop() }
        let first = try started(server, library)
        #expect(first.stop() == .exited(0))
        server.stop()

        let begin = monotonicMilliseconds()
        let running = try #require(RunningServer(server, folder: first.folder))
        let client = try MPDTestClient(port: running.port)
        #expect(try client.value("songs", of: "stats") == String(library.songs.count))
        // A debug build on a busy machine; a release answers in a tenth of that.
        #expect(monotonicMilliseconds() - begin < 5000)

        #expect(running.mpc("add", "Queue/Ten") != nil)
        #expect(running.mpc("play") != nil)
        #expect(running.wait(for: "error") { $0 != nil }, "\(running.log)")
        #expect(server.restart())
        #expect(running.mpc("play") != nil)
        #expect(running.wait(for: "elapsed") { Double($0 ?? "") ?? 0 > 0.2 }, "\(running.log)")
        #expect(running.wait(for: "state") { $0 == "play" })
        #expect(running.stop() == .exited(0))
    }

    @Test func theFileOutputHoldsTheRightTonesWithoutAGap() throws {
        let (library, server) = try library()
        defer { server.stop() }
        let folder = try #require(TemporaryFolder())
        let running = try started(
            server,
            library,
            output: "type \"file\"\npath \"\(folder.path("pcm"))\"\nformat \"44100:16:2\"\ntimed \"no\""
        )
        let songs = [
            "Gapless/One Tone/01 - Part 1.flac", "Gapless/One Tone/02 - Part 2.flac",
            "Alpha Band/First Light/01 - Intro.flac",
        ]
        for song in songs { #expect(running.mpc("add", song) != nil) }
        #expect(running.mpc("play") != nil)
        #expect(running.wait(for: "state") { $0 == "stop" }, "\(running.log)")
        let bytes = try #require(contents(of: folder.path("pcm")))

        var wanted: [UInt8] = []
        for song in songs {
            let raw = folder.path("raw")
            let decoding = TestProcess.run([
                "ffmpeg", "-v", "error", "-y", "-i", "\(library.path)/\(song)", "-f", "s16le", raw,
            ])
            #expect(decoding?.end == .exited(0))
            wanted += try #require(contents(of: raw))
        }
        #expect(bytes.count == wanted.count)
        #expect(bytes == wanted)
        // The tones themselves, counted in the file: 4 seconds of one, then 2 of another.
        #expect(abs(frequency(bytes, seconds: 0..<4) - 500) < 1)
        let intro = try #require(library.song(songs[2]))
        #expect(abs(frequency(bytes, seconds: 4..<6) - intro.frequency) < 1)
        #expect(running.stop() == .exited(0))
    }

    /// Hz of the left channel, by upward crossings of zero.
    private func frequency(_ bytes: [UInt8], seconds: Range<Int>) -> Double {
        var crossings = 0
        var before: Int16 = 0
        for frame in seconds.lowerBound * 44100..<seconds.upperBound * 44100 where frame * 4 + 1 < bytes.count {
            let sample = Int16(bitPattern: UInt16(bytes[frame * 4]) | UInt16(bytes[frame * 4 + 1]) << 8)
            if before < 0 && sample >= 0 { crossings += 1 }
            before = sample
        }
        return Double(crossings) / Double(seconds.count)
    }

    @Test(.enabled(if: RealPeer.ncmpcpp.isWanted, "ncmpcpp or tmux is missing"))
    func ncmpcppShowsLibraryQueueAndPlaying() throws {
        let (library, server) = try library()
        defer { server.stop() }
        let running = try started(server, library)
        #expect(running.mpc("add", "Queue/Ten") != nil)
        let home = try #require(TemporaryFolder())
        let socket = home.path("tmux")
        let environment = [
            "HOME": home.path, "XDG_CONFIG_HOME": home.path("config"), "LC_ALL": "C.UTF-8", "TERM": "screen",
            "TMUX": "",
        ]
        func tmux(_ words: String...) -> String {
            TestProcess.run(["tmux", "-S", socket] + words, environment: environment)?.output ?? ""
        }
        func screen(shows text: String) -> Bool {
            waitUntil(milliseconds: 15_000) { tmux("capture-pane", "-p").contains(text) }
        }
        _ = tmux(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "ncmpcpp -h 127.0.0.1 -p \(running.port)"
        )
        defer { _ = tmux("kill-server") }
        #expect(screen(shows: "Ten 07"), "\(tmux("capture-pane", "-p"))")
        _ = tmux("send-keys", "Enter")
        #expect(running.wait(for: "state") { $0 == "play" })
        #expect(screen(shows: "Playing"), "\(tmux("capture-pane", "-p"))")
        _ = tmux("send-keys", "2")
        #expect(screen(shows: "Alpha Band"), "\(tmux("capture-pane", "-p"))")
        _ = tmux("send-keys", "4")
        #expect(screen(shows: "Gamma Trio"), "\(tmux("capture-pane", "-p"))")
        _ = tmux("send-keys", "3")
        #expect(screen(shows: "Search"), "\(tmux("capture-pane", "-p"))")
        #expect(!tmux("capture-pane", "-p").lowercased().contains("error"))
        _ = tmux("send-keys", "q")
        #expect(running.isRunning)
        #expect(running.stop() == .exited(0))
    }
}
