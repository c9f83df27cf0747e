import CLinux
import Glibc

/// A server's identity: made once by chance, so that it never means another server, not even after the store is lost
/// while caches remain.
struct ServerID: Sendable, Hashable, CustomStringConvertible {
    /// 16 hexadecimal digits.
    let text: String

    init(text: String) { self.text = text }

    /// A new one.
    static func make(using generator: inout some RandomNumberGenerator) -> ServerID {
        let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
        return ServerID(text: String(repeating: "0", count: 16 - digits.count) + digits)
    }

    var description: String { text }
}

/// What names a server, and an account there, in the configuration.
struct ServerAddress: Sendable, Hashable {
    var name: String
    var url: String
    /// Empty where an API key says who asks.
    var user = ""
}

extension Store {
    /// The identities of the configured servers, in their order; makes those that are new.
    ///
    /// A server is known again by name, address and user, else by its address and user, else by its name and user: renaming
    /// a block keeps what is known about the server, and so does a server's move to another address. Changing both makes a
    /// new server, and so does another user: what one account was told must never reach another one.
    func identify(_ servers: [ServerAddress]) async throws -> [ServerID] {
        // Reads and writes in one go, so that it can be neither a read nor a mere batch of values.
        try await read { database throws(StoreError) in
            try database.transaction { () throws(StoreError) in
                var generator = SystemRandomNumberGenerator()
                return try ServerRecords.identify(servers, database, using: &generator)
            }
        }
    }

    /// Changes that servers do not have yet and that nobody brings, because their accounts are none of these.
    func waitingChanges(except servers: [ServerID]) async throws -> [(address: ServerAddress, count: Int64)] {
        let configured = Set(servers.map(\.text))
        return try await read { database throws(StoreError) in
            let rows = try database.rows(
                """
                SELECT server.id, server.name, server.url, server.user, count(*)
                FROM journal JOIN server ON server.id = journal.server GROUP BY server.id ORDER BY server.id
                """
            )
            return rows.compactMap { row in
                guard row.count == 5, let id = row[0].text, !configured.contains(id), let name = row[1].text,
                    let url = row[2].text, let count = row[4].integer
                else { return nil }
                return (ServerAddress(name: name, url: url, user: row[3].text ?? ""), count)
            }
        }
    }

    /// What was learned about a server, by name.
    func facts(about server: ServerID) async throws -> [String: String] {
        try await read { database throws(StoreError) in
            try database.rows("SELECT name, value FROM server_fact WHERE server = ?", .text(server.text)).texts()
        }
    }

    /// Keeps something learned about a server; nil forgets it.
    func keep(_ value: String?, as name: String, about server: ServerID) {
        submit("what was learned about a server") { database throws(StoreError) in
            guard let value else {
                return try database.run(
                    "DELETE FROM server_fact WHERE server = ? AND name = ?",
                    .text(server.text),
                    .text(name)
                )
            }
            try database.run(
                "INSERT OR REPLACE INTO server_fact (server, name, value) VALUES (?, ?, ?)",
                .text(server.text),
                .text(name),
                .text(value)
            )
        }
    }

    /// Former URIs of a server's songs, with the ids of the songs.
    func aliases(of server: ServerID) async throws -> [String: String] {
        try await read { database throws(StoreError) in
            try database.rows("SELECT uri, song FROM song_alias WHERE server = ?", .text(server.text)).texts()
        }
    }

    /// Keeps former URIs of songs; a URI that is known already now means the song given here.
    func keepAliases(_ songs: [String: String], of server: ServerID) {
        submit("former addresses of songs") { database throws(StoreError) in
            for (uri, song) in songs {
                try database.run(
                    "INSERT OR REPLACE INTO song_alias (server, uri, song) VALUES (?, ?, ?)",
                    .text(server.text),
                    .text(uri),
                    .text(song)
                )
            }
        }
    }

    /// What clients have set, by name.
    func settings() async throws -> [String: String] {
        try await read { database throws(StoreError) in try database.rows("SELECT name, value FROM setting").texts() }
    }

