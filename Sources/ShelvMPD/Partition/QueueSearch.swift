import Library
import MPDProtocol
import QueueEngine

/// Finding entries of the queue.
///
/// Source: MPD 0.24 `src/queue/Print.cxx`, `src/queue/Selection.cxx`.
extension QueueReply {
    /// Keeps the entries that match, in the order that the query wants, and of these its window.
    ///
    /// Songs whose server is not shown are looked at in its own library. Of a song that has gone the tags are not looked
    /// at: it matches where they make no difference.
    /// - Throws: `FilterError`; an ACK for a window that begins beyond what there is.
    mutating func select(_ query: ParsedFilter) throws {
        let filter = try library.compile(query.filter)
        var unseen = UnseenMatches(query.filter)
        var found: [Int] = []
        for (position, entry) in queue.entries.enumerated() {
            let matches =
                switch names.song(entry.key) {
                case .library(let song): filter.matches(song, priority: entry.priority)
                case .stream(let stream):
                    filter.matches(
                        uri: stream.uri,
                        tags: stream.tags.map { ($0.tag, $0.text) },
                        priority: entry.priority
                    )
                case .gone(let song):
                    try unseen.matches(song, names, priority: entry.priority)
                        ?? (query.filter.matches(priority: entry.priority) == true)
                case nil: query.filter.matches(priority: entry.priority) == true
                }
            if matches { found.append(position) }
        }
        try filter.checkExpense()
        try unseen.checkExpense()
        if let order = query.sort { sort(&found, by: order) }
        if let window = query.window {
            guard window.start <= (query.sort == nil ? queue.count : found.count) else {
                throw ACK(.argument, "Bad song index")
            }
            found = Array(found[window.asWindow.clamped(to: 0..<found.count)])
        }
        scope = .positions(found)
    }

    /// Entries that are equal stay in their order, also when descending.
    private func sort(_ positions: inout [Int], by order: SortOrder) {
        let songKey = library.sortKey(of: order.key)
        let keys = positions.map { position in
            guard let entry = queue.entry(at: position) else { return UInt64(0) }
            var key = UInt32(entry.priority)
            if let songKey {
                if case .library(let song) = names.song(entry.key) { key = songKey(song) } else { key = 0 }
            }
            return UInt64(order.isDescending ? ~key : key) << 32 | UInt64(UInt32(clamping: position))
        }
        positions = keys.sorted().map { Int($0 & 0xFFFF_FFFF) }
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

/// A filter over songs of the queue whose servers are not shown.
private struct UnseenMatches {
    private let filter: Filter
    private var compiled: [String: CompiledFilter] = [:]

    init(_ filter: Filter) { self.filter = filter }

    /// Nil for a song that its server's library does not have.
    mutating func matches(_ song: SongTable.GoneSong, _ names: SongNames, priority: UInt8) throws(FilterError) -> Bool?
    {
        guard let (index, library) = names.unseen(song) else { return nil }
        if compiled[song.serverID] == nil { compiled[song.serverID] = try library.compile(filter) }
        guard let filter = compiled[song.serverID] else { return nil }
        if library.uri(index) == song.uri { return filter.matches(index, priority: priority) }
        // It stood below a folder.
        let tags = library.tags(index).map { (tag: $0.tag, text: Array($0.value.utf8)) }
        return filter.matches(uri: song.uri, tags: tags, priority: priority)
    }

    /// - Throws: `FilterError.tooExpensive` if an evaluation gave up.
    func checkExpense() throws(FilterError) { for filter in compiled.values { try filter.checkExpense() } }
}
