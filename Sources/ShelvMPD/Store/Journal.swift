/// What was accepted and is not on the server yet: one entry for each act, kept until the server has it.
///
/// The journal knows nothing of what the acts mean. Each kind has a reader and a sender of its own, which take their
/// entries in order.
struct JournalEntry: Sendable, Hashable {
    /// What an entry is about; a word in the database.
    enum Kind: String, Sendable {
        case playlist
        case star
        case rating
        /// A play of a song that counts.
        case scrobble
    }

    /// Grows in the order of the acts; never used twice while the entry lives.
    var id: Int64
    var kind: Kind
    /// What is changed, in the words of the kind: entries with the same subject are carried out in order.
    var subject: String
    /// The act, in the form of the kind.
    var content: [UInt8]
    /// When it was accepted, Unix time in seconds.
    var time: Int64
}

/// The journal's table; for closures that run on the store's thread.
enum Journal {
    /// Entries of one kind for one server, in order.
    static func entries(
        of kind: JournalEntry.Kind,
        for server: String,
        in database: Database
    ) throws(StoreError) -> [JournalEntry] {
        let rows = try database.rows(
            "SELECT id, subject, content, time FROM journal WHERE server = ? AND kind = ? ORDER BY id",
            .text(server),
            .text(kind.rawValue)
        )
        return rows.compactMap { row in
            guard row.count == 4, let id = row[0].integer, let subject = row[1].text, let content = row[2].bytes,
                let time = row[3].integer
            else { return nil }
            return JournalEntry(id: id, kind: kind, subject: subject, content: content, time: time)
        }
    }

    /// The highest number that was ever given out.
    static func lastID(in database: Database) throws(StoreError) -> Int64 {
        let highest = try database.value("SELECT max(id) FROM journal")?.integer ?? 0
        let ever = try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")?.integer ?? 0
        return max(highest, ever)
    }

    /// Adds an entry under its number.
    static func append(_ entry: JournalEntry, for server: String, to database: Database) throws(StoreError) {
        try database.run(
            "INSERT INTO journal (id, server, kind, subject, content, time) VALUES (?, ?, ?, ?, ?, ?)",
            .integer(entry.id),
            .text(server),
            .text(entry.kind.rawValue),
            .text(entry.subject),
            .blob(entry.content),
            .integer(entry.time)
        )
    }

    /// Entries are about a subject that is called otherwise now.
    static func rename(
        _ kind: JournalEntry.Kind,
        _ subject: String,
        _ newSubject: String,
        for server: String,
        in database: Database
    ) throws(StoreError) {
        try database.run(
            "UPDATE journal SET subject = ? WHERE server = ? AND kind = ? AND subject = ?",
            .text(newSubject),
            .text(server),
            .text(kind.rawValue),
            .text(subject)
        )
    }

    /// Removes the entries of a subject up to a number: the server has them.
    static func remove(
        _ kind: JournalEntry.Kind,
        subject: String,
        through id: Int64,
        for server: String,
        from database: Database
    ) throws(StoreError) {
        try database.run(
            "DELETE FROM journal WHERE server = ? AND kind = ? AND subject = ? AND id <= ?",
            .text(server),
            .text(kind.rawValue),
            .text(subject),
            .integer(id)
        )
    }
}

/// Writes acts of clients for one server into the journal, in order, whatever the kinds. Owned by the core.
final class JournalWriter {
    /// Gives out the numbers: the only one for its store.
    private final class Numbers {
        private var last: Int64

        init(after last: Int64) { self.last = last }

        func next() -> Int64 {
            last += 1
            return last
        }
    }

    let store: Store
    /// The server that the acts are for.
    let server: ServerID
    private let numbers: Numbers

    /// - Parameter lastID: the highest number that was ever given out.
    init(_ store: Store, server: ServerID, lastID: Int64) {
        self.store = store
        self.server = server
        numbers = Numbers(after: lastID)
    }

    private init(_ store: Store, server: ServerID, _ numbers: Numbers) {
        self.store = store
        self.server = server
        self.numbers = numbers
    }

    /// The writer for another server's acts in the same journal.
    func writer(for server: ServerID) -> JournalWriter { JournalWriter(store, server: server, numbers) }

    /// The writer that goes on behind what the store has; any thread.
    /// - Returns: what makes it, on the core.
    static func opening(_ store: Store, server: ServerID) async throws -> @Sendable () -> JournalWriter {
        let lastID = try await store.read { database throws(StoreError) in try Journal.lastID(in: database) }
        return { JournalWriter(store, server: server, lastID: lastID) }
    }

    /// Adds an act.
    /// - Parameters:
    ///   - also: done in the same transaction, first.
    ///   - whenKept: told on the store's thread once nothing can be lost any more, or that it cannot be kept.
    /// - Returns: the entry as it is kept.
    func append(
        _ kind: JournalEntry.Kind,
        subject: String,
        content: [UInt8],
        time: Int64,
        also: (@Sendable (Database) throws(StoreError) -> Void)? = nil,
        whenKept: @escaping Store.WhenDone
    ) -> JournalEntry {
        let entry = JournalEntry(id: numbers.next(), kind: kind, subject: subject, content: content, time: time)
        store.submit(
            "an act in the journal",
            { [server] database throws(StoreError) in
                try also?(database)
                try Journal.append(entry, for: server.text, to: database)
            },
            whenDone: whenKept
        )
        return entry
    }
}
