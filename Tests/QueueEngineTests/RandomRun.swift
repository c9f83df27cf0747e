import Glibc
import Support

@testable import QueueEngine

/// Counts and seeds for tests with random operations, from the environment.
///
/// `SHELV_SEED=17` runs that one seed; `SHELV_RUNS` and `SHELV_STEPS` say how many and how long.
enum RandomRun {
    /// The seeds to run.
    static var seeds: [UInt64] {
        if let seed = SeededNumbers.wantedSeed { return [seed] }
        return (0..<(number("SHELV_RUNS") ?? 20)).map { UInt64($0) + 1 }
    }

    /// The operations of one seed.
    static var steps: Int { number("SHELV_STEPS") ?? 100 }

    /// Runs each seed; on a failure shortens the operations by halves as long as they still fail.
    /// - Parameter attempt: runs operations from a fresh start and tells what was wrong, or nil.
    /// - Returns: the reports of failed seeds, with the seed and the operations that are left.
    static func failures(mode: QueueMode, attempt: ([Operation]) -> String?) -> [String] {
        var reports: [String] = []
        for seed in seeds {
            var random = SeededRandom(seed: seed)
            var operations = (0..<steps).map { _ in Operation(&random, mode: mode) }
            guard var wrong = attempt(operations) else { continue }
            var part = operations.count / 2
            while part > 0 {
                var start = 0
                while start < operations.count {
                    var fewer = operations
                    fewer.removeSubrange(start..<min(operations.count, start + part))
                    if let still = attempt(fewer) {
                        operations = fewer
                        wrong = still
                    } else {
                        start += part
                    }
                }
                part /= 2
            }
            reports.append(
                "SHELV_SEED=\(seed): \(wrong) after \(operations.map(\.description).joined(separator: ", "))"
            )
            if reports.count > 2 { break }
        }
        return reports
    }

    private static func number(_ name: String) -> Int? {
        unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
    }
}

/// One random operation. Its numbers are taken modulo what exists when it is carried out, so it means something on any
/// queue and a shortened sequence stays meaningful.
struct Operation: CustomStringConvertible {
    let kind: Kind
    let a: Int
    let b: Int
    let c: Int

    enum Kind: String, CaseIterable {
        case append, insert, insertAfter, insertBefore, delete, clear, move, moveAfter, swap, shuffle, prio
        case play, resume, pause, stop, next, previous, seek, end, flow, fail, transportFail, commit, started
        case random, `repeat`, single, consume
    }

    init(_ random: inout SeededRandom, mode: QueueMode) {
        let common: [Kind] = [.append, .append, .insert, .insertAfter, .play, .next, .end, .flow, .move, .prio]
        let all = Kind.allCases
        kind = random.below(2) == 0 ? common[random.below(common.count)] : all[random.below(all.count)]
        a = random.below(1_000)
        b = random.below(1_000)
        c = random.below(1_000)
    }

    var description: String { "\(kind.rawValue)(\(a),\(b),\(c))" }

    /// Carries the operation out. Errors of the queue count as nothing done.
    func perform(on queue: inout Queue, nextKey: inout UInt32) -> Outcome {
        do {
            return try perform(&queue, &nextKey)
        } catch {
            return Outcome()
        }
    }

    /// The span that an edit means on a queue of this length.
    func span(_ count: Int) -> Range<Int> {
        let start = a % (count + 1)
        return start..<min(count, start + 1 + b % 4)
    }

    /// How many songs an append or insert brings.
    var songs: Int { 1 + b % 3 }

    private func keys(_ next: inout UInt32) -> [SongKey] {
        defer { next += UInt32(songs) }
        return (0..<UInt32(songs)).map { SongKey(next + $0) }
    }

    private func perform(_ queue: inout Queue, _ nextKey: inout UInt32) throws(QueueError) -> Outcome {
        let count = queue.count
        let range = span(count)
        let span = PositionSpan(start: range.lowerBound, end: range.upperBound)
        switch kind {
        case .append: return try queue.append(contentsOf: keys(&nextKey)).outcome
        case .insert: return try queue.insert(contentsOf: keys(&nextKey), at: .absolute(a % (count + 1))).outcome
        case .insertAfter: return try queue.insert(contentsOf: keys(&nextKey), at: .afterCurrent(a % 4)).outcome
        case .insertBefore: return try queue.insert(contentsOf: keys(&nextKey), at: .beforeCurrent(a % 3)).outcome
        case .delete: return try queue.delete(span)
        case .clear: return c % 10 == 0 ? queue.clear() : Outcome()
        case .move: return try queue.move(span, to: .absolute(c % (count + 1)))
        case .moveAfter: return try queue.move(span, to: c % 2 == 0 ? .afterCurrent(c % 3) : .beforeCurrent(c % 3))
        case .swap: return try queue.swap(a % (count + 1), b % (count + 1))
        case .shuffle: return try queue.shuffle(c % 3 == 0 ? .everything : span)
        case .prio: return queue.setPriority([0, 1, 1, 5, 9, 255][c % 6], [span]).outcome
        case .play: return try queue.play(at: a % (count + 1))
        case .resume: return queue.play()
        case .pause: return queue.pause([nil, true, false][a % 3])
        case .stop: return queue.stop()
        case .next: return try queue.next()
        case .previous: return try queue.previous()
        case .seek: return try queue.seek(at: a % (count + 1), to: .seconds(b))
        case .end: return queue.trackEnded(queue.currentID ?? EntryID(0))
        case .flow: return queue.trackChanged(to: queue.entering ?? queue.preloaded ?? EntryID(0))
        case .fail: return queue.permanentlyFailed(queue.currentID ?? EntryID(0))
        case .transportFail: return queue.transportFailed(queue.currentID ?? EntryID(0))
        case .commit: return queue.preloaded.map { queue.committed($0) } ?? Outcome()
        case .started:
            queue.started(queue.currentID ?? EntryID(0))
            return Outcome()
        case .random: return queue.setRandom(a % 2 == 0)
        case .repeat: return queue.setRepeat(a % 2 == 0)
        case .single: return queue.setSingle(OneShotMode(rawValue: UInt8(a % 3)) ?? .off)
        case .consume: return queue.setConsume(OneShotMode(rawValue: UInt8(a % 3)) ?? .off)
        }
    }
}
