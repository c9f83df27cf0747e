import QueueEngine

/// One row of a saved list: an entry, or what an order says about one. Keys mean something in this process only.
struct SavedRow: Sendable, Equatable {
    var id: UInt32
    var key: UInt32 = 0
    var start: UInt32 = 0
    var end: UInt32 = 0
    var tier = Tier.albumQueue
    var priority: UInt8 = 0
    var isLoose = false

    init(id: UInt32) { self.id = id }

    init(_ row: QueueArchive.Row) {
        id = row.id.rawValue
        key = row.key.rawValue
        start = row.range.start
        end = row.range.end
        tier = row.tier
        priority = row.priority
        isLoose = row.isLoose
    }

    init(_ row: QueueArchive.SnapshotRow) {
        id = row.id.rawValue
        tier = row.tier
        priority = row.priority
    }

    /// As a row of the queue.
    var entry: QueueArchive.Row {
        QueueArchive.Row(
            id: EntryID(id),
            key: SongKey(key),
            tier: tier,
            priority: priority,
            range: PlaybackRange(start: start, end: end),
            isLoose: isLoose
        )
    }

    /// As a row of the shuffle snapshot.
    var snapshotRow: QueueArchive.SnapshotRow {
        QueueArchive.SnapshotRow(id: EntryID(id), tier: tier, priority: priority)
    }
}

/// The lists of which a saved queue consists.
enum SavedList: Int64, CaseIterable, Sendable {
    case entries = 0
    /// The order to go back to when `random` ends.
    case snapshot = 1
    /// The order of playing, in the mode `mpd`.
    case hiddenOrder = 2
    /// The order of the next round.
    case nextLap = 3

    /// The rows that an archive has of this list, or nil for a list that it lacks.
    func rows(of archive: QueueArchive) -> [SavedRow]? {
        switch self {
        case .entries: archive.rows.map(SavedRow.init)
        case .snapshot: archive.snapshot?.map(SavedRow.init)
        case .hiddenOrder: archive.hiddenOrder?.map { SavedRow(id: $0.rawValue) }
        case .nextLap: archive.nextLap?.map { SavedRow(id: $0.rawValue) }
        }
    }

    /// Puts rows into an archive.
    func restore(_ rows: [SavedRow], into archive: inout QueueArchive) {
        switch self {
        case .entries: archive.rows = rows.map(\.entry)
        case .snapshot: archive.snapshot = rows.map(\.snapshotRow)
        case .hiddenOrder: archive.hiddenOrder = rows.map { EntryID($0.id) }
        case .nextLap: archive.nextLap = rows.map { EntryID($0.id) }
        }
    }
}
