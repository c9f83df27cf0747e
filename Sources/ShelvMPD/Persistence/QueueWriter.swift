import QueueEngine
import Synchronization

/// Keeps one partition's queue in the store; remembers what is there, so that little is written.
///
/// `save` and `savePosition` return at once. What is to be written is found out on the store's thread, from a copy of the
/// queue that shares its memory with the original: the core pays for a copy only if it edits within those milliseconds.
final class QueueWriter: Sendable {
    /// All that is saved, as it was at one moment.
    struct Moment: Sendable {
        var queue: Queue
        var names: SongNames
        /// Into the current entry.
        var elapsed: Duration
        /// Volume and the like, by name.
        var settings: [String: String]
    }

    /// What the database has, as far as is known. Touched on the store's thread only, apart from the beginning.
    struct State {
        /// Nil when it is not known: then everything is written.
        var lists: [SavedList: BlockList]?
        var lastNumber: Int64 = 0
        var settings: [String: String] = [:]
        var songs = SongShelf()
        /// How often all of that was forgotten.
        var forgetCount = 0
        /// Whether nothing may be written any more.
        var isAbandoned = false

        mutating func forget() {
            lists = nil
            settings = [:]
            songs = SongShelf()
            forgetCount += 1
        }
    }

    let partition: String
    let store: Store
    private let state: Mutex<State>

    /// - Parameter saved: what was loaded from the store; without it everything is written at the first save.
    init(_ store: Store, partition: String, saved: SavedPartition? = nil) {
        self.store = store
        self.partition = partition
        var state = State()
        state.lists = saved?.lists
        state.settings = saved?.settings ?? [:]
        let numbers = (saved?.lists ?? [:]).values.lazy.flatMap { $0.blocks.lazy.map(\.number) }
        state.lastNumber = numbers.max() ?? 0
        self.state = Mutex(state)
    }

    /// Writes what has changed, as one transaction.
    /// - Parameter whenDone: told on the store's thread whether it is committed.
    func save(_ moment: Moment, whenDone: @escaping @Sendable (Bool) -> Void) {
        let names = moment.names
        let moment = Once(moment)
        store.submit(
            "the queue",
            { [self] database throws(StoreError) in
                // The copy of the queue is given back as soon as it is read.
                guard let (archive, elapsed, settings) = moment.take({ ($0.queue.archive(), $0.elapsed, $0.settings) })
                else { return }
                try update { state throws(StoreError) in
                    try write(archive, names, to: database, &state)
                    try write(settings, to: database, &state)
                    if let current = archive.current { try write(elapsed, of: current, to: database) }
                }
            },
            whenDone: { [self] result in
                if case .failure = result {
                    forget()
                    whenDone(false)
                } else {
                    doChores(names)
                    whenDone(true)
                }
            }
        )
    }

    /// Writes how far the current entry has played.
    func savePosition(_ elapsed: Duration, of entry: EntryID, whenDone: @escaping @Sendable (Bool) -> Void) {
        store.submit(
            "the position in the song",
            { [self] database throws(StoreError) in
                try update { _ throws(StoreError) in try write(elapsed, of: entry, to: database) }
            },
            whenDone: { result in if case .success = result { whenDone(true) } else { whenDone(false) } }
        )
    }

    /// What is there is not to be built upon, after a failure or when songs have other ids: the next save writes everything.
    func forget() {
        state.withLock { $0.forget() }
    }

    /// Nothing is written any more, also of what was begun: the partition is erased next.
    func abandon() { state.withLock { $0.isAbandoned = true } }

    // MARK: On the store's thread

    /// Writes volume and the like as a part of a greater change. If that is not kept, `forget` is to be called.
    func write(_ settings: [String: String], to database: Database) throws(StoreError) {
        try update { state throws(StoreError) in try write(settings, to: database, &state) }
    }

    /// Lets something be written, unless nothing may be any more; what is known to be there changes only if all of it succeeds.
    /// The core may give it up, or let it be forgotten, meanwhile: that holds.
    func update(_ body: (inout State) throws(StoreError) -> Void) throws(StoreError) {
        var state = state.withLock { $0 }
        guard !state.isAbandoned else { return }
        let forgetCount = state.forgetCount
        try body(&state)
        self.state.withLock { old in
            state.isAbandoned = old.isAbandoned
            state.forgetCount = old.forgetCount
            if forgetCount != old.forgetCount { state.forget() }
            old = state
        }
    }

    /// The partitions of which something is saved.
    static func partitions(in database: Database) throws(StoreError) -> [String] {
        try database.rows(
            "SELECT partition FROM queue UNION SELECT partition FROM partition_setting UNION \(PlayRecord.partitionQuery)"
        ).compactMap { $0.first?.text }
    }

    /// Forgets all that is saved of a partition.
    static func erase(_ partition: String, from database: Database) throws(StoreError) {
        for table in ["queue", "queue_list", "queue_block", "queue_position", "queue_song", "partition_setting"] {
            try database.run("DELETE FROM \(table) WHERE partition = ?", .text(partition))
        }
        try PlayRecord.erase(partition, from: database)
    }

