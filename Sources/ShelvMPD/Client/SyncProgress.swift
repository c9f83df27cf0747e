import Glibc
import MPDProtocol

/// What `shelvmpd sync` does: asks the running server to update its library, and shows how far it is until it is done.
struct SyncProgress: Sendable, Equatable {
    var server = ""
    var state = ""
    var job: Int?
    var songs = 0
    var fetched = 0
    var expected: Int?
    var message: String?

    /// - Parameter reply: the lines of `shelv_sync`.
    init(reply: [[UInt8]]) {
        for (key, value) in reply.compactMap(ServerConnection.pair) {
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
    }

    /// Asks for an update and follows it to its end.
    ///
    /// - Parameters:
    ///   - isTerminal: whether a line can be drawn over; else a line is written when a tenth more is done.
    ///   - write: takes the text to show.
    /// - Throws: `ServerConnectionError`: no server, no permission, or why the update failed.
    static func follow(
        by configuration: Configuration,
        isTerminal: Bool,
        write: (String) -> Void
    ) throws(ServerConnectionError) {
        let connection = try ServerConnection(configuration, allowing: [.read, .control])
        let before = SyncProgress(reply: try connection.ask("shelv_sync"))
        let job = SyncProgress(reply: try connection.ask("update")).job
        var milestones = SyncMilestones()
        while true {
            let now = SyncProgress(reply: try connection.ask("shelv_sync"))
            let isDone = now.job != job && !now.isAhead(of: job)
            if !isDone, isTerminal {
                write("\r\(now.bar)\u{1B}[K")
            } else if !isDone, now.fetched > 0, milestones.isDue(songs: now.fetched, expected: now.expected) {
                write(now.bar + "\n")
            }
            if isDone {
                if isTerminal { write("\r\u{1B}[K") }
                if now.state == "failed" {
                    throw ServerConnectionError(now.message ?? "the library could not be fetched")
                }
                write(now.summary(since: before))
                return
            }
            usleep(150_000)
        }
    }

    /// Whether a job runs after which the one that was asked for comes.
    private func isAhead(of wanted: Int?) -> Bool {
        guard let job, let wanted else { return false }
        // Numbers begin anew after 32,768.
        return job < wanted || job > wanted + 16_384
    }

    /// `home  [##########··········]  5,000 of 10,000 songs`
    var bar: String {
        guard let expected, expected > 0 else {
            return fetched > 0 ? "\(server)  \(fetched) songs" : "\(server)  asking the server"
        }
        let width = 30
        let filled = min(width, fetched * width / expected)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "\(server)  [\(bar)]  \(fetched) of \(expected) songs"
    }

    /// `home: 10,000 songs, 3 more than before`
    func summary(since before: SyncProgress) -> String {
        let difference = songs - before.songs
        let change = difference == 0 ? "" : ", \(abs(difference)) \(difference > 0 ? "more" : "fewer") than before"
        return "\(server): \(songs) songs\(change)\n"
    }
}
