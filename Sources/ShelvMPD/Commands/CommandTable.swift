import MPDProtocol

/// All commands, by name: the one list of what the server can do.
struct CommandTable: Sendable {
    /// In the order of their names.
    let rows: [Command]
    private let index: [String: Int]

    /// Joins the chapters. A name that occurs twice is a mistake in the program.
    init(_ chapters: [[Command]]) {
        rows = chapters.joined().sorted { $0.name < $1.name }
        index = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.name, $0) })
    }

    subscript(name: String) -> Command? { index[name].map { rows[$0] } }

    /// Every chapter of the protocol that is there.
    static let standard = CommandTable([
        StatusCommands.rows,
        PlaybackOptionCommands.rows,
        PlaybackCommands.rows,
        QueueCommands.rows,
        StoredPlaylistCommands.rows + StoredPlaylistEditCommands.rows,
        DatabaseCommands.rows + SyncCommands.rows + ServerCommands.rows,
        MountCommands.rows,
        FileCommands.rows,
        PictureCommands.rows,
        StickerCommands.rows,
        ConnectionCommands.rows,
        OutputCommands.rows,
        PartitionCommands.rows,
        ReflectionCommands.rows,
        ChannelCommands.rows,
    ])
}
