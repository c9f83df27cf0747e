import Library
import MPDProtocol
import QueueEngine

/// “Stored playlists” of MPD's protocol document: edits. The client is answered when the edit is kept; the server learns of
/// it behind.
enum StoredPlaylistEditCommands {
    static let rows: [Command] = [
        Command(
            "playlistadd",
            .control,
            args: 2...3,
            "Adds a song, or all songs of a directory, to a stored playlist.",
            .playlist(add),
            difference:
                "URLs are refused in playlists of the server, which hold songs only; edits of somebody else's are refused with code 4."
        ),
        Command(
            "playlistclear",
            .control,
            args: 1...1,
            "Empties a stored playlist.",
            .playlist(clear),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
        Command(
            "playlistdelete",
            .control,
            args: 2...2,
            "Removes a range of positions from a stored playlist.",
            .playlist(delete),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
        Command(
            "playlistmove",
            .control,
            args: 3...3,
            "Moves a range of positions in a stored playlist.",
            .playlist(move),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
        Command(
            "rename",
            .control,
            args: 2...2,
            "Gives a stored playlist another name.",
            .playlist(rename),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
        Command(
            "rm",
            .control,
            args: 1...1,
            "Removes a stored playlist.",
            .playlist(remove),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
        Command(
            "save",
            .control,
            args: 1...2,
            "Stores the queue as a playlist.",
            .playlist(save),
            difference:
                "Refused with code 4 for playlists that the server makes itself or that are somebody else's; `append` of URLs to a playlist of the server is refused, as servers hold songs only."
        ),
        Command(
            "searchaddpl",
            .control,
            args: 2...Int.max,
            "Adds the songs that match, ignoring case, to a stored playlist.",
            .playlist(searchAdd),
            difference: "Refused with code 4 for playlists that cannot be edited at the server."
        ),
    ]

    /// Whether a command makes no sense without stored playlists; `load` and those that list read addresses, too.
    static func isForPlaylistsOnly(_ name: String) -> Bool {
        name == "listplaylists" || rows.contains { $0.name == name }
    }

    // MARK: Whole playlists

    private static func remove(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        edit(arguments[0]) { _ in .delete }
    }

    private static func clear(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        edit(arguments[0]) { _ in .replace([]) }
    }

    private static func rename(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let (old, new) = (arguments[0], arguments[1])
        return LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in
                let shelf = context.server.playlists
                try shelf.checkName(old)
                try shelf.checkName(new)
                if shelf.hasPlaylist(named: new) { throw PlaylistError.existsAlready }
                let playlist = try shelf.existing(old)
                try shelf.edit(playlist.key, .rename(String(decoding: new, as: UTF8.self)), whenKept: whenKept)
            }
        }
    }

    private static func save(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let mode = try arguments.count > 1 ? arguments.saveMode(1) : .create
        let name = arguments[0]
        let queue = context.partition.queue
        let names = context.partition.songs.names
        return LibraryPlan(cost: queue.count) {
            let entries = queue.entries.compactMap { names.playlistEntry($0.key) }
            return .keptEdit { context, whenKept in
                let shelf = context.server.playlists
                try shelf.checkName(name)
                if mode == .create {
                    if shelf.hasPlaylist(named: name) { throw PlaylistError.alreadyExists }
                    return try shelf.create(name, entries, whenKept: whenKept)
                }
                switch (mode, try shelf.playlist(named: name)) {
                case (_, nil): throw PlaylistError.noSuchPlaylist
                case (.append, let playlist?):
                    try shelf.edit(playlist.key, .insert(entries, at: nil), whenKept: whenKept)
                case (_, let playlist?): try shelf.edit(playlist.key, .replace(entries), whenKept: whenKept)
                }
            }
        }
    }

    // MARK: Entries

    private static func delete(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let range = try arguments.range(1)
        return edit(arguments[0]) { playlist in
            guard range.start <= playlist.entries.count else { throw PlaylistError.badSongIndex }
            return .remove(range.clipped(to: playlist.entries.count))
        }
    }

    private static func move(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let range = try arguments.range(1)
        guard let end = range.end else { throw QueueError.openRangeNotSupported }
        let destination = try arguments.unsigned(2)
        // MPD does not look at the playlist then.
        if end == range.start || destination == range.start { return nothing }
        return edit(arguments[0]) { playlist in
            let count = playlist.entries.count
            guard end <= count, destination <= count - (end - range.start) else { throw PlaylistError.badRange }
            return .move(range.start..<end, to: destination)
        }
    }

    private static func add(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let position = try arguments.count > 2 ? arguments.unsigned(2) : nil
        let name = arguments[0]
        let library = context.server.library
        let uri = arguments[1]
        do {
            if let stream = try StreamSong(argument: uri) { return insert([.stream(stream)], into: name, at: position) }
        } catch {
            return refusal(error, name, position)
        }
        let path = LibraryPath.looked(up: uri)
        if let shelves = context.server.libraryContext(of: context.session).shelves(for: path.bytes) {
            return LibraryPlan(cost: shelves.planningCost) {
                guard let node = shelves.node(path: path.bytes) else { throw ACK(.noExist, "No such directory") }
                let songs = shelves.songs(below: node)
                return try insert(songs.map { library.entry($0) }, into: name, at: position).work()
            }
        }
        let songs: SongSelection
        if let song = library.song(uri: path.bytes) {
            songs = SongSelection([song])
        } else if let directory = library.directory(path: path.bytes) {
            songs = library.songs(below: directory)
        } else {
            return refusal(ACK(.noExist, "No such directory"), name, position)
        }
        return LibraryPlan(cost: songs.count) {
            try insert(songs.map { library.entry($0) }, into: name, at: position).work()
        }
    }

    private static func searchAdd(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let position = try FilterParser.positionArgument(arguments, from: 1).map { try arguments.unsigned($0) }
        let query = try FilterParser.parse(
            arguments,
            from: 1,
            clauses: [.sort, .window, .position],
            foldsCase: true
        )
        let name = arguments[0]
        let library = context.server.library
        return context.server.libraryContext(of: context.session).plan(query) { songs in
            try insert(songs.map { library.entry($0) }, into: name, at: position).work()
        }
    }

    // MARK: Inner

    /// A complaint; a bad position is the first one in MPD.
    private static func refusal(_ ack: ACK, _ name: [UInt8], _ position: Int?) -> LibraryPlan {
        LibraryPlan(cost: 1) {
            .keptEdit { context, _ in
                if let position { try checkPosition(position, name, context) }
                throw ack
            }
        }
    }

    /// A change of the playlist of this name, which must be there.
    private static func edit(
        _ name: [UInt8],
        _ make: @escaping @Sendable (StoredPlaylist) throws -> PlaylistEdit
    ) -> LibraryPlan {
        LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in
                let playlist = try context.server.playlists.existing(name)
                try context.server.playlists.edit(playlist.key, make(playlist), whenKept: whenKept)
            }
        }
    }

    /// Entries for the playlist of this name, which is made if there are any and it is not there.
    private static func insert(_ entries: [PlaylistEntry], into name: [UInt8], at position: Int?) -> LibraryPlan {
        LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in
                let shelf = context.server.playlists
                if entries.isEmpty && position == nil { return whenKept(.success(())) }
                try shelf.checkName(name)
                if let position { try checkPosition(position, name, context) }
                if entries.isEmpty { return whenKept(.success(())) }
                if let playlist = try shelf.playlist(named: name) {
                    let place = position == playlist.entries.count ? nil : position
                    try shelf.edit(playlist.key, .insert(entries, at: place), whenKept: whenKept)
                } else {
                    try shelf.create(name, entries, whenKept: whenKept)
                }
            }
        }
    }

    private static func checkPosition(_ position: Int, _ name: [UInt8], _ context: CommandContext) throws {
        let shelf = context.server.playlists
        try shelf.checkName(name)
        if try position > shelf.playlist(named: name)?.entries.count ?? 0 { throw PlaylistError.badPosition }
    }

    private static let nothing = LibraryPlan(cost: 1) { .source(TextReply { _ in }) }
}

extension SongNames {
    /// What stands for a song of the queue in a playlist.
    func playlistEntry(_ key: SongKey) -> PlaylistEntry? {
        if case .stream(let stream) = song(key) { return .stream(stream) }
        return identity(key).map { $0.serverID == library.info.serverID ? .song($0.songID) : .foreign($0) }
    }
}
