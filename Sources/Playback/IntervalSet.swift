/// Which bytes of a file are there: disjoint, sorted, half-open ranges that do not touch.
struct IntervalSet: Equatable, Sendable {
    private(set) var ranges: [Range<Int64>] = []

    init() {}

    /// The union of any ranges; empty ones are dropped.
    init(_ ranges: some Sequence<Range<Int64>>) {
        for range in ranges { insert(range) }
    }

    /// Number of bytes in all ranges.
    var count: Int64 { ranges.reduce(0) { $0 &+ ($1.upperBound &- $1.lowerBound) } }

    /// Adds a range. O(number of ranges).
    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let first = index { $0.upperBound >= range.lowerBound }
        var end = first
        var merged = range
        while end < ranges.count, ranges[end].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, ranges[end].lowerBound)..<max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(merged))
    }

    /// End of the unbroken bytes from `position` on; `position` itself where there is none.
    func end(from position: Int64) -> Int64 {
        let index = index { $0.upperBound > position }
        guard index < ranges.count, ranges[index].lowerBound <= position else { return position }
        return ranges[index].upperBound
    }

    /// The first byte at or after `position` that is missing, up to which the hole reaches: the next range or `limit`.
    ///
    /// Nil when nothing is missing before `limit`.
    func hole(from position: Int64, limit: Int64) -> Range<Int64>? {
        let start = end(from: position)
        guard start < limit else { return nil }
        let index = index { $0.lowerBound > start }
        let end = index < ranges.count ? min(ranges[index].lowerBound, limit) : limit
        return start..<end
    }

    /// Index of the first range for which `isBeyond` holds, which must stay true from there on.
    private func index(where isBeyond: (Range<Int64>) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
