/// A queue as plain rows, for a file or a database, and back.
///
/// Versions of single entries are not part of it: after a restart every client reads the whole list once.
public struct QueueArchive: Sendable, Equatable {
    /// One entry, in the order of the list.
    public struct Row: Sendable, Equatable {
        /// The MPD song id.
        public var id: EntryID
        /// What it plays.
        public var key: SongKey
        /// Its label.
        public var tier: Tier
        /// Its priority.
        public var priority: UInt8
        /// The part that plays.
        public var range: PlaybackRange
        /// Whether it waits to be dealt into the shuffled part.
        public var isLoose: Bool

        /// A row of these parts.
        public init(
            id: EntryID,
            key: SongKey,
            tier: Tier,
            priority: UInt8,
            range: PlaybackRange = .whole,
            isLoose: Bool = false
        ) {
            self.id = id
            self.key = key
            self.tier = tier
            self.priority = priority
            self.range = range
            self.isLoose = isLoose
        }
    }

    /// One entry of the shuffle snapshot, in the order to go back to.
    public struct SnapshotRow: Sendable, Equatable {
        /// The MPD song id.
        public var id: EntryID
        /// Its label without random.
        public var tier: Tier
        /// Its priority without random.
        public var priority: UInt8

        /// A row of these parts.
        public init(id: EntryID, tier: Tier, priority: UInt8) {
            self.id = id
            self.tier = tier
            self.priority = priority
        }
    }

    /// Whose rules the queue followed.
    public var mode: QueueMode
    /// The playlist version.
    public var version: UInt32
    /// The next id.
    public var nextID: UInt32
    /// Whether something has been started since the queue was last empty.
    public var hasStarted: Bool
    /// `random`.
    public var random: Bool
    /// `repeat`.
    public var `repeat`: Bool
    /// `single`.
    public var single: OneShotMode
    /// `consume`.
    public var consume: OneShotMode
    /// The current entry.
    public var current: EntryID?
    /// What was playing.
    public var state: PlayState
    /// The entries.
    public var rows: [Row]
    /// The shuffle snapshot, while random is on in the three-tier mode.
    public var snapshot: [SnapshotRow]?
    /// The order of playing, while random is on in the mode `mpd`.
    public var hiddenOrder: [EntryID]?
    /// The order of the next shuffled round, if it has been drawn.
    public var nextLap: [EntryID]?

    /// An archive of an empty, stopped queue; to be filled in.
    public init(mode: QueueMode) {
        self.mode = mode
        version = 1
        nextID = 1
        hasStarted = false
        random = false
        `repeat` = false
        single = .off
        consume = .off
        state = .stopped
        rows = []
    }
}

extension Queue {
    /// How far versions and ids are raised at each start, so that nothing that a client remembers is given out again.
    public static let raiseAtStart: UInt32 = 10_000

    /// Everything that shall survive a restart. O(n).
    public func archive() -> QueueArchive {
        var archive = QueueArchive(mode: configuration.mode)
        archive.version = version
        archive.nextID = nextID
        archive.hasStarted = hasStarted
        archive.random = options.random
        archive.repeat = options.repeat
        archive.single = options.single
        archive.consume = options.consume
        archive.current = currentID
        archive.state = state
        archive.rows = list.entries.map {
            QueueArchive.Row(
                id: $0.id,
                key: $0.key,
                tier: $0.tier,
                priority: $0.priority,
                range: $0.range,
                isLoose: $0.isLoose
            )
        }
        archive.snapshot = snapshot?.living(in: list).map {
            QueueArchive.SnapshotRow(id: $0.id, tier: $0.tier, priority: $0.priority)
        }
        archive.hiddenOrder = hiddenOrder
        archive.nextLap = nextLap
        return archive
    }

    /// The queue of an archive, stopped; `restorePlayback(at:paused:)` loads the current entry.
    ///
    /// Any archive gives a queue that is in order: rows with unusable or repeated ids are left out, labels that do not
    /// form blocks are normalized, and what a snapshot or an order lacks is added at its end. The version and the next id
    /// are raised. An archive of the other mode loses its tiers and its shuffled order, not its entries.
    public init(_ archive: QueueArchive, configuration: QueueConfiguration = QueueConfiguration(), seed: UInt64) {
        self.init(configuration: configuration, seed: seed)
        version = Self.raised(archive.version)
        options.random = archive.random
        options.repeat = archive.repeat
        options.single = archive.single
        options.consume = archive.consume
        let isSameMode = archive.mode == configuration.mode
        restoreEntries(archive.rows, keepsLabels: isSameMode)
        let highestID = list.entries.lazy.map { $0.id.rawValue }.max() ?? 0
        nextID = Self.raised(max(archive.nextID, highestID))
        idsHaveWrapped = nextID <= highestID
        current = archive.current.flatMap { list.position(of: $0) }
        restoreTiers()
        // Something stands in the user queue only after a start.
        hasStarted = !isEmpty && (archive.hasStarted || current != nil || !userQueueBlock.isEmpty)
        restoreOrder(archive, isSameMode: isSameMode)
        drawLapIfDue()
        assert(checkInvariants())
    }

