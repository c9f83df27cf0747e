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
        hasStarted = false
        appendRun = nil
        return finish(step)
    }

    private mutating func remove(_ range: Range<Int>, _ step: inout Step) {
        touch(&step)
        appendRun = nil
        var end = range.upperBound
        while let position = current, (range.lowerBound..<end).contains(position) {
            removeEntries(position + 1..<end)
            leaveDeleted(position, doomed: range.lowerBound..<position, &step)
            removeEntries(position..<position + 1)
            end = position
        }
        removeEntries(range.lowerBound..<end)
        if current == nil {
            bringPlayNextToFront()
        }
    }

    /// Passes on the role of the current entry, which is about to be removed. If it goes to a doomed entry, nothing is
    /// loaded, because that one is removed next.
    private mutating func leaveDeleted(_ position: Int, doomed: Range<Int>, _ step: inout Step) {
        guard state != .stopped, let next = successor(.deletion) else {
            halt(&step)
            current = nil
            return
        }
        if state == .paused {
            halt(&step)
            current = next.position
        } else if doomed.contains(next.position) {
            current = next.position
        } else if next.id == committed {
            enterCommitted(next.position, &step)
        } else {
            start(next.position, &step)
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
