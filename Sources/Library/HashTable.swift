/// The hash tables of an image: numbers from 0 on under the hashes of their texts, in slots with open addressing.
enum HashTable {
    /// Makes the slots. `hashes` calls its argument with the hash of each number in turn.
    static func slots(count: Int, _ hashes: ((UInt64) -> Void) -> Void) -> [UInt32] {
        var slots = [UInt32](repeating: 0, count: ImageLayout.slots(for: count))
        let mask = slots.count - 1
        var number: UInt32 = 0
        hashes { hash in
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            number += 1
            slots[slot] = number
        }
        return slots
    }

    /// The number under `hash` for which `isEqual` holds. Ends after a turn, also in a table without free slots.
    static func find(_ slots: ImageArray<UInt32>, _ hash: UInt64, _ isEqual: (Int) -> Bool) -> Int? {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        for _ in 0..<slots.count {
            let entry = slots[slot]
            if entry == 0 { return nil }
            if isEqual(Int(entry) - 1) { return Int(entry) - 1 }
            slot = (slot + 1) & mask
        }
        return nil
    }
}
