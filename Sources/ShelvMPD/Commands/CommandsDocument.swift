import MPDProtocol

/// Docs/commands.md, made from the table of commands.
enum CommandsDocument {
    static func text(_ table: CommandTable = .standard) -> String {
        let rows = table.rows.map { command in
            "| `\(command.name)` | \(arguments(command.arguments)) | \(permission(command.permission)) | "
                + "\(place(command.place)) | \(command.summary) |"
        }
        return """
            # Commands

            Made by `shelvmpd --print commands`; a test keeps it fresh. What differs from MPD is in
            [deviations.md](deviations.md). “Where” says who carries the command out: the core at once, the core with a
            reply that is given out piece by piece, or, when there is much to look through, a worker on one snapshot of the
            library, the queue, the stickers or the stored playlists. What is in the background waits for the server where it has to, and
            holds up nobody else.

            | command | arguments | permission | where | what it does |
            | --- | --- | --- | --- | --- |
            \(rows.joined(separator: "\n"))

            `command_list_begin`, `command_list_ok_begin`, `command_list_end` and `noidle` are not commands but words of
            the session; they work as MPD's.

            """
    }

    private static func arguments(_ range: ClosedRange<Int>) -> String {
        if range.upperBound == .max { return range.lowerBound == 0 ? "any" : "\(range.lowerBound) or more" }
        return range.lowerBound == range.upperBound
            ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }

    private static func permission(_ permission: Permissions) -> String {
        switch permission {
        case .read: "read"
        case .add: "add"
        case .player: "player"
        case .control: "control"
        case .admin: "admin"
        default: "–"
        }
    }

    private static func place(_ place: Command.Place) -> String {
        switch place {
        case .core: "core"
        case .listing: "core, in pieces"
        case .library: "library"
        case .queueSearch: "queue"
        case .playlist: "playlists"
        case .stickers: "stickers"
        case .background: "background"
        }
    }
}
