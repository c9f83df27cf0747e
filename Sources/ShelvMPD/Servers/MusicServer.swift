import Library
import MPDProtocol

/// One configured Subsonic server, as the core has it: its library, and everything that is to be told to it or comes from it.
///
/// Exists as long as its block stands in the configuration, whether clients see its library or not: stars, ratings and plays
/// go on to be delivered. Owned by the core.
final class MusicServer {
    /// The way to it from other threads. Leads nowhere once the server has left the configuration.
    struct Reference: Sendable {
        let core: Core
        /// Never given out twice while the program runs.
        let number: UInt64

        init(_ core: Core, number: UInt64 = 0) {
            self.core = core
            self.number = number
        }

        /// Runs `action` on the core, after everything posted before.
        func post(_ action: @escaping @Sendable (MusicServer) -> Void) {
            core.post { server in find(in: server).map(action) }
        }

        /// What it leads to; on the core.
        func find(in server: Server) -> MusicServer? { server.musicServer(number) }
    }

    let reference: Reference
    let id: ServerID
    /// As the configuration calls it, and where it is: neither holds a secret.
    var name: String
    var url: String
    /// What it has, as far as is known; by its own ids and its own paths.
    private(set) var library: LibrarySnapshot
    /// That of the library, as `PublishedLibrary` counts.
    var publishedNumber: UInt64 = 0
    /// Whom it belongs to.
    weak var server: Server? { didSet { renameMoved() } }
    /// Songs that had other ids in the last run, by those; until there is somebody to do it.
    var moved: [String: String] = [:] { didSet { renameMoved() } }

    /// What was accepted and is not on the server yet; nil where nothing is kept.
    var journal: JournalWriter?
    /// The stored playlists; none unless clients see them. Those of a mounted server are read-only.
    var playlists = PlaylistShelf() { didSet { playlists.home = self } }
    /// Stars, ratings and likes.
    var marks = MarkKeeper() { didSet { marks.home = self } }
    /// The other stickers.
    var stickers = StickerKeeper() { didSet { stickers.home = self } }
    /// Tells the server what is listened to; nil where nobody is told.
    var scrobbler: Scrobbler? { didSet { scrobbler?.home = self } }
    /// What was played here and is not in the library yet.
    var freshPlays = FreshPlays()
    /// Hands the queue over between devices; nil where that is not wanted.
    var playQueue: PlayQueueKeeper?
    /// The radio stations that the server keeps; nil where there are none.
    var stations: StationPlaylist?
    /// The pictures of songs and folders; nil where there is nobody to ask.
    var covers: Covers?
    /// Asks the server for songs that go with one.
    var askSimilar: SimilarSongs.Ask?
    /// Starts a comparison with the server; nil while nobody syncs.
    /// Returns the number of the request, which `syncEnded` refers to.
    var requestSync: (@Sendable (_ rescan: Bool) -> UInt64)?
    /// Fetches what a shelf, or all of them, take from the server; `shelvesFetched` tells the end by the same number.
    var requestShelves: (@Sendable (_ shelf: Shelf?, _ number: UInt64) -> Void)?
    /// What it told for the shelves.
    var lists = ShelfLists()
    /// How the comparison with the server stands.
    var syncReport = SyncReport()
    /// Why there is no library of it yet; nil while there is one, or it is being fetched without trouble.
    private(set) var firstSyncTrouble: String?

    init(_ reference: Reference, id: ServerID, name: String, url: String, library: LibrarySnapshot) {
        self.reference = reference
        self.id = id
        self.name = name
        self.url = url
        self.library = library
        playlists.home = self
        marks.home = self
        stickers.home = self
    }

    /// Whether clients see its library, and edit its playlists.
    var isActive: Bool { server?.active === self }

    /// Whether clients see its library, alone or beside others.
    var isAttached: Bool { server?.attached.contains { $0 === self } ?? false }

    /// The server has other songs now.
    /// - Parameter translation: where those of the present library are in the new one.
    func follow(_ snapshot: LibrarySnapshot, _ translation: SongTranslation) {
        stickers.follow(from: library, to: snapshot, translation)
        if snapshot.idGeneration != library.idGeneration { playlists.forgetContents() }
        library = snapshot
        if firstSyncTrouble != nil, snapshot.info.isComplete || snapshot.songCount > 0 {
            firstSyncTrouble = nil
            server?.tellLibraryTrouble()
        }
        freshPlays.follow(snapshot)
        server?.noteReachable()
    }

    /// The server has other songs now, and clients are shown them if they see this server.
    func replaceLibrary(_ published: PublishedLibrary) {
        let (snapshot, translation) = (published.library, published.translation)
        guard let server, isAttached else { return follow(snapshot, translation) }
        if server.mounts.isEmpty {
            let hasChanged = published.hasChanged
            return server.replaceLibrary(snapshot, translation, hasChanged: hasChanged, published.replacement)
        }
        follow(snapshot, translation)
        server.wantMerge(hasNews: published.hasChanged)
    }

    /// What the keys of the queue stand for, if clients see this library and no other.
    var namesOfQueue: SongNames? {
        guard let server, isActive, server.mounts.isEmpty else { return nil }
        return server.songs.names
    }

    /// The server told other lists for the shelves.
    func show(_ lists: ShelfLists) {
        self.lists = lists
        if isAttached { server?.showLists() }
    }

    // MARK: Syncing

    /// Something has happened in a comparison with the server. Without a library of an earlier run, what fails is told to
    /// clients: they see nothing else.
    func note(_ event: LibrarySyncEvent) {
        syncReport.note(event)
        switch event {
        case .started, .progress: return
        case .finished: firstSyncTrouble = nil
        case .failed(let message, _, _):
            if !library.info.isComplete { firstSyncTrouble = "Cannot fetch the library of \(name): \(message)" }
        }
        server?.tellLibraryTrouble()
    }

    /// A comparison with the server begins, asked for or not.
    func syncBegan() {
        if isAttached { server?.syncBegan(self) }
    }

    /// A comparison with the server has ended.
    /// - Parameters:
    ///   - didChange: whether clients can see a difference.
    ///   - request: the last of those that it answers; 0 if it answers none.
    func syncEnded(didChange: Bool, through request: UInt64) {
        if isAttached { server?.syncEnded(self, didChange: didChange, through: request) }
    }

    /// What a shelf takes from the server is there, or could not be had.
    func shelvesFetched(_ number: UInt64, didChange: Bool) {
        if isAttached { server?.shelvesFetched(self, number, didChange: didChange) }
    }

    /// Comparisons can be asked for from now on.
    func syncBecomesPossible(_ request: @escaping @Sendable (_ rescan: Bool) -> UInt64) {
        requestSync = request
        if isAttached { server?.askLate(self) }
    }

    /// Nobody compares any more.
    func syncStopped() {
        requestSync = nil
        requestShelves = nil
        server?.forgetSync(self)
        if syncReport.state == .syncing { syncReport = SyncReport() }
    }

    // MARK: What clients see

    /// Tells clients of events, if this server's things are what they see.
    func raise(_ events: Subsystems) {
        if isAttached { server?.raise(events) }
    }

    private func renameMoved() {
        guard server != nil, !moved.isEmpty else { return }
        let songs = moved
        moved = [:]
        stickers.rename(songs)
    }

    /// Ends what waits for the server.
    func shutdown() {
        playQueue?.finish()
        covers?.shutdown()
    }
}
