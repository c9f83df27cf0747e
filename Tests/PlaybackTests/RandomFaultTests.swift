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
        // In a third of the runs the first song stalls and is moved in from there; its server fails during that, too.
        let stall = chance.below(3) == 0 ? (place: chance.below(files[0].count), more: chance.below(50_000)) : nil
        let gates = GateBox()
        let counts = Monitor([0, 0])
        let fixture = try PlayerFixture { [plans] request in
            let song = request.path == "/a" ? 0 : 1
            let number = counts.withLock { counts in
                defer { counts[song] += 1 }
                return counts[song]
            }
            let answer = HTTPTestResponse.file(files[song], for: request)
            var turn = number
            if song == 0, let stall {
                if turn == 0 {
                    let stalled = answer.interrupted(after: stall.place, by: .wait(gates.gate))
                    return stalled.interrupted(after: stall.place + stall.more, by: .reset)
                }
                turn -= 1
            }
            guard turn < plans[song].count else { return answer }
            let (fault, place) = plans[song][turn]
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
        gates.set(fixture.server)
        defer { fixture.stop() }
        let start = chance.below(20_000)
        let begin = Duration.nanoseconds(Int64(start) * 1_000_000_000 / 44_100) + .nanoseconds(1)
        fixture.player.load(one, fixture.source("a", size: files[0].count), at: begin, paused: false)
        fixture.player.preload(two, fixture.source("b", size: files[1].count))
        let label = "SHELV_SEED=\(seed): \(plans) \(stall.map { "\($0)" } ?? "")"
        var target: Int?
        if stall != nil {
            try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
            let place = chance.below(songs[0].frames - 1000)
            fixture.player.seek(to: .nanoseconds(Int64(place) * 1_000_000_000 / 44_100 + 1))
            gates.gate.open()
            target = place
        }
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
        if let target {
            // What came before the seek, then all that follows its target.
            let rest = old.count - target - 1
            #expect(first.suffix(rest) == old.suffix(rest), "\(label)")
            let before = first.dropLast(rest).dropLast()
            #expect((-1...1).contains { old.dropFirst(max(0, start + $0)).starts(with: before) }, "\(label)")
        } else {
            #expect(abs(first.count - (old.count - start)) <= 1, "\(label): \(first.count)")
            #expect(first == old.suffix(first.count), "\(label)")
        }
        #expect(heard.suffix(new.count) == new[...], "\(label)")
    }
}
