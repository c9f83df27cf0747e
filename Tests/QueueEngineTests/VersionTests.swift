import Testing

@testable import QueueEngine

/// `plchanges`, ids and the version counter.
@Suite struct VersionTests {
    @Test func whatCountsAsChanged() throws {
        let rows: [(String, [Int])] = [
            ("add X", [5]), ("add 3 X", [3, 4, 5]), ("delete 3", [3]), ("delete 4", []), ("delete 0", [0, 1, 2, 3]),
            ("move 2 4", [2, 3, 4]), ("move 4 3", [3, 4]), ("move 2 2", []), ("swap 0 4", [0, 4]), ("swap 3 3", [3]),
            ("shuffle 4:", []), ("prio 5 3", [3]), ("prio 0 3", []), ("next", []), ("play 3", []), ("stop", []),
            ("repeat 1", []), ("random 1", []), ("consume 1, next", [1, 2, 3]), ("move 2:4 3", [2, 3, 4]),
        ]
        for (commands, changed) in rows {
            var queue = try mpdQueue("abcde")
            try Commands.run("play 1", on: &queue)
            let version = queue.version
            try Commands.run(commands, on: &queue)
            #expect(queue.changes(since: version) == changed, "\(commands)")
            #expect(queue.changes(since: queue.version).isEmpty)
        }
    }

    @Test func threeTierMovesCountAsChanged() throws {
        let rows: [(String, String, [Int])] = [
            ("a [b] | x | c d | u v", "play d", [2, 3, 4]), ("a [b] | x | c d | u v", "play v", [2, 3, 4, 5, 6]),
            ("a b [c] | x | d |", "previous", [2, 3]), ("a [b] | x | c |", "next", [2]),
            ("a [b] | | c d |", "next", []),
            ("a [b] | | c d |", "play c", []), ("a b [c] | | d |", "play a", []),
            ("a [b] | x | c d |", "prio 1 d", [3, 4]), ("| x | a b |", "play b", [0, 1, 2]),
        ]
        for (line, command, changed) in rows {
            var queue = Sketch.queue(line)
            let version = queue.version
            try Commands.run(command, on: &queue)
            #expect(queue.changes(since: version) == changed, "\(line) -- \(command)")
        }
    }

    @Test func zeroAndTheFutureMeanEverything() throws {
        let queue = try mpdQueue("abc")
        #expect(queue.changes(since: 0) == [0, 1, 2])
        #expect(queue.changes(since: queue.version + 1) == [0, 1, 2])
        #expect(queue.changes(since: UInt32.max) == [0, 1, 2])
        #expect(queue.changes(since: 1) == [0, 1, 2])
        #expect(queue.changes(since: queue.version).isEmpty)
        #expect(queue.changes(since: 0, in: PositionSpan(start: 1, end: 2)) == [1])
        #expect(queue.changes(since: 0, in: PositionSpan(start: 2, end: 90)) == [2])
        #expect(queue.changes(since: 0, in: PositionSpan(start: 7, end: nil)).isEmpty)
        #expect(queue.nextChange(since: 0, from: 2) == 2)
        #expect(queue.nextChange(since: 0, from: 3) == nil)
    }

    @Test func aBulkAddCountsOnceAndItsIdsAreOneRange() throws {
        var queue = Queue(seed: 1)
        #expect(queue.version == 1)
        let first = try queue.append(contentsOf: Sketch.keys("abc"))
        #expect(queue.version == 2)
        #expect(first.ids == EntryID(1)..<EntryID(4))
        let second = try queue.insert(contentsOf: Sketch.keys("de"), at: .absolute(1))
        #expect(queue.version == 3)
        #expect(second.ids == EntryID(4)..<EntryID(6))
        #expect(queue.entries.map(\.id.rawValue) == [1, 4, 5, 2, 3])
        _ = queue.clear()
        #expect(try queue.append(contentsOf: Sketch.keys("f")).ids.lowerBound == EntryID(6))
    }

    @Test func theVersionBeginsAnewBehindThirtyOneBits() throws {
        var queue = try mpdQueue("ab")
        queue.version = EntryID.highest - 1
        try Commands.run("swap 0 0", on: &queue)
        #expect(queue.version == EntryID.highest)
        let known = queue.version
        try Commands.run("swap 0 0", on: &queue)
        #expect(queue.version == 1)
        #expect(queue.changes(since: known) == [0, 1])
        #expect(queue.checkInvariants())
    }

    @Test func idsBeginAnewAndPassOverThoseInUse() throws {
        var queue = try mpdQueue("abc")
        queue.nextID = EntryID.highest - 1
        let last = try queue.append(contentsOf: Sketch.keys("de"))
        #expect(last.ids.map(\.rawValue) == [EntryID.highest - 1, EntryID.highest])
        // 1, 2 and 3 are in use.
        #expect(try queue.append(contentsOf: Sketch.keys("fg")).ids.map(\.rawValue) == [4, 5])
        queue.nextID = EntryID.highest - 1
        #expect(try queue.append(contentsOf: Sketch.keys("h")).ids.map(\.rawValue) == [6])
        #expect(queue.checkInvariants())
    }

    @Test func editsOfTagsCountAsChanged() throws {
        var queue = try mpdQueue("abcbd")
        let version = queue.version
        let keys = Set(Sketch.keys("bx"))
        #expect(queue.markChanged { keys.contains($0) }.changes == .entries)
        #expect(queue.version == version + 1)
        #expect(queue.changes(since: version) == [1, 3])
        #expect(queue.markChanged { _ in false }.isEmpty)
        #expect(queue.version == version + 1)
    }
}
