extension Queue {
    /// The position behind the current entry, or 0 without one: where the upcoming entries begin.
    var upcomingStart: Int { current.map { $0 + 1 } ?? 0 }

    /// The positions of the Play Next block. O(log n).
    public var playNextBlock: Range<Int> {
        upcomingStart..<border(of: .playNext)
    }

    /// The positions of the upcoming part of the album queue. O(log n).
    public var albumQueueBlock: Range<Int> {
        border(of: .playNext)..<border(of: .albumQueue)
    }

    /// The positions of the user queue. O(log n).
    public var userQueueBlock: Range<Int> {
        border(of: .albumQueue)..<count
    }

    /// Where a position stands, seen from the current entry; nil beyond the queue. In the mode `mpd` everything behind
    /// the current entry is album queue.
    public func section(at position: Int) -> Section? {
        guard let entry = entry(at: position) else { return nil }
        if position == current { return .current }
        if position < upcomingStart { return .history }
        switch entry.tier {
        case .playNext: return .playNext
        case .albumQueue: return .albumQueue
        case .userQueue: return .userQueue
        }
    }

    /// The first upcoming position behind all entries of this tier and those above it.
    func border(of tier: Tier) -> Int {
        var low = upcomingStart
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if list[middle].tier.rawValue <= tier.rawValue {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// The tier that entries take which a client placed at these positions, judged by their neighbors. O(1).
    ///
    /// The entries stand there already; the current position has been corrected.
    func landingTier(of range: Range<Int>) -> Tier {
        guard isThreeTier, range.lowerBound >= upcomingStart else { return .albumQueue }
        let before = range.lowerBound > upcomingStart ? list[range.lowerBound - 1].tier : nil
        let behind = range.upperBound < count ? list[range.upperBound].tier : nil
        switch (before, behind) {
        case (.playNext, _), (nil, .playNext):
            return .playNext
        case (nil, _) where current != nil:
            return .playNext
        case (.userQueue, _):
            return .userQueue
        case (_, .albumQueue), (_, .userQueue):
            return .albumQueue
        default:
            // At the very end. While nothing has been started, the client is still assembling a context.
            return hasStarted ? .userQueue : .albumQueue
        }
    }

    /// Gives entries that were placed together the tier they landed in. Play Next entries show at least priority 1 and
    /// not less than the entry behind them, so the block stays sorted.
    mutating func labelLanded(_ range: Range<Int>) {
        guard isThreeTier, !range.isEmpty else { return }
        let tier = landingTier(of: range)
        var priority: UInt8 = 0
        if tier == .playNext {
            priority = 1
            if range.upperBound < count, list[range.upperBound].tier == .playNext {
                priority = max(1, list[range.upperBound].priority)
            }
        }
        for place in range {
            list[place].tier = tier
            list[place].isLoose = false
            setShownPriority(priority, at: place)
        }
    }

    /// Changes a priority and marks the entry, if it is another one.
    mutating func setShownPriority(_ priority: UInt8, at position: Int) {
        guard list[position].priority != priority else { return }
        list[position].priority = priority
        list[position].version = version
    }

    /// What stands before the current entry is history: no label, no priority. O(n).
    mutating func relabelHistory() {
        for place in 0..<upcomingStart where place != current {
            list[place].tier = .albumQueue
            list[place].isLoose = false
            setShownPriority(0, at: place)
        }
    }

    /// After the current entry itself was moved: what is before it is history, and the upcoming labels become blocks
    /// again without moving anything. O(n).
    mutating func normalizeTiers() {
        guard isThreeTier else { return }
        relabelHistory()
        var playNextEnd = upcomingStart
        var position = count
        while position > upcomingStart {
            position -= 1
            if list[position].tier == .playNext {
                playNextEnd = position + 1
                break
            }
        }
        position = playNextEnd
        var behind: UInt8 = 1
        while position > upcomingStart {
            position -= 1
            list[position].tier = .playNext
            list[position].isLoose = false
            behind = max(behind, list[position].priority)
            setShownPriority(behind, at: position)
        }
        var isUserQueue = false
        for place in playNextEnd..<count {
            isUserQueue = isUserQueue || list[place].tier == .userQueue
            list[place].tier = isUserQueue ? .userQueue : .albumQueue
            setShownPriority(0, at: place)
        }
    }
}
