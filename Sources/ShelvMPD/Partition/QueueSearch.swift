import Library
import MPDProtocol
import QueueEngine

/// Finding entries of the queue.
///
/// Source: MPD 0.24 `src/queue/Print.cxx`, `src/queue/Selection.cxx`.
extension QueueReply {
    /// Keeps the entries that match, in the order that the query wants, and of these its window.
    ///
    /// Of a song that has gone the tags are not looked at: it matches where they make no difference.
    /// - Throws: `FilterError`; an ACK for a window that begins beyond what there is.
    mutating func select(_ query: ParsedFilter) throws {
        let total = rows.count
        let filter = try library.compile(query.filter)
        rows.removeAll { row in
            if let song = row.song { return !filter.matches(song, priority: row.priority) }
            if let stream = streams[row.key] {
                let tags = stream.tags.map { ($0.tag, $0.text) }
                return !filter.matches(uri: stream.uri, tags: tags, priority: row.priority)
            }
            return query.filter.matches(priority: row.priority) != true
        }
        try filter.checkExpense()
        if let order = query.sort { sort(by: order) }
        guard let window = query.window else { return }
        let candidates = query.sort == nil ? total : rows.count
        guard window.start <= candidates else { throw ACK(.argument, "Bad song index") }
        let range = window.asWindow.clamped(to: 0..<rows.count)
        rows = Array(rows[range])
    }

    /// Entries that are equal stay in their order, also when descending.
    private mutating func sort(by order: SortOrder) {
        let songKey = library.sortKey(of: order.key)
        let keys = rows.enumerated().map { index, row in
            let key = songKey.map { key in row.song.map(key) ?? 0 } ?? UInt32(row.priority)
            return UInt64(order.isDescending ? ~key : key) << 32 | UInt64(UInt32(clamping: index))
        }
        rows = keys.sorted().map { rows[Int($0 & 0xFFFF_FFFF)] }
    }
}

extension Filter {
    /// Whether a queue entry matches of which only the priority is known; nil where that does not decide it.
    fileprivate func matches(priority: UInt8) -> Bool? {
        switch self {
        case .priority(let least): return priority >= least
        case .not(let filter): return filter.matches(priority: priority).map { !$0 }
        case .and(let filters):
            let answers = filters.map { $0.matches(priority: priority) }
            return answers.contains(false) ? false : answers.contains(nil) ? nil : true
        case .tag, .anyTag, .uri, .base, .modifiedSince, .addedSince, .audioFormat: return nil
        }
    }
}
