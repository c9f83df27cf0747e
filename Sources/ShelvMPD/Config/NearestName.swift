/// Finds the name that someone most likely meant.
enum NearestName {
    /// The candidate with the fewest edits from `name`, when it is near enough to be worth saying: at most a third of
    /// the letters, and never fewer than two edits allowed. The first one wins a draw.
    static func of(_ name: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(name.lowercased().utf8)
        // An over-long name costs its length times that of all candidates, and means none of them.
        guard letters.count <= 64 else { return nil }
        let limit = max(2, letters.count / 3)
        var best: (name: String, edits: Int)?
        for candidate in candidates {
            let edits = distance(letters, Array(candidate.lowercased().utf8))
            if edits <= limit && edits < candidate.utf8.count && edits < best?.edits ?? .max {
                best = (candidate, edits)
            }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
    /// - Complexity: O(n · m).
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        var row = beforeLast
        for i in a.indices {
            row[0] = i + 1
            for j in b.indices {
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last, row) = (last, row, beforeLast)
        }
        return last[b.count]
    }
}
