extension Queue {
    /// Whether the queue is in order. Cheap enough for every operation in debug builds up to some thousand entries; the
    /// full scan of longer queues is left to tests.
    func checkInvariants() -> Bool {
        if let current {
            guard list.entries.indices.contains(current) else { return false }
        }
        guard state == .stopped || current != nil else { return false }
        guard state != .stopped || (preloaded == nil && committed == nil && entering == nil) else { return false }
        guard version >= 1, version <= EntryID.highest else { return false }
        guard (snapshot != nil) == (isThreeTier && options.random) else { return false }
        guard (hiddenOrder != nil) == (!isThreeTier && options.random) else { return false }
        return count > 5_000 || checkEntries()
    }

    /// Every id is found at its place, no entry is newer than the queue, and the tiers stand in blocks.
    func checkEntries() -> Bool {
        if let snapshot {
            guard Set(snapshot.living(in: list).map(\.id)).count == count else { return false }
        }
        for order in [hiddenOrder, nextLap] {
            guard let order else { continue }
            guard order.count == count, order.allSatisfy({ list.contains($0) }) else { return false }
        }
        var highestTier = Tier.playNext
        for (position, entry) in list.entries.enumerated() {
            guard list.position(of: entry.id) == position, entry.version <= version else { return false }
            guard !entry.isLoose || (snapshot != nil && hasLooseTail && position >= upcomingStart) else { return false }
            if !isThreeTier {
                guard entry.tier == .albumQueue else { return false }
                continue
            }
            if position < upcomingStart {
                guard position == current || (entry.tier == .albumQueue && entry.priority == 0) else { return false }
                continue
            }
            guard entry.tier.rawValue >= highestTier.rawValue else { return false }
            highestTier = entry.tier
            guard (entry.tier == .playNext) == (entry.priority > 0) else { return false }
            if entry.tier == .playNext, position > upcomingStart {
                guard list[position - 1].priority >= entry.priority else { return false }
            }
        }
        return true
    }
}
