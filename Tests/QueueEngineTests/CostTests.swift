import Glibc
import Testing

@testable import QueueEngine

/// Processor time of this thread, which a busy machine does not lengthen.
private func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
}

/// How long operations take on long queues. Only where `SHELV_COST` is set, and only worth it in a release build:
/// `SHELV_COST=1 swift test -c release -Xswiftc -enable-testing --filter CostTests`.
@Suite(.serialized, .enabled(if: unsafe getenv("SHELV_COST") != nil)) struct CostTests {
    /// Single operations on 100,000 entries stay under a millisecond.
    @Test(arguments: QueueMode.allCases, [false, true])
    func singleOperations(_ mode: QueueMode, random: Bool) throws {
        for size in [1_000, 10_000, 100_000] {
            var queue = Queue(configuration: QueueConfiguration(mode: mode), seed: 3)
            _ = try queue.append(contentsOf: (0..<UInt32(size)).map { SongKey($0) })
            _ = try queue.play(at: size / 2)
            _ = queue.setRandom(random)
            var known = queue.version
            let operations: [(String, (inout Queue, Int) throws -> Void)] = [
                ("append", { queue, _ in _ = try queue.append(contentsOf: [SongKey(1)]) }),
                ("add at the front", { queue, _ in _ = try queue.insert(contentsOf: [SongKey(1)], at: .absolute(0)) }),
                ("add as next", { queue, _ in _ = try queue.insert(contentsOf: [SongKey(1)], at: .afterCurrent(0)) }),
                ("delete at the front", { queue, _ in _ = try queue.delete(PositionSpan(0)) }),
                (
                    "move end to end",
                    { queue, _ in _ = try queue.move(PositionSpan(0), to: .absolute(queue.count - 1)) }
                ),
                ("jump from the end", { queue, _ in _ = try queue.play(at: queue.count - 1) }),
                ("previous", { queue, _ in _ = try queue.previous() }),
                ("next", { queue, _ in _ = try queue.next() }),
                ("prio", { queue, _ in _ = queue.setPriority(5, [PositionSpan(queue.count - 1)]) }),
                (
                    "swap and plchanges",
                    { queue, _ in
                        _ = try queue.swap(1, queue.count - 1)
                        #expect(queue.changes(since: known).count == 2)
                    }
                ),
            ]
            for (name, operation) in operations {
                var times: [Duration] = []
                for round in 0..<31 {
                    known = queue.version
                    times.append(try processorTime { try operation(&queue, round) })
                }
                times.sort()
                print("\(mode) random=\(random) \(size) \(name): median \(times[15]) worst \(times[30])")
                #expect(times[15] < .milliseconds(1))
            }
        }
    }

    /// Whole-queue operations on 100,000 entries: a `load`, `shuffle`, `random` on and off, `clear`, saving and loading.
    @Test func wholeQueueOperations() throws {
        let keys = (0..<100_000 as Range<UInt32>).map { SongKey($0) }
        for mode in QueueMode.allCases {
            var queue = Queue(configuration: QueueConfiguration(mode: mode), seed: 3)
            func measure(_ name: String, _ body: (inout Queue) throws -> Void) throws {
                let time = try processorTime { try body(&queue) }
                print("\(mode) \(name): \(time)")
                #expect(time < .milliseconds(100))
            }
            try measure("append 100,000 at once") { _ = try $0.append(contentsOf: keys) }
            try measure("append 1,000 more") { _ = try $0.append(contentsOf: Array(keys.prefix(1_000))) }
            try measure("play") { _ = $0.play() }
            try measure("random on") { _ = $0.setRandom(true) }
            try measure("append 1,000, random") { _ = try $0.append(contentsOf: Array(keys.prefix(1_000))) }
            try measure("next, random") { _ = try $0.next() }
            try measure("random off") { _ = $0.setRandom(false) }
            try measure("shuffle") { _ = try $0.shuffle() }
            try measure("prio on all") { _ = $0.setPriority(5, [.everything]) }
            var archive = queue.archive()
            try measure("archive") { archive = $0.archive() }
            try measure("restore") { $0 = Queue(archive, configuration: $0.configuration, seed: 1) }
            try measure("delete half") { _ = try $0.delete(PositionSpan(start: 0, end: 50_000)) }
            try measure("clear") { _ = $0.clear() }
        }
    }
}
