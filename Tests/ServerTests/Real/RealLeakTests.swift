import Glibc
import Support
import Testing

/// Nothing is left behind by the songs that were played: in the real program, with the sound of a real server.
///
/// `SHELV_SOAK=1` makes it two thousand changes.
@Suite(.serialized, .enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealLeakTests {
    private static let changes = unsafe getenv("SHELV_SOAK") == nil ? 120 : 2000

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
        // First everything is made that is made once.
        try advance(60)
        let before = try use(of: process)
        try advance(Self.changes)
        var after = try use(of: process)
        _ = waitUntil(milliseconds: 10_000) {
            after = (try? use(of: process)) ?? after
            return after.descriptors <= before.descriptors + 3 && after.threads <= before.threads + 3
        }
        #expect(after.descriptors <= before.descriptors + 3, "\(before) \(after)")
        #expect(after.threads <= before.threads + 3, "\(before) \(after)")
        // The heap takes some hundred changes to find its size; what leaks shows in the long run.
        let growth = (Self.changes > 1_000 ? 32 : 64) * 1024
        #expect(after.memory <= before.memory + growth, "\(before) \(after)")
        let cache = TemporaryFolder.names(in: instance.folder.path("cache/audio"))
        #expect(cache.count <= 2 * library.songs.count && !cache.contains { $0.hasSuffix(".new") }, "\(cache.count)")
    }
}
