import Library
import MPDProtocol
import QueueEngine

/// Commands that add songs of the library to the queue.
///
/// The songs are looked up in one snapshot, on a worker when there are many; the queue is edited afterwards, at once.
enum AddCommands {
    static let rows: [Command] = [
        Command("add", .add, args: 1...2, "Adds a song, or all songs of a directory.", .library(add)),
        Command("addid", .add, args: 1...2, "Adds a song and shows the id of its entry.", .library(addID)),
        Command("findadd", .add, args: 1...Int.max, "Adds the songs that match, case-sensitively.", .library(findAdd)),
        Command("searchadd", .add, args: 1...Int.max, "Adds the songs that match, ignoring case.", .library(searchAdd)),
    ]

    private static func add(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let placement = try arguments.count > 1 ? Placement(arguments.insertPosition(1)) : nil
        let library = context.library
        let uri = try LibraryPath(arguments[0], allowsRootSlash: true)
        if let song = library.song(uri: uri.bytes) {
            return plan(library, [song], at: placement)
        }
        guard let directory = library.directory(path: uri.bytes) else { throw ACK(.noExist, "No such directory") }
        return plan(library, library.songs(below: directory), at: placement)
    }

    private static func addID(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let placement = try arguments.count > 1 ? Placement(arguments.insertPosition(1)) : nil
        let uri = try LibraryPath(arguments[0])
        guard let song = context.library.song(uri: uri.bytes) else { throw ACK(.noExist, "No such song") }
        let library = context.library
        return LibraryPlan(cost: 1) {
            .edit { context, reply in
                let ids = try insert(library, [song], at: placement, context)
                for id in ids { reply.pair("Id", id.rawValue) }
            }
        }
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
        let query = try FilterParser.parse(
            arguments,
            clauses: [.sort, .window, .position],
            foldsCase: foldsCase
        )
        let placement = try query.positionArgument.map { Placement(try arguments.insertPosition($0)) }
        let library = context.library
        return LibraryPlan(cost: library.estimatedCost(query.filter)) {
            let songs = try library.select(query.filter, sort: query.sort, window: query.window?.asWindow)
            return edit(library, songs, at: placement)
        }
    }

    private static func plan(
        _ library: LibrarySnapshot,
        _ songs: some Collection<SongIndex> & Sendable,
        at placement: Placement?
    ) -> LibraryPlan {
        LibraryPlan(cost: 1) { edit(library, songs, at: placement) }
    }

    private static func edit(
        _ library: LibrarySnapshot,
        _ songs: some Collection<SongIndex> & Sendable,
        at placement: Placement?
    ) -> LibraryAnswer {
        .edit { context, _ in
            if !songs.isEmpty || placement != nil { _ = try insert(library, songs, at: placement, context) }
        }
    }

    private static func insert(
        _ library: LibrarySnapshot,
        _ songs: some Collection<SongIndex>,
        at placement: Placement?,
        _ context: CommandContext
    ) throws -> Range<EntryID> {
        let keys = context.server.songs.keys(for: songs, of: library)
        let ids = try context.partition.add { queue throws(QueueError) in
            if let placement { return try queue.insert(contentsOf: keys, at: placement) }
            return try queue.append(contentsOf: keys)
        }
        // What fitted stays, as in MPD.
        if ids.count < keys.count { throw QueueError.playlistFull }
        return ids
    }
}

/// The path of a song or directory as a request names it.
struct LibraryPath {
    let bytes: [UInt8]

    /// - Parameter allowsRootSlash: whether `/` means the root, which old clients rely on.
    /// - Throws: an ACK for URLs, for absolute paths and for paths that leave the root.
    init(_ argument: [UInt8], allowsRootSlash: Bool = false) throws(ACK) {
        if argument.isEmpty || (allowsRootSlash && argument == [UInt8(ascii: "/")]) {
            bytes = []
            return
        }
        if Self.hasScheme(argument) { throw ACK(.argument, "Unsupported URI scheme") }
        if argument.first == UInt8(ascii: "/") {
            throw ACK(.permission, "Access to local files via TCP is not allowed")
        }
        guard argument.isSafeRelativePath else { throw ACK(.argument, "Bad relative path") }
        bytes = argument
    }

    private static func hasScheme(_ argument: [UInt8]) -> Bool {
        guard let colon = argument.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return argument[colon...].starts(with: "://".utf8)
            && argument[..<colon].allSatisfy { byte in
                (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
            }
    }
}

extension PositionRange {
    /// As a half-open range without an end where the request gave none.
    var asWindow: Range<Int> { start..<max(start, end ?? .max) }
}
