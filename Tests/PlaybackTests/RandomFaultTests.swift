import Glibc
import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Any faults in any order: each sample is heard once, in its place, and no song is skipped.
///
/// A failure names its seed; `SHELV_SEED=17` runs that one, `SHELV_SOAK=1` runs two hundred.
@Suite(.serialized)
struct RandomFaultTests {
    private static let seeds: [UInt64] = {
        if let seed = SeededNumbers.wantedSeed { return [seed] }
        return Array(1...(unsafe getenv("SHELV_SOAK") == nil ? 20 : 200))
    }()

    private struct Chance {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(max(1, limit)))
        }
    }

    @Test func noSampleIsLost() {
        let seeds = Self.seeds
        // Several at the same time: they mostly wait.
        let failures = TestThread.concurrently(seeds.count, threads: 5) { index -> String? in
            do {
                return try Self.run(seeds[index])
            } catch {
                return "SHELV_SEED=\(seeds[index]): \(error)"
            }
        }
        #expect(failures.compactMap { $0 } == [])
    }

    /// What was wrong, or nil.
    private static func run(_ seed: UInt64) throws -> String? {
        var chance = Chance(state: seed)
        let songs = [
            Tone(441, frames: 30_000 + chance.below(60_000)), Tone(882, frames: 30_000 + chance.below(60_000)),
        ]
        let files = songs.map(\.wav)
        var plans: [String: [FaultyServer.Step]] = [:]
        for (path, file) in zip(["/a", "/b"], files) {
            plans[path] = (0..<chance.below(4)).map { _ in
                let fault = ServerFault.allCases[chance.below(ServerFault.allCases.count)]
                // Anywhere, at the very start, or near the end.
                let place = [chance.below(file.count), 0, file.count - chance.below(5000)][chance.below(3)]
                return FaultyServer.Step(fault: fault, place: place)
            }
        }
        // In a third of the runs the first song stalls and is moved in from there; its server fails during that, too.
        let stall = chance.below(3) == 0 ? chance.below(files[0].count) : nil
        let box = Mutex<FaultyServer?>(nil)
        let fixture = try PlayerFixture { request in
            box.withLock { $0 }?.answer(request) ?? HTTPTestResponse(status: 404)
        }
        let line = try FaultyServer(files: ["/a": files[0], "/b": files[1]], plans: plans, server: fixture.server)
        box.withLock { $0 = line }
        defer {
            line.stop()
            fixture.stop()
        }
        let gate = fixture.server.makeGate()
        if let stall { line.hold("/a", at: stall, gate) }
        let start = chance.below(20_000)
        let begin = Duration.nanoseconds(Int64(start) * 1_000_000_000 / 44_100) + .nanoseconds(1)
        let sources = ["a", "b"].enumerated().map { index, path in
            var source = fixture.source(path, size: files[index].count, at: line.url)
            source.serverHealth = { .well }
            return source
        }
        fixture.player.load(one, sources[0], at: begin, paused: false)
        fixture.player.preload(two, sources[1])
        var target: Int?
        if stall != nil {
            try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
            let place = chance.below(songs[0].frames - 1000)
            fixture.player.seek(to: .nanoseconds(Int64(place) * 1_000_000_000 / 44_100 + 1))
            gate.open()
            target = place
        }
        try fixture.wait(for: 60) { $0 == .ended(two, .endOfFile) }
        let told = fixture.story.filter { event in
            switch event {
            case .starving, .recovered: false
            default: true
            }
        }
        let label = "SHELV_SEED=\(seed): \(plans), stall \(stall ?? -1)"
        guard told == [.started(one), .audible(two), .ended(two, .endOfFile)] else { return "\(label): \(told)" }
        let heard = firstChannel(try fixture.output())
        let (old, new) = (firstChannel(songs[0].pcm), firstChannel(songs[1].pcm))
        guard heard.suffix(new.count) == new[...] else { return "\(label): the second song" }
        // The place is told in microseconds, so it may be a sample off; what follows must be whole.
        let first = heard.dropLast(new.count)
        if let target {
            // What came before the seek, then all that follows its target.
            let rest = old.count - target - 1
            let before = first.dropLast(rest).dropLast()
            guard first.suffix(rest) == old.suffix(rest),
                (-1...1).contains(where: { old.dropFirst(max(0, start + $0)).starts(with: before) })
            else { return "\(label): the first song, \(first.count), to \(target)" }
        } else {
            guard abs(first.count - (old.count - start)) <= 1, first == old.suffix(first.count) else {
                return "\(label): the first song, \(first.count)"
            }
        }
        return nil
    }
}
