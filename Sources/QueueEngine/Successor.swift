/// Why playback leaves the current entry.
enum AdvanceCause {
    /// The entry was heard to its end.
    case endOfTrack
    /// The command `next`.
    case command
    /// The entry is deleted while it plays.
    case deletion
    /// The entry cannot be played at all.
    case failure
}

/// What plays next, and where.
public struct Successor: Sendable, Equatable {
    /// The position at which it stands now.
    public var position: Int
    /// Its id.
    public var id: EntryID
    /// Whether it will be held at its beginning, because of `single`.
    public var isHeld: Bool
    /// Whether it begins a new shuffled lap, so that the list, or the hidden order, changes when it starts.
    var beginsLap = false
}

extension Queue {
    /// What `status` shows as `nextsong` and `nextsongid`; nil: nothing follows, or there is no current entry.
    ///
    /// In the three-tier mode this is what a natural end leads to. MPD's status leaves `consume` out of account.
    public var nextEntry: Successor? {
        guard !isThreeTier, let current, options.consume != .off else { return successor(.endOfTrack) }
        if options.single != .off, options.repeat {
            return answer(current)
        }
        return successor(.endOfTrack) ?? (options.repeat ? answer(current) : nil)
    }

    /// What the player shall let follow without a gap. Nothing when the next entry will be held: the track just ends.
    var followingID: EntryID? {
        guard let next = successor(.endOfTrack), !next.isHeld else { return nil }
        return next.id
    }

    /// At most so many entries that will follow the next one, by what is known now; none of another lap.
    public func upcoming(_ count: Int) -> [EntryID] {
        guard let next = followingID, var position = list.position(of: next), options.single == .off else { return [] }
        var ids: [EntryID] = []
        while ids.count < count, let following = following(position), following != current {
            ids.append(list[following].id)
            position = following
        }
        return ids
    }

    /// The one answer to “what plays next”: everything that advances, shows or preloads asks here.
    ///
    /// In a shuffled wrap the answer comes from the drawn lap; a step that may wrap calls `drawLapIfDue()` before.
    func successor(_ cause: AdvanceCause) -> Successor? {
        guard let current else { return nil }
        if repeatsCurrent(cause) {
            return cause == .deletion ? nil : answer(current)
        }
        if let following = following(current) {
            return answer(following, held: cause == .endOfTrack && options.single != .off && !options.repeat)
        }
        guard options.repeat else { return nil }
        if count == 1 {
            // The entry itself would follow: not when it goes away, nor when it has just failed.
            let goesAway = cause == .deletion || options.consume != .off || (cause == .failure && isThreeTier)
            return goesAway ? nil : answer(current)
        }
        if options.random, let first = nextLap?.first, let position = list.position(of: first) {
            return Successor(position: position, id: first, isHeld: false, beginsLap: true)
        }
        return answer(firstInOrder)
    }

    /// Whether repeat-one is in force and holds against this cause: not against `next`, nor against a failure.
    private func repeatsCurrent(_ cause: AdvanceCause) -> Bool {
        guard options.single != .off, options.repeat, options.consume == .off else { return false }
        switch cause {
        case .command, .failure:
            return false
        case .endOfTrack, .deletion:
            // Play Next goes first; the song that is current then is repeated.
            return playNextBlock.isEmpty
        }
    }

    private func answer(_ position: Int, held: Bool = false) -> Successor {
        Successor(position: position, id: list[position].id, isHeld: held)
    }
}

/// The order of playing: that of the list, or the hidden one of the mode `mpd` under `random`.
extension Queue {
    /// The position that follows in the order of playing; nil at its end.
    func following(_ position: Int) -> Int? {
        guard let hiddenOrder else { return position + 1 < count ? position + 1 : nil }
        guard let place = hiddenOrder.firstIndex(of: list[position].id), place + 1 < hiddenOrder.count else {
            return nil
        }
        return list.position(of: hiddenOrder[place + 1])
    }

    /// The position that precedes in the order of playing; nil at its start.
    func preceding(_ position: Int) -> Int? {
        guard let hiddenOrder else { return position > 0 ? position - 1 : nil }
        guard let place = hiddenOrder.firstIndex(of: list[position].id), place > 0 else { return nil }
        return list.position(of: hiddenOrder[place - 1])
    }

    /// The position that is played first. The queue is not empty.
    var firstInOrder: Int {
        hiddenOrder?.first.flatMap { list.position(of: $0) } ?? 0
    }

    /// The position that is played last. The queue is not empty.
    var lastInOrder: Int {
        hiddenOrder?.last.flatMap { list.position(of: $0) } ?? count - 1
    }
}
