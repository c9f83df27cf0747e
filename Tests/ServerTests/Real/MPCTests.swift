import Support
import Testing

/// mpc in front, as people use it in scripts.
@Suite(
    .enabled(
        if: RealPeer.supysonic.isWanted && RealPeer.mpc.isWanted,
        "mpc, supysonic, gunicorn or ffmpeg is not installed"
    )
)
struct MPCTests {
    /// The line of mpc's status that says what plays.
    private static func playing(_ lines: [String]) -> String { lines.first { $0.hasPrefix("[") } ?? "" }

    @Test func doesWhatMPCSays() throws {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.startAndSync(songs: library.songs.count)
        func mpc(_ words: String...) throws -> [String] {
            let run = TestProcess.run(["mpc", "--host=127.0.0.1", "--port=\(instance.port)"] + words)
            guard let run, run.end == .exited(0), run.errors.isEmpty else {
                throw RealFailure("mpc \(words): \(run.map { "\($0)" } ?? "takes too long") \(instance.log)")
            }
            return run.output.split(separator: "\n").map(String.init)
        }

        #expect(try mpc("ls") == ["Alpha Band", "Deep", "Formats", "Gamma Trio", "Gapless", "Odd", "Queue", "Shelves"])
        #expect(try mpc("ls", "Queue/Short").first == "Queue/Short/01 - Short 01.ogg")
        #expect(try mpc("listall").sorted() == library.songs.map(\.path).sorted())
        #expect(try mpc("search", "artist", "queue band").count == 13)
        #expect(try mpc("find", "artist", "queue band") == [])
        #expect(try mpc("find", "artist", "Deep") == ["Deep/a/b/c/deep song.mp3"])

        #expect(try mpc("add", "Queue/Ten") == [])
        let names = (1...10).map { "Queue Band - Ten \($0 < 10 ? "0" : "")\($0)" }
        #expect(try mpc("playlist") == names)
        #expect(Self.playing(try mpc("play")).hasPrefix("[playing] #1/10   0:00/0:20 (0%)"))
        #expect(Self.playing(try mpc("next")).hasPrefix("[playing] #2/10   0:00/0:20"))
        #expect(Self.playing(try mpc("seek", "10")).hasPrefix("[playing] #2/10   0:10/0:20 (50%)"))
        #expect(Self.playing(try mpc("pause")).hasPrefix("[paused]  #2/10   0:1"))
        #expect(try mpc("volume", "40").last?.hasPrefix("volume: 40%") == true)
        let status = try mpc("status")
        #expect(status.first == "Queue Band - Ten 02")
        #expect(Self.playing(status).hasPrefix("[paused]  #2/10"))
        #expect(status.last == "volume: 40%   repeat: off   random: off   single: off   consume: off")

        #expect(try mpc("del", "1") == [])
        #expect(try mpc("move", "9", "1") == [])
        #expect(try mpc("playlist") == [names[9]] + names[1...8])
        #expect(try mpc("stats").contains("Songs:       \(library.songs.count)"))
        #expect(try mpc("outputs") == ["Output 1 (Silence) is enabled"])
        #expect(try mpc("update").contains { $0.hasPrefix("Updating DB (#") })
        #expect(try mpc("clear").allSatisfy { !$0.hasPrefix("[") })
        #expect(try mpc("playlist") == [])
        #expect(try mpc("version") == ["mpd version: 0.24.0"])
    }
}
