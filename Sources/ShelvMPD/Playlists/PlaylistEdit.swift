/// One change of a stored playlist, as a client asked for it. Positions are those at that moment.
enum PlaylistEdit: Hashable, Sendable {
    /// There is a new one, with this title and these entries.
    case create(String, [PlaylistEntry])
    /// Entries come in at a position; nil means at the end.
    case insert([PlaylistEntry], at: Int?)
    case remove(Range<Int>)
    /// The entries of the range go to where the first of them shall stand, counted without them.
    case move(Range<Int>, to: Int)
    case replace([PlaylistEntry])
    /// It has another title.
    case rename(String)
    case delete

    /// Carries the change out. Positions beyond the list, which cannot be unless the list is not the one that was
    /// edited, are clipped.
    func apply(to entries: inout [PlaylistEntry]) {
        switch self {
        case .insert(let new, let position):
            entries.insert(contentsOf: new, at: min(max(position ?? .max, 0), entries.count))
        case .remove(let range): entries.removeSubrange(range.clamped(to: 0..<entries.count))
        case .move(let range, let destination):
            let range = range.clamped(to: 0..<entries.count)
            let moved = Array(entries[range])
            entries.removeSubrange(range)
            entries.insert(contentsOf: moved, at: min(max(destination, 0), entries.count))
        case .create(_, let new), .replace(let new): entries = new
        case .rename, .delete: break
        }
    }

    /// What it brings into the list.
    var newEntries: [PlaylistEntry] {
        switch self {
        case .create(_, let entries), .insert(let entries, _), .replace(let entries): entries
        case .remove, .move, .rename, .delete: []
        }
    }
}
