import Library
import MPDProtocol

/// “The music database” of MPD's protocol document: looking for songs and walking the tree. Adding what was found is in
/// `AddCommands.swift`.
enum DatabaseCommands {
    static let rows: [Command] = [
        Command(
            "count",
            .read,
            args: 1...Int.max,
            "Counts the songs that match, case-sensitively.",
            .library(count),
            difference: "Lengths are whole seconds: servers tell nothing else."
        ),
        Command(
            "find",
            .read,
            args: 1...Int.max,
            "Finds songs, case-sensitively.",
            .library(find),
            difference:
                "Regular expressions work on characters, and end with an error when they take too long: names are not ASCII everywhere."
        ),
        Command(
            "list",
            .read,
            args: 1...Int.max,
            "Lists the values of a tag.",
            .library(list),
            difference: "Takes `window` as MPD 0.25 does: clients look for what works, not for the version."
        ),
        Command("listall", .read, args: 0...1, "Lists a directory and all below it.", .library(listAll)),
        Command(
            "listallinfo",
            .read,
            args: 0...1,
            "Lists a directory and all below it, with tags.",
            .library(listAllInfo)
        ),
        Command(
            "lsinfo",
            .read,
            args: 0...1,
            "Lists what a directory holds.",
            .playlist(listDirectory),
            difference:
                "The root also holds the folder `Shelves`, unless `shelves \"no\"`; URLs are not looked at before they are played."
        ),
        Command(
            "rescan",
            .control,
            args: 0...1,
            "Compares the library with the server, all of it.",
            .core(rescan),
            difference: "Always the whole library, read from the server anew: servers tell changes of the whole."
        ),
        Command(
            "search",
            .read,
            args: 1...Int.max,
            "Finds songs, ignoring case.",
            .library(search),
            difference:
                "Regular expressions work on characters and ignore the case of all letters: names are not ASCII everywhere."
        ),
        Command(
            "searchcount",
            .read,
            args: 1...Int.max,
            "Counts the songs that match, ignoring case.",
            .library(searchCount),
            difference: "Lengths are whole seconds: servers tell nothing else."
        ),
        Command(
            "update",
            .control,
            args: 0...1,
            "Compares the library with the server.",
            .core(update),
            difference:
                "Always the whole library, but for a path of a shelf: servers tell changes of the whole. Lets the server scan its files if it may."
        ),
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
        // As MPD, which loses the format of what it sorts.
        let withFormat = query.sort == nil
        return context.plan(query) { .source(library.reply(songs: $0, mask: mask, withFormat: withFormat)) }
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
        let (library, shelves) = (context.library, context.shelves)
        let filter = context.normalized(query.filter)
        // Counting by groups touches every song that matches, once for each value.
        return LibraryPlan(cost: query.group == nil ? library.estimatedCost(filter) : library.songCount) {
            if let group = query.group {
                return .source(library.reply(try library.count(filter, group: group, shelves: shelves)))
            }
            let count = try library.count(filter, shelves: shelves)
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
        let (library, shelves) = (context.library, context.shelves)
        let filter = context.normalized(query.filter)
        let window = query.window?.asWindow
        // Values alone stand in the index; their combinations are found by looking at the songs.
        let cost = library.estimatedCost(filter)
        return LibraryPlan(cost: query.groups.isEmpty ? cost : max(cost, library.songCount)) {
            switch query.subject {
            case .uri: .source(library.reply(urisOf: try library.select(filter, window: window, shelves: shelves)))
            case .tag(let tag):
                .source(
                    library.reply(
                        try library.list(
                            tag,
                            matching: filter,
                            groups: query.groups,
                            window: window,
                            shelves: shelves
                        )
                    )
                )
            }
        }
    }

    // MARK: Browsing

    private static func listDirectory(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = try arguments.isEmpty ? LibraryPath([]) : LibraryPath(arguments[0], allowsRootSlash: true)
        let mask = context.session.tagMask
        var playlists: PlaylistListing?
        if path.bytes.isEmpty, !context.session.features.contains(.hidePlaylistsInRoot) {
            context.server.noteUseOfPlaylists()
            playlists = context.server.playlists.listing
        }
        let library = context.server.libraryContext(of: context.session)
        let plan = library.onShelves(
            path.bytes,
            radio: { library, songs in library.reply(songs: songs, mask: mask) },
            { $0.reply(contentsOf: $1, path: path.bytes, .full(mask)) }
        )
        if let plan { return plan }
        let hasShelves = path.bytes.isEmpty && library.shelves != nil
        return try browse(library, path) { library, directory in
            let reply = library.reply(contentsOf: directory, mask: mask)
            if playlists == nil, !hasShelves { return reply }
            return RootReply(directory: reply, hasShelves: hasShelves, playlists: playlists)
        } song: { library, songs in
            library.reply(songs: songs, mask: mask)
        }
    }

    private static func listAll(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = LibraryPath.looked(up: arguments)
        if let plan = context.onShelves(path.bytes, { $0.reply(treeOf: $1, path: path.bytes, .brief) }) {
            return plan
        }
        return try browse(context, path) { library, directory in
            library.reply(treeOf: directory, mask: nil)
        } song: { library, songs in
            library.reply(urisOf: songs)
        }
    }

    private static func listAllInfo(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = LibraryPath.looked(up: arguments)
        let form = ShelfReply.Form.full(context.mask)
        if let plan = context.onShelves(path.bytes, { $0.reply(treeOf: $1, path: path.bytes, form) }) {
            return plan
        }
        return try browse(context, path) { library, directory in
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
        let path = arguments.isEmpty ? [] : arguments[0]
        if context.server.shelves.current(at: .now) != nil, Shelf.contains(path: path) {
            reply.pair("updating_db", context.server.requestShelfUpdate(path: path))
        } else {
            reply.pair("updating_db", context.server.requestUpdate(rescans: rescans))
        }
    }
}

extension LibraryContext {
    /// The plan for a path in the folder of the shelves; nil for others.
    ///
    /// Nothing is looked up yet: the first look at the shelves may cost as much as a look at every song.
    func onShelves(
        _ path: [UInt8],
        radio: (@Sendable (LibrarySnapshot, SongSelection) -> any ReplySource)? = nil,
        _ answer: @escaping @Sendable (ShelfCatalog, ShelfNode) -> ShelfReply
    ) -> LibraryPlan? {
        guard let shelves = shelves(for: path) else { return nil }
        return LibraryPlan(cost: shelves.planningCost) {
            guard let node = shelves.node(path: path) else { throw ACK(.noExist, "No such directory") }
            if let radio, let seed = shelves.radioSeed(of: node) {
                let library = shelves.library
                return .playlistFetch(SimilarSongs.fetch(seed, in: library)) { entries in
                    .source(radio(library, SongSelection(entries.compactMap { library.song($0) })))
                }
            }
            return .source(answer(shelves, node))
        }
    }
}

extension ShelfCatalog {
    /// Where a question about the shelves is answered: genres and decades go through many albums.
    var planningCost: Int { max(cost, library.songCount / 8) }
}

/// What the root holds: songs and directories, the folder of the shelves, then the stored playlists.
struct RootReply: ReplySource {
    private var directory: any ReplySource
    private let hasShelves: Bool
    private let playlists: PlaylistListing?
    private var isAtEnd = false

    init(directory: any ReplySource, hasShelves: Bool, playlists: PlaylistListing?) {
        self.directory = directory
        self.hasShelves = hasShelves
        self.playlists = playlists
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        if !isAtEnd {
            isAtEnd = !directory.appendNext(to: &output, limit: limit)
            if !isAtEnd { return true }
        }
        if hasShelves { output.append(contentsOf: "directory: \(Shelf.folder)\n".utf8) }
        playlists?.append(to: &output)
        return false
    }
}
