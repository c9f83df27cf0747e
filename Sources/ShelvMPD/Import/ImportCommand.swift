import MPDProtocol

extension Subcommand {
    /// Takes over what an mpd has of stickers, playlists and queue.
    static let importing = Subcommand(
        name: "import",
        usage: [
            "--from MPD.CONF [--dry-run]",
            "[--stickers FILE] [--playlists PATH] [--queue FILE] [--database FILE] [--dry-run]",
        ],
        summary: "take over the stickers, playlists and queue of an mpd",
        details: """
            Songs are found by their path, by its end, or by tags, which the mpd's database tells. Where several songs could be
            meant, none is taken. It all goes through the running server, so the Subsonic server learns of ratings and playlists
            as if a client had set them. What is there already stays: stickers that a song has, playlists of the same name. Songs
            of the mpd's queue are added at the end of the queue. What cannot be taken over is told; the status is 1 then, but for
            songs that are not here.
            """,
        options: [
            CommandOption(name: "--from", value: "MPD.CONF", summary: "find the files by mpd's configuration"),
            CommandOption(name: "--stickers", value: "FILE", summary: "mpd's sticker_file"),
            CommandOption(name: "--playlists", value: "PATH", summary: "a folder with playlists (M3U), or one of them"),
            CommandOption(name: "--queue", value: "FILE", summary: "mpd's state_file"),
            CommandOption(name: "--database", value: "FILE", summary: "mpd's db_file, for tags; compressed or not"),
            CommandOption(
                name: "--rating-scale",
                value: "MAX",
                choices: ["10", "5"],
                summary: "the highest rating that the mpd's clients gave, by default 10"
            ),
            CommandOption(name: "--dry-run", summary: "only say what would be done"),
        ],
        run: ImportCommand.run
    )
}

/// What `shelvmpd import` does.
enum ImportCommand {
    static func run(_ call: CommandCall) async throws -> ExitStatus {
        let sources = try ImportSources(call)
        guard !sources.isEmpty else {
            throw CommandFailure("there is nothing to import; name --from, --stickers, --playlists or --queue")
        }
        let collection = try sources.read()
        let configuration = try call.configuration()
        let connection = try connect(configuration, needing: collection.commands)
        let library = try songs(connection)
        call.console.write("\(library.count) songs in the library\n")
        var work = ImportWork(
            connection: connection,
            console: call.console,
            collection: collection,
            matcher: SongMatcher(library),
            hasFavorites: configuration.showsFavorites,
            isDry: call.invocation.has("--dry-run")
        )
        let scale = call.invocation["--rating-scale"].flatMap { Int($0) } ?? 10
        // Stickers may be on playlists.
        if !sources.playlists.isEmpty { try work.takePlaylists() }
        if sources.stickers != nil { try work.takeStickers(StickerTranslation(scale: scale)) }
        if sources.queue != nil { try work.takeState() }
        work.conclude()
        return work.failures == 0 ? .success : .failure
    }

    /// A connection that may do what is needed, to a server that is ours.
    private static func connect(_ configuration: Configuration, needing commands: Set<String>) throws
        -> ServerConnection
    {
        let permissions = commands.reduce(into: Permissions()) { permissions, name in
            if let row = CommandTable.standard[name] { permissions.formUnion(row.permission) }
        }
        let connection = try ServerConnection(configuration, allowing: permissions)
        let allowed = Set(try connection.ask("commands").compactMap(ServerConnection.pair).map(\.1))
        let refused = Set(try connection.ask("notcommands").compactMap(ServerConnection.pair).map(\.1))
        guard allowed.union(refused).contains("shelv_server") else {
            throw CommandFailure(
                "what answers is another server, such as mpd itself; give ShelvMPD a port or an address of its own"
            )
        }
        let missing = commands.subtracting(allowed).sorted()
        guard missing.isEmpty else {
            throw CommandFailure(
                "the server does not allow \(missing.joined(separator: ", ")); the configuration needs a password with "
                    + "the permissions for it, or default_permissions that have them"
            )
        }
        return connection
    }

    /// All songs of the running server.
    private static func songs(_ connection: ServerConnection) throws(ServerConnectionError) -> [OldSong] {
        var songs: [OldSong] = []
        for (key, value) in try connection.ask("listallinfo").compactMap(ServerConnection.pair) {
            switch key {
            case "file": songs.append(OldSong(uri: value))
            case "directory", "playlist": break
            default: if !songs.isEmpty { songs[songs.count - 1].take(key, value) }
            }
        }
        return songs
    }
}

extension OldCollection {
    /// The commands by which it is taken over.
    fileprivate var commands: Set<String> {
        var commands: Set<String> = ["listallinfo"]
        if !stickers.isEmpty { commands.insert("sticker") }
        if !playlists.isEmpty { commands.formUnion(["listplaylists", "listplaylist", "playlistadd"]) }
        if !state.rooms.isEmpty { commands.formUnion(["addid", "rangeid", "prioid", "addtagid"]) }
        if state.rooms.contains(where: { !$0.isDefault }) {
            commands.formUnion(["partition", "listpartitions", "newpartition"])
        }
        for room in state.rooms { commands.formUnion(room.options.map(\.name)) }
        return commands
    }
}
