import Library
import Logging
import MPDProtocol

/// The configured Subsonic servers, and which of them clients see.
struct ConfiguredServers {
    fileprivate var all: [MusicServer]
    fileprivate var active: MusicServer
    fileprivate var mounts: [Mount]
    fileprivate var merge = Merge()

    /// Putting the libraries together anew.
    fileprivate struct Merge {
        /// Whether it has been asked for, and has not begun.
        var isWanted = false
        /// Whether clients do not see yet what it is wanted for.
        var isPending = false
        /// Whether clients will see a difference.
        var hasNews = false
        /// How often it has failed since clients saw the libraries as they are.
        var failures = 0
        /// When it is tried again; nil unless it has failed.
        var retry: TimerQueue.ID?
    }

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

    /// The one whose library clients see, and whose playlists they edit.
    var active: MusicServer { configured.active }

    /// Servers whose libraries and playlists clients see beside the active one's.
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
        tellLibraryTrouble()
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
    ///   - lists: the playlists of servers that are mounted anew.
    ///   - isRenewed: whether what only the active server has is anew, too.
    func arrange(
        _ music: MusicServer,
        _ mounts: [Mount],
        _ snapshot: LibrarySnapshot,
        _ translation: SongTranslation,
        _ prepared: SongReplacement?,
        lists: [ServerID: PlaylistShelf.Saved] = [:],
        isRenewed: Bool
    ) {
        let (former, formerMounts) = (active, self.mounts)
        configured.active = music
        configured.mounts = mounts
        if former !== music { former.showNoPlaylists() }
        for mount in mounts { if let saved = lists[mount.music.id] { mount.music.showPlaylists(saved) } }
        noteReachable()
        if isRenewed {
            var lists = ShelfLists()
            lists.hasFavorites = configuration.showsFavorites
            shelves = ShelfKeeper(snapshot, lists, isShown: configuration.showsShelves)
        }
        show(snapshot, translation, prepared)
        tellLibraryTrouble()
        showLists()
        showStars()
        let attached = attached
        for music in [former] + formerMounts.map(\.music) where !attached.contains(where: { $0 === music }) {
            forgetSync(music)
            music.showNoPlaylists()
        }
        let isSame = formerMounts.elementsEqual(mounts) { $0.path == $1.path && $0.music === $1.music }
        if isRenewed { raise([.database, .storedPlaylist, .sticker]) }
        if !isSame { raise([.database, .storedPlaylist, .mount, .sticker]) }
        if configured.merge.hasNews { raise(.database) }
        if let retry = configured.merge.retry { timers.cancel(retry) }
        configured.merge = ConfiguredServers.Merge(isWanted: configured.merge.isWanted)
        endJobIfSettled()
    }

    /// The library of one of several attached servers is another one: they are to be put together anew.
    /// - Parameter hasNews: whether clients can see a difference then.
    func wantMerge(hasNews: Bool) {
        configured.merge.isPending = true
        if hasNews { configured.merge.hasNews = true }
        guard !configured.merge.isWanted, let changeServers else { return }
        configured.merge.isWanted = true
        changeServers(.merge) { [core] result in
            if case .failure(let error) = result { core.post { $0.mergeFailed(error) } }
        }
    }

    /// They are about to be put together as they are now.
    func mergeBegins() { configured.merge.isWanted = false }

    /// Clients see the libraries as they were. It is tried again, later each time, whether a library changes or not.
    private func mergeFailed(_ error: ServerChangeError) {
        configured.merge.isWanted = false
        // Something else that was done meanwhile may have put them together.
        guard configured.merge.isPending, configured.merge.retry == nil else { return }
        let delay = Duration.seconds(min(300, 1 << Int64(min(configured.merge.failures, 10))))
        configured.merge.failures += 1
        let line = "The libraries cannot be put together: \(error); again in \(delay.components.seconds) s"
        // Once is news; after that it is the same news.
        if configured.merge.failures == 1 { log.error(line) } else { log.info(line) }
        configured.merge.retry = timers.schedule(at: .now.advanced(by: delay)) { server in
            server.configured.merge.retry = nil
            server.wantMerge(hasNews: false)
        }
        endJobIfSettled()
    }

    /// Whether clients will soon see what the libraries have. One that fails is not waited for.
    var isMergeAwaited: Bool { configured.merge.isPending && configured.merge.failures == 0 && changeServers != nil }

    /// Clients will see a difference once the libraries are put together, if they are to be.
    func noteNews() {
        if configured.merge.isPending { configured.merge.hasNews = true }
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
