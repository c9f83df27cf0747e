import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// Lists in blocks: right after any edit, and with few changes for a small one.
@Suite struct BlockListTests {
    private static func rows(_ ids: some Sequence<Int>) -> [SavedRow] { ids.map { SavedRow(id: UInt32($0)) } }

    @Test func anyEditGivesTheList() {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 7))
        var rows = Self.rows(1...3000)
        var list = BlockList()
        var last: Int64 = 0
        var stored: [Int64: [SavedRow]] = [:]
        var nextID: UInt32 = 5000
        for step in 0..<100 {
            switch step % 6 {
            case 0:
                let new = (0..<Int.random(in: 1...1200, using: &random)).map { _ in
                    nextID += 1
                    return SavedRow(id: nextID)
                }
                rows.insert(contentsOf: new, at: Int.random(in: 0...rows.count, using: &random))
            case 1 where !rows.isEmpty:
                let start = Int.random(in: 0..<rows.count, using: &random)
                rows.removeSubrange(start..<Int.random(in: start...rows.count, using: &random))
            case 2 where !rows.isEmpty:
                let row = rows.remove(at: Int.random(in: 0..<rows.count, using: &random))
                rows.insert(row, at: Int.random(in: 0...rows.count, using: &random))
            case 3 where step % 30 == 3: rows.shuffle(using: &random)
            case 4 where !rows.isEmpty: rows[Int.random(in: 0..<rows.count, using: &random)].priority &+= 1
            default: rows.reverse()
            }
            let changes = list.update(to: rows, lastNumber: &last)
            for number in changes.removed { #expect(stored.removeValue(forKey: number) != nil) }
            for block in changes.written { #expect(stored.updateValue(block.rows, forKey: block.number) == nil) }
            #expect(list.blocks.flatMap(\.rows) == rows)
            #expect(list.blocks.allSatisfy { !$0.rows.isEmpty && $0.rows.count <= BlockList.largest })
            #expect(stored.count == list.blocks.count)
            #expect(list.blocks.flatMap { stored[$0.number] ?? [] } == rows)
        }
    }

    @Test func aSmallEditWritesLittle() {
        var rows = Self.rows(1...20_000)
        var list = BlockList()
        var last: Int64 = 0
        #expect(list.update(to: rows, lastNumber: &last).written.count == 20)
        func written() -> Int { list.update(to: rows, lastNumber: &last).written.reduce(0) { $0 + $1.rows.count } }
        #expect(written() == 0)
        rows.insert(SavedRow(id: 30_000), at: 0)
        #expect(written() <= 1001)
        rows.insert(SavedRow(id: 30_001), at: 10_000)
        #expect(written() <= 1001)
        rows.append(SavedRow(id: 30_002))
        #expect(written() <= 1001)
        rows.insert(rows.remove(at: 19_000), at: 500)
        #expect(written() <= 2002)
        rows.remove(at: 7777)
        #expect(written() <= 1000)
        // One by one at the end: blocks fill up.
        rows = []
        for id in 40_000..<41_200 {
            rows.append(SavedRow(id: UInt32(id)))
            _ = list.update(to: rows, lastNumber: &last)
        }
        #expect(list.blocks.count == 2)
    }

    @Test func blocksComeBackFromBytes() throws {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 3))
        var rows: [SavedRow] = []
        for _ in 0..<500 {
            var row = SavedRow(id: UInt32.random(in: 1...(.max), using: &random))
            row.tier = Tier.allCases.randomElement(using: &random) ?? .albumQueue
            row.priority = UInt8.random(in: 0...255, using: &random)
            row.isLoose = Bool.random(using: &random)
            if Bool.random(using: &random) { row.start = .random(in: 0...(.max), using: &random) }
            if Bool.random(using: &random) { row.end = .random(in: 0...(.max), using: &random) }
            rows.append(row)
        }
        let bytes = BlockCoding.encode(rows, nil)
        #expect(try BlockCoding.decode(bytes) { _ in 0 } == rows)
        let numbers: [Int64] = [5, 3, 1 << 40, 1, 2]
        #expect(try BlockCoding.decode(numbers: BlockCoding.encode(numbers: numbers)) == numbers)
        // Whatever is done to the bytes: rows or an error.
        for _ in 0..<400 {
            var torn = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                torn[Int.random(in: 0..<torn.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { torn.removeLast(Int.random(in: 0..<torn.count, using: &random)) }
            _ = try? BlockCoding.decode(torn) { _ in 0 }
            _ = try? BlockCoding.decode(numbers: torn)
        }
    }
}
