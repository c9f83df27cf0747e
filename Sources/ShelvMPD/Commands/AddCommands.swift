import Library
import MPDProtocol
import QueueEngine

/// Commands that add songs of the library, and URLs, to the queue.
///
/// The songs are looked up in one snapshot, on a worker when there are many; the queue is edited afterwards, at once.
enum AddCommands {
    static let rows: [Command] = [
        Command(
            "add",
            .add,
            args: 1...2,
            "Adds a song, all songs of a directory, or a URL.",
            .library(add),
            difference: "With `+0` they are Play Next."
        ),
        Command(
            "addid",
            .add,
            args: 1...2,
            "Adds a song or a URL and shows the id of its entry.",
            .library(addID),
            difference:
                "`+0` is Play Next: it stays ahead of the album under `random` too, because that is what it means."
        ),
        Command(
            "findadd",
            .add,
            args: 1...Int.max,
            "Adds the songs that match, case-sensitively.",
            .library(findAdd),
            difference: "The queue's version grows by one, as with `add`: it is one command."
        ),
        Command(
            "searchadd",
            .add,
            args: 1...Int.max,
            "Adds the songs that match, ignoring case.",
            .library(searchAdd),
            difference: "The queue's version grows by one, as with `add`: it is one command."
        ),
    ]

    private static func add(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let placement = try arguments.count > 1 ? context.placement(arguments, 1) : nil
        let library = context.library
        if let stream = try StreamSong(argument: arguments[0]) {
            return LibraryPlan(cost: 1) {
                .edit { context, _ in _ = try add(stream, at: placement, context) }
            }
        }
        let uri = try LibraryPath(arguments[0], allowsRootSlash: true)
        if let shelves = context.shelves(for: uri.bytes) {
            return LibraryPlan(cost: shelves.planningCost) {
                guard let node = shelves.node(path: uri.bytes) else { throw ACK(.noExist, "No such directory") }
                if let seed = shelves.radioSeed(adding: node) {
                    return .playlistFetch(SimilarSongs.fetch(seed, in: library)) {
                        .addition(QueueAddition($0[...], in: library, at: placement))
                    }
                }
                return .addition(QueueAddition(library, shelves.songs(below: node), at: placement))
            }
        }
        if let song = library.song(uri: uri.bytes) {
            return plan(library, SongSelection([song]), at: placement)
        }
        guard let directory = library.directory(path: uri.bytes) else { throw ACK(.noExist, "No such directory") }
        return plan(library, library.songs(below: directory), at: placement)
    }

    private static func addID(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let placement = try arguments.count > 1 ? context.placement(arguments, 1) : nil
        if let stream = try StreamSong(argument: arguments[0]) {
            return LibraryPlan(cost: 1) {
                .edit { context, reply in
                    if let id = try add(stream, at: placement, context) { reply.pair("Id", id.rawValue) }
                }
            }
        }
        let uri = try LibraryPath(arguments[0], allowsEmpty: false)
        let library = context.library
        if let shelves = context.shelves(for: uri.bytes) {
            return LibraryPlan(cost: shelves.planningCost) {
                // What a client makes of the names that `listfiles` gives.
                guard case .song(let song) = shelves.node(path: uri.bytes) else {
                    throw ACK(.noExist, "No such song")
                }
                return addition(of: song, library, at: placement)
            }
        }
        guard let song = library.song(uri: uri.bytes) else { throw ACK(.noExist, "No such song") }
        return LibraryPlan(cost: 1) { addition(of: song, library, at: placement) }
    }

    private static func addition(
        of song: SongIndex,
        _ library: LibrarySnapshot,
        at placement: Placement?
    ) -> LibraryAnswer {
        .edit { context, reply in
            var addition = QueueAddition(library, SongSelection([song]), at: placement)
            if let id = try addition.addOne(context) { reply.pair("Id", id.rawValue) }
        }
    }

