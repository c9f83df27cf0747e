/// An operation under way: collects what becomes its outcome.
struct Step {
    /// What the player shall do, except `preload`, which is found at the end by comparison.
    var effects: [PlayerEffect] = []
    /// What clients must be told.
    var changes: Changes = []
    /// Whether the version has grown for the edits of this step.
    var hasTouched = false
    /// Whether a song starts in this step, so that the loose tail is dealt at its end.
    var startsSong = false
}

extension Queue {
    /// Announces that entries change in this step: the version grows once, however many edits follow.
    mutating func touch(_ step: inout Step) {
        step.changes.insert(.entries)
        guard !step.hasTouched else { return }
        step.hasTouched = true
        growVersion()
    }

    /// The next version; after 2^31 - 1 it is 1 again, and all entries count as changed for everybody.
    mutating func growVersion() {
        nextLap = nil
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
        settle(&step)
        if state == .playing, let promised = committed, promised != followingID {
            // The player is about to sound an entry that shall not follow any more. It can only be told by a load, so
            // the current entry ends here, some tenths of a second early.
            advance(.endOfTrack, &step)
            settle(&step)
        }
        let wanted = state == .stopped ? nil : followingID
        // What the player is about to sound must not be disturbed: its successor is told when it is heard.
        if wanted != preloaded, entering == nil {
            preloaded = wanted
            // A player that is held at the border goes back to the current entry for that.
            committed = nil
            step.effects.append(.preload(wanted))
        }
        assert(checkInvariants())
        return Outcome(effects: step.effects, changes: step.changes)
    }

    /// What follows a start and every change: first the advance, then the loose tail is dealt, then the next lap drawn.
    private mutating func settle(_ step: inout Step) {
        if step.startsSong {
            step.startsSong = false
            dealLooseTail(&step)
        }
        drawLapIfDue()
    }

    /// Makes the entry at a position the current one and loads it.
    mutating func start(
        _ position: Int,
        at time: Duration = .zero,
        paused: Bool = false,
        keepsPriority: Bool = false,
        _ step: inout Step
    ) {
        enter(position, keepsPriority: keepsPriority, &step)
        state = paused ? .paused : .playing
        step.effects.append(.load(list[position].id, at: time, paused: paused))
        preloaded = nil
    }

    /// Makes the entry at a position the current one, whether the player is told to load it or sounds it already. From
    /// here on it is context, without a priority; only a seek in the mode `mpd` leaves the priority, as MPD does.
    mutating func enter(_ position: Int, keepsPriority: Bool = false, _ step: inout Step) {
        current = position
        hasStarted = true
        nextLap = nil
        committed = nil
        entering = nil
        step.changes.insert(.player)
        if let run = appendRun, run.contains(list[position].id) {
            appendRun = nil
        }
        step.startsSong = true
        snapshot?.relabelStarted(list[position].id)
        list[position].tier = .albumQueue
        list[position].isLoose = false
        guard list[position].priority > 0, !keepsPriority else { return }
        if isThreeTier {
            touch(&step)
        } else {
            // MPD counts this as a modification of its own, beside the one of the command.
            step.changes.insert(.entries)
            growVersion()
        }
        setShownPriority(0, at: position)
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
        silencesInARow = 0
        step.effects.append(.stop)
        step.changes.insert(.player)
    }
}
