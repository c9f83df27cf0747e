import QueueEngine

/// A play that is under way, as the store keeps it, so that a restart does not make two plays of one. What was heard since
/// the last writing, some seconds, is lost when the process is killed.
struct PlayRecord: Sendable, Equatable {
    var entry: EntryID
    /// Unix time in milliseconds.
    var start: Int64
    /// Milliseconds.
    var heard: Int64
    /// Whether it counts as played already.
    var isDue: Bool

    /// Nil for a play that has not begun.
    init?(_ play: PlayTracker.Play) {
        guard let start = play.start else { return nil }
        entry = play.entry
        self.start = start
        heard = play.watch.heardSoFar.milliseconds
        isDue = play.watch.isDue
    }

    /// Reads what `text` made; nil for anything else.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 4, let entry = UInt32(words[0]), let start = Int64(words[1]), let heard = Int64(words[2])
        else { return nil }
        self.entry = EntryID(entry)
        self.start = start
        self.heard = min(max(0, heard), 1 << 40)
        isDue = words[3] == "1"
    }

    /// Four words.
    var text: String { "\(entry) \(start) \(heard) \(isDue ? 1 : 0)" }

    /// The name under which a partition's play stands among the settings.
    private static func name(_ partition: String) -> String { "play:\(partition)" }

    /// Asks for the partitions that have one.
    static let partitionQuery = "SELECT substr(name, 6) FROM setting WHERE name GLOB 'play:*'"

    /// Forgets a partition's play. On the store's thread, as all below.
    static func erase(_ partition: String, from database: Database) throws(StoreError) {
        try database.run("DELETE FROM setting WHERE name = ?", .text(name(partition)))
    }

    /// The play that was under way when the last run ended.
    static func load(_ partition: String, from database: Database) throws(StoreError) -> PlayRecord? {
        try database.value("SELECT value FROM setting WHERE name = ?", .text(name(partition)))?.text.flatMap {
            PlayRecord($0)
        }
    }

    /// Keeps it in the place of the one before.
    func write(_ partition: String, to database: Database) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
            .text(Self.name(partition)),
            .text(text)
        )
    }
}

extension PlayTracker {
    /// Takes up the play of the last run.
    /// - Parameter key: the song of its entry now.
    func restore(_ record: PlayRecord, key: SongKey) {
        restore(
            Play(
                entry: record.entry,
                key: key,
                watch: PlayWatch(heard: .milliseconds(record.heard), isDue: record.isDue),
                start: record.start
            )
        )
    }
}
