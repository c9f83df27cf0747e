extension Queue {
    /// The first position at or behind `position` whose entry changed after a version; nil: none.
    ///
    /// All entries count as changed after version 0, and after a version that is newer than the present one.
    public func nextChange(since known: UInt32, from position: Int = 0) -> Int? {
        guard position < count else { return nil }
        let start = max(0, position)
        if known == 0 || known > version { return start }
        return list.entries[start...].firstIndex { $0.version > known || $0.version == 0 }
    }

    /// The positions inside a window whose entries changed after a version, in order; `plchanges`. The window is clipped.
    public func changes(since known: UInt32, in window: PositionSpan = .everything) -> [Int] {
        let end = min(window.end ?? count, count)
        var changed: [Int] = []
        var position = max(0, window.start)
        while let next = nextChange(since: known, from: position), next < end {
            changed.append(next)
            position = next + 1
        }
        return changed
    }
}
