import Glibc
import MPDProtocol

/// What `shelvmpd sync` does: asks the running server to update its libraries, and shows how far each is until all are done.
struct SyncProgress: Sendable, Equatable {
    var server = ""
    var state = ""
    var job: Int?
    var songs = 0
    var fetched = 0
    var expected: Int?
    var message: String?

    /// The active server's.
    /// - Parameter reply: the lines of `shelv_sync`.
    init(reply: [[UInt8]]) { self = Self.all(reply: reply).first ?? SyncProgress() }

    private init() {}

    /// Each server's, the active one's first.
    /// - Parameter reply: the lines of `shelv_sync`.
    static func all(reply: [[UInt8]]) -> [SyncProgress] {
        var all: [SyncProgress] = []
        for (key, value) in reply.compactMap(ServerConnection.pair) {
            if key == "server" { all.append(SyncProgress()) }
            if !all.isEmpty { all[all.count - 1].take(key, value) }
        }
        return all
    }

    private mutating func take(_ key: String, _ value: String) {
        switch key {
        case "server": server = value
        case "state": state = value
        case "updating_db": job = Int(value)
        case "songs": songs = Int(value) ?? 0
        case "fetched": fetched = Int(value) ?? 0
        case "expected": expected = Int(value)
        case "message": message = value
        default: break
        }
    }

    /// Asks for an update and follows it to its end.
    ///
    /// - Parameters:
    ///   - isTerminal: whether a line can be drawn over; else a line is written when a tenth more is done.
    ///   - columns: how long a line can be at the moment that is drawn over.
    ///   - write: takes the text to show.
    /// - Throws: `ServerConnectionError`: no server, no permission, or why the update failed.
    static func follow(
        by configuration: Configuration,
        isTerminal: Bool,
        columns: () -> Int = { 80 },
        write: (String) -> Void
    ) throws(ServerConnectionError) {
        let connection = try ServerConnection(configuration, allowing: [.read, .control])
        let before = all(reply: try connection.ask("shelv_sync"))
        let job = job(in: try connection.ask("update"))
        var milestones: [String: SyncMilestones] = [:]
        while true {
            let now = all(reply: try connection.ask("shelv_sync"))
            let running = now.first?.job
            if running == job || isAhead(running, of: job) {
                let busy = now.filter { $0.state == "syncing" }
                if isTerminal {
                    let row = line(of: busy.isEmpty ? Array(now.prefix(1)) : busy, columns: columns())
                    write("\r\(row)\u{1B}[K")
                } else {
                    for one in busy where one.fetched > 0 {
                        let isDue = milestones[one.server, default: SyncMilestones()].isDue(
                            songs: one.fetched,
                            expected: one.expected
                        )
                        if isDue { write(one.bar + "\n") }
                    }
                }
                usleep(150_000)
                continue
            }
            if isTerminal { write("\r\u{1B}[K") }
            let failures = now.filter { $0.state == "failed" }
            for one in now where one.state != "failed" {
                write(one.summary(since: before.first { $0.server == one.server } ?? one))
            }
            if failures.isEmpty { return }
            throw ServerConnectionError(
                failures.map { one in
                    let message = one.message ?? "the library could not be fetched"
                    return now.count == 1 ? message : "\(one.server): \(message)"
                }.joined(separator: "; ")
            )
        }
    }

    /// The number that `update` answered with.
    private static func job(in reply: [[UInt8]]) -> Int? {
        reply.compactMap(ServerConnection.pair).first { $0.0 == "updating_db" }.flatMap { Int($0.1) }
    }

    /// Whether a job runs after which the one that was asked for comes.
    private static func isAhead(_ job: Int?, of wanted: Int?) -> Bool {
        guard let job, let wanted else { return false }
        // Numbers begin anew after 32,768.
        return job < wanted || job > wanted + 16_384
    }

    /// `home  [##########··········]  5,000 of 10,000 songs`
    var bar: String { bar(width: 30) }

    /// - Parameter width: of the bar alone; 0 for none.
    private func bar(width: Int) -> String {
        guard let expected, expected > 0 else {
            return fetched > 0 ? "\(server)  \(fetched) songs" : "\(server)  asking the server"
        }
        if width <= 0 { return "\(server)  \(fetched) of \(expected) songs" }
        let filled = min(width, fetched * width / expected)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "\(server)  [\(bar)]  \(fetched) of \(expected) songs"
    }

    /// All of them in one line, with shorter bars or none where they would not fit, and without the end where nothing helps: a
    /// line that goes on in the next row cannot be drawn over.
    /// - Parameter columns: of the terminal; the last one stays free.
    static func line(of all: [SyncProgress], columns: Int) -> String {
        let room = max(0, columns - 1)
        var line = ""
        for width in [30, 20, 10, 0] {
            line = all.map { $0.bar(width: width) }.joined(separator: "  ")
            if self.columns(of: line) <= room { return line }
        }
        while self.columns(of: line) > room { line.removeLast() }
        return line
    }

    /// How many columns a terminal takes for a text at most.
    private static func columns(of text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 1 : 2) }
    }

    /// `home: 10,000 songs, 3 more than before`
    func summary(since before: SyncProgress) -> String {
        let difference = songs - before.songs
        let change = difference == 0 ? "" : ", \(abs(difference)) \(difference > 0 ? "more" : "fewer") than before"
        return "\(server): \(songs) songs\(change)\n"
    }
}
