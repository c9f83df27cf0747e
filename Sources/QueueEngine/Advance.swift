extension Queue {
    /// Leaves the current entry for its successor, or stops at the end of the list without a current entry.
    ///
    /// The successor is loaded, unless `isSounding`: then the player is in it already.
    mutating func advance(_ cause: AdvanceCause, isSounding: Bool = false, _ step: inout Step) {
        guard let old = current else { return }
        stopsOnFailure = false
        drawLapIfDue()
        let left = list[old].id
        let next = successor(cause)
        if let next {
            let isHeld = next.isHeld || (cause == .failure && state == .paused)
            let position = next.beginsLap ? beginLap(&step) : next.position
            if isSounding, !isHeld {
                enter(position, &step)
                state = .playing
                preloaded = nil
            } else {
                start(position, paused: isHeld, &step)
            }
            if next.isHeld, options.single == .oneShot {
                options.single = .off
                step.changes.insert(.options)
            }
        } else {
            halt(&step)
            reshuffleHiddenOrder()
            current = nil
        }
        if consumes(cause), next?.id != left {
            consume(left, &step)
        }
    }

    /// Whether an entry that is left for this cause is removed under `consume`.
    private func consumes(_ cause: AdvanceCause) -> Bool {
        guard options.consume != .off else { return false }
        switch cause {
        case .endOfTrack, .command: return true
        case .failure: return !isThreeTier
        case .deletion: return false
        }
    }

    private mutating func consume(_ id: EntryID, _ step: inout Step) {
        guard let position = list.position(of: id) else { return }
        touch(&step)
        removeEntries(position..<position + 1)
        if options.consume == .oneShot {
            options.consume = .off
            step.changes.insert(.options)
        }
    }

    /// Takes entries other than the current one out of the list, the hidden order and the snapshot.
    mutating func removeEntries(_ range: Range<Int>) {
        if range.count == 1, let place = hiddenOrder?.firstIndex(of: list[range.lowerBound].id) {
            hiddenOrder?.remove(at: place)
        }
        list.remove(range, version: version)
        if let order = hiddenOrder, range.count > 1 {
            hiddenOrder = order.filter { list.contains($0) }
        }
        if let position = current, position >= range.upperBound {
            current = position - range.count
        }
        snapshot?.compact(living: list)
        if isEmpty {
            hasStarted = false
        }
    }
}
