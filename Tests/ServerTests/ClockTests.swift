import CLinux
import Playback
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What is done to the wall clock while the program runs: it is set forth and back by hours and by decades.
@Suite struct ClockTests {
    /// Clocks that a test sets.
    private final class Clocks {
        var wall: Int64 = 1_800_000_000_000
        var running: Int64 = 5_000_000

        var both: PlayTracker.Clock {
            PlayTracker.Clock(wall: { [self] in wall }, running: { [self] in running })
        }

        func pass(_ milliseconds: Int64) {
            wall += milliseconds
            running += milliseconds
        }
    }

    /// - Parameters:
    ///   - jump: by how much the clock is set while the song plays, in milliseconds.
    ///   - expected: by how much the time that is told differs from what the clock showed when it began.
    @Test(
        arguments: [
            (0, 0), (900, 0), (3_600_000, 3_600_000), (-7_200_000, -7_200_000),
            (1_700_000_000_000, 1_700_000_000_000), (-1_700_000_000_000, -1_700_000_000_000),
        ] as [(Int64, Int64)]
    )
    func aPlayBeganWhenTheRightClockSays(_ jump: Int64, _ expected: Int64) {
        let clocks = Clocks()
        let tracker = PlayTracker(clock: clocks.both)
        var due: [Int64?] = []
        tracker.report = { if case .due(let play) = $0 { due.append(play.start) } }
        tracker.begins(EntryID(1), key: SongKey(1), length: .seconds(60), at: .zero)
        let begin = shelv_monotonic_now()
        let start = clocks.wall
        for second in 0...40 {
            if second == 20 { clocks.wall += jump }
            let position = PlaybackPosition(
                elapsed: .seconds(second),
                time: begin + UInt64(second) * 1_000_000_000,
                advances: true
            )
            tracker.moved(to: position)
            clocks.pass(1000)
        }
        #expect(due.count == 1)
        // What the test itself takes is in what the player tells.
        let told = (due.first ?? nil) ?? 0
        #expect((told - start - expected).magnitude < 1000, "\(told - start)")
    }

    /// By the monotonic clock: a wait ends when it shall, and a signal ends it before.
    @Test func waitsEndInTime() {
        let semaphore = Semaphore()
        let begin = monotonicMilliseconds()
        #expect(!semaphore.wait(atMost: .milliseconds(30)))
        #expect(monotonicMilliseconds() - begin >= 29)
        semaphore.signal()
        #expect(semaphore.wait(atMost: .seconds(60)))
        #expect(!semaphore.wait(atMost: .zero))
    }

    /// A picture that was fetched in the future is fetched anew, once, and not at each look.
    @Test func picturesOfTheFutureAreFetchedOnce() {
        let today: Int64 = 1_800_000_000
        let fetches = Mutex(0)
        let arrivals = Mutex<[@Sendable (Covers) -> Void]>([])
        let covers = Covers(
            files: nil,
            clock: Covers.Clock(today: { today }),
            post: { action in arrivals.withLock { $0.append(action) } }
        ) { _, whenDone in
            // The first one comes while the clock is a year ahead.
            let count = fetches.withLock { count in
                count += 1
                return Int64(count)
            }
            whenDone(.cover(Cover(bytes: [1], type: "image/png", fetched: today + (count == 1 ? 31_536_000 : 0))))
        }
        for _ in 0..<10 {
            covers.find([.art("a")]) { _ in }
            let actions = arrivals.withLock { arrivals in
                defer { arrivals = [] }
                return arrivals
            }
            for action in actions { action(covers) }
        }
        #expect(fetches.withLock { $0 } == 2)
    }
}
