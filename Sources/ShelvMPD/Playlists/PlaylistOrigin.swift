/// What a list on the server comes from, when something was sent to it without hearing whether it arrived.
struct PlaylistOrigin: Hashable {
    /// The list that the present edits are made on.
    var base: [String]
    /// The list as others have left it: with `base`, what they have changed.
    var theirs: [String]

    /// - Parameters:
    ///   - base: the list as it was read last.
    ///   - attempt: what was sent last, if it is not known whether it arrived.
    ///   - present: the list as it was just read.
    ///   - isNew: whether the attempt was to make the list.
    init(base: [String], attempt: PlaylistAttempt?, present: [String], isNew: Bool) {
        self.base = base
        theirs = present
        guard let attempt else { return }
        let sent = attempt.entries.compactMap(\.songID)
        let base = attempt.base.map { $0.compactMap(\.songID) } ?? base
        self.base = base
        if present == sent {
            self.base = sent
        } else if let start = attempt.start, start.isOnTheWay(to: sent, present) {
            theirs = start.theirs.compactMap(\.songID)
        } else if isNew {
            // Sent in parts, it may be there in part.
            self.base = sent.starts(with: present) ? present : sent
        } else if present != base, PlaylistMerge.distance(sent, present) <= PlaylistMerge.distance(base, present) {
            // Changed elsewhere since; it is more like what was sent.
            self.base = sent
        }
    }
}

extension PlaylistAttempt.Start {
    /// Whether a list is one of those that the server has while the attempt is carried out.
    fileprivate func isOnTheWay(to sent: [String], _ list: [String]) -> Bool {
        let first = present.compactMap(\.songID)
        if list == first { return true }
        let part = PlaylistTraits.mostInQuery
        let kept = zip(first, sent).prefix { $0 == $1 }.count
        guard isPiecewise else {
            // Replaced by the beginning, or added to, by so many at a time.
            let before = kept == first.count ? [0, first.count] : [0]
            return sent.starts(with: list)
                && before.contains { list.count > $0 && (list.count - $0).isMultiple(of: part) }
        }
        guard list.count >= kept else { return false }
        if first.starts(with: list) || sent.starts(with: list) { return true }
        // Of the positions that were to be taken off first, a server that reads only the last has taken the lowest.
        var rest = first
        let lowest = max(kept, first.count - part)
        guard rest.indices.contains(lowest) else { return false }
        rest.remove(at: lowest)
        return rest.starts(with: list)
    }
}
