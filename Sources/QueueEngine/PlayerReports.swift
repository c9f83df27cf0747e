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
    public mutating func trackChanged(to id: EntryID) -> Outcome {
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
        // If the queue was edited while the change was on its way, the player sounds the wrong entry: load the right one.
        advance(.endOfTrack, isSounding: id == followingID, &step)
        failuresInARow = 0
        return finish(step)
    }

    /// The current entry was heard to its end and nothing follows it in the player.
    public mutating func trackEnded(_ id: EntryID) -> Outcome {
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
        advance(.endOfTrack, &step)
        return finish(step)
    }

    /// The current entry cannot be played: it is gone or cannot be decoded. Goes on with the next one; never with the
    /// same, and without consuming it. After five in a row it stops. In the mode `mpd` it stops after as many failures as
    /// there are entries, or after a seek.
    public mutating func permanentlyFailed(_ id: EntryID) -> Outcome {
        guard state != .stopped, id == currentID else { return Outcome() }
        var step = Step()
        committed = nil
        failuresInARow += 1
        let isEnough = isThreeTier ? failuresInARow >= 5 : stopsOnFailure || failuresInARow >= count
        if isEnough {
            halt(&step)
            reshuffleHiddenOrder()
        } else {
            advance(.failure, &step)
        }
        step.changes.insert(.player)
        return finish(step)
    }

    /// The network has failed for so long that the player gave up. The entry is kept; playback is held.
    public mutating func transportFailed(_ id: EntryID) -> Outcome {
        guard state == .playing, id == currentID else { return Outcome() }
        var step = Step()
        hold(&step)
        return finish(step)
    }
}