    /// Loads the current entry again after a restart, without counting it as a start: tiers and priorities stay.
    public mutating func restorePlayback(at time: Duration, paused: Bool) -> Outcome {
        guard state == .stopped, let current, let id = currentID else { return Outcome() }
        state = paused ? .paused : .playing
        if isThreeTier {
            // What has been started is context. A damaged archive may say otherwise, and then the next song would leave it so.
            list[current].tier = .albumQueue
            list[current].isLoose = false
            list[current].priority = 0
        }
        preloaded = nil
        return finish(Step(effects: [.load(id, at: max(.zero, time), paused: paused)], changes: .player))
    }

    private static func raised(_ number: UInt32) -> UInt32 {
        let raised = min(number, EntryID.highest) + raiseAtStart
        return raised > EntryID.highest ? raised - EntryID.highest : raised
    }

    private mutating func restoreEntries(_ rows: [QueueArchive.Row], keepsLabels: Bool) {
        var known = EntryIndex()
        known.reserve(rows.count)
        var entries: [Entry] = []
        entries.reserveCapacity(rows.count)
        for row in rows where row.id.rawValue >= 1 && row.id.rawValue <= EntryID.highest && known[row.id] == nil {
            known.insert(row.id, slot: 0)
            var entry = Entry(id: row.id, key: row.key, tier: .albumQueue, version: version, range: row.range)
            if keepsLabels {
                entry.tier = isThreeTier ? row.tier : .albumQueue
                entry.priority = row.priority
                entry.isLoose = isThreeTier && row.isLoose && options.random
                hasLooseTail = hasLooseTail || entry.isLoose
            }
            entries.append(entry)
        }
        list.insert(entries, at: 0, version: version)
    }

    private mutating func restoreTiers() {
        guard isThreeTier else { return }
        if let current {
            list[current].isLoose = false
            if list[current].tier != .playNext {
                list[current].priority = 0
            }
        }
        normalizeTiers()
    }

    private mutating func restoreOrder(_ archive: QueueArchive, isSameMode: Bool) {
        guard options.random else { return }
        let rows = isSameMode ? archive.snapshot ?? [] : []
        let order = isSameMode ? archive.hiddenOrder ?? [] : []
        if isThreeTier {
            var seen = EntryIndex()
            seen.reserve(rows.count)
            var restored: [ShuffleSnapshot.Row] = []
            restored.reserveCapacity(count)
            for row in rows where list.contains(row.id) && seen[row.id] == nil {
                seen.insert(row.id, slot: 0)
                restored.append(ShuffleSnapshot.Row(id: row.id, tier: row.tier, priority: row.priority))
            }
            let known = restored.map(\.id)
            restored += missing(from: known).map {
                ShuffleSnapshot.Row(id: $0.id, tier: $0.tier, priority: $0.priority)
            }
            snapshot = ShuffleSnapshot(rows: restored)
        } else {
            let known = distinctLiving(order)
            hiddenOrder = known + missing(from: known).map(\.id)
        }
        if isSameMode, let lap = archive.nextLap {
            let known = distinctLiving(lap)
            nextLap = known.count == count && known.first != currentID ? known : nil
        }
    }

    private func distinctLiving(_ ids: [EntryID]) -> [EntryID] {
        var seen = EntryIndex()
        seen.reserve(ids.count)
        return ids.filter { id in
            guard list.contains(id), seen[id] == nil else { return false }
            seen.insert(id, slot: 0)
            return true
        }
    }

    private func missing(from ids: [EntryID]) -> [Entry] {
        guard ids.count < count else { return [] }
        var seen = EntryIndex()
        seen.reserve(ids.count)
        for id in ids {
            seen.insert(id, slot: 0)
        }
        return list.entries.filter { seen[$0.id] == nil }
    }
}