    private static func add(
        _ stream: StreamSong,
        at placement: Placement?,
        _ context: CommandContext
    ) throws -> EntryID? {
        let key = context.partition.key(for: stream)
        let ids = try context.partition.add { queue throws(QueueError) in
            if let placement { return try queue.insert(contentsOf: [key], at: placement) }
            return try queue.append(contentsOf: [key])
        }
        guard let id = ids.first else { throw QueueError.playlistFull }
        return id
    }

    private static func findAdd(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try addMatches(context, arguments, foldsCase: false)
    }

    private static func searchAdd(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        try addMatches(context, arguments, foldsCase: true)
    }

    private static func addMatches(
        _ context: LibraryContext,
        _ arguments: Arguments,
        foldsCase: Bool
    ) throws -> LibraryPlan {
        let placement = try FilterParser.positionArgument(arguments).map { try context.placement(arguments, $0) }
        let query = try FilterParser.parse(
            arguments,
            clauses: [.sort, .window, .position],
            foldsCase: foldsCase
        )
        let library = context.library
        return context.plan(query) { .addition(QueueAddition(library, $0, at: placement)) }
    }

    private static func plan(_ library: LibrarySnapshot, _ songs: SongSelection, at placement: Placement?)
        -> LibraryPlan
    {
        LibraryPlan(cost: 1) { .addition(QueueAddition(library, songs, at: placement)) }
    }
}

/// Songs that are being added to the queue, in pieces: a library of a million songs must not hold the core up.
struct QueueAddition: Sendable {
    /// Some thousand entries take well under a millisecond.
    private static let pieceSize = 4_096

    private enum Loaded: Sendable {
        case song(PlaylistSong)
        /// Of a server that clients do not see.
        case unseen(SongTable.GoneSong)
    }

    private enum Songs: Sendable {
        case library(LibrarySnapshot, SongSelection)
        /// Of a stored playlist.
        case playlist(LibrarySnapshot, [Loaded])

        var count: Int {
            switch self {
            case .library(_, let songs): songs.count
            case .playlist(_, let songs): songs.count
            }
        }
    }

    private let songs: Songs
    private var placement: Placement?
    private var added = 0
    /// Whether the queue was empty when the first piece came.
    private var beganEmpty = false
    /// The stored playlist that they come from, and whether it is all of it, for the end of the queue.
    var playlist: (name: String, isAll: Bool)?

    init(_ library: LibrarySnapshot, _ songs: SongSelection, at placement: Placement?) {
        self.songs = .library(library, songs)
        self.placement = placement
    }

    /// Looks the songs up, some microseconds for each: not for the core when they are many. What no library has is passed
    /// over.
    /// - Parameter others: what each configured server has, by its id, whether clients see it or not.
    init(
        _ entries: ArraySlice<PlaylistEntry>,
        in library: LibrarySnapshot,
        _ others: [String: LibrarySnapshot] = [:],
        at placement: Placement?
    ) {
        let loaded = entries.compactMap { entry -> Loaded? in
            if let song = PlaylistSong(entry, in: library) { return .song(song) }
            guard case .foreign(let identity) = entry, let own = others[identity.serverID],
                let song = own.song(id: identity.songID)
            else { return nil }
            return .unseen(SongTable.GoneSong(song, of: own))
        }
        songs = .playlist(library, loaded)
        self.placement = placement
    }

    /// The keys of a part of the songs.
    private func keys(_ range: Range<Int>, _ context: CommandContext) -> [SongKey] {
        switch songs {
        case .library(let library, let songs): return context.server.songs.keys(for: songs[range], of: library)
        case .playlist(let library, let songs):
            return songs[range].flatMap { song in
                switch song {
                case .song(.library(let song)):
                    context.server.songs.keys(for: CollectionOfOne(song), of: library)
                case .song(.stream(let stream)): [context.partition.key(for: stream)]
                case .unseen(let song): [context.server.songs.key(forUnseen: song)]
                }
            }
        }
    }

