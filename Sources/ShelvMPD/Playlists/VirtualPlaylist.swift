import Library
import MPDProtocol

/// A stored playlist that is made of something else each time that it is looked at: neither the server nor the store has
/// it. Owned by the core, whose functions return at once.
///
/// To add one: a class that says what it is called and holds, given to `PlaylistShelf.add(virtual:)` before the first
/// client is served. Its name is reserved then: a list of the server that is called so bears a number. One that can be
/// edited has `editableEntries` and `edit`, too; without them clients read that it cannot be edited.
protocol VirtualPlaylist: AnyObject {
    /// What clients call it; always the same.
    var name: String { get }
    /// Whether lists of playlists name it at the moment. It can be used by its name in any case.
    var isListed: Bool { get }
    /// Unix time in seconds, as lists of playlists show it.
    var lastModified: Int64 { get }

    /// What it holds.
    func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent

    /// All of it, or the part that was asked for, is in a queue now.
    /// - Parameter isAll: all of it, and nothing else is there.
    func wasLoaded(into partition: Partition, isAll: Bool, of server: Server)

    /// The entries that the positions of an edit count.
    /// - Throws: `.readOnly` for one that cannot be edited.
    func editableEntries(of server: Server) throws(PlaylistError) -> [PlaylistEntry]

    /// Carries an edit out. Whoever does must tell of `stored_playlist`.
    /// - Parameter whenKept: told once the edit cannot be lost any more.
    func edit(_ edit: PlaylistEdit, of server: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError)
}

extension VirtualPlaylist {
    var isListed: Bool { true }

    func wasLoaded(into partition: Partition, isAll: Bool, of server: Server) {}

    func editableEntries(of server: Server) throws(PlaylistError) -> [PlaylistEntry] { throw .readOnly(.madeUp) }

    func edit(_ edit: PlaylistEdit, of server: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        throw .readOnly(.madeUp)
    }
}

/// What a client wants of a virtual playlist.
enum VirtualPlaylistUse: Sendable {
    /// To see what it holds.
    case look
    /// To have it in the queue.
    case load
}

/// How the entries of a virtual playlist are found.
enum VirtualContent: Sendable {
    /// By work that needs nobody else: on the core if it costs little (in songs, `LibraryPlan.coreLimit`), else on a worker.
    case made(cost: Int, @Sendable () throws -> [PlaylistEntry])
    /// The same, where all are songs of a library; for many of them.
    case songs(LibrarySnapshot, cost: Int, @Sendable () throws -> SongSelection)
    /// By asking somebody else, who tells on any thread. Called on the core; the client waits, and no other does.
    case fetched(PlaylistFetch)
}

/// Has entries fetched, and tells them on any thread.
typealias PlaylistFetch =
    @Sendable (Server, @escaping @Sendable (Result<[PlaylistEntry], any Error>) -> Void) -> Void

extension PlaylistShelf {
    /// Adds a virtual playlist; of two with one name only the first is there.
    func add(virtual playlist: some VirtualPlaylist) {
        guard settings.isEnabled, virtual(named: Array(playlist.name.utf8)) == nil else { return }
        virtual.append(playlist)
        virtual.sort { $0.name < $1.name }
        seenMounted = MountedPlaylists()
        assignNames()
    }

    /// The virtual playlist of this name.
    func virtual(named name: [UInt8]) -> (any VirtualPlaylist)? {
        virtual.first { $0.name.utf8.elementsEqual(name) }
    }

    /// The virtual playlist of this name, as one of which edits can be made.
    func editable(virtual name: [UInt8]) throws(PlaylistError) -> StoredPlaylist? {
        guard let index = virtual.firstIndex(where: { $0.name.utf8.elementsEqual(name) }), let server else {
            return nil
        }
        let playlist = virtual[index]
        return StoredPlaylist(
            key: Self.key(ofVirtual: index),
            name: playlist.name,
            lastModified: playlist.lastModified,
            entries: try playlist.editableEntries(of: server)
        )
    }

    /// The virtual playlist that an edit is for.
    func virtual(_ key: PlaylistKey) -> (any VirtualPlaylist)? {
        let index = -1 - Int(clamping: key.rawValue)
        return virtual.indices.contains(index) ? virtual[index] : nil
    }

    /// No playlist of the store has such a key.
    private static func key(ofVirtual index: Int) -> PlaylistKey { PlaylistKey(rawValue: Int64(-1 - index)) }

    /// What lists of playlists show.
    var listing: PlaylistListing {
        PlaylistListing(
            book: book,
            mounted: mounted.book,
            virtual: virtual.filter(\.isListed).map { (name: $0.name, lastModified: $0.lastModified) }
        )
    }
}

/// All playlists that clients see in lists: a value that any thread can read.
struct PlaylistListing: Sendable {
    let book: PlaylistBook
    /// Those of mounted servers.
    let mounted: PlaylistBook
    /// In the order of their names.
    let virtual: [(name: String, lastModified: Int64)]

    /// About how many there are.
    var count: Int { book.order.count + mounted.order.count + virtual.count }

    /// The records of all playlists, in the order of their names: names and times.
    func append(to output: inout [UInt8]) {
        var rest = virtual[...]
        let (own, others) = (Array(book.all), Array(mounted.all))
        var (mine, theirs) = (0, 0)
        while mine < own.count || theirs < others.count {
            let isMine = theirs == others.count || mine < own.count && own[mine].name < others[theirs].name
            let playlist = isMine ? own[mine] : others[theirs]
            if isMine { mine += 1 } else { theirs += 1 }
            while let next = rest.first, next.name < playlist.name {
                Self.append(next.name, next.lastModified, to: &output)
                rest = rest.dropFirst()
            }
            Self.append(playlist.name, playlist.lastModified, to: &output)
        }
        for next in rest { Self.append(next.name, next.lastModified, to: &output) }
    }

    private static func append(_ name: String, _ lastModified: Int64, to output: inout [UInt8]) {
        output.append(contentsOf: "playlist: ".utf8)
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: "\nLast-Modified: ".utf8)
        output.appendTimestamp(unixSeconds: lastModified)
        output.append(UInt8(ascii: "\n"))
    }
}
