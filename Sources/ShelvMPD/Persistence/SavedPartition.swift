import Library
import Logging
import QueueEngine

/// What the store has of a partition, as it is read at the start.
struct SavedPartition: Sendable {
    /// Its song keys are places in `songs`.
    var archive: QueueArchive?
    /// The songs of the queue, each once; what the library has, it is asked for, so those have no record here.
    var songs: [SongTable.GoneSong] = []
    /// Into the current entry.
    var elapsed = Duration.zero
    /// Volume and the like, by name.
    var settings: [String: String] = [:]
    /// What was being heard.
    var play: PlayRecord?
    /// The blocks in which the queue stands in the store; nil when nothing is there that can be used.
    var lists: [SavedList: BlockList]?

    /// Reads a partition's state.
    ///
    /// A damaged one is copied to a file of its own, with a line in the log, and nothing of the queue is returned.
    static func load(
        _ partition: String,
        from store: Store,
        library: LibrarySnapshot,
        log: Log
    ) async throws -> SavedPartition {
        try await store.read { database throws(StoreError) in
            var saved = SavedPartition()
            saved.settings = try settings(partition, database)
            saved.play = try PlayRecord.load(partition, from: database)
            var reader = SavedQueueReader(partition: partition, library: library, database: database)
            do {
                try reader.read(into: &saved)
            } catch {
                saved = SavedPartition(settings: saved.settings)
                let reason = (error as? StoreError)?.description ?? "\(error)"
                setAside(partition, reason, store.path, database, log)
            }
            return saved
        }
    }

    private static func settings(_ partition: String, _ database: Database) throws(StoreError) -> [String: String] {
        var settings: [String: String] = [:]
        for row in try database.rows(
            "SELECT name, value FROM partition_setting WHERE partition = ?",
            .text(partition)
        ) where row.count == 2 {
            if let name = row[0].text, let value = row[1].text { settings[name] = value }
        }
        return settings
    }

    private static func setAside(
        _ partition: String,
        _ reason: String,
        _ path: String,
        _ database: Database,
        _ log: Log
    ) {
        do throws(StoreError) {
            let copy = try StoreFile.freeName(path, "damaged")
            try database.run("VACUUM INTO ?", .text(copy))
            log.error("The saved queue cannot be used: \(reason); it is kept in \(copy), and an empty queue begins")
        } catch {
            log.error("The saved queue cannot be used: \(reason); no copy of it can be made: \(error)")
        }
    }
}

/// Reads the lists of a queue; the rows of damaged ones lead to an error, never to a trap.
private struct SavedQueueReader {
    let partition: String
    let library: LibrarySnapshot
    let database: Database
    private var keys: [SongIdentity: UInt32] = [:]
    private var songs: [SongTable.GoneSong] = []

    init(partition: String, library: LibrarySnapshot, database: Database) {
        self.partition = partition
        self.library = library
        self.database = database
    }

    mutating func read(into saved: inout SavedPartition) throws {
        guard var archive = try readHead() else { return }
        var lists: [SavedList: BlockList] = [:]
        for list in SavedList.allCases {
            guard let blocks = try readList(list) else { continue }
            lists[list] = blocks
            list.restore(blocks.blocks.flatMap(\.rows), into: &archive)
        }
        guard lists[.entries] != nil else { throw SavedStateDamage("its entries are missing") }
        try readWhatIsKnown()
        saved.archive = archive
        saved.songs = songs
        saved.lists = lists
        let position = try database.rows(
            "SELECT entry, elapsed FROM queue_position WHERE partition = ?",
            .text(partition)
        ).first
        if let position, position.count == 2, let entry = position[0].integer, let elapsed = position[1].integer,
            let current = archive.current, Int64(current.rawValue) == entry
        {
            saved.elapsed = .milliseconds(max(0, elapsed))
        }
    }

    private func readHead() throws -> QueueArchive? {
        let row = try database.rows(
            """
            SELECT mode, version, next_id, has_started, random, repeat, single, consume, state, current
            FROM queue WHERE partition = ?
            """,
            .text(partition)
        ).first
        guard let row else { return nil }
        let numbers = row[1..<9].map(\.integer)
        guard let mode = row[0].text.flatMap(QueueMode.init), let version = number(numbers[0]),
            let nextID = number(numbers[1]), let single = number(numbers[5]).flatMap(oneShot),
            let consume = number(numbers[6]).flatMap(oneShot),
            let state = number(numbers[7]).flatMap({ UInt8(exactly: $0) }).flatMap(PlayState.init)
        else { throw SavedStateDamage("its options are not what was written") }
        var archive = QueueArchive(mode: mode)
        archive.version = version
        archive.nextID = nextID
        archive.hasStarted = numbers[2] == 1
        archive.random = numbers[3] == 1
        archive.repeat = numbers[4] == 1
        archive.single = single
        archive.consume = consume
        archive.state = state
        archive.current = number(row[9].integer).map { EntryID($0) }
        return archive
    }

    private func number(_ value: Int64?) -> UInt32? { value.flatMap { UInt32(exactly: $0) } }

    private func oneShot(_ value: UInt32) -> OneShotMode? { UInt8(exactly: value).flatMap(OneShotMode.init) }

    private mutating func readList(_ list: SavedList) throws -> BlockList? {
        let row = try database.rows(
            "SELECT blocks, digest FROM queue_list WHERE partition = ? AND list = ?",
            .text(partition),
            .integer(list.rawValue)
        ).first
        guard let row else { return nil }
        guard let bytes = row[0].bytes, row[1].integer == BlockCoding.digest(bytes) else {
            throw SavedStateDamage("a list is not what was written")
        }
        var blocks: [BlockList.Block] = []
        for number in try BlockCoding.decode(numbers: bytes) {
            blocks.append(BlockList.Block(number: number, rows: try readBlock(number)))
        }
        return BlockList(blocks)
    }

    private mutating func readBlock(_ number: Int64) throws -> [SavedRow] {
        let row = try database.rows(
            "SELECT content, digest FROM queue_block WHERE partition = ? AND number = ?",
            .text(partition),
            .integer(number)
        ).first
        guard let row, let bytes = row[0].bytes else { throw SavedStateDamage("a block is missing") }
        guard row[1].integer == BlockCoding.digest(bytes) else {
            throw SavedStateDamage("a block is not what was written")
        }
        return try BlockCoding.decode(bytes) { identity in
            if let key = keys[identity] { return key }
            let key = UInt32(clamping: songs.count)
            keys[identity] = key
            songs.append(
                SongTable.GoneSong(serverID: identity.serverID, songID: identity.songID, record: [], uri: [])
            )
            return key
        }
    }

    /// Fetches what is known of songs that the library does not have.
    private mutating func readWhatIsKnown() throws {
        for place in songs.indices {
            let song = songs[place]
            let isKnown = library.song(SongIdentity(serverID: song.serverID, songID: song.songID)) != nil
            if isKnown, library.idGeneration(of: song.serverID).isEmpty { continue }
            let row = try database.rows(
                "SELECT uri, record FROM queue_song WHERE partition = ? AND server = ? AND song = ?",
                .text(partition),
                .text(song.serverID),
                .text(song.songID)
            ).first
            guard let row else { continue }
            songs[place].uri = row[0].bytes ?? []
            songs[place].record = row[1].bytes ?? []
        }
    }
}
