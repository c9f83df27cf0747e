/// Brings together what was changed here and what was changed elsewhere, starting from the same list.
///
/// The rule: what either has put in is there, what either has taken out is gone. In one place, theirs stands first. An
/// entry that both have moved stands where they put it. Docs/playlists.md tells users.
enum PlaylistMerge {
    static func merge<Entry: Hashable>(base: [Entry], mine: [Entry], theirs: [Entry]) -> [Entry] {
        if mine == base || mine == theirs { return theirs }
        if theirs == base { return mine }
        let myChange = Matching(from: base, to: mine)
        let theirChange = Matching(from: base, to: theirs)

        // What I took out, and what I moved and they did not, is not where they have it.
        var isTakenOut = [Bool](repeating: false, count: theirs.count)
        for place in base.indices {
            guard let there = theirChange.target[place] ?? theirChange.movedTarget[place] else { continue }
            let isRemoved = myChange.target[place] == nil && myChange.movedTarget[place] == nil
            let isMoved = myChange.movedTarget[place] != nil && theirChange.target[place] != nil
            isTakenOut[there] = isRemoved || isMoved
        }

        // What I put in stands behind what stood before it in my list; by positions in theirs, -1 for the beginning.
        var inserted: [Int: [Entry]] = [:]
        var anchor = -1
        for (place, entry) in mine.enumerated() {
            if let source = myChange.source[place] {
                if let there = theirChange.target[source] ?? theirChange.movedTarget[source] { anchor = there }
            } else if let source = myChange.movedSource[place] {
                // They moved it, or took it out.
                if theirChange.target[source] != nil { inserted[anchor, default: []].append(entry) }
            } else {
                inserted[anchor, default: []].append(entry)
            }
        }

        var merged: [Entry] = []
        merged.reserveCapacity(theirs.count + mine.count)
        var pending = inserted[-1] ?? []
        for (place, entry) in theirs.enumerated() {
            // What they put in behind the anchor stays before mine.
            if theirChange.source[place] != nil {
                merged += pending
                pending = []
            }
            if !isTakenOut[place] { merged.append(entry) }
            if let new = inserted[place] { pending += new }
        }
        return merged + pending
    }

    /// How many entries differ between two lists, more or less.
    static func distance<Entry: Hashable>(_ a: [Entry], _ b: [Entry]) -> Int {
        let matching = Matching(from: a, to: b)
        let kept = matching.source.count { $0 != nil }
        return a.count + b.count - 2 * kept
    }
}

/// Which entries of one list are which of another: in the same order in both, and moved. Those in the same order are not
/// always the most that could be found, but they are found in n log n steps.
struct Matching<Entry: Hashable> {
    /// By position in the first list, the position in the second.
    private(set) var target: [Int?]
    /// By position in the second list, the position in the first.
    private(set) var source: [Int?]
    /// The same for entries that are in both, but in another order.
    private(set) var movedTarget: [Int?]
    private(set) var movedSource: [Int?]

    init(from first: [Entry], to second: [Entry]) {
        target = Array(repeating: nil, count: first.count)
        source = Array(repeating: nil, count: second.count)
        movedTarget = target
        movedSource = source
        var start = 0
        let shorter = min(first.count, second.count)
        while start < shorter, first[start] == second[start] {
            pair(start, start)
            start += 1
        }
        var end = 0
        while end < shorter - start, first[first.count - 1 - end] == second[second.count - 1 - end] {
            pair(first.count - 1 - end, second.count - 1 - end)
            end += 1
        }
        // In between, the n-th occurrence here belongs to the n-th there, as far as their order is the same.
        var places: [Entry: [Int]] = [:]
        for place in (start..<max(start, first.count - end)).reversed() {
            places[first[place], default: []].append(place)
        }
        var candidates: [(first: Int, second: Int)] = []
        for place in start..<max(start, second.count - end) {
            if let match = places[second[place]]?.popLast() { candidates.append((match, place)) }
        }
        for index in Self.longestRise(candidates.map(\.first)) {
            pair(candidates[index].first, candidates[index].second)
        }
        for candidate in candidates where source[candidate.second] == nil {
            movedTarget[candidate.first] = candidate.second
            movedSource[candidate.second] = candidate.first
        }
    }

    /// Whether the whole first list was found in the second.
    var isComplete: Bool { target.allSatisfy { $0 != nil } }

    private mutating func pair(_ a: Int, _ b: Int) {
        target[a] = b
        source[b] = a
    }

    /// The places of a longest subsequence that rises.
    private static func longestRise(_ numbers: [Int]) -> [Int] {
        // By length, the place where a rise of that length ends lowest.
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var rise: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            rise.append(place)
            place = before[place]
        }
        return rise.reversed()
    }
}
