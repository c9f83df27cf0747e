/// What the player reports. Each call names the entry it is about; one that is out of date does nothing.
extension Queue {
    /// The first sound of an entry was heard.
    public mutating func started(_ id: EntryID) {
        if id == currentID {
            failuresInARow = 0
        }
    }

    /// From now on the player cannot avoid that this entry follows: 0.4 s before an audible change, or since a crossfade
    /// began. The window ends with the change, or with the next load, seek or stop.
    public mutating func committed(_ id: EntryID) -> Outcome {
        guard state != .stopped, entering == nil else { return Outcome() }
        committed = id
        return finish(Step())
    }

    /// The player has gone over to the preloaded entry without a gap and it is heard now.
    /// - Parameter isSilent: whether nothing was heard of the entry before it. After five such in a row it stops; in the
    ///   mode `mpd` after as many as there are entries, but not after a single one.
    public mutating func trackChanged(to id: EntryID, isSilent: Bool = false) -> Outcome {
        guard state != .stopped else { return Outcome() }
        var step = Step()
        if entering == id {
            entering = nil
            preloaded = nil
            failuresInARow = 0
            step.changes.insert(.player)
            return finish(step)
        }
        committed = nil
        if isEnough(isSilent: isSilent) {
            giveUp(&step)
            return finish(step)
        }
        // If the queue was edited while the change was on its way, the player sounds the wrong entry: load the right one.
        advance(.endOfTrack, isSounding: id == followingID, &step)
        failuresInARow = 0
        return finish(step)
    }

    /// The current entry was heard to its end and nothing follows it in the player.
    /// - Parameter isSilent: whether nothing was heard of it; the rule is that of `trackChanged(to:isSilent:)`.
    public mutating func trackEnded(_ id: EntryID, isSilent: Bool = false) -> Outcome {
        guard state != .stopped, let current else { return Outcome() }
        var step = Step()
        if let awaited = entering, awaited != id {
            // The entry before it has ended, and the player has not gone over to this one.
            start(current, paused: state == .paused, keepsPriority: true, &step)
            return finish(step)
        }
        guard id == currentID else { return Outcome() }
        committed = nil
        failuresInARow = 0
        if isEnough(isSilent: isSilent) {
            giveUp(&step)
        } else {
            advance(.endOfTrack, &step)
        }
        return finish(step)
    }

    /// The current entry cannot be played: it is gone or cannot be decoded. Goes on with the next one; never with the
    /// same, and without consuming it. After five in a row it stops. In the mode `mpd` it stops after as many failures as
    /// there are entries, or after a seek.
    /// - Parameter isSilent: whether it seemed to begin before, so that `started(_:)` was called for it.
    public mutating func permanentlyFailed(_ id: EntryID, isSilent: Bool = false) -> Outcome {
        guard state != .stopped, id == currentID else { return Outcome() }
        var step = Step()
        committed = nil
        failuresInARow += 1
        let isEnough = isThreeTier ? failuresInARow >= 5 : stopsOnFailure || failuresInARow >= count
        // An entry that failed before it began says nothing of those that seemed to begin.
        if isEnough || (isSilent && self.isEnough(isSilent: true)) {
            giveUp(&step)
        } else {
            advance(.failure, &step)
        }
        step.changes.insert(.player)
        return finish(step)
    }

    /// The network has failed for so long that the player gave up. The entry is kept; playback is held. The player has let
    /// go of all songs: to go on or to seek, it has to be given the current one and the one that follows again.
    public mutating func transportFailed(_ id: EntryID) -> Outcome {
        guard state != .stopped, id == currentID else { return Outcome() }
        var step = Step()
        committed = nil
        if state == .playing { hold(&step) }
        return finish(step)
    }

    /// Takes note of how an entry was left. Returns whether it has been silent for too long.
    private mutating func isEnough(isSilent: Bool) -> Bool {
        silencesInARow = isSilent ? silencesInARow + 1 : 0
        return silencesInARow >= (isThreeTier ? 5 : max(2, count))
    }

    private mutating func giveUp(_ step: inout Step) {
        halt(&step)
        reshuffleHiddenOrder()
    }
}
