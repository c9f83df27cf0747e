import Library
import Logging
import QueueEngine

/// What the store has of all partitions, as it is read at the start.
struct SavedPartitions: Sendable {
    var plan = PartitionPlan()
    /// The songs of all queues, each once; what the library has, it is asked for, so those have no record here.
    var songs: [SongTable.GoneSong] = []
    private var partitions: [String: SavedPartition] = [:]

    /// What is saved of the partition of this name.
    subscript(name: String) -> SavedPartition? { partitions[name] }

    /// Reads everything.
    ///
    /// A queue that is damaged is copied to a file of its own, with a line in the log, and nothing of it is returned.
    static func load(from store: Store, library: LibrarySnapshot, log: Log) async throws -> SavedPartitions {
        try await store.read { database throws(StoreError) in
            var saved = SavedPartitions()
            saved.plan = try PartitionPlan.load(from: database)
            var songs = SavedSongs(library)
            for name in [PartitionPlan.defaultName] + saved.plan.names {
                saved.partitions[name] = try SavedPartition.read(name, &songs, database, store.path, log)
            }
            saved.songs = songs.songs
            return saved
        }
    }
}

/// What the store has of a partition.
struct SavedPartition: Sendable {
    /// Its song keys are places among the songs of all partitions.
    var archive: QueueArchive?
    /// Into the current entry.
    var elapsed = Duration.zero
    /// Volume and the like, by name.
    var settings: [String: String] = [:]
    /// What was being heard.
    var play: PlayRecord?
    /// The blocks in which the queue stands in the store; nil when nothing is there that can be used.
    var lists: [SavedList: BlockList]?

    fileprivate static func read(
        _ partition: String,
        _ songs: inout SavedSongs,
        _ database: Database,
        _ path: String,
        _ log: Log
    ) throws(StoreError) -> SavedPartition {
        var saved = SavedPartition()
        saved.settings = try settings(partition, database)
        saved.play = try PlayRecord.load(partition, from: database)
        var reader = SavedQueueReader(partition: partition, songs: songs, database: database)
        do {
            try reader.read(into: &saved)
            songs = reader.songs
        } catch {
            saved = SavedPartition(settings: saved.settings)
            let reason = (error as? StoreError)?.description ?? "\(error)"
            setAside(partition, reason, path, database, log)
        }
        return saved
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

/// The songs of saved queues on their way to the song table: each has its key once for all of them.
private struct SavedSongs {
    let library: LibrarySnapshot
    private var keys: [SongIdentity: UInt32] = [:]
    private(set) var songs: [SongTable.GoneSong] = []

    init(_ library: LibrarySnapshot) { self.library = library }

    mutating func key(of identity: SongIdentity) -> UInt32 {
        if let key = keys[identity] { return key }
        let key = UInt32(clamping: songs.count)
        keys[identity] = key
        songs.append(SongTable.GoneSong(serverID: identity.serverID, songID: identity.songID, record: [], uri: []))
        return key
    }

    /// Fetches what is known of songs that the library does not have, as far as a partition knows of it.
    mutating func readWhatIsKnown(by partition: String, _ database: Database) throws {
        for place in songs.indices where songs[place].record.isEmpty && songs[place].uri.isEmpty {
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

/// Reads the lists of a queue; the rows of damaged ones lead to an error, never to a trap.
private struct SavedQueueReader {
    let partition: String
    var songs: SavedSongs
    let database: Database

    mutating func read(into saved: inout SavedPartition) throws {
        guard var archive = try readHead() else { return }
        var lists: [SavedList: BlockList] = [:]
        for list in SavedList.allCases {
            guard let blocks = try readList(list) else { continue }
            lists[list] = blocks
            list.restore(blocks.blocks.flatMap(\.rows), into: &archive)
        }
        guard lists[.entries] != nil else { throw SavedStateDamage("its entries are missing") }
        try songs.readWhatIsKnown(by: partition, database)
        saved.archive = archive
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
        return try BlockCoding.decode(bytes) { songs.key(of: $0) }
    }
}
