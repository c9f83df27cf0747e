/// A list as it is stored: in blocks, of which an edit changes few.
///
/// Blocks hold whatever rows followed each other when they were written; they are no fixed ranges of positions. So an
/// entry that is inserted at the front, or moved across 100,000 others, changes one or two blocks.
struct BlockList: Sendable, Equatable {
    struct Block: Sendable, Equatable {
        /// Names the block in the database; never given out twice.
        let number: Int64
        let rows: [SavedRow]
    }

    /// What has to be written so that the database has the list.
    struct Changes: Sendable, Equatable {
        var written: [Block] = []
        var removed: [Int64] = []
    }

    static let largest = 1000
    /// Blocks below this size are joined with a neighbor when they are written.
    static let smallest = 125

    /// In the order of the list.
    private(set) var blocks: [Block]

    init(_ blocks: [Block] = []) { self.blocks = blocks }

    /// Becomes this list, keeping every block whose rows still follow each other in it. O(n).
    /// - Parameter lastNumber: counted up for each new block.
    mutating func update(to rows: [SavedRow], lastNumber: inout Int64) -> Changes {
        var update = Update(old: blocks)
        var place = 0
        while place < rows.count {
            if let index = update.block(at: place, of: rows) {
                place += update.old[index].rows.count
                update.keep(index, &lastNumber)
            } else {
                update.pending.append(rows[place])
                place += 1
            }
        }
        update.flush(&lastNumber)
        blocks = update.result
        return update.changes
    }
}

/// One pass over the new rows.
private struct Update {
    let old: [BlockList.Block]
    var result: [BlockList.Block] = []
    /// Rows that follow `result` and are in no block yet.
    var pending: [SavedRow] = []
    var written: Set<Int64> = []
    /// From the first id of an old block to its place.
    private var starts: [UInt32: Int]
    private var isKept: [Bool]

    init(old: [BlockList.Block]) {
        self.old = old
        isKept = Array(repeating: false, count: old.count)
        starts = [:]
        for (index, block) in old.enumerated() {
            if let first = block.rows.first { starts[first.id] = index }
        }
    }

    /// The old block whose rows stand at this place.
    func block(at place: Int, of rows: [SavedRow]) -> Int? {
        guard let index = starts[rows[place].id], !isKept[index] else { return nil }
        let block = old[index].rows
        guard block.count <= rows.count - place, rows[place..<place + block.count].elementsEqual(block) else {
            return nil
        }
        return index
    }

    mutating func keep(_ index: Int, _ lastNumber: inout Int64) {
        let block = old[index]
        let isOdd = !pending.isEmpty && pending.count < BlockList.smallest && !fitsIntoLast
        if isOdd {
            // A few rows between full blocks: written anew with the one behind them.
            pending.append(contentsOf: block.rows)
            return
        }
        flush(&lastNumber)
        isKept[index] = true
        result.append(block)
    }

    private var fitsIntoLast: Bool {
        result.last.map { $0.rows.count + pending.count <= BlockList.largest } ?? false
    }

    /// Makes blocks of the pending rows.
    mutating func flush(_ lastNumber: inout Int64) {
        guard !pending.isEmpty else { return }
        if pending.count < BlockList.smallest, fitsIntoLast, let last = result.popLast() {
            written.remove(last.number)
            pending.insert(contentsOf: last.rows, at: 0)
        }
        let pieces = (pending.count + BlockList.largest - 1) / BlockList.largest
        for piece in 0..<pieces {
            let rows = pending[pending.count * piece / pieces..<pending.count * (piece + 1) / pieces]
            lastNumber += 1
            result.append(BlockList.Block(number: lastNumber, rows: Array(rows)))
            written.insert(lastNumber)
        }
        pending.removeAll(keepingCapacity: true)
    }

    var changes: BlockList.Changes {
        let living = Set(result.lazy.map(\.number))
        return BlockList.Changes(
            written: result.filter { written.contains($0.number) },
            removed: old.lazy.map(\.number).filter { !living.contains($0) }
        )
    }
}
