/// The entries in order, with a way from id to position that stays right through every edit.
///
/// Flat arrays: an edit in front of 100,000 entries shifts them by one block copy and renumbers them in one pass.
/// Every edit writes `version` into the entries whose position it changed.
struct EntryList: Sendable {
    /// In the order of the queue.
    private(set) var entries: [Entry] = []
    /// From id to slot.
    private var index = EntryIndex()
    /// From slot to position.
    private var positions: [UInt32] = []
    /// Slots that no entry uses.
    private var freeSlots: [UInt32] = []

    /// The number of entries.
    var count: Int { entries.count }

    /// The entry at a valid position. Id, key and slot never change here.
    subscript(position: Int) -> Entry {
        get { entries[position] }
        _modify { yield &entries[position] }
    }

    /// The position of an id, nil if there is no such entry. O(1).
    func position(of id: EntryID) -> Int? {
        guard let slot = index[id] else { return nil }
        return Int(positions[Int(slot)])
    }

    /// Whether an entry has this id. O(1).
    func contains(_ id: EntryID) -> Bool {
        index[id] != nil
    }

    /// Inserts entries whose ids are new. O(entries behind `position`).
    mutating func insert(_ new: [Entry], at position: Int, version: UInt32) {
        index.reserve(entries.count + new.count)
        let end = position + new.count
        if position == entries.count {
            entries.append(contentsOf: new)
        } else {
            entries.insert(contentsOf: new, at: position)
        }
        for place in position..<end {
            let slot: UInt32
            if let free = freeSlots.popLast() {
                slot = free
                positions[Int(slot)] = UInt32(truncatingIfNeeded: place)
            } else {
                slot = UInt32(truncatingIfNeeded: positions.count)
                positions.append(UInt32(truncatingIfNeeded: place))
            }
            entries[place].slot = slot
            entries[place].version = version
            index.insert(entries[place].id, slot: slot)
        }
        renumber(end..<entries.count, version: version)
    }

    /// Removes entries. O(entries from the start of the range on).
    mutating func remove(_ range: Range<Int>, version: UInt32) {
        guard !range.isEmpty else { return }
        if range.count == entries.count {
            self = EntryList()
            return
        }
        let remaining = entries.count - range.count
        if range.count > remaining / 8 {
            // Taking so many ids out of the index one by one would take longer than building it anew.
            entries.removeSubrange(range)
            rebuild()
        } else {
            for place in range {
                index.remove(entries[place].id)
                freeSlots.append(entries[place].slot)
            }
            entries.removeSubrange(range)
        }
        renumber(range.lowerBound..<entries.count, version: version)
    }

    /// Moves a block so that it begins at `target` afterwards. All entries from one place to the other count as changed,
    /// also when the block is empty, as in MPD. O(distance + size of the block).
    mutating func move(_ range: Range<Int>, to target: Int, version: UInt32) {
        guard target != range.lowerBound else { return }
        let block = Array(entries[range])
        if target > range.lowerBound {
            for place in range.lowerBound..<target {
                entries[place] = entries[place + block.count]
            }
        } else {
            var place = range.upperBound - 1
            while place >= target + block.count {
                entries[place] = entries[place - block.count]
                place -= 1
            }
        }
        for (offset, entry) in block.enumerated() {
            entries[target + offset] = entry
        }
        renumber(
            min(range.lowerBound, target)..<max(range.upperBound, target + block.count),
            version: version
        )
    }

    /// Exchanges two entries. Both count as changed, also when they are the same.
    mutating func swap(_ first: Int, _ second: Int, version: UInt32) {
        entries.swapAt(first, second)
        renumber(first..<first + 1, version: version)
        renumber(second..<second + 1, version: version)
    }

    /// Puts other entries of this list, in another order, into a range. Only those count as changed that differ in
    /// place or in what they carry.
    mutating func rearrange(_ range: Range<Int>, as arranged: [Entry], version: UInt32) {
        for (offset, entry) in arranged.enumerated() {
            let place = range.lowerBound + offset
            let old = entries[place]
            entries[place] = entry
            if old.id != entry.id || old.priority != entry.priority {
                renumber(place..<place + 1, version: version)
            }
        }
    }

    /// Spreads a block over what stands before it: `places` are those that it gets, in ascending order, `arranged` its
    /// entries in their new order. The others make room and keep their order. O(entries behind the first place).
    mutating func spread(_ block: Range<Int>, as arranged: [Entry], over places: [Int], version: UInt32) {
        var place = block.upperBound
        var other = block.lowerBound
        var next = places.count
        while next > 0 {
            place -= 1
            if place == places[next - 1] {
                next -= 1
                entries[place] = arranged[next]
            } else {
                other -= 1
                entries[place] = entries[other]
            }
            entries[place].version = version
            positions[Int(entries[place].slot)] = UInt32(truncatingIfNeeded: place)
        }
    }

    /// Counts entries of some keys as changed. O(entries from the start on).
    mutating func markChanged(from start: Int, version: UInt32, where isChanged: (SongKey) -> Bool) {
        for place in start..<entries.count where isChanged(entries[place].key) { entries[place].version = version }
    }

    /// Writes version 0 into all entries, which means changed for everybody: the counter began anew.
    mutating func forgetVersions() {
        for place in entries.indices {
            entries[place].version = 0
        }
    }

    private mutating func rebuild() {
        index = EntryIndex()
        index.reserve(entries.count)
        freeSlots = []
        positions = Array(0..<UInt32(truncatingIfNeeded: entries.count))
        for place in entries.indices {
            entries[place].slot = UInt32(truncatingIfNeeded: place)
            index.insert(entries[place].id, slot: UInt32(truncatingIfNeeded: place))
        }
    }

    private mutating func renumber(_ range: Range<Int>, version: UInt32) {
        for place in range {
            entries[place].version = version
            positions[Int(entries[place].slot)] = UInt32(truncatingIfNeeded: place)
        }
    }
}
