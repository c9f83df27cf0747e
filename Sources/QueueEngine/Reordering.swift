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
        let isFull = range.count == count
        let labels = range.map { (list[$0].tier, list[$0].priority) }
        var first = range.lowerBound
        if state != .stopped, let position = current {
            if range.contains(position) {
                if position != first {
                    list.swap(first, position, version: version)
                    current = first
                }
                first += 1
            }
        } else {
            current = nil
        }
        var arranged = Array(list.entries[first..<range.upperBound])
        arranged.shuffle(using: &random)
        list.rearrange(first..<range.upperBound, as: arranged, version: version)
        guard isThreeTier else { return finish(step) }
        for (place, label) in zip(range, labels) where place != current {
            list[place].tier = isFull ? .albumQueue : label.0
            setShownPriority(isFull ? 0 : label.1, at: place)
        }
        if current == nil {
            bringPlayNextToFront()
        } else {
            normalizeTiers()
        }
        return finish(step)
    }
}
