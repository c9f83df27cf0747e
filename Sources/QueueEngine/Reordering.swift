extension Queue {
    /// Shuffles the positions of a span once. The current entry, if it plays or is paused and is inside, becomes the first
    /// of the span; while stopped the current entry is forgotten. Nothing for fewer than two entries.
    ///
    /// A span leaves tiers at their positions; a shuffle of everything makes all upcoming entries album queue.
    /// - Throws: `badSongIndex`.
    public mutating func shuffle(_ span: PositionSpan = .everything) throws(QueueError) -> Outcome {
        let range = try span.clipped(to: count)
        var step = Step()
        guard range.count > 1 else { return finish(step) }
        touch(&step)
        appendRun = nil
        recordingPlayNext { queue in
            queue.shufflePositions(range)
        }
        if snapshot != nil, !hasStarted, range.count == count {
            // A shuffled start: this order is the one to go back to.
            snapshot = ShuffleSnapshot(list.entries)
        }
        return finish(step)
    }

    private mutating func shufflePositions(_ range: Range<Int>) {
        let labels = range.count == count ? nil : range.map { (list[$0].tier, list[$0].priority) }
        var first = range.lowerBound
        if state == .stopped {
            current = nil
        } else if let position = current, range.contains(position) {
            if position != first {
                list.swap(first, position, version: version)
                current = first
            }
            first += 1
        }
        var arranged = Array(list.entries[first..<range.upperBound])
        arranged.shuffle(using: &random)
        list.rearrange(first..<range.upperBound, as: arranged, version: version)
        if isThreeTier {
            relabelShuffled(range, labels: labels)
        }
    }

    /// Gives the positions of a shuffled range their labels back; without labels all of it becomes album queue.
    private mutating func relabelShuffled(_ range: Range<Int>, labels: [(Tier, UInt8)]?) {
        for (offset, place) in range.enumerated() where place != current {
            list[place].tier = labels?[offset].0 ?? .albumQueue
            setShownPriority(labels?[offset].1 ?? 0, at: place)
            if labels == nil || list[place].tier != .userQueue {
                list[place].isLoose = false
            }
        }
        if current == nil {
            bringPlayNextToFront()
        } else {
            normalizeTiers()
        }
    }
}
