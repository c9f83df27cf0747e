/// Texts in byte order, numbered by rank.
struct SortedTexts {
    private(set) var arena: [UInt8] = []
    private(set) var offsets: [UInt32] = [0]
    /// For each number in the table the rank; only meaningful for those that were asked for.
    private(set) var ranks: [UInt32]

    /// Sorts the texts of a table for which `isUsed` holds.
    init(_ table: TextTable, isUsed: [Bool]) {
        struct Item {
            var key: UInt64
            var id: UInt32
        }
        ranks = Array(repeating: 0, count: table.count)
        var items: [Item] = []
        items.reserveCapacity(table.count)
        table.arena.withView { texts in
            for id in 0..<UInt32(table.count) where isUsed[Int(id)] {
                items.append(Item(key: table.view(texts, id).leadingKey, id: id))
            }
            items.sort { a, b in
                if a.key != b.key { return a.key < b.key }
                return ByteView.compare(table.view(texts, a.id), table.view(texts, b.id)) < 0
            }
            offsets.reserveCapacity(items.count + 1)
            arena.reserveCapacity(texts.count)
            for (rank, item) in items.enumerated() {
                unsafe arena.append(contentsOf: table.view(texts, item.id).buffer)
                offsets.append(UInt32(arena.count))
                ranks[Int(item.id)] = UInt32(rank)
            }
        }
    }

    var count: Int { offsets.count - 1 }

    /// Bytes of the text of this rank.
    func length(_ rank: UInt32) -> Int { Int(offsets[Int(rank) + 1] - offsets[Int(rank)]) }

    /// The text of this rank, in a view of `arena`.
    func view(_ arena: ByteView, _ rank: UInt32) -> ByteView {
        arena.slice(Int(offsets[Int(rank)]), Int(offsets[Int(rank) + 1]))
    }
}
