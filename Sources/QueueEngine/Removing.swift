extension Queue {
    /// Removes the entries of a span, as if one by one from its end. If the current entry is among them, playback goes on
    /// with the entry that follows; a paused one becomes stopped with the following one as current.
    /// - Throws: `badSongIndex`.
    public mutating func delete(_ span: PositionSpan) throws(QueueError) -> Outcome {
        let range = try span.clipped(to: count)
        var step = Step()
        if !range.isEmpty {
            remove(range, &step)
        }
        return finish(step)
    }

    /// Removes one entry.
    /// - Throws: `noSuchSong`.
    public mutating func delete(id: EntryID) throws(QueueError) -> Outcome {
        try delete(PositionSpan(existingPosition(of: id)))
    }

    /// Removes everything and stops. A change even if the queue is empty, as in MPD.
    public mutating func clear() -> Outcome {
        var step = Step()
        touch(&step)
        halt(&step)
        list = EntryList()
        current = nil
        hasLooseTail = false
        snapshot = snapshot.map { _ in ShuffleSnapshot(EmptyCollection()) }
        hiddenOrder = hiddenOrder.map { _ in [] }
        hasStarted = false
        appendRun = nil
        return finish(step)
    }

    private mutating func remove(_ range: Range<Int>, _ step: inout Step) {
        touch(&step)
        appendRun = nil
        guard let position = current, range.contains(position) else {
            removeEntries(range)
            return
        }
        removeEntries(position + 1..<range.upperBound)
        removeEntries(range.lowerBound..<position)
        removeCurrent(&step)
    }

    /// Removes the current entry and passes its role on.
    private mutating func removeCurrent(_ step: inout Step) {
        guard let id = currentID else { return }
        drawLapIfDue()
        if state != .stopped, let next = successor(.deletion) {
            let position = next.beginsLap ? beginLap(&step) : next.position
            if state == .paused {
                halt(&step)
                current = position
            } else if next.id == committed {
                enterCommitted(position, &step)
            } else {
                start(position, &step)
            }
        } else {
            halt(&step)
            current = nil
        }
        if let position = list.position(of: id) {
            removeEntries(position..<position + 1)
        }
        if current == nil {
            bringPlayNextToFront()
        }
    }

    /// Without a current entry the Play Next block stands at position 0.
    mutating func bringPlayNextToFront() {
        guard isThreeTier, let first = list.entries.firstIndex(where: { $0.tier == .playNext }) else { return }
        var end = first
        while end < count, list[end].tier == .playNext {
            end += 1
        }
        list.move(first..<end, to: 0, version: version)
    }
}
