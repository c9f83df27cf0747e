/// A range of positions as requests write it: `N`, `N:M` (half-open) or `N:`.
public struct PositionRange: Sendable, Hashable {
    /// The first position.
    public var start: Int
    /// The position after the last one; nil for an open end.
    public var end: Int?

    /// The positions from `start` up to, but not including, `end`.
    public init(start: Int, end: Int?) {
        self.start = start
        self.end = end
    }

    /// What `-1` and a missing range mean.
    public static let everything = PositionRange(start: 0, end: nil)

    /// The part that exists in a list of `count` elements; empty if there is none.
    public func clipped(to count: Int) -> Range<Int> {
        let lower = min(max(start, 0), count)
        return lower..<max(lower, min(end ?? count, count))
    }

    /// As `clipped`, but a start beyond the end of the list is an error; the very end is not.
    public func checked(against count: Int) throws(ACK) -> Range<Int> {
        if start > count || start < 0 { throw ACK(.argument, "Bad song index") }
        return clipped(to: count)
    }
}

/// Where songs are inserted, as requests write it.
public enum InsertPosition: Sendable, Hashable {
    /// `N`: this position.
    case absolute(Int)
    /// `+N`: so many songs after the current one.
    case afterCurrent(Int)
    /// `-N`: so many songs before the current one.
    case beforeCurrent(Int)
}

/// A time to seek to, in milliseconds.
public enum SeekTarget: Sendable, Hashable {
    /// From the start of the song; not negative.
    case absolute(Int64)
    /// From where playback is now.
    case relative(Int64)
}

/// A part of a song, in milliseconds.
public struct TimeRange: Sendable, Hashable {
    public var start: Int64
    /// Nil for the end of the song; else greater than `start`.
    public var end: Int64?

    /// The part from `start` to `end`, in milliseconds.
    public init(start: Int64, end: Int64?) {
        self.start = start
        self.end = end
    }

    /// The whole song.
    public static let whole = TimeRange(start: 0, end: nil)
}
