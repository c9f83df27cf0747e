extension Queue {
    /// Moves a block of entries to a place counted without them. They take the tier of the block they land in. Nothing
    /// changes, and no event is due, if they are there already.
    /// - Throws: `openRangeNotSupported`, `badSongIndex`, `numberTooLarge`, `noCurrentSong`, `cannotMoveRelativeToItself`.
    public mutating func move(_ span: PositionSpan, to placement: Placement) throws(QueueError) -> Outcome {
        guard let end = span.end else { throw .openRangeNotSupported }
        guard span.start >= 0, end >= span.start else { throw .badSongIndex }
        let range = span.start..<end
        let target = try moveTarget(of: range, placement)
        guard range.lowerBound < count, range.upperBound <= count else { throw .badSongIndex }
        // MPD refuses to move nothing from or to the front, and counts moving nothing elsewhere as a modification.
        guard !range.isEmpty || (range.lowerBound > 0 && target > 0) else { throw .badSongIndex }
        var step = Step()
        if target != range.lowerBound {
            touch(&step)
            appendRun = nil
            recordingPlayNext { queue in
                queue.list.move(range, to: target, version: queue.version)
                queue.relabelMoved(range, to: target)
            }
        }
        return finish(step)
    }

    /// Moves one entry.
    /// - Throws: `noSuchSong`, and as `move(_:to:)`.
    public mutating func move(id: EntryID, to placement: Placement) throws(QueueError) -> Outcome {
        try move(PositionSpan(existingPosition(of: id)), to: placement)
    }

    /// Exchanges two entries. Tiers stay at their positions. An event even if the positions are equal, as in MPD.
    /// - Throws: `badSongIndex`.
    public mutating func swap(_ first: Int, _ second: Int) throws(QueueError) -> Outcome {
        try checkPosition(first)
        try checkPosition(second)
        var step = Step()
        touch(&step)
        appendRun = nil
        recordingPlayNext { queue in
            queue.exchange(first, second)
        }
        return finish(step)
    }

    /// Exchanges two entries by id.
    /// - Throws: `noSuchSong`.
    public mutating func swap(id first: EntryID, with second: EntryID) throws(QueueError) -> Outcome {
        try swap(existingPosition(of: first), existingPosition(of: second))
    }

    private mutating func exchange(_ first: Int, _ second: Int) {
        list.swap(first, second, version: version)
        list[first].isLoose = false
        list[second].isLoose = false
        guard first == current || second == current else {
            guard isThreeTier else { return }
            let (tier, priority) = (list[first].tier, list[first].priority)
            (list[first].tier, list[first].priority) = (list[second].tier, list[second].priority)
            (list[second].tier, list[second].priority) = (tier, priority)
            return
        }
        current = first == current ? second : first
        normalizeTiers()
    }

    /// The position of the first moved entry after the move.
    private func moveTarget(of range: Range<Int>, _ placement: Placement) throws(QueueError) -> Int {
        let remaining = count - range.count
        switch placement {
        case .absolute(let position):
            guard remaining >= 0 else { throw .badSongIndex }
            guard position >= 0, position <= remaining else { throw .numberTooLarge(position) }
            return position
        case .afterCurrent(let distance):
            let anchor = try anchor(outside: range)
            guard remaining >= anchor else { throw .badSongIndex }
            guard distance >= 0, distance <= remaining - anchor else { throw .numberTooLarge(distance) }
            // MPD's limit is one too high; what lies between is refused later.
            guard distance < remaining - anchor else { throw .badSongIndex }
            return anchor + 1 + distance
        case .beforeCurrent(let distance):
            let anchor = try anchor(outside: range)
            guard remaining >= 0 else { throw .badSongIndex }
            // MPD limits the distance by the entries behind the current one; what lies between is refused later.
            guard isThreeTier || distance <= remaining - anchor else { throw .numberTooLarge(distance) }
            guard distance >= 0, distance <= anchor else {
                throw isThreeTier ? .numberTooLarge(distance) : .badSongIndex
            }
            return anchor - distance
        }
    }

    /// The current position in the list without the moved entries.
    private func anchor(outside range: Range<Int>) throws(QueueError) -> Int {
        guard let current else { throw .noCurrentSong }
        guard !range.contains(current) else { throw .cannotMoveRelativeToItself }
        return current >= range.upperBound ? current - range.count : current
    }

    private mutating func relabelMoved(_ range: Range<Int>, to target: Int) {
        guard let old = current else {
            labelLanded(target..<target + range.count)
            return
        }
        if range.contains(old) {
            current = old + target - range.lowerBound
            normalizeTiers()
            return
        }
        let anchor = old >= range.upperBound ? old - range.count : old
        current = target <= anchor ? anchor + range.count : anchor
        labelLanded(target..<target + range.count)
    }
}
