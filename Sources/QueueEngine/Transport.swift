extension Queue {
    /// `play` without an argument: resumes; from stop, starts the current entry or the first one. Nothing while playing
    /// or in an empty queue.
    public mutating func play() -> Outcome {
        var step = Step()
        switch state {
        case .playing:
            break
        case .paused:
            resume(&step)
        case .stopped:
            if !isEmpty {
                forgetFailures()
                startFromStop(&step)
            }
        }
        return finish(step)
    }

    /// Starts the entry at a position from its beginning; in the three-tier mode with the moves of a jump.
    /// - Throws: `badSongIndex`.
    public mutating func play(at position: Int) throws(QueueError) -> Outcome {
        try checkPosition(position)
        var step = Step()
        forgetFailures()
        go(to: position, at: .zero, paused: false, isSeek: false, &step)
        return finish(step)
    }

    /// Starts an entry from its beginning.
    /// - Throws: `noSuchSong`.
    public mutating func play(id: EntryID) throws(QueueError) -> Outcome {
        try play(at: existingPosition(of: id))
    }

    /// Holds or resumes; nil toggles. No effect while stopped, or when it is so already.
    public mutating func pause(_ shallPause: Bool?) -> Outcome {
        var step = Step()
        switch state {
        case .stopped:
            break
        case .playing:
            if shallPause ?? true {
                hold(&step)
            }
        case .paused:
            if !(shallPause ?? false) {
                resume(&step)
            }
        }
        return finish(step)
    }

    /// Stops; the current entry stays current.
    public mutating func stop() -> Outcome {
        var step = Step()
        if state != .stopped {
            halt(&step)
            reshuffleHiddenOrder()
        }
        return finish(step)
    }

    /// Goes to the next entry, whatever `single` says. In the commit window the committed entry becomes current, so that
    /// it is not skipped.
    /// - Throws: `notPlaying`.
    public mutating func next() throws(QueueError) -> Outcome {
        guard state != .stopped else { throw .notPlaying }
        var step = Step()
        forgetFailures()
        if state == .playing, let promised = committed, promised != currentID, promised == successor(.command)?.id {
            advance(.command, isSounding: true, &step)
            entering = promised
        } else {
            advance(.command, &step)
        }
        return finish(step)
    }

    /// Goes one entry back; the Play Next block moves along. At position 0 the entry is restarted; MPD with `repeat` goes
    /// to the last one.
    /// - Throws: `notPlaying`.
    public mutating func previous() throws(QueueError) -> Outcome {
        guard state != .stopped, let position = current else { throw .notPlaying }
        var step = Step()
        forgetFailures()
        if isThreeTier {
            go(to: max(0, position - 1), at: .zero, paused: false, isSeek: false, &step)
        } else {
            start(preceding(position) ?? (options.repeat ? lastInOrder : position), &step)
        }
        return finish(step)
    }

    /// Goes to a time in the entry at a position; another entry is entered by the rules of `play(at:)`. Stays paused when
    /// paused, starts when stopped. The time counts from the start of the entry's range.
    /// - Throws: `badSongIndex`.
    public mutating func seek(at position: Int, to time: Duration) throws(QueueError) -> Outcome {
        try checkPosition(position)
        var step = Step()
        forgetFailures()
        stopsOnFailure = true
        if position == current, state != .stopped, entering == nil {
            committed = nil
            step.effects.append(.seek(max(.zero, time)))
            step.changes.insert(.player)
        } else {
            go(to: position, at: max(.zero, time), paused: state == .paused, isSeek: true, &step)
        }
        return finish(step)
    }

    /// From stop, holds the entry at a position and a time in it, ready to be resumed; by the rules of `play(at:)`.
    /// - Throws: `badSongIndex`.
    public mutating func stand(at position: Int, time: Duration) throws(QueueError) -> Outcome {
        try checkPosition(position)
        var step = Step()
        guard state == .stopped else { return finish(step) }
        forgetFailures()
        go(to: position, at: max(.zero, time), paused: true, isSeek: true, &step)
        return finish(step)
    }

    /// Goes to a time in an entry.
    /// - Throws: `noSuchSong`.
    public mutating func seek(id: EntryID, to time: Duration) throws(QueueError) -> Outcome {
        try seek(at: existingPosition(of: id), to: time)
    }

    /// Goes to a time in the current entry. A relative seek is the present time plus the distance; negative is 0.
    /// - Throws: `notPlaying`.
    public mutating func seekCurrent(to time: Duration) throws(QueueError) -> Outcome {
        guard state != .stopped, let position = current else { throw .notPlaying }
        return try seek(at: position, to: time)
    }

    /// Starts the entry at a valid position because a client asked for it.
    private mutating func go(to position: Int, at time: Duration, paused: Bool, isSeek: Bool, _ step: inout Step) {
        guard isThreeTier else {
            bringForward(position)
            start(position, at: time, paused: paused, keepsPriority: isSeek, &step)
            return
        }
        let target: Int
        if let old = current {
            list[old].tier = .albumQueue
            if list[old].priority > 0 {
                touch(&step)
                setShownPriority(0, at: old)
            }
            if position == old {
                target = old
            } else if position < old {
                target = goBack(to: position, &step)
            } else {
                jump(to: position, at: time, paused: paused, &step)
                return
            }
        } else if options.random {
            shuffleForStart(choosing: position, &step)
            target = 0
        } else {
            target = goWithoutCurrent(to: position, &step)
        }
        start(target, at: time, paused: paused, &step)
    }

    /// Back into history: Play Next moves behind the entry, what lies in between is album queue again.
    private mutating func goBack(to position: Int, _ step: inout Step) -> Int {
        let playNext = playNextBlock
        if !playNext.isEmpty {
            touch(&step)
            list.move(playNext, to: position + 1, version: version)
        }
        return position
    }

    /// Forward: the entry is taken out and inserted behind the old current one, so nothing in front of it is passed over.
    /// If it belongs to the last append run, the rest of the run behind it comes along to the front of the album queue.
    private mutating func jump(to position: Int, at time: Duration, paused: Bool, _ step: inout Step) {
        guard configuration.jump == .move else {
            jumpByPointer(to: position, at: time, paused: paused, &step)
            return
        }
        let target = upcomingStart
        let isOfRun = appendRun?.contains(list[position].id) ?? false
        if position != target {
            touch(&step)
            list.move(position..<position + 1, to: target, version: version)
        }
        start(target, at: time, paused: paused, &step)
        let rest = position + 1..<count
        guard isOfRun, !rest.isEmpty else { return }
        let front = border(of: .playNext)
        if front != rest.lowerBound {
            touch(&step)
            list.move(rest, to: front, version: version)
        }
        // The listener wants it here, so it is here without random too.
        snapshot?.moveToFrontOfAlbum(list.entries[front..<front + rest.count].map(\.id))
        for place in front..<front + rest.count {
            list[place].tier = .albumQueue
            list[place].isLoose = false
        }
    }

    /// Forward with the pointer alone: what it passes over is history.
    private mutating func jumpByPointer(to position: Int, at time: Duration, paused: Bool, _ step: inout Step) {
        if list.entries[upcomingStart..<position].contains(where: { $0.priority > 0 }) {
            touch(&step)
        }
        recordingPlayNext { queue in
            queue.start(position, at: time, paused: paused, &step)
            queue.relabelHistory()
        }
    }

    /// From nothing: what stands before the entry becomes history, Play Next moves behind it.
    private mutating func goWithoutCurrent(to position: Int, _ step: inout Step) -> Int {
        let playNext = playNextBlock
        var target = position
        if playNext.contains(position) {
            if position > 0 {
                touch(&step)
                list.move(position..<position + 1, to: 0, version: version)
            }
            target = 0
        } else if !playNext.isEmpty {
            touch(&step)
            list.move(playNext, to: position + 1 - playNext.count, version: version)
            target = position - playNext.count
        }
        for place in 0..<target {
            list[place].tier = .albumQueue
        }
        return target
    }

    /// Starts the current entry, or the first one; without a current entry under random, of a list shuffled anew.
    private mutating func startFromStop(_ step: inout Step) {
        guard isThreeTier else {
            start(current ?? firstInOrder, &step)
            return
        }
        if current == nil, options.random {
            shuffleForStart(choosing: nil, &step)
            start(0, &step)
            return
        }
        go(to: current ?? 0, at: .zero, paused: false, isSeek: false, &step)
    }

    /// A command of the listener begins a new count of failures.
    private mutating func forgetFailures() {
        failuresInARow = 0
        silencesInARow = 0
        stopsOnFailure = false
    }

    private mutating func resume(_ step: inout Step) {
        state = .playing
        step.effects.append(.resume)
        step.changes.insert(.player)
    }

    /// Holds the sound of the current entry.
    mutating func hold(_ step: inout Step) {
        state = .paused
        step.effects.append(.pause)
        step.changes.insert(.player)
    }
}
