/// A map from entry id to slot: open addressing in one flat array.
///
/// A general dictionary would cost several times as much for the 100,000 insertions of one `load`. Eight consecutive ids
/// share a cache line; the lines are spread by a multiplication, so runs of consecutive ids, which is what a queue holds,
/// hardly ever collide.
struct EntryIndex: Sendable {
    /// Id in the upper half, slot in the lower; 0 is an empty cell (ids begin at 1).
    private var cells: [UInt64]
    /// The number of ids.
    private(set) var count = 0
    /// 64 minus the binary logarithm of the number of cells.
    private var shift: UInt64

    init() {
        cells = [UInt64](repeating: 0, count: 16)
        shift = 60
    }

    /// The slot of an id, nil if it is unknown. O(1).
    subscript(id: EntryID) -> UInt32? {
        guard id.rawValue != 0 else { return nil }
        let cell = cells[find(id.rawValue)]
        return cell == 0 ? nil : UInt32(truncatingIfNeeded: cell)
    }

    /// Adds an id that is not there yet. O(1) when space was reserved.
    mutating func insert(_ id: EntryID, slot: UInt32) {
        reserve(count + 1)
        cells[find(id.rawValue)] = UInt64(id.rawValue) << 32 | UInt64(slot)
        count += 1
    }

    /// Removes an id. O(1).
    mutating func remove(_ id: EntryID) {
        var hole = find(id.rawValue)
        guard cells[hole] != 0 else { return }
        count -= 1
        cells[hole] = 0
        // Close the gap, so that no search stops early: pull back each follower that may stand in the hole.
        let mask = cells.count - 1
        var probe = (hole + 1) & mask
        while cells[probe] != 0 {
            let home = home(of: UInt32(truncatingIfNeeded: cells[probe] >> 32))
            if (probe - home) & mask >= (probe - hole) & mask {
                cells[hole] = cells[probe]
                cells[probe] = 0
                hole = probe
            }
            probe = (probe + 1) & mask
        }
    }

    /// Makes room for that many ids in all.
    mutating func reserve(_ total: Int) {
        guard total * 2 > cells.count else { return }
        var size = cells.count
        while size < total * 2 {
            size *= 2
            shift -= 1
        }
        let old = cells
        cells = [UInt64](repeating: 0, count: size)
        for cell in old where cell != 0 {
            cells[find(UInt32(truncatingIfNeeded: cell >> 32))] = cell
        }
    }

    private func home(of id: UInt32) -> Int {
        let line = (UInt64(id >> 3) &* 0x9E37_79B9_7F4A_7C15) >> (shift + 3)
        return Int(truncatingIfNeeded: line << 3 | UInt64(id & 7))
    }

    /// The cell that holds the id, or the empty one where it would go. At most half of the cells are in use.
    private func find(_ id: UInt32) -> Int {
        let mask = cells.count - 1
        var probe = home(of: id)
        while cells[probe] != 0, UInt32(truncatingIfNeeded: cells[probe] >> 32) != id {
            probe = (probe + 1) & mask
        }
        return probe
    }
}
