import MPDProtocol

/// Docs/commands.md, made from the table of commands.
enum CommandsDocument {
    static func text(_ table: CommandTable = .standard) -> String {
        let rows = table.rows.map { command in
            "| `\(command.name)` | \(arguments(command.arguments)) | \(permission(command.permission)) | "
                + "\(place(command.place)) | \(command.summary) | \(command.difference ?? "") |"
        }
        return """
            # Commands

            Made by `shelvmpd --print commands`; a test keeps it fresh. These are all commands of MPD 0.24, those of 0.25, and some
            that begin with `shelv_`. The last column is empty where a command does what it does in MPD 0.24; more about the
            differences is in [deviations.md](deviations.md), and about permissions in [access.md](access.md). “Where” says who carries the command out: the core at once, the core with a
            reply that is given out piece by piece, or, when there is much to look through, a worker on one snapshot of the
            library, the queue, the stickers or the stored playlists. What is in the background waits for the server where it has to, and
            holds up nobody else.

            | command | arguments | permission | where | what it does | difference, and why |
            | --- | --- | --- | --- | --- | --- |
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
