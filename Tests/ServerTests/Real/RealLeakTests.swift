import Glibc
import Support
import Testing

/// Nothing is left behind by the songs that were played: in the real program, with the sound of a real server.
///
/// `SHELV_SOAK=1` makes it two thousand changes, and a day of music.
@Suite(.serialized, .enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealLeakTests {
    private static let isLong = unsafe getenv("SHELV_SOAK") != nil
    private static let changes = isLong ? 2000 : 120

    private struct Use {
        var descriptors: Int
        var threads: Int
        /// KiB that belong to the process alone.
        var memory: Int
    }

    private func use(of process: TestProcess) throws -> Use {
        let folder = "/proc/\(process.identifier)"
        let status = String(decoding: try #require(contents(of: "\(folder)/status")), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return Use(
            descriptors: TemporaryFolder.names(in: "\(folder)/fd").count,
            threads: TemporaryFolder.names(in: "\(folder)/task").count,
            memory: try #require(Int(line.filter(\.isNumber)))
        )
    }

    /// What it holds once it has let go of what is only there for a moment: as many descriptors and threads as before.
    private func settledUse(of process: TestProcess, since before: Use) throws -> Use {
        var after = try use(of: process)
        _ = waitUntil(milliseconds: 10_000) {
            after = (try? use(of: process)) ?? after
            return after.descriptors <= before.descriptors + 3 && after.threads <= before.threads + 3
        }
        #expect(after.descriptors <= before.descriptors + 3, "\(before) \(after)")
        #expect(after.threads <= before.threads + 3, "\(before) \(after)")
        return after
    }

    @Test(arguments: ["", "crossfade 1"])
    func changesOfSongLeaveNothingBehind(command: String) throws {
        let library = try #require(ToneLibrary.shared)
        let instance = try RealInstance(SharedServer.supysonic) { _ in
            "audio_output {\ntype \"null\"\nname \"Null\"\n}\n"
        }
        defer { instance.stop() }
        try instance.startAndSync(songs: library.songs.count)
        let client = try instance.client()
        for words in ["add /", "repeat 1", "play", command] where !words.isEmpty {
            #expect(try client.ask(words) == ["OK"])
        }
        func advance(_ count: Int) throws {
            for step in 0..<count {
                #expect(try client.ask("next") == ["OK"])
                // Every fifth one is heard, and its end, too.
                guard step % 5 == 0 else { continue }
                #expect(try client.status { $0["state"] == "play" && $0["audio"] != nil } != nil)
                #expect(try client.ask("seekcur \(step % 2 == 0 ? 0.5 : 1.9)") == ["OK"])
            }
            #expect(try client.status { $0["state"] == "play" && $0["audio"] != nil } != nil)
        }
        let process = try #require(instance.process)
        // First everything is made that is made once; in the long run the heap, which grows by blocks of ten MiB, finds its size, too.
        try advance(Self.isLong ? 2500 : 60)
        let before = try use(of: process)
        try advance(Self.changes)
        let after = try settledUse(of: process, since: before)
        // The heap takes some hundred changes to find its size; what leaks shows in the long run.
        let growth = (Self.changes > 1_000 ? 32 : 64) * 1024
        #expect(after.memory <= before.memory + growth, "\(before) \(after)")
        let cache = TemporaryFolder.names(in: instance.folder.path("cache/audio"))
        #expect(cache.count <= 2 * library.songs.count && !cache.contains { $0.hasSuffix(".new") }, "\(cache.count)")
    }

    /// Songs of four minutes, one after another, as fast as they can be decoded: a whole day of them, or a quarter of an hour.
    @Test func longPlayingLeavesNothingBehind() throws {
        let music = try #require(TemporaryFolder())
        let kinds = ["mp3", "ogg", "opus", "m4a"]
        for (index, kind) in kinds.enumerated() {
            let sound = "sine=\(300 + 50 * index):d=240:r=48000"
            let tags = ["-metadata", "title=Song \(index)", "-metadata", "artist=Band", "-metadata", "album=\(kind)"]
            let words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", sound] + tags + [music.path("\(index).\(kind)")]
            #expect(TestProcess.run(words)?.end == .exited(0), "\(kind)")
        }
        let server = try #require(SupysonicServer(music: music.path))
        defer { server.stop() }
        let instance = try RealInstance(server) { _ in
            "audio_output {\ntype \"null\"\nname \"Null\"\ntimed \"no\"\n}\n"
        }
        defer { instance.stop() }
        try instance.startAndSync(songs: kinds.count)
        let client = try instance.client()
        let process = try #require(instance.process)

        /// Plays all songs so often, to the end.
        func play(rounds: Int) throws {
            #expect(try client.ask("clear") == ["OK"])
            for _ in 0..<rounds { #expect(try client.ask("add /") == ["OK"]) }
            #expect(try client.ask("play") == ["OK"])
            let end = try client.status(within: rounds * 120_000) { $0["state"] == "stop" || $0["error"] != nil }
            #expect(end?["state"] == "stop" && end?["error"] == nil, "\(end ?? [:])")
        }
        // First everything is made that is made once; in the long run the heap, which grows by blocks of ten MiB, finds its size, too.
        let (first, rounds) = Self.isLong ? (40, 90) : (1, 1)
        try play(rounds: first)
        let before = try use(of: process)
        try play(rounds: rounds)
        // An end counts as one only where the whole song has been read: the next is heard then, or the player tells.
        let ends = instance.log.split(separator: "\n").count { line in
            line.contains("player: audible(") || line.contains("player: ended(") && line.contains("endOfFile")
        }
        #expect(ends == (first + rounds) * kinds.count)
        let after = try settledUse(of: process, since: before)
        #expect(after.memory <= before.memory + (Self.isLong ? 32 : 64) * 1024, "\(before) \(after)")
        let cache = TemporaryFolder.names(in: instance.folder.path("cache/audio"))
        #expect(cache.count <= 2 * kinds.count && !cache.contains { $0.hasSuffix(".new") }, "\(cache)")
        if Self.isLong { print("\(rounds * kinds.count * 240) seconds of music: \(before) before, \(after) after") }
    }
}
