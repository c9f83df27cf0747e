import MPDProtocol

/// What `shelvmpd queue` shows: the queue of a running server by its sections.
struct QueueOverview: Sendable, Equatable {
    struct Row: Sendable, Equatable {
        var position = ""
        var id = ""
        var file = ""
        var artist = ""
        var title = ""
        var priority = ""
        var section = ""
        var isLoose = false
    }

    var rows: [Row]
    /// Keys and values of `status`.
    var status: [String: String]

    /// Asks the server that runs by a configuration.
    /// - Parameter partition: whose queue; nil for that of the default partition.
    static func fetch(by configuration: Configuration, _ partition: String? = nil) throws(ServerConnectionError)
        -> QueueOverview
    {
        let connection = try ServerConnection(configuration, allowing: .read)
        if let partition { _ = try connection.ask("partition \(ServerConnection.quoted(partition))") }
        let rows = try connection.ask("shelv_queue")
        return QueueOverview(reply: rows, status: try connection.ask("status"))
    }

    /// - Parameters:
    ///   - reply: the lines of `shelv_queue`.
    ///   - status: those of `status`.
    init(reply: [[UInt8]], status: [[UInt8]]) {
        rows = []
        var row = Row()
        for (key, value) in reply.compactMap(ServerConnection.pair) {
            switch key {
            case "file": row = Row(file: value)
            case "Artist": row.artist += row.artist.isEmpty ? value : ", \(value)"
            case "Title": row.title = value
            case "Pos": row.position = value
            case "Id": row.id = value
            case "Prio": row.priority = value
            case "Section": row.section = value
            case "Loose":
                // The last line of an entry.
                row.isLoose = value == "1"
                rows.append(row)
            default: break
            }
        }
        self.status = Dictionary(status.compactMap(ServerConnection.pair)) { first, _ in first }
    }

    // MARK: As text

    private static let sections: [(word: String, heading: String)] = [
        ("history", "History"), ("current", "Current"), ("play_next", "Play Next"), ("album_queue", "Album queue"),
        ("user_queue", "User queue"),
    ]

    /// For a terminal: position, id, artist – title under the name of each section that has entries.
    var text: String {
        if rows.isEmpty { return "The queue is empty.\n" }
        let positionWidth = rows.lazy.map(\.position.utf8.count).max() ?? 0
        let idWidth = rows.lazy.map(\.id.utf8.count).max() ?? 0
        var text = ""
        for section in Self.sections {
            let rows = rows.filter { $0.section == section.word }
            guard !rows.isEmpty else { continue }
            text += section.heading + (section.word == "current" ? " (\(playback))" : "") + "\n"
            for row in rows {
                text += "  \(Self.right(row.position, positionWidth))  \(Self.right(row.id, idWidth))  \(row.name)"
                if !row.priority.isEmpty { text += "  [prio \(row.priority)]" }
                if row.isLoose { text += "  [not dealt yet]" }
                text += "\n"
            }
        }
        return text
    }

    /// `playing, 1:02 of 3:45`.
    private var playback: String {
        let state = ["play": "playing", "pause": "paused"][status["state"] ?? ""] ?? "stopped"
        guard let elapsed = status["elapsed"] else { return state }
        let whole = status["duration"].map { " of \(Self.clock($0))" } ?? ""
        return "\(state), \(Self.clock(elapsed))\(whole)"
    }

    private static func clock(_ seconds: String) -> String {
        let seconds = Int(seconds.prefix { $0 != "." }) ?? 0
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }
}

extension QueueOverview.Row {
    /// `Artist – Title`, with what there is; else the file's name.
    fileprivate var name: String {
        if title.isEmpty { return file.split(separator: "/").last.map(String.init) ?? file }
        return artist.isEmpty ? title : "\(artist) – \(title)"
    }
}
