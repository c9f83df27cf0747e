/// The tables of the store, and how older files become current ones.
enum StoreSchema {
    /// Marks the file as ours: "Shlv" in ASCII.
    static let applicationID: Int64 = 0x5368_6C76

    /// The version that this program reads and writes: the number of migrations.
    static var version: Int64 { Int64(migrations.count) }

    /// Each brings a file from the version that is its index to the next one. What has been released does not change.
    private static let migrations: [String] = [
        """
        -- A server's identity. Made once, and kept when its block in the configuration is renamed or its address changes.
        CREATE TABLE server (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            url TEXT NOT NULL
        ) WITHOUT ROWID;
        -- What was learned about a server: how it wants to be asked, by a name that the one who asks chooses.
        CREATE TABLE server_fact (
            server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (server, name)
        ) WITHOUT ROWID;
        -- URIs that songs had before; they stay valid.
        CREATE TABLE song_alias (
            server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
            uri TEXT NOT NULL,
            song TEXT NOT NULL,
            PRIMARY KEY (server, uri)
        ) WITHOUT ROWID;
        -- What clients have set, such as the volume.
        CREATE TABLE setting (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
        """
        -- A queue: one row for each partition.
        CREATE TABLE queue (
            partition TEXT PRIMARY KEY,
            mode TEXT NOT NULL,
            version INTEGER NOT NULL,
            next_id INTEGER NOT NULL,
            has_started INTEGER NOT NULL,
            random INTEGER NOT NULL,
            repeat INTEGER NOT NULL,
            single INTEGER NOT NULL,
            consume INTEGER NOT NULL,
            current INTEGER,
            state INTEGER NOT NULL
        ) WITHOUT ROWID;
        -- The lists of a queue: entries, and the orders that it keeps. Each is a sequence of blocks.
        CREATE TABLE queue_list (
            partition TEXT NOT NULL,
            list INTEGER NOT NULL,
            blocks BLOB NOT NULL,
            digest INTEGER NOT NULL,
            PRIMARY KEY (partition, list)
        ) WITHOUT ROWID;
        CREATE TABLE queue_block (
            partition TEXT NOT NULL,
            number INTEGER NOT NULL,
            content BLOB NOT NULL,
            digest INTEGER NOT NULL,
            PRIMARY KEY (partition, number)
        ) WITHOUT ROWID;
        -- How far the current entry has played, in milliseconds; apart, because it is written every second.
        CREATE TABLE queue_position (
            partition TEXT PRIMARY KEY,
            entry INTEGER NOT NULL,
            elapsed INTEGER NOT NULL
        ) WITHOUT ROWID;
        -- What was last known of the songs in a queue, for the time when the library does not have them.
        CREATE TABLE queue_song (
            partition TEXT NOT NULL,
            server TEXT NOT NULL,
            song TEXT NOT NULL,
            uri BLOB NOT NULL,
            record BLOB NOT NULL,
            UNIQUE (partition, server, song)
        );
        -- What clients have set in a partition besides the options of its queue.
        CREATE TABLE partition_setting (
            partition TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (partition, name)
        ) WITHOUT ROWID;
        """,
        """
        -- Stored playlists: those of a server as they were read last, and those that no server has.
        CREATE TABLE playlist (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            -- The server that it belongs to; null for a local one.
            server TEXT REFERENCES server (id) ON DELETE CASCADE,
            -- The server's id; null as long as the server does not have it.
            remote TEXT,
            name TEXT NOT NULL,
            title TEXT NOT NULL,
            comment TEXT,
            owner TEXT,
            public INTEGER,
            readonly INTEGER NOT NULL,
            changed INTEGER,
            song_count INTEGER,
            duration INTEGER,
            last_modified INTEGER NOT NULL,
            entries BLOB NOT NULL,
            -- What was being sent last, when it is not known whether it arrived.
            attempt BLOB
        );
        -- What was accepted and is not on the server yet.
        CREATE TABLE journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            content BLOB NOT NULL,
            time INTEGER NOT NULL
        );
        CREATE INDEX journal_subject ON journal (server, kind, subject, id);
        """,
        """
        -- Stickers that clients have set and that the server does not keep.
        CREATE TABLE sticker (
            server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
            type TEXT NOT NULL,
            -- The id of a song, the key of a playlist, the text of a filter, the value of a tag.
            object BLOB NOT NULL,
            name BLOB NOT NULL,
            value BLOB NOT NULL,
            -- What the server counted when it was set, for what the server counts, too.
            counted INTEGER,
            -- A song's URI, for the case that the server gives it another id.
            uri BLOB,
            PRIMARY KEY (server, type, object, name)
        ) WITHOUT ROWID;
        -- Stars, ratings and likes: of songs (0), albums (1) and artists (2).
        CREATE TABLE mark (
            server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            id TEXT NOT NULL,
            starred INTEGER,
            place INTEGER NOT NULL,
            local_star INTEGER NOT NULL,
            rating INTEGER,
            settled INTEGER,
            liked INTEGER,
            uri BLOB,
            PRIMARY KEY (server, kind, id)
        ) WITHOUT ROWID;
        """,
        """
        -- Partitions beside the default one, in the order in which they were made.
        CREATE TABLE partition (
            name TEXT PRIMARY KEY,
            place INTEGER NOT NULL
        ) WITHOUT ROWID;
        -- Outputs that are not in the default partition.
        CREATE TABLE output_home (
            output TEXT PRIMARY KEY,
            partition TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
        """
        -- The account at the server; null where it is not known yet, empty where only an API key says it.
        ALTER TABLE server ADD COLUMN user TEXT;
        """,
    ]

    /// Prepares a connection and brings the file up to date.
    /// - Throws: `.damaged` for a broken file, `.foreign` for one of another program, `.later` for one of a later version.
    static func prepare(_ database: Database, path: String) throws(StoreError) {
        // A first look that touches the file, so that something else than a database is noticed here.
        let tables = try database.value("SELECT count(*) FROM sqlite_schema")?.integer ?? 0
        let application = try database.value("PRAGMA application_id")?.integer ?? 0
        let found = try database.value("PRAGMA user_version")?.integer ?? 0
        guard application == applicationID || (tables == 0 && application == 0) else {
            throw StoreError(.foreign, "\(path) is the database of another program; choose another state_file")
        }
        guard found <= version else {
            throw StoreError(.later, "\(path) was made by a later version")
        }
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA synchronous = NORMAL")
        try database.run("PRAGMA foreign_keys = ON")
        if let verdict = try database.value("PRAGMA quick_check(1)")?.text, verdict != "ok" {
            throw StoreError(.damaged, "\(path) is damaged")
        }
        for step in found..<version {
            try database.transaction { () throws(StoreError) in
                try database.script(migrations[Int(step)])
                try database.run("PRAGMA user_version = \(step + 1)")
                try database.run("PRAGMA application_id = \(applicationID)")
            }
        }
    }
}
