import Library
import MPDProtocol
import Playback
import QueueEngine

/// One command of the protocol: everything that the server needs to know about it, in one row.
struct Command: Sendable {
    let name: String
    /// What a client must be allowed to do; nothing for commands that everyone may use.
    let permission: Permissions
    /// How many arguments it takes; `Int.max` as the upper bound means any number.
    let arguments: ClosedRange<Int>
    /// What it does, in one sentence.
    let summary: String
    let place: Place
    /// Where it differs from MPD 0.24 and why, in one sentence or two; nil where it does not.
    let difference: String?

    init(
        _ name: String,
        _ permission: Permissions,
        args arguments: ClosedRange<Int>,
        _ summary: String,
        _ place: Place,
        difference: String? = nil
    ) {
        self.name = name
        self.permission = permission
        self.arguments = arguments
        self.summary = summary
        self.place = place
        self.difference = difference
    }

    /// Where a command runs.
    enum Place: Sendable {
        /// On the core, at once: for session, queue and player state, and look-ups that take microseconds.
        case core(CoreHandler)
        /// On the core, with a reply that may be long: a part of the queue, given out as the client reads it.
        case listing(ListingHandler)
        /// On one immutable library snapshot: small questions on the core, large ones on a worker.
        case library(LibraryHandler)
        /// On the queue as it is at that moment: small ones on the core, large ones on a worker.
        case queueSearch(QueueSearchHandler)
        /// On the stored playlists as they are at that moment: small ones on the core, large ones on a worker.
        case playlist(PlaylistHandler)
        /// On the stickers as they are at that moment: small ones on the core, large ones on a worker.
        case stickers(StickerHandler)
        /// On what a server may have to be asked for: looked up as in the library, then waited for without holding up anyone.
        case background(BackgroundHandler)
    }

    /// Whether it changes a queue or what plays: such commands wait while another client's command list is under way.
    var isMutating: Bool { !permission.isDisjoint(with: [.add, .player]) }

    /// Whether nothing behind it in a command list is carried out, as MPD has it: then the answer is its own alone.
    var endsList: Bool { name == "idle" }

    typealias CoreHandler = @Sendable (CommandContext, Arguments, inout Reply) throws -> Void
    typealias ListingHandler = @Sendable (CommandContext, Arguments) throws -> any ReplySource
    typealias LibraryHandler = @Sendable (LibraryContext, Arguments) throws -> LibraryPlan
    typealias QueueSearchHandler = @Sendable (CommandContext, Arguments) throws -> LibraryPlan
    typealias PlaylistHandler = @Sendable (CommandContext, Arguments) throws -> LibraryPlan
    typealias StickerHandler = @Sendable (CommandContext, Arguments) throws -> LibraryPlan
    typealias BackgroundHandler = @Sendable (CommandContext, Arguments) throws -> LibraryPlan
}

/// What a handler on the core works with. Owned by the core; not to be kept.
struct CommandContext {
    let server: Server
    let connection: Connection

    var partition: Partition { connection.session.partition }
    var session: Session { connection.session }
}

/// What a handler of a library command may read, on any thread.
struct LibraryContext: Sendable {
    let library: LibrarySnapshot
    /// The tags that the connection wants to see.
    let mask: TagMask
    /// Whether the connection compares letters without their marks.
    var stripsDiacritics = false
    /// The shelves; nil if there are none.
    var shelves: ShelfCatalog?
    /// How many entries the queue has, and which of them is the current one.
    var queue: (length: Int, current: Int?) = (0, nil)

    /// Where an argument wants songs inserted. MPD refuses a place that is not there before it looks for songs.
    func placement(_ arguments: Arguments, _ index: Int) throws(ACK) -> Placement {
        _ = try arguments.insertPosition(index, length: queue.length, current: queue.current)
        return Placement(try arguments.insertPosition(index))
    }

    /// The shelves, if a path lies in their folder.
    func shelves(for path: [UInt8]) -> ShelfCatalog? { Shelf.contains(path: path) ? shelves : nil }

    /// A filter as the connection wants its texts compared.
    func normalized(_ filter: Filter) -> Filter { stripsDiacritics ? filter.strippingDiacritics() : filter }

    /// A plan that selects the songs of a query and makes its answer of them.
    func plan(
        _ query: ParsedFilter,
        _ answer: @escaping @Sendable (SongSelection) throws -> LibraryAnswer
    ) -> LibraryPlan {
        let (library, shelves) = (library, shelves)
        let filter = normalized(query.filter)
        return LibraryPlan(cost: library.estimatedCost(filter)) {
            let window = query.window?.asWindow
            return try answer(library.select(filter, sort: query.sort, window: window, shelves: shelves))
        }
    }
}

/// A parsed and checked command on the library or the queue: what it will cost, and the work itself.
struct LibraryPlan: Sendable {
    /// About how many songs are touched; decides where the work runs.
    var cost: Int
    var work: @Sendable () throws -> LibraryAnswer

    /// Plans up to this cost take well under a millisecond.
    static let coreLimit = 2_000

    init(cost: Int, _ work: @escaping @Sendable () throws -> LibraryAnswer) {
        self.cost = cost
        self.work = work
    }
}

/// What a library command has found.
enum LibraryAnswer: Sendable {
    /// A reply, given out piece by piece as the client reads.
    case source(any ReplySource)
    /// Songs to be added to the queue, piece by piece.
    case addition(QueueAddition)
    /// An edit to be made on the core with what was found.
    case edit(@Sendable (CommandContext, inout Reply) throws -> Void)
    /// A playlist of the network is needed first.
    case remotePlaylist(StreamAddress, then: @Sendable ([PlaylistEntry]) throws -> LibraryAnswer)
    /// The entries of a playlist are to be fetched first.
    case playlistFetch(PlaylistFetch, then: @Sendable ([PlaylistEntry]) throws -> LibraryAnswer)
    /// A picture is needed first: the first that any of the sources has, nil if none has. Looked for without holding
    /// anything; goes on on the core. The sources are those of the library that clients see, or of one server's own.
    case cover(
        [CoverSource],
        of: MusicServer.Reference? = nil,
        then: @Sendable (CommandContext, Cover?) throws -> LibraryAnswer
    )
    /// An edit to be made on the core that must not be lost: the client is answered once it is kept.
    case keptEdit(@Sendable (CommandContext, @escaping Store.WhenDone) throws -> Void)
    /// A change of the configured servers: the client is answered once it is done.
    case serverChange(ServerChange)
}
