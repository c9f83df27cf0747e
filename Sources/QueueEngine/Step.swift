/// An operation under way: collects what becomes its outcome.
struct Step {
    /// What the player shall do, except `preload`, which is found at the end by comparison.
    var effects: [PlayerEffect] = []
    /// What clients must be told.
    var changes: Changes = []
}

extension Queue {
    /// Announces that entries change in this step: the version grows once, however many edits follow.
    mutating func touch(_ step: inout Step) {
        guard !step.changes.contains(.entries) else { return }
        step.changes.insert(.entries)
        growVersion()
    }

    /// The next version; after 2^31 - 1 it is 1 again and all entries count as unchanged since 0.
    mutating func growVersion() {
        if version >= EntryID.highest {
            version = 1
            list.forgetVersions()
        } else {
            version += 1
        }
    }

    /// Ends every operation: honors the commit window, tells the player what follows, checks.
    mutating func finish(_ step: Step) -> Outcome {
        var step = step
        if state == .playing, let promised = committed, promised != followingID {
            // The player is about to sound an entry that shall not follow any more. It can only be told by a load, so
            // the current entry ends here, some tenths of a second early.
            advance(.endOfTrack, &step)
        }
        let wanted = state == .stopped ? nil : followingID
        // What the player is about to sound must not be disturbed: its successor is told when it is heard.
        if wanted != preloaded, entering == nil {
            preloaded = wanted
            step.effects.append(.preload(wanted))
        }
        assert(checkInvariants())
        return Outcome(effects: step.effects, changes: step.changes)
    }

    /// Makes the entry at a position the current one and starts it: from here on it is context, without a priority.
    mutating func start(_ position: Int, at time: Duration = .zero, paused: Bool = false, _ step: inout Step) {
        enter(position, &step)
        state = paused ? .paused : .playing
        step.effects.append(.load(list[position].id, at: time, paused: paused))
        preloaded = nil
    }

    /// Makes the entry at a position the current one, which the player sounds already or is told to by the caller.
    mutating func enter(_ position: Int, _ step: inout Step) {
        current = position
        hasStarted = true
        committed = nil
        entering = nil
        step.changes.insert(.player)
        list[position].tier = .albumQueue
        if list[position].priority > 0 {
            touch(&step)
            list[position].priority = 0
            list[position].version = version
        }
    }

    /// Makes the committed entry the current one, although the end of the one before it still sounds.
    mutating func enterCommitted(_ position: Int, _ step: inout Step) {
        enter(position, &step)
        entering = list[position].id
    }

    /// Unloads the player; the current entry stays. Does nothing when stopped.
    mutating func halt(_ step: inout Step) {
        guard state != .stopped else { return }
        state = .stopped
        preloaded = nil
        committed = nil
        entering = nil
        failuresInARow = 0
        step.effects.append(.stop)
        step.changes.insert(.player)
    }
}
