import Glibc
import Support
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
        if let text = unsafe getenv("SHELV_SEED"), let seed = unsafe UInt64(String(cString: text)) { return [seed] }
        return Array(1...(unsafe getenv("SHELV_SOAK") == nil ? 20 : 200))
    }()

    /// What the answers to one song's requests suffer, one after another; later ones are sound.
    private enum Fault: CaseIterable {
        case cut, cutAtStart, cutNearEnd, busy, tooMany, html, noRanges, early
    }

    private struct Chance {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(max(1, limit)))
        }
    }

    @Test func noSampleIsLost() throws {
        for seed in Self.seeds { try run(seed) }
    }

    private func run(_ seed: UInt64) throws {
        var chance = Chance(state: seed)
        let songs = [
            Tone(441, frames: 30_000 + chance.below(60_000)), Tone(882, frames: 30_000 + chance.below(60_000)),
        ]
        let files = songs.map(\.wav)
        var plans: [[(Fault, Int)]] = []
        for file in files {
            plans.append(
                (0..<chance.below(4)).map { _ in
                    (Fault.allCases[chance.below(Fault.allCases.count)], chance.below(file.count))
                }
            )
        }
        let counts = Monitor([0, 0])
        let fixture = try PlayerFixture { [plans] request in
            let song = request.path == "/a" ? 0 : 1
            let number = counts.withLock { counts in
                defer { counts[song] += 1 }
                return counts[song]
            }
            let answer = HTTPTestResponse.file(files[song], for: request)
            guard number < plans[song].count else { return answer }
            let (fault, place) = plans[song][number]
            let length = files[song].count - (request.rangeStart ?? 0)
            switch fault {
            case .cut: return answer.interrupted(after: min(place, length), by: .reset)
            case .cutAtStart: return answer.interrupted(after: 0, by: .reset)
            case .cutNearEnd: return answer.interrupted(after: max(0, length - place % 5000), by: .reset)
            case .busy: return HTTPTestResponse(status: 503)
            case .tooMany: return HTTPTestResponse(status: 429, headers: [("Retry-After", "0")])
            case .html: return .html("<html>Bad Gateway</html>", status: 502)
            case .noRanges: return HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: files[song])
            case .early: return answer.interrupted(after: min(place, length), by: .close)
            }
        }
        defer { fixture.stop() }
        let start = chance.below(20_000)
        let begin = Duration.nanoseconds(Int64(start) * 1_000_000_000 / 44_100) + .nanoseconds(1)
        fixture.player.load(one, fixture.source("a", size: files[0].count), at: begin, paused: false)
        fixture.player.preload(two, fixture.source("b", size: files[1].count))
        let label = "SHELV_SEED=\(seed): \(plans)"
        try fixture.wait(for: 60) { $0 == .ended(two, .endOfFile) }
        let told = fixture.story.filter { event in
            switch event {
            case .starving, .recovered: false
            default: true
            }
        }
        #expect(told == [.started(one), .audible(two), .ended(two, .endOfFile)], "\(label)")
        let heard = firstChannel(try fixture.output())
        let (old, new) = (firstChannel(songs[0].pcm), firstChannel(songs[1].pcm))
        // The place is told in microseconds, so it may be a sample off; what follows must be whole.
        let first = heard.dropLast(new.count)
        #expect(abs(first.count - (old.count - start)) <= 1, "\(label): \(first.count)")
        #expect(first == old.suffix(first.count), "\(label)")
        #expect(heard.suffix(new.count) == new[...], "\(label)")
    }
}
