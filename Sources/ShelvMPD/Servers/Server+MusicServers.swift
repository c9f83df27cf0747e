import Library
import Logging
import MPDProtocol

/// The configured Subsonic servers, and which of them clients see.
struct ConfiguredServers {
    fileprivate var all: [MusicServer]
    fileprivate var active: MusicServer
    fileprivate var mounts: [Mount]
    /// Whether the libraries are to be put together anew, and whether clients will see a difference.
    fileprivate var isMergeWanted = false
    fileprivate var mergeHasNews = false

    /// - Parameters:
    ///   - music: in the order of the configuration; none where there is only a library.
    ///   - active: the first one, if it is none of them.
    init(
        _ music: [MusicServer],
        active: ServerID?,
        _ mounts: [(path: String, id: ServerID)],
        library: LibrarySnapshot,
        _ core: Core
    ) {
        let info = library.info
        self.active =
            music.first { $0.id == active } ?? music.first
            ?? MusicServer(
                MusicServer.Reference(core),
                id: ServerID(text: info.serverID),
                name: info.serverName,
                url: "",
                library: library
            )
        all = music.isEmpty ? [self.active] : music
        self.mounts = mounts.compactMap { mount in
            music.first { $0.id == mount.id }.map { Mount(path: mount.path, music: $0) }
        }
    }
}

/// The configured servers, and what clients see of them.
extension Server {
    /// The configured Subsonic servers, in the order of the configuration.
    var musicServers: [MusicServer] { configured.all }

    /// The one whose library and playlists clients see.
    var active: MusicServer { configured.active }

    /// Servers whose libraries clients see beside the active one's.
    var mounts: [Mount] { configured.mounts }

    /// The configured server that a reference leads to.
    func musicServer(_ number: UInt64) -> MusicServer? { musicServers.first { $0.reference.number == number } }

    /// The configured server with this identity.
    func musicServer(id: String) -> MusicServer? { musicServers.first { $0.id.text == id } }

    /// Takes the configured servers in this order; those that are not among them are gone. The active one must be.
    func setMusicServers(_ servers: [MusicServer]) {
        for server in musicServers where !servers.contains(where: { $0 === server }) { server.shutdown() }
        configured.all = servers
        for server in servers { server.server = self }
        noteReachable()
    }

    /// The servers whose libraries clients see, the active one first.
    var attached: [MusicServer] { [active] + mounts.map(\.music) }

    /// Songs of configured servers can be played, though the library that is shown does not have them.
    func noteReachable() {
        let attached = attached
        songs.setServers(
            reachable: Set(musicServers.lazy.filter { music in !attached.contains { $0 === music } }.map(\.id.text)),
            libraries: Dictionary(musicServers.lazy.map { ($0.id.text, $0.library) }) { first, _ in first }
        )
    }

    /// Shows clients the library of a server, and beside it those of others. Queue and music stay.
    /// - Parameters:
    ///   - snapshot: the library of them all.
    ///   - translation: where the songs that are shown now are in it.
    ///   - prepared: as `show` takes it.
    ///   - isRenewed: whether what only the active server has is anew, too.
    func arrange(
        _ music: MusicServer,
        _ mounts: [Mount],
        _ snapshot: LibrarySnapshot,
        _ translation: SongTranslation,
        _ prepared: SongReplacement?,
        isRenewed: Bool
    ) {
        let (former, formerMounts) = (active, self.mounts)
        configured.active = music
        configured.mounts = mounts
        if former !== music { former.playlists = PlaylistShelf(PlaylistShelf.Settings(isEnabled: false)) }
        noteReachable()
        if isRenewed {
            var lists = ShelfLists()
            lists.hasFavorites = configuration.showsFavorites
            shelves = ShelfKeeper(snapshot, lists, isShown: configuration.showsShelves)
        }
        show(snapshot, translation, prepared)
        showLists()
        showStars()
        let attached = attached
        for music in [former] + formerMounts.map(\.music) where !attached.contains(where: { $0 === music }) {
            forgetSync(music)
        }
        let isSame = formerMounts.elementsEqual(mounts) { $0.path == $1.path && $0.music === $1.music }
        if isRenewed { raise([.database, .storedPlaylist, .sticker]) }
        if !isSame { raise([.database, .mount, .sticker]) }
        if configured.mergeHasNews { raise(.database) }
        configured.mergeHasNews = false
    }

    /// The library of one of several attached servers is another one: they are to be put together anew.
    /// - Parameter hasNews: whether clients can see a difference then.
    func wantMerge(hasNews: Bool) {
        if hasNews { configured.mergeHasNews = true }
        guard !configured.isMergeWanted else { return }
        configured.isMergeWanted = true
        changeServers?(.merge) { [log] result in
            if case .failure(let error) = result { log.error("The libraries cannot be put together: \(error)") }
        }
    }

    /// They are about to be put together as they are now.
    func mergeBegins() { configured.isMergeWanted = false }

    /// Clients will see a difference once the libraries are put together, if they are to be.
    func noteNews() {
        if configured.isMergeWanted { configured.mergeHasNews = true }
    }

    /// Puts what the attached servers told on the shelves.
    func showLists() {
        var lists = active.lists
        for music in mounts.map(\.music) {
            func local(_ ids: [String]) -> [String] { ids.compactMap { library.localID($0, of: music.id.text) } }
            lists.recentlyPlayed += local(music.lists.recentlyPlayed)
            lists.frequentlyPlayed += local(music.lists.frequentlyPlayed)
        }
        _ = shelves.take(lists)
    }

    /// Puts the stars of the attached servers on the shelf of favourites.
    func showStars() {
        var (songs, albums) = (active.marks.book.starred(.song), active.marks.book.starred(.album))
        var artists = active.marks.book.starred(.artist)
        for music in mounts.map(\.music) {
            let book = music.marks.book
            songs += book.starred(.song).compactMap { library.localID($0, of: music.id.text) }
            albums += book.starred(.album).compactMap { library.localID($0, of: music.id.text) }
            artists += book.starred(.artist).filter { !artists.contains($0) }
        }
        shelves.star(songs: songs, albums: albums, artists: artists)
    }
}