    private func write(
        _ archive: QueueArchive,
        _ names: SongNames,
        to database: Database,
        _ state: inout State
    ) throws(StoreError) {
        if state.lists == nil {
            for table in ["queue", "queue_list", "queue_block", "queue_position", "partition_setting"] {
                try database.run("DELETE FROM \(table) WHERE partition = ?", .text(partition))
            }
            state.settings = [:]
        }
        var lists = state.lists ?? [:]
        var newRows: [SavedRow] = []
        for list in SavedList.allCases {
            let blocks = try write(list, list.rows(of: archive), names, lists[list], &state.lastNumber, to: database)
            if list == .entries { newRows = blocks.written }
            lists[list] = blocks.list
        }
        state.lists = lists
        try database.run(
            """
            INSERT OR REPLACE INTO queue (partition, mode, version, next_id, has_started, random, repeat, single,
                consume, current, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .text(partition),
            .text(archive.mode.rawValue),
            .integer(Int64(archive.version)),
            .integer(Int64(archive.nextID)),
            .integer(archive.hasStarted ? 1 : 0),
            .integer(archive.random ? 1 : 0),
            .integer(archive.repeat ? 1 : 0),
            .integer(Int64(archive.single.rawValue)),
            .integer(Int64(archive.consume.rawValue)),
            archive.current.map { .integer(Int64($0.rawValue)) } ?? .null,
            .integer(Int64(archive.state.rawValue))
        )
        try state.songs.update(archive, newRows, names, partition: partition, database)
    }

    private func write(
        _ list: SavedList,
        _ rows: [SavedRow]?,
        _ names: SongNames,
        _ stored: BlockList?,
        _ lastNumber: inout Int64,
        to database: Database
    ) throws(StoreError) -> (list: BlockList?, written: [SavedRow]) {
        var blocks = stored ?? BlockList()
        let changes = blocks.update(to: rows ?? [], lastNumber: &lastNumber)
        for number in changes.removed {
            try database.run(
                "DELETE FROM queue_block WHERE partition = ? AND number = ?",
                .text(partition),
                .integer(number)
            )
        }
        for block in changes.written {
            let content = BlockCoding.encode(block.rows, list == .entries ? names : nil)
            try database.run(
                "INSERT OR REPLACE INTO queue_block (partition, number, content, digest) VALUES (?, ?, ?, ?)",
                .text(partition),
                .integer(block.number),
                .blob(content),
                .integer(BlockCoding.digest(content))
            )
        }
        guard rows != nil else {
            if stored != nil {
                try database.run(
                    "DELETE FROM queue_list WHERE partition = ? AND list = ?",
                    .text(partition),
                    .integer(list.rawValue)
                )
            }
            return (nil, [])
        }
        if stored == nil || changes != BlockList.Changes() || stored?.blocks.count != blocks.blocks.count {
            let numbers = BlockCoding.encode(numbers: blocks.blocks.map(\.number))
            try database.run(
                "INSERT OR REPLACE INTO queue_list (partition, list, blocks, digest) VALUES (?, ?, ?, ?)",
                .text(partition),
                .integer(list.rawValue),
                .blob(numbers),
                .integer(BlockCoding.digest(numbers))
            )
        }
        return (blocks, changes.written.flatMap(\.rows))
    }

    private func write(_ settings: [String: String], to database: Database, _ state: inout State) throws(StoreError) {
        for (name, value) in settings where state.settings[name] != value {
            try database.run(
                "INSERT OR REPLACE INTO partition_setting (partition, name, value) VALUES (?, ?, ?)",
                .text(partition),
                .text(name),
                .text(value)
            )
            state.settings[name] = value
        }
    }

    private func write(_ elapsed: Duration, of entry: EntryID, to database: Database) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO queue_position (partition, entry, elapsed) VALUES (?, ?, ?)",
            .text(partition),
            .integer(Int64(entry.rawValue)),
            .integer(elapsed.milliseconds)
        )
    }

    /// Does what was put off, a piece at a time, so that others who want the store need not wait.
    private func doChores(_ names: SongNames) {
        guard let chore = state.withLock({ $0.songs.nextChore() }) else { return }
        store.submit(
            "what is known of the songs in the queue",
            { [self] database throws(StoreError) in
                // It may come behind the end of the partition.
                guard !state.withLock({ $0.isAbandoned }) else { return }
                try chore.carryOut(names, partition: partition, database)
            },
            whenDone: { [self] result in
                if case .failure = result { forget() } else { doChores(names) }
            }
        )
    }
}

/// A value that is taken out once.
private final class Once<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value) { self.value = Mutex(value) }

    /// What `body` makes of the value, which is gone when this returns; nil the second time.
    func take<Result: Sendable>(_ body: (Value) -> Result) -> Result? {
        let taken = value.withLock { value in
            defer { value = nil }
            return value
        }
        return taken.map(body)
    }
}
