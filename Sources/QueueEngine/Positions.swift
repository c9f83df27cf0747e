/// The positions that a command names: from `start` up to, but not including, `end`; without `end` up to the last one.
public struct PositionSpan: Sendable, Equatable {
    /// The first position.
    public var start: Int
    /// The position behind the last one; nil: open.
    public var end: Int?

    /// From `start` to `end`.
    public init(start: Int, end: Int?) {
        self.start = start
        self.end = end
    }

    /// One position.
    public init(_ position: Int) {
        self.init(start: position, end: position < Int.max ? position + 1 : nil)
    }

    /// The whole queue.
    public static let everything = PositionSpan(start: 0, end: nil)

    /// The part that exists in a list of this length. A start equal to the length is fine and means nothing at all; an
    /// end beyond the list is clipped, as in MPD.
    /// - Throws: `badSongIndex` when the start is negative or beyond the length.
    func clipped(to count: Int) throws(QueueError) -> Range<Int> {
        guard start >= 0, start <= count else { throw .badSongIndex }
        return start..<max(start, min(end ?? count, count))
    }
}

/// The place that a command names for entries that are added or moved.
public enum Placement: Sendable, Equatable {
    /// A position, counted without the entries that are moved.
    case absolute(Int)
    /// `+N`: behind the current entry, with N entries in between.
    case afterCurrent(Int)
    /// `-N`: before the current entry, with N entries in between.
    case beforeCurrent(Int)
}
