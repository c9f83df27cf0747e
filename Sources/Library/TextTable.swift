/// Distinct texts, numbered as they first came: the builder's way to hold a million texts in three arrays.
struct TextTable: Sendable {
    private(set) var arena: [UInt8] = []
    private(set) var offsets: [UInt32] = [0]
    private var slots: [UInt32] = Array(repeating: 0, count: 16)

    var count: Int { offsets.count - 1 }

    /// The number of the text, and whether it is new. Nil when the arena has no 32-bit offsets left.
    mutating func insert(_ text: ByteView) -> (id: UInt32, isNew: Bool)? {
        let slot = slot(of: text)
        if slots[slot] != 0 { return (slots[slot] - 1, false) }
        guard let end = UInt32(exactly: arena.count + text.count), end < ImageLayout.none, count < Int(Int32.max)
        else { return nil }
        unsafe arena.append(contentsOf: text.buffer)
        offsets.append(end)
        slots[slot] = UInt32(count)
        if count * 3 > slots.count * 2 { grow() }
        return (UInt32(count - 1), true)
    }

    /// Lends the text with this number.
    func withText<Result>(_ id: UInt32, _ body: (ByteView) throws -> Result) rethrows -> Result {
        try arena.withView { try body(view($0, id)) }
    }

    /// The text with this number, in a view of `arena`.
    func view(_ arena: ByteView, _ id: UInt32) -> ByteView {
        arena.slice(Int(offsets[Int(id)]), Int(offsets[Int(id) + 1]))
    }

    /// The number of the text, if it is here.
    func find(_ text: ByteView) -> UInt32? {
        let entry = slots[slot(of: text)]
        return entry == 0 ? nil : entry - 1
    }

    private func slot(of text: ByteView) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: text.hash) & mask
        arena.withView { arena in
            while slots[slot] != 0, !(view(arena, slots[slot] - 1) == text) { slot = (slot + 1) & mask }
        }
        return slot
    }

    private mutating func grow() {
        let mask = slots.count * 2 - 1
        var larger = [UInt32](repeating: 0, count: slots.count * 2)
        arena.withView { arena in
            for id in 0..<UInt32(count) {
                var slot = Int(truncatingIfNeeded: view(arena, id).hash) & mask
                while larger[slot] != 0 { slot = (slot + 1) & mask }
                larger[slot] = id + 1
            }
        }
        slots = larger
    }
}
