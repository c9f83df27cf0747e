import Library

/// The tables of stickers and of marks; for closures that run on the store's thread.
enum StickerTable {
    /// Keeps a sticker.
    /// - Parameter uri: of a song, by which it is found if the server gives it another id.
    static func write(
        _ sticker: StickerBook.Sticker,
        on object: [UInt8],
        _ type: StickerType,
        uri: [UInt8]?,
        for server: String,
        to database: Database
    ) throws(StoreError) {
        try database.run(
            """
            INSERT OR REPLACE INTO sticker (server, type, object, name, value, counted, uri) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            .text(server),
            .text(type.name),
            .blob(object),
            .blob(sticker.name),
            .blob(sticker.value),
            sticker.counted.map { .integer(Int64($0)) } ?? .null,
            uri.map { .blob($0) } ?? .null
        )
    }

    /// Forgets a sticker of an object, or all of it.
    static func remove(
        _ name: [UInt8]?,
        of object: [UInt8],
        _ type: StickerType,
        for server: String,
        from database: Database
    ) throws(StoreError) {
        guard let name else {
            return try database.run(
                "DELETE FROM sticker WHERE server = ? AND type = ? AND object = ?",
                .text(server),
                .text(type.name),
                .blob(object)
            )
        }
        try database.run(
            "DELETE FROM sticker WHERE server = ? AND type = ? AND object = ? AND name = ?",
            .text(server),
            .text(type.name),
            .blob(object),
            .blob(name)
        )
    }

    /// Songs have other ids now: by the old ones.
    static func rename(_ songs: [String: String], for server: String, in database: Database) throws(StoreError) {
        // Out of the way first, because ids may go round.
        for (old, new) in songs {
            try database.run(
                "UPDATE sticker SET type = 'moved', object = ? WHERE server = ? AND type = 'song' AND object = ?",
                .blob(Array(new.utf8)),
                .text(server),
                .blob(Array(old.utf8))
            )
        }
        try database.run(
            """
            INSERT OR REPLACE INTO sticker (server, type, object, name, value, counted, uri)
                SELECT server, 'song', object, name, value, counted, uri FROM sticker WHERE server = ? AND type = 'moved'
            """,
            .text(server)
        )
        try database.run("DELETE FROM sticker WHERE server = ? AND type = 'moved'", .text(server))
    }

    /// Keeps a mark; an empty one is forgotten.
    static func write(
        _ mark: Mark,
        on key: MarkKey,
        uri: [UInt8]?,
        for server: String,
        to database: Database
    ) throws(StoreError) {
        guard !mark.isEmpty else {
            return try database.run(
                "DELETE FROM mark WHERE server = ? AND kind = ? AND id = ?",
                .text(server),
                .integer(key.kind.rawValue),
                .text(key.id)
            )
        }
        try database.run(
            """
            INSERT OR REPLACE INTO mark (server, kind, id, starred, place, local_star, rating, settled, liked, uri)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .text(server),
            .integer(key.kind.rawValue),
            .text(key.id),
            mark.starred.map { .integer($0) } ?? .null,
            .integer(mark.place),
            .integer(mark.hasLocalStar ? 1 : 0),
            mark.rating.map { .integer(Int64($0.value)) } ?? .null,
            mark.rating?.settled.map { .integer($0) } ?? .null,
            mark.like.map { .integer(Int64($0)) } ?? .null,
            uri.map { .blob($0) } ?? .null
        )
    }
}

/// Stickers and marks as they were when the server ended.
struct SavedStickers: Sendable {
    var stickers = StickerBook()
    var marks = MarkBook()
    /// Songs with their URIs, to find those that the server has given other ids.
    var uris: [String: [UInt8]] = [:]

    /// Reads those of one server.
    static func load(from store: Store, server: ServerID) async throws -> SavedStickers {
        try await store.read { database throws(StoreError) in
            var saved = SavedStickers()
            try saved.loadStickers(server.text, database)
            try saved.loadMarks(server.text, database)
            try saved.loadJournal(server.text, database)
            return saved
        }
    }

    private mutating func loadStickers(_ server: String, _ database: Database) throws(StoreError) {
        let rows = try database.rows(
            "SELECT type, object, name, value, counted, uri FROM sticker WHERE server = ? ORDER BY type, object, name",
            .text(server)
        )
        for row in rows {
            guard row.count == 6, let type = row[0].text.flatMap({ StickerType(stored: $0) }),
                let object = row[1].bytes, let name = row[2].bytes, let value = row[3].bytes
            else { continue }
            let counted = row[4].integer.flatMap { UInt32(exactly: $0) }
            stickers.set(type, object, StickerBook.Sticker(name: name, value: value, counted: counted))
            if type == .song, let uri = row[5].bytes { uris[String(decoding: object, as: UTF8.self)] = uri }
        }
    }

    private mutating func loadMarks(_ server: String, _ database: Database) throws(StoreError) {
        let rows = try database.rows(
            "SELECT kind, id, starred, place, local_star, rating, settled, liked, uri FROM mark WHERE server = ?",
            .text(server)
        )
        var all: [(key: MarkKey, mark: Mark)] = []
        for row in rows {
            guard row.count == 9, let kind = row[0].integer.flatMap({ MarkKey.Kind(rawValue: $0) }),
                let id = row[1].text
            else { continue }
            var mark = Mark()
            mark.starred = row[2].integer
            mark.place = row[3].integer ?? 0
            mark.hasLocalStar = row[4].integer == 1
            if let value = row[5].integer.flatMap({ UInt8(exactly: $0) }), value <= 10 {
                mark.rating = Mark.Rating(value: value, settled: row[6].integer)
            }
            mark.like = row[7].integer.flatMap { UInt8(exactly: $0) }.flatMap { $0 <= 1 ? $0 : nil }
            all.append((MarkKey(kind: kind, id: id), mark))
            if kind == .song, let uri = row[8].bytes { uris[id] = uri }
        }
        marks.replace(all)
    }

    private mutating func loadJournal(_ server: String, _ database: Database) throws(StoreError) {
        var all: [JournalEntry] = []
        for kind in [JournalEntry.Kind.star, .rating] {
            all += try Journal.entries(of: kind, for: server, in: database)
        }
        for entry in all.sorted(by: { $0.id < $1.id }) {
            guard let key = MarkKey(subject: entry.subject), entry.content.count == 2,
                let act = MarkAct(entry.kind, entry.content[0])
            else { continue }
            marks.note(act, key, id: entry.id, base: entry.content[1])
        }
    }
}

extension MarkAct {
    /// Under which it stands in the journal.
    var kind: JournalEntry.Kind { isStar ? .star : .rating }

    /// As it stands in the journal.
    var value: UInt8 {
        switch self {
        case .star(let isStarred): isStarred ? 1 : 0
        case .rate(let value): value
        }
    }

    /// Reads what stands in the journal.
    init?(_ kind: JournalEntry.Kind, _ value: UInt8) {
        switch kind {
        case .star: self = .star(value == 1)
        case .rating where value <= 10: self = .rate(value)
        default: return nil
        }
    }
}
