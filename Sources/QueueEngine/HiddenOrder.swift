/// `random` in the mode `mpd`: positions stay, a hidden order decides, higher priorities first.
extension Queue {
    /// Shuffles a hidden order with the current entry first. While stopped, the current entry is forgotten.
    mutating func hideOrder() {
        if state == .stopped {
            current = nil
        }
        var order = shuffledByPriority()
        // What the player cannot avoid any more stays next: the listener will hear it.
        for first in [committed, currentID] {
            if let first, let place = order.firstIndex(of: first) {
                order.remove(at: place)
                order.insert(first, at: 0)
            }
        }
        hiddenOrder = order
    }

    /// All ids, shuffled within each priority, the highest priority first. O(n).
    mutating func shuffledByPriority() -> [EntryID] {
        var groups = [[EntryID]](repeating: [], count: 256)
        for entry in list.entries {
            groups[255 - Int(entry.priority)].append(entry.id)
        }
        var order: [EntryID] = []
        order.reserveCapacity(count)
        for group in groups where !group.isEmpty {
            order += group.shuffled(using: &random)
        }
        return order
    }

    /// Stopping draws a new order, in which the current entry keeps being current.
    mutating func reshuffleHiddenOrder() {
        guard hiddenOrder != nil else { return }
        hiddenOrder = shuffledByPriority()
    }

    /// Shuffles new entries, which have no priority, into the part that has not been played: behind what the player has
    /// preloaded, and behind all entries with a priority.
    mutating func insertIntoHiddenOrder(_ ids: Range<EntryID>) {
        guard var order = hiddenOrder else { return }
        var start = hiddenPlaceOfCurrent.map { $0 + 1 } ?? 0
        if state != .stopped, start < order.count {
            start += 1
        }
        order += ids
        while start < order.count, hiddenPriority(order[start]) > 0 {
            start += 1
        }
        // Each new id changes places with a random one of those not behind it: all places are equally likely.
        for place in order.count - ids.count..<order.count where place > start {
            order.swapAt(place, start + random.below(place - start + 1))
        }
        hiddenOrder = order
    }

    /// An entry that a client chose is played behind the current one in the order; while stopped before it, so that the
    /// current one still comes.
    mutating func bringForward(_ position: Int) {
        guard var order = hiddenOrder, position != current, let old = order.firstIndex(of: list[position].id) else {
            return
        }
        let id = order.remove(at: old)
        var target = 0
        if let currentID, let place = order.firstIndex(of: currentID) {
            target = state == .stopped ? place : place + 1
        }
        order.insert(id, at: target)
        hiddenOrder = order
    }

    /// Takes over a changed priority: the entry goes to the front of its group behind the current one, and a random one
    /// of the group takes its place. An entry that was played comes again only if its priority now exceeds that of the
    /// current one, and did not before.
    mutating func reorderForPriority(_ position: Int, old: UInt8) {
        guard var order = hiddenOrder, let from = order.firstIndex(of: list[position].id) else { return }
        let priority = list[position].priority
        let anchor = hiddenPlaceOfCurrent
        if let anchor, let current {
            guard from != anchor else { return }
            let bar = list[current].priority
            if from < anchor, old > bar || priority <= bar { return }
        }
        let id = order.remove(at: from)
        var start = 0
        if let anchor {
            start = from < anchor ? anchor : anchor + 1
        }
        while start < order.count, hiddenPriority(order[start]) > priority {
            start += 1
        }
        order.insert(id, at: start)
        var end = start + 1
        while end < order.count, hiddenPriority(order[end]) == priority {
            end += 1
        }
        order.swapAt(start, start + random.below(end - start))
        hiddenOrder = order
    }

    private func hiddenPriority(_ id: EntryID) -> UInt8 {
        entry(id: id)?.priority ?? 0
    }

    /// Where the current entry stands in the hidden order.
    private var hiddenPlaceOfCurrent: Int? {
        currentID.flatMap { id in hiddenOrder?.firstIndex(of: id) }
    }
}