    /// Adds the next piece. Returns whether there is more.
    /// - Throws: `QueueError`, also when not all songs fit; what fitted stays, as in MPD.
    mutating func addPiece(_ context: CommandContext) throws -> Bool {
        if added == 0 { beganEmpty = context.partition.queue.isEmpty }
        let piece = added..<min(added + Self.pieceSize, songs.count)
        let keys = keys(piece, context)
        if let relative = placement {
            // Fixed once: what is added does not move the place.
            let position = try context.partition.queue.insertPosition(relative)
            _ = try insert(keys, context) { queue throws(QueueError) in
                try queue.insert(contentsOf: keys, at: .absolute(position))
            }
            placement = .absolute(position + keys.count)
        } else if !keys.isEmpty {
            _ = try insert(keys, context) { queue throws(QueueError) in try queue.append(contentsOf: keys) }
        }
        added += piece.count
        if let playlist {
            context.partition.lastLoadedPlaylist = playlist.name
            if added == songs.count { loaded(playlist.name, playlist.isAll, context) }
        }
        return added < songs.count
    }

    private func loaded(_ name: String, _ isAll: Bool, _ context: CommandContext) {
        let partition = context.partition
        let isAlone = isAll && beganEmpty && partition.queue.count == added
        context.server.playlists.virtual(named: Array(name.utf8))?
            .wasLoaded(into: partition, isAll: isAlone, of: context.server)
    }

    /// Adds all at once, when it is one song. Returns the id of its entry.
    mutating func addOne(_ context: CommandContext) throws -> EntryID? {
        let keys = keys(0..<songs.count, context)
        let placement = placement
        return try insert(keys, context) { queue throws(QueueError) in
            if let placement { return try queue.insert(contentsOf: keys, at: placement) }
            return try queue.append(contentsOf: keys)
        }.first
    }

    private func insert(
        _ keys: [SongKey],
        _ context: CommandContext,
        _ body: (inout Queue) throws(QueueError) -> Addition
    ) throws -> Range<EntryID> {
        let ids = try context.partition.add(body)
        if ids.count < keys.count { throw QueueError.playlistFull }
        return ids
    }
}

/// The path of a song or directory as a request names it.
struct LibraryPath {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - allowsRootSlash: whether `/` means the root, which old clients rely on.
    ///   - allowsEmpty: whether nothing means the root.
    /// - Throws: an ACK for URLs, for absolute paths and for paths that leave the root.
    init(_ argument: [UInt8], allowsRootSlash: Bool = false, allowsEmpty: Bool = true) throws(ACK) {
        if argument.isEmpty, !allowsEmpty { throw ACK(.argument, "Bad relative path") }
        if argument.isEmpty || (allowsRootSlash && argument == [UInt8(ascii: "/")]) {
            bytes = []
            return
        }
        if argument.first == UInt8(ascii: "/") {
            throw ACK(.permission, "Access to local files via TCP is not allowed")
        }
        if StreamSong.hasScheme(argument) { throw Self.refusal(ofURL: argument) }
        guard argument.isSafeRelativePath else { throw ACK(.argument, "Bad relative path") }
        bytes = argument
    }

    private init(lookedUp bytes: [UInt8]) { self.bytes = bytes }

    /// The path of `listall` and `listallinfo`, which MPD looks up without a look at its form: what is no path is
    /// not found.
    static func looked(up arguments: Arguments) -> LibraryPath {
        arguments.isEmpty ? LibraryPath(lookedUp: []) : looked(up: arguments[0])
    }

    /// The same of one argument.
    static func looked(up argument: [UInt8]) -> LibraryPath {
        LibraryPath(lookedUp: argument == [UInt8(ascii: "/")] ? [] : argument)
    }
}

extension LibraryPath {
    /// What MPD says of a URL that cannot be played.
    static func refusal(ofURL url: [UInt8]) -> ACK {
        let scheme = Array("file://".utf8)
        guard url.count >= scheme.count, url.prefix(scheme.count).equalsIgnoringASCIICase("file://") else {
            return ACK(.argument, "Unsupported URI scheme")
        }
        return url.dropFirst(scheme.count).first == UInt8(ascii: "/")
            ? ACK(.permission, "Access to local files via TCP is not allowed")
            : ACK(.argument, "Malformed file:// URI")
    }
}

extension PositionRange {
    /// As a half-open range without an end where the request gave none.
    var asWindow: Range<Int> { start..<max(start, end ?? .max) }
}
