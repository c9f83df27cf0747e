import Library
import MPDProtocol

/// “The music database” of MPD's protocol document: looking for songs and walking the tree. Adding what was found is in
/// `AddCommands.swift`.
enum DatabaseCommands {
    static let rows: [Command] = [
        Command("count", .read, args: 1...Int.max, "Counts the songs that match, case-sensitively.", .library(count)),
        Command("find", .read, args: 1...Int.max, "Finds songs, case-sensitively.", .library(find)),
        Command("list", .read, args: 1...Int.max, "Lists the values of a tag.", .library(list)),
        Command("listall", .read, args: 0...1, "Lists a directory and all below it.", .library(listAll)),
        Command(
            "listallinfo",
            .read,
            args: 0...1,
            "Lists a directory and all below it, with tags.",
            .library(listAllInfo)
        ),
        Command("lsinfo", .read, args: 0...1, "Lists what a directory holds.", .playlist(listDirectory)),
        Command("rescan", .control, args: 0...1, "Compares the library with the server, all of it.", .core(rescan)),
        Command("search", .read, args: 1...Int.max, "Finds songs, ignoring case.", .library(search)),
        Command(
            "searchcount",
            .read,
            args: 1...Int.max,
            "Counts the songs that match, ignoring case.",
            .library(searchCount)
        ),
        Command("update", .control, args: 0...1, "Compares the library with the server.", .core(update)),
    ]

    // MARK: Searching

    private static func find(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try select(context, arguments, foldsCase: false)
    }

    private static func search(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try select(context, arguments, foldsCase: true)
    }

    private static func select(
        _ context: LibraryContext,
        _ arguments: Arguments,
        foldsCase: Bool
    ) throws -> LibraryPlan {
        let query = try FilterParser.parse(arguments, clauses: [.sort, .window], foldsCase: foldsCase)
        let (library, mask) = (context.library, context.mask)
        let filter = context.normalized(query.filter)
        return LibraryPlan(cost: library.estimatedCost(filter)) {
            let songs = try library.select(filter, sort: query.sort, window: query.window?.asWindow)
            return .source(library.reply(songs: songs, mask: mask))
        }
    }

    private static func count(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try count(context, arguments, foldsCase: false)
    }

    private static func searchCount(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try count(context, arguments, foldsCase: true)
    }

    private static func count(
        _ context: LibraryContext,
        _ arguments: Arguments,
        foldsCase: Bool
    ) throws -> LibraryPlan {
        let query = try FilterParser.parse(arguments, clauses: .group, foldsCase: foldsCase)
        let library = context.library
        let filter = context.normalized(query.filter)
        // Counting by groups touches every song that matches, once for each value.
        return LibraryPlan(cost: query.group == nil ? library.estimatedCost(filter) : library.songCount) {
            if let group = query.group {
                return .source(library.reply(try library.count(filter, group: group)))
            }
            let count = try library.count(filter)
            return .source(
                TextReply { output in
                    var reply = Reply()
                    reply.pair("songs", count.songs)
                    reply.pair("playtime", count.playtime / 1000)
                    output.append(contentsOf: reply.bytes)
                }
            )
        }
    }

    private static func list(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let query = try ListQuery(arguments)
        let library = context.library
        let filter = context.normalized(query.filter)
        let window = query.window?.asWindow
        // Values alone stand in the index; their combinations are found by looking at the songs.
        let cost = library.estimatedCost(filter)
        return LibraryPlan(cost: query.groups.isEmpty ? cost : max(cost, library.songCount)) {
            switch query.subject {
            case .uri: .source(library.reply(urisOf: try library.select(filter, window: window)))
            case .tag(let tag):
                .source(library.reply(try library.list(tag, matching: filter, groups: query.groups, window: window)))
            }
        }
    }

    // MARK: Browsing

    private static func listDirectory(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = try arguments.isEmpty ? LibraryPath([]) : LibraryPath(arguments[0], allowsRootSlash: true)
        let mask = context.session.tagMask
        var playlists: PlaylistBook?
        if path.bytes.isEmpty, !context.session.features.contains(.hidePlaylistsInRoot) {
            context.server.playlists.noteUse()
            playlists = context.server.playlists.book
        }
        return try browse(LibraryContext(library: context.server.library, mask: mask), path) { library, directory in
            let reply = library.reply(contentsOf: directory, mask: mask)
            guard let playlists else { return reply }
            return RootReply(directory: reply, playlists: playlists)
        } song: { library, songs in
            library.reply(songs: songs, mask: mask)
        }
    }

    private static func listAll(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        return try browse(context, .looked(up: arguments)) { library, directory in
            library.reply(treeOf: directory, mask: nil)
        } song: { library, songs in
            library.reply(urisOf: songs)
        }
    }

    private static func listAllInfo(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        return try browse(context, .looked(up: arguments)) { library, directory in
            library.reply(treeOf: directory, mask: context.mask)
        } song: { library, songs in
            library.reply(songs: songs, mask: context.mask)
        }
    }

    /// A directory or a song; both are found at once, and their replies are made as the client reads them.
    private static func browse(
        _ context: LibraryContext,
        _ path: LibraryPath,
        directory: (LibrarySnapshot, DirectoryIndex) -> any ReplySource,
        song: (LibrarySnapshot, SongSelection) -> any ReplySource
    ) throws -> LibraryPlan {
        let library = context.library
        let source: any ReplySource
        if let found = library.directory(path: path.bytes) {
            source = directory(library, found)
        } else if let found = library.song(uri: path.bytes) {
            source = song(library, SongSelection([found]))
        } else {
            throw ACK(.noExist, "No such directory")
        }
        return LibraryPlan(cost: 1) { .source(source) }
    }

    // MARK: Updating

    private static func update(_ context: CommandContext, _ arguments: Arguments, _ reply: inout Reply) throws {
        try update(context, arguments, &reply, rescans: false)
    }

    private static func rescan(_ context: CommandContext, _ arguments: Arguments, _ reply: inout Reply) throws {
        try update(context, arguments, &reply, rescans: true)
    }

    /// A path is checked as MPD checks it, but the server can only be compared as a whole.
    private static func update(
        _ context: CommandContext,
        _ arguments: Arguments,
        _ reply: inout Reply,
        rescans: Bool
    ) throws {
        if !arguments.isEmpty, !arguments.slice(0).isEmpty, !arguments.spells("/", at: 0),
            !arguments.slice(0).isSafeRelativePath
        {
            throw ACK(.argument, "Malformed path")
        }
        reply.pair("updating_db", context.server.requestUpdate(rescans: rescans))
    }
}

/// What the root holds: songs and directories, then the stored playlists.
private struct RootReply: ReplySource {
    var directory: DirectoryReply
    let playlists: PlaylistBook
    private var isAtPlaylists = false

    init(directory: DirectoryReply, playlists: PlaylistBook) {
        self.directory = directory
        self.playlists = playlists
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        if !isAtPlaylists {
            isAtPlaylists = !directory.appendNext(to: &output, limit: limit)
            if !isAtPlaylists { return true }
        }
        playlists.append(to: &output)
        return false
    }
}