    /// Keeps some of what clients have set, all or nothing; returns when it cannot be lost any more.
    func keepSettings(_ settings: [String: String]) async throws {
        try await write("settings") { database throws(StoreError) in
            for (name, value) in settings {
                try database.run(
                    "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
                    .text(name),
                    .text(value)
                )
            }
        }
    }

    /// Keeps something that clients have set.
    func keepSetting(_ name: String, _ value: String) {
        submit("the setting \(name)") { database throws(StoreError) in
            try database.run("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", .text(name), .text(value))
        }
    }
}

/// Finds configured servers among those that are known.
enum ServerRecords {
    /// What was last known of a server.
    struct Record {
        let name: String
        let url: String
        /// Nil where an earlier version did not keep it.
        let user: String?
        /// Whether an earlier version has kept all that is known: then the users are those that are configured now.
        var isOfAnybody = false

        /// Ways in which a block may be a known server, the surest first. All but the first hold only where one server alone is
        /// meant: what waits for one account must not reach another by a guess.
        static let rules: [@Sendable (Record, ServerAddress) -> Bool] = [
            { $0.name == $1.name && $0.url == $1.url && $0.user == $1.user },
            // An API key in the place of a password, or the other way round.
            { $0.name == $1.name && $0.url == $1.url && ($0.user ?? "").isEmpty },
            { $0.name == $1.name && $0.url == $1.url && $1.user.isEmpty },
            // At one address, two API keys may be two accounts: only their names tell them apart.
            { $0.url == $1.url && ($0.isOfAnybody || $0.user == $1.user && !$1.user.isEmpty) },
            { $0.name == $1.name && ($0.isOfAnybody || $0.user == $1.user || $1.user.isEmpty) },
        ]
    }

    static func identify(
        _ servers: [ServerAddress],
        _ database: Database,
        using generator: inout some RandomNumberGenerator
    ) throws(StoreError) -> [ServerID] {
        var known: [(id: ServerID, record: Record)] = []
        for row in try database.rows("SELECT id, name, url, user FROM server ORDER BY id") {
            guard row.count == 4, let id = row[0].text, let name = row[1].text, let url = row[2].text else { continue }
            known.append((ServerID(text: id), Record(name: name, url: url, user: row[3].text)))
        }
        let areOfAnybody = known.allSatisfy { $0.record.user == nil }
        for index in known.indices { known[index].record.isOfAnybody = areOfAnybody }
        var found = [(id: ServerID, record: Record)?](repeating: nil, count: servers.count)
        // Rule by rule over all servers: a perfect match must not lose its record to another block's half match.
        for (rule, matches) in Record.rules.enumerated() {
            for index in servers.indices where found[index] == nil {
                let candidates = known.indices.filter { matches(known[$0].record, servers[index]) }
                guard let record = candidates.first, rule == 0 || candidates.count == 1 else { continue }
                found[index] = known.remove(at: record)
            }
        }
        var ids: [ServerID] = []
        for (server, found) in zip(servers, found) {
            let id = found?.id ?? ServerID.make(using: &generator)
            // Whose it was stays known while an API key does not tell.
            let user = server.user.isEmpty ? found?.record.user ?? "" : server.user
            try database.run(
                """
                INSERT INTO server (id, name, url, user) VALUES (?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url, user = excluded.user
                """,
                .text(id.text),
                .text(server.name),
                .text(server.url),
                .text(user)
            )
            // What clients saw of the account that was here before, they see of this one.
            for former in known where former.record.name == server.name && former.record.url == server.url {
                try database.run(
                    "UPDATE setting SET value = replace(value, ?, ?) WHERE name IN (?, ?)",
                    .text(former.id.text),
                    .text(id.text),
                    .text(Arrangement.activeSetting),
                    .text(Arrangement.mountsSetting)
                )
            }
            ids.append(id)
        }
        return ids
    }
}

extension [[SQLValue]] {
    /// Rows of two texts as a dictionary.
    fileprivate func texts() -> [String: String] {
        var texts: [String: String] = [:]
        for row in self where row.count == 2 {
            if let name = row[0].text, let value = row[1].text { texts[name] = value }
        }
        return texts
    }
}
