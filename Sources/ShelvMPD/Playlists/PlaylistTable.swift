/// A playlist as it stands in the store.
struct PlaylistRow: Sendable {
    var record: PlaylistRecord
    var name: String
    var lastModified: Int64
}

extension PlaylistRow {
    /// As it stands in the store: songs of a local playlist say which server they are of, because it outlives the use of one.
    func stored(by server: String) -> PlaylistRow {
        guard record.isLocal else { return self }
        var row = self
        row.record.base = record.base.map { entry in
            guard case .song(let id) = entry else { return entry }
            return .foreign(SongIdentity(serverID: server, songID: id))
        }
        return row
    }

    /// As the shelf of a server has it.
    func known(to server: String) -> PlaylistRow {
        guard record.isLocal else { return self }
        var row = self
        row.record.base = record.base.map { entry in
            guard case .foreign(let song) = entry, song.serverID == server else { return entry }
            return .song(song.songID)
        }
        return row
    }
}

/// The table of playlists; for closures that run on the store's thread.
enum PlaylistTable {
    /// The playlists of a server and the local ones, without their edits.
    static func rows(for server: String, in database: Database) throws(StoreError) -> [PlaylistRow] {
        let rows = try database.rows(
            """
            SELECT key, server, remote, name, title, comment, owner, public, readonly, changed, song_count, duration,
                last_modified, entries, attempt
            FROM playlist WHERE server IS NULL OR server = ? ORDER BY key
            """,
            .text(server)
        )
        return rows.compactMap(row)
    }

    /// The highest key that was ever given out.
    static func lastKey(in database: Database) throws(StoreError) -> Int64 {
        try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'playlist'")?.integer ?? 0
    }

    /// A damaged list comes back empty: the server's copy takes its place.
    private static func row(_ values: [SQLValue]) -> PlaylistRow? {
        guard values.count == 15, let key = values[0].integer, let name = values[3].text, let title = values[4].text
        else { return nil }
        var record = PlaylistRecord(
            key: PlaylistKey(rawValue: key),
            isLocal: values[1].text == nil,
            remoteID: values[2].text,
            title: title,
            remoteTitle: title,
            comment: values[5].text,
            owner: values[6].text,
            isPublic: values[7].integer.map { $0 != 0 }
        )
        if values[8].integer == 1 { record.refusal = .readonly }
        if values[8].integer == 2, let owner = record.owner { record.refusal = .owner(owner) }
        record.stamp.changed = values[9].integer
        record.stamp.songCount = values[10].integer.flatMap { Int(exactly: $0) }
        record.stamp.duration = values[11].integer
        if let entries = values[13].bytes.flatMap({ try? PlaylistCoding.entries($0) }) {
            record.base = entries
        } else {
            record.stamp = PlaylistStamp()
        }
        record.attempt = values[14].bytes.flatMap { try? PlaylistCoding.attempt($0) }
        return PlaylistRow(record: record, name: name, lastModified: values[12].integer ?? 0)
    }

    /// Keeps a playlist; what was sent without certainty is forgotten, unless the record has it.
    static func write(_ row: PlaylistRow, server: String?, to database: Database) throws(StoreError) {
        let record = row.record
        let refusal: Int64 =
            switch record.refusal {
            case nil: 0
            case .readonly, .madeUp, .favorites, .mounted: 1
            case .owner: 2
            }
        try database.run(
            """
            INSERT OR REPLACE INTO playlist (key, server, remote, name, title, comment, owner, public, readonly, changed,
                song_count, duration, last_modified, entries, attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(record.key.rawValue),
            record.isLocal ? .null : server.map { .text($0) } ?? .null,
            record.remoteID.map { .text($0) } ?? .null,
            .text(row.name),
            .text(record.remoteTitle),
            record.comment.map { .text($0) } ?? .null,
            record.owner.map { .text($0) } ?? .null,
            record.isPublic.map { .integer($0 ? 1 : 0) } ?? .null,
            .integer(refusal),
            record.stamp.changed.map { .integer($0) } ?? .null,
            record.stamp.songCount.map { .integer(Int64($0)) } ?? .null,
            record.stamp.duration.map { .integer($0) } ?? .null,
            .integer(row.lastModified),
            .blob(PlaylistCoding.encode(record.base)),
            record.attempt.map { .blob(PlaylistCoding.encode($0)) } ?? .null
        )
    }

    /// Keeps what clients call playlists.
    static func rename(_ names: [PlaylistKey: String], in database: Database) throws(StoreError) {
        for (key, name) in names {
            try database.run("UPDATE playlist SET name = ? WHERE key = ?", .text(name), .integer(key.rawValue))
        }
    }

    /// Keeps what is about to be sent.
    static func keep(
        _ attempt: PlaylistAttempt,
        of key: PlaylistKey,
        in database: Database
    ) throws(StoreError) {
        try database.run(
            "UPDATE playlist SET attempt = ? WHERE key = ?",
            .blob(PlaylistCoding.encode(attempt)),
            .integer(key.rawValue)
        )
    }

    /// Forgets a playlist.
    static func remove(_ key: PlaylistKey, from database: Database) throws(StoreError) {
        try database.run("DELETE FROM playlist WHERE key = ?", .integer(key.rawValue))
    }
}

/// The playlists as they were when the server ended.
struct SavedPlaylists: Sendable {
    var rows: [PlaylistRow] = []
    var edits: [JournalEntry] = []
    var lastKey: Int64 = 0

    /// Reads them for one server.
    /// - Parameter hasLocal: whether those that no server has are among them.
    static func load(from store: Store, server: ServerID, hasLocal: Bool = true) async throws -> SavedPlaylists {
        try await store.read { database throws(StoreError) in
            var rows = try PlaylistTable.rows(for: server.text, in: database)
            if !hasLocal { rows.removeAll(where: \.record.isLocal) }
            for row in rows where row.record.isLocal && row.record.base.contains(where: { $0.songID != nil }) {
                // Written when there was one server only, which was this one.
                try PlaylistTable.write(row.stored(by: server.text), server: nil, to: database)
            }
            rows = rows.map { $0.known(to: server.text) }
            return SavedPlaylists(
                rows: rows,
                edits: try Journal.entries(of: .playlist, for: server.text, in: database),
                lastKey: try PlaylistTable.lastKey(in: database)
            )
        }
    }
}
