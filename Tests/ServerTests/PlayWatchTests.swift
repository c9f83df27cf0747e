import QueueEngine
import Testing

@testable import ShelvMPD

/// When a play counts, by tables and beside a model that counts milliseconds.
@Suite struct PlayWatchTests {
    /// Events and the second of the clock at which they come.
    private enum Step {
        case at(_ second: Double, elapsed: Double, runs: Bool)
        case jump(_ second: Double)
        case leave(_ second: Double)
    }

    private static func moment(_ second: Double) -> UInt64 { UInt64(second * 1e9) }

    private static func run(_ length: Double?, _ steps: [Step]) -> PlayWatch {
        var watch = PlayWatch(length: length.map { .seconds($0) })
        var due = 0
        for step in steps {
            let event: PlayWatch.Event =
                switch step {
                case .at(let second, let elapsed, let runs):
                    .position(elapsed: .seconds(elapsed), at: moment(second), advances: runs)
                case .jump(let second): .sought(at: moment(second))
                case .leave(let second): .left(at: moment(second))
                }
            due += watch.take(event).count { $0 == .due }
        }
        #expect(due == (watch.isDue ? 1 : 0))
        return watch
    }

    @Test(
        arguments: [
            (nil, nil), (0, nil), (29.999, nil), (30, 15), (60, 30), (200, 100), (479, 239.5), (480, 240), (7200, 240),
        ] as [(Double?, Double?)]
    )
    func threshold(_ length: Double?, _ threshold: Double?) {
        #expect(PlayWatch(length: length.map { .seconds($0) }).threshold == threshold.map { .seconds($0) })
    }

    @Test func countsHalfOfASong() {
        #expect(!Self.run(100, [.at(0, elapsed: 0, runs: true), .at(49.9, elapsed: 49.9, runs: true)]).isDue)
        #expect(Self.run(100, [.at(0, elapsed: 0, runs: true), .at(50, elapsed: 50, runs: true)]).isDue)
        // Between two reports: told by the end of the song.
        #expect(Self.run(100, [.at(0, elapsed: 0, runs: true), .at(48, elapsed: 48, runs: true), .leave(51)]).isDue)
        #expect(!Self.run(100, [.at(0, elapsed: 0, runs: true), .at(48, elapsed: 48, runs: true), .leave(49)]).isDue)
    }

    @Test func countsFourMinutesOfALongOne() {
        #expect(!Self.run(3000, [.at(0, elapsed: 0, runs: true), .at(239, elapsed: 239, runs: true)]).isDue)
        #expect(Self.run(3000, [.at(0, elapsed: 0, runs: true), .at(240, elapsed: 240, runs: true)]).isDue)
    }

    @Test func neverCountsAShortOneOrOneOfUnknownLength() {
        let steps: [Step] = [.at(0, elapsed: 0, runs: true), .at(29, elapsed: 29, runs: true), .leave(29)]
        #expect(!Self.run(29, steps).isDue)
        #expect(!Self.run(nil, steps).isDue)
    }

    @Test func leavesOutPauses() {
        let watch = Self.run(
            100,
            [
                .at(0, elapsed: 0, runs: true), .at(10, elapsed: 10, runs: false), .at(1000, elapsed: 10, runs: true),
                .at(1039, elapsed: 49, runs: true),
            ]
        )
        #expect(watch.heardSoFar == .seconds(49))
        #expect(!watch.isDue)
    }

    @Test func leavesOutWhatWasJumpedOver() {
        let watch = Self.run(
            100,
            [
                .at(0, elapsed: 0, runs: true), .at(5, elapsed: 5, runs: true), .jump(6),
                .at(7, elapsed: 90, runs: true),
                .at(16, elapsed: 99, runs: true), .leave(17),
            ]
        )
        #expect(watch.heardSoFar == .seconds(16))
        #expect(!watch.isDue)
    }

    @Test func countsTwiceWhatWasHeardTwice() {
        let steps: [Step] = [
            .at(0, elapsed: 0, runs: true), .at(29, elapsed: 29, runs: true), .jump(30),
            .at(30, elapsed: 0, runs: true),
            .at(50, elapsed: 20, runs: true),
        ]
        #expect(Self.run(100, steps).isDue)
    }

    @Test func aDeviceThatHangsPlaysNothing() {
        let steps: [Step] = [
            .at(0, elapsed: 0, runs: true), .at(1, elapsed: 1, runs: true), .at(500, elapsed: 1, runs: true),
        ]
        #expect(Self.run(100, steps).heardSoFar == .seconds(1))
    }

    @Test func tellsOnceThatItCanBeHeard() {
        var watch = PlayWatch(length: .seconds(100))
        #expect(watch.take(.position(elapsed: .zero, at: 5, advances: false)).isEmpty)
        #expect(watch.take(.position(elapsed: .zero, at: 7, advances: true)) == [.began(at: 7)])
        #expect(watch.take(.position(elapsed: .zero, at: 8, advances: false)).isEmpty)
        #expect(watch.take(.position(elapsed: .zero, at: 9, advances: true)).isEmpty)
    }

    @Test func goesOnWhereItWas() {
        var watch = PlayWatch(length: .seconds(100), heard: .seconds(45), isDue: false)
        #expect(watch.take(.position(elapsed: .seconds(45), at: 0, advances: true)) == [.began(at: 0)])
        #expect(watch.take(.position(elapsed: .seconds(50), at: 5_000_000_000, advances: true)) == [.due])
        var done = PlayWatch(length: .seconds(100), heard: .seconds(45), isDue: true)
        _ = done.take(.position(elapsed: .seconds(45), at: 0, advances: true))
        #expect(done.take(.position(elapsed: .seconds(99), at: 54_000_000_000, advances: true)).isEmpty)
    }

    @Test func lengthMayComeLater() {
        var watch = PlayWatch()
        _ = watch.take(.position(elapsed: .zero, at: 0, advances: true))
        #expect(watch.take(.position(elapsed: .seconds(60), at: 60_000_000_000, advances: true)).isEmpty)
        watch.length = .seconds(100)
        #expect(watch.take(.position(elapsed: .seconds(61), at: 61_000_000_000, advances: true)) == [.due])
    }

    /// A listener who does anything, and reports at any moment.
    @Test func agreesWithAModel() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let length = Int.random(in: 20...600, using: &random)
            var watch = PlayWatch(length: .seconds(length))
            var (clock, position, heard, runs, isKnown) = (1_000, 0, 0, false, false)
            var due = 0
            func moment(_ milliseconds: Int) -> UInt64 { UInt64(milliseconds) * 1_000_000 }
            for _ in 0..<60 {
                let time = Int.random(in: 0..<5_000, using: &random)
                clock += time
                if runs {
                    position += time
                    // What comes after a jump and before the first report is not known to sound.
                    if isKnown { heard += time }
                }
                let event: PlayWatch.Event
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    event = .sought(at: moment(clock))
                    position = Int.random(in: 0..<length * 1000, using: &random)
                    isKnown = false
                case 1, 2:
                    runs.toggle()
                    isKnown = true
                    event = .position(elapsed: .milliseconds(position), at: moment(clock), advances: runs)
                default:
                    isKnown = true
                    event = .position(elapsed: .milliseconds(position), at: moment(clock), advances: runs)
                }
                due += watch.take(event).count { $0 == .due }
                #expect(watch.heardSoFar == .milliseconds(heard), "seed \(seed)")
                let isDue = length >= 30 && heard >= min(length * 500, 240_000)
                #expect(due == (isDue ? 1 : 0), "seed \(seed)")
            }
        }
    }
}
