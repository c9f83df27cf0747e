import QueueEngine

/// Keeps what is known of the songs in a queue in the store: the table `queue_song`.
///
/// A few songs are written with the edit that brings them. Thousands are put off, and written in pieces afterwards.
struct SongShelf: Sendable {
    /// Some songs to write or to forget.
    struct Chore: Sendable {
        enum Work: Sendable { case keep, drop }

        var work: Work
        var keys: [UInt32]
    }

    /// Keys of the songs that are in the table, or shall be once the chores are done. Nil: not known.
    private var known: Set<UInt32>?
    /// Those of them that were written, or read, when the library had lost them.
    private var lost: Set<UInt32> = []
    private var chores: [Chore] = []

    private static let pieceSize = 500

    /// Follows an edit.
    /// - Parameter newRows: the entries among which songs may be that are not in the table.
    mutating func update(
        _ archive: QueueArchive,
        _ newRows: [SavedRow],
        _ names: SongNames,
        partition: String,
        _ database: Database
    ) throws(StoreError) {
        var rows = newRows
        var known: Set<UInt32>
        if let former = self.known {
            known = former
        } else {
            known = try Self.compare(archive, names, partition: partition, database)
            rows = archive.rows.map(SavedRow.init)
        }
        var missing: [UInt32] = []
        for row in rows where known.insert(row.key).inserted { missing.append(row.key) }
        self.known = known
        try keep(missing, names, partition: partition, database)
        try keepLost(names, partition: partition, database)
        dropUnused(archive)
    }

    private mutating func keep(
        _ keys: [UInt32],
        _ names: SongNames,
        partition: String,
        _ database: Database
    ) throws(StoreError) {
        if keys.count <= Self.pieceSize && chores.isEmpty {
            try Chore(work: .keep, keys: keys).carryOut(names, partition: partition, database)
        } else {
            put(off: keys, .keep)
        }
    }

    /// A song that has vanished is kept as it was last seen.
    private mutating func keepLost(
        _ names: SongNames,
        partition: String,
        _ database: Database
    ) throws(StoreError) {
        let absent = names.absentKeys.filter { known?.contains($0) == true }
        let fresh = absent.filter { !lost.contains($0) }
        lost = Set(absent)
        try keep(fresh, names, partition: partition, database)
    }

    /// Forgets songs that have left the queue, once they are many.
    private mutating func dropUnused(_ archive: QueueArchive) {
        guard let known, known.count > 2 * archive.rows.count + 1000 else { return }
        let living = Set(archive.rows.lazy.map(\.key.rawValue))
        let unused = known.filter { !living.contains($0) }
        self.known = known.subtracting(unused)
        put(off: Array(unused), .drop)
    }

    private mutating func put(off keys: [UInt32], _ work: Chore.Work) {
        for start in stride(from: 0, to: keys.count, by: Self.pieceSize) {
            let piece = keys[start..<min(start + Self.pieceSize, keys.count)]
            chores.append(Chore(work: work, keys: Array(piece)))
        }
    }

    /// Takes out the next piece of what was put off.
    mutating func nextChore() -> Chore? { chores.isEmpty ? nil : chores.removeFirst() }

    /// Which songs of the queue are in the table; takes the others out of it.
    private static func compare(
        _ archive: QueueArchive,
        _ names: SongNames,
        partition: String,
        _ database: Database
    ) throws(StoreError) -> Set<UInt32> {
        var keys: [SongIdentity: UInt32] = [:]
        for row in archive.rows {
            if let identity = names.identity(row.key) { keys[identity] = row.key.rawValue }
        }
        var known: Set<UInt32> = []
        for row in try database.rows("SELECT server, song FROM queue_song WHERE partition = ?", .text(partition)) {
            guard row.count == 2, let server = row[0].text, let song = row[1].text else { continue }
            if let key = keys[SongIdentity(serverID: server, songID: song)] {
                known.insert(key)
            } else {
                try drop(server, song, partition: partition, database)
            }
        }
        return known
    }

    fileprivate static func drop(
        _ server: String,
        _ song: String,
        partition: String,
        _ database: Database
    ) throws(StoreError) {
        try database.run(
            "DELETE FROM queue_song WHERE partition = ? AND server = ? AND song = ?",
            .text(partition),
            .text(server),
            .text(song)
        )
    }
}

extension SongShelf.Chore {
    func carryOut(_ names: SongNames, partition: String, _ database: Database) throws(StoreError) {
        for key in keys {
            switch work {
            case .keep:
                guard let song = names.lastKnown(SongKey(key)), !song.uri.isEmpty else { continue }
                try database.run(
                    "INSERT OR REPLACE INTO queue_song (partition, server, song, uri, record) VALUES (?, ?, ?, ?, ?)",
                    .text(partition),
                    .text(song.serverID),
                    .text(song.songID),
                    .blob(song.uri),
                    .blob(song.record)
                )
            case .drop:
                guard let song = names.identity(SongKey(key)) else { continue }
                try SongShelf.drop(song.serverID, song.songID, partition: partition, database)
            }
        }
    }
}
