/// What `random 0` goes back to: the order and the labels that the entries had, or would have, without random.
struct ShuffleSnapshot: Sendable, Equatable {
    /// One entry of the queue.
    struct Row: Sendable, Equatable {
        var id: EntryID
        var tier: Tier
        var priority: UInt8
    }

    /// In the order to go back to. Entries that have left the queue stay in it until there are too many of them: ids
    /// are not given out again for two thousand million entries.
    private(set) var rows: [Row] = []

    /// Keeps the entries as they stand.
    init(_ entries: some Sequence<Entry>) {
        rows = entries.map { Row(id: $0.id, tier: $0.tier, priority: $0.priority) }
    }

    /// Takes over rows of an archive.
    init(rows: [Row]) {
        self.rows = rows
    }

    /// Adds entries at the end.
    mutating func append(_ entries: some Sequence<Entry>) {
        rows.append(contentsOf: entries.lazy.map { Row(id: $0.id, tier: $0.tier, priority: $0.priority) })
    }

    /// Adds entries directly behind another one, in its tier; without one, or if that one was in Play Next, in their own.
    /// Nil stands for the front. O(n).
    mutating func insert(_ entries: some Sequence<Entry>, behind predecessor: EntryID?) {
        var place = 0
        var tier: Tier?
        if let predecessor, let found = rows.firstIndex(where: { $0.id == predecessor }) {
            place = found + 1
            tier = rows[found].tier == .playNext ? nil : rows[found].tier
        }
        let new = entries.map {
            Row(id: $0.id, tier: $0.tier == .playNext ? .playNext : tier ?? $0.tier, priority: $0.priority)
        }
        rows.insert(contentsOf: new, at: place)
    }

    /// Makes an entry album queue, because it has been started. O(n), but no more than a look at each id.
    mutating func relabelStarted(_ id: EntryID) {
        guard let found = rows.firstIndex(where: { $0.id == id }) else { return }
        rows[found].tier = .albumQueue
        rows[found].priority = 0
    }

    /// Takes over a changed Play Next block: what is in it now, and what was and is no more. O(n).
    mutating func relabel(before: [Entry], after: [Entry]) {
        var changed: [EntryID: UInt8] = [:]
        for entry in before {
            changed[entry.id] = 0
        }
        for entry in after {
            changed[entry.id] = entry.priority
        }
        for entry in before where changed[entry.id] == entry.priority {
            changed[entry.id] = nil
        }
        if changed.count <= 4 {
            for (id, priority) in changed {
                guard let place = rows.firstIndex(where: { $0.id == id }) else { continue }
                relabelRow(place, priority)
            }
        } else {
            for place in rows.indices {
                guard let priority = changed[rows[place].id] else { continue }
                relabelRow(place, priority)
            }
        }
    }

    private mutating func relabelRow(_ place: Int, _ priority: UInt8) {
        rows[place].tier = priority > 0 ? .playNext : .albumQueue
        rows[place].priority = priority
    }

    /// Brings entries, in this order, to the front of the album queue. O(n).
    mutating func moveToFrontOfAlbum(_ ids: [EntryID]) {
        var moved = EntryIndex()
        moved.reserve(ids.count)
        for id in ids {
            moved.insert(id, slot: 0)
        }
        rows.removeAll { moved[$0.id] != nil }
        // Rows are sorted by tier when they are used; the front of everything is the front of the album queue.
        rows.insert(contentsOf: ids.map { Row(id: $0, tier: .albumQueue, priority: 0) }, at: 0)
    }

    /// The rows of entries that are still in the queue.
    func living(in list: EntryList) -> [Row] {
        rows.filter { list.contains($0.id) }
    }

    /// Drops the rows of entries that have left once they are the majority.
    mutating func compact(living list: EntryList) {
        guard rows.count > 2 * list.count + 64 else { return }
        rows = living(in: list)
    }
}
