/// The queue: one list as MPD clients expect it, the current entry, the playback state, the options.
///
/// Every operation checks, changes, and returns an `Outcome`: what the player shall do and what clients must be told.
/// A refused operation throws and has changed nothing. The queue does no input or output and never waits; chance comes
/// from the seed. The rules are those of Docs/queue.md.
///
/// The player holds the current entry and at most one preloaded successor. It reports back by `started(_:)`,
/// `committed(_:)`, `trackChanged(to:)`, `trackEnded(_:)`, `permanentlyFailed(_:)` and `transportFailed(_:)`.
public struct Queue: Sendable {
    /// Whose rules apply.
    public let configuration: QueueConfiguration
    /// The MPD playlist version: 1 to 2^31 - 1, then 1 again.
    public internal(set) var version: UInt32 = 1
    /// The playback options.
    public internal(set) var options = QueueOptions()
    /// Whether the current entry plays, is held, or is not loaded.
    public internal(set) var state = PlayState.stopped

    /// All entries, in order.
    var list = EntryList()
    /// The position of the current entry.
    var current: Int?
    /// Whether an entry has been started since the queue was last empty.
    var hasStarted = false
    /// The ids of the last append run: the entries at the end that were appended with no other edit in between.
    var appendRun: Range<EntryID>?
    /// While random is on in the three-tier mode: the way back.
    var snapshot: ShuffleSnapshot?
    /// Whether there may be loose entries.
    var hasLooseTail = false
    /// While random is on in the mode `mpd`: the ids in the order of playing.
    var hiddenOrder: [EntryID]?
    /// The order of the next shuffled round, while the last entry of this one is current.
    var nextLap: [EntryID]?
    /// What the player was last told to let follow.
    var preloaded: EntryID?
    /// The entry that the player can no longer avoid.
    var committed: EntryID?
    /// The current entry, while the player still sounds the end of the one before it.
    var entering: EntryID?
    /// Permanent failures since the last first sound.
    var failuresInARow = 0
    /// Entries left in a row of which nothing was heard, though they seemed to begin.
    var silencesInARow = 0
    /// In the mode `mpd`: whether the entry was reached by a seek, after which a failure stops.
    var stopsOnFailure = false
    /// The next id to give out.
    var nextID: UInt32 = 1
    /// Whether ids below `nextID` come round again, so that a new one must be looked up first.
    var idsHaveWrapped = false
    /// Where chance comes from.
    var random: SeededRandom

    /// An empty queue, stopped, at version 1.
    public init(configuration: QueueConfiguration = QueueConfiguration(), seed: UInt64) {
        self.configuration = configuration
        random = SeededRandom(seed: seed)
    }

    /// The number of entries.
    public var count: Int { list.count }

    /// Whether there are no entries.
    public var isEmpty: Bool { list.count == 0 }

    /// The position of the current entry; nil: there is none.
    public var currentPosition: Int? { current }

    /// The id of the current entry; nil: there is none.
    public var currentID: EntryID? { current.map { list[$0].id } }

    /// The current entry; nil: there is none.
    public var currentEntry: Entry? { current.map { list[$0] } }

    /// The entries in order. A copy that outlives the next edit makes that edit copy the whole list.
    public var entries: [Entry] { list.entries }

    /// The entry at a position, nil beyond the queue.
    public func entry(at position: Int) -> Entry? {
        list.entries.indices.contains(position) ? list[position] : nil
    }

    /// The entry with an id, nil if there is none. O(1).
    public func entry(id: EntryID) -> Entry? {
        list.position(of: id).map { list[$0] }
    }

    /// The position of an id, nil if there is no such entry. O(1).
    public func position(of id: EntryID) -> Int? {
        list.position(of: id)
    }

    /// The existing positions that a span names, by MPD's rules.
    /// - Throws: `badSongIndex`.
    public func positions(in span: PositionSpan) throws(QueueError) -> Range<Int> {
        try span.clipped(to: count)
    }

    /// Whether the tiers are in force.
    var isThreeTier: Bool { configuration.mode == .threeTier }

    /// The position of an id.
    /// - Throws: `noSuchSong`.
    func existingPosition(of id: EntryID) throws(QueueError) -> Int {
        guard let position = list.position(of: id) else { throw .noSuchSong(id) }
        return position
    }

    /// - Throws: `badSongIndex` beyond the queue.
    func checkPosition(_ position: Int) throws(QueueError) {
        guard list.entries.indices.contains(position) else { throw .badSongIndex }
    }
}
