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
}

extension Queue {
    /// What `status` shows as `nextsong` and `nextsongid`; nil: nothing follows, or there is no current entry.
    public var nextEntry: Successor? {
        isThreeTier ? successor(.endOfTrack) : successorShownByMPD
    }

    /// What the player shall let follow without a gap. Nothing when the next entry will be held: the track just ends.
    var followingID: EntryID? {
        guard let next = successor(.endOfTrack), !next.isHeld else { return nil }
        return next.id
    }

    /// The one answer to “what plays next”: everything that advances, shows or preloads asks here.
    func successor(_ cause: AdvanceCause) -> Successor? {
        guard let current else { return nil }
        let repeatsOne = options.single != .off && options.repeat && options.consume == .off
        if repeatsOne, repeatsCurrent(cause) {
            return cause == .deletion ? nil : answer(current, held: false)
        }
        let isHeld = cause == .endOfTrack && options.single != .off && !options.repeat
        if current + 1 < count {
            return answer(current + 1, held: isHeld)
        }
        guard options.repeat else { return nil }
        if current == 0 {
            // The entry itself would follow: not when it goes away, nor when it has just failed.
            let goesAway = cause == .deletion || options.consume != .off || (cause == .failure && isThreeTier)
            if goesAway { return nil }
        }
        return answer(0, held: false)
    }

    /// Whether repeat-one holds against this cause.
    private func repeatsCurrent(_ cause: AdvanceCause) -> Bool {
        switch configuration.mode {
        case .mpd:
            return true
        case .threeTier:
            // Play Next goes first; the song that is current then is repeated.
            return (cause == .endOfTrack || cause == .deletion) && playNextBlock.isEmpty
        }
    }

    /// MPD's status looks at the order alone and leaves `consume` out of account.
    private var successorShownByMPD: Successor? {
        guard let current else { return nil }
        if options.single != .off, options.repeat {
            return answer(current, held: false)
        }
        if current + 1 < count {
            return answer(current + 1, held: options.single != .off)
        }
        return options.repeat ? answer(0, held: false) : nil
    }

    private func answer(_ position: Int, held: Bool) -> Successor {
        Successor(position: position, id: list[position].id, isHeld: held)
    }
}
