import CLinux
import Glibc
import Library
import Logging
import MPDProtocol
import Playback
import QueueEngine

/// Everything that the core owns: listeners, connections, partitions, and the library of the moment.
///
/// Lives on the core's thread only; other threads come in through `Core.post`.
final class Server {
    let core: Core
    /// What holds at the moment; see `reload`.
    private(set) var configuration: Configuration
    let log: Log
    let commands: CommandTable
    let workers: WorkerPool
    private(set) var access: AccessRules
    let started = Instant.now

    var timers = TimerQueue()
    /// The library that commands are answered from; replaced as a whole.
    private(set) var library: LibrarySnapshot
    let songs: SongTable
    /// The one that there always is.
    let defaultPartition: Partition
    /// The configured Subsonic servers, in the order of the configuration.
    private(set) var musicServers: [MusicServer]
    /// The one whose library and playlists clients see.
    private(set) var active: MusicServer
    /// Servers whose libraries clients see beside the active one's.
    private(set) var mounts: [Mount]
    /// Whether the libraries are to be put together anew, and whether clients will see a difference.
    private var isMergeWanted = false
    private var mergeHasNews = false
    /// Servers that an update job waits for.
    private var updating: Set<UInt64> = []
    /// Carries out what clients want of the configured servers; set by whoever runs them.
    var changeServers: ((ServerChange, @escaping @Sendable (Result<Void, ServerChangeError>) -> Void) -> Void)?
    /// In the order in which they were made, the default one first; changed by what `Partitions.swift` has.
    var partitions: [Partition] = []
    /// Makes further ones; nil where there cannot be any.
    var partitionFactory: PartitionFactory?
    /// What each partition gets, those too that are made later.
    var equipment: [(Partition) -> Void] = []
    /// Outputs that are not in the default partition: the name of theirs, by their own.
    var outputHomes: [String: String] = [:]
    /// What the store has not taken of that yet.
    var overduePlan = OverduePlan()
    /// The update job under way and the number of the last one.
    var updates = UpdateJobs()
    /// Fetches a playlist of the network and tells what it holds; set by whoever has the network.
    var fetchPlaylist:
        (
            @Sendable (StreamAddress, @escaping @Sendable (Result<[PlaylistEntry], RemotePlaylistError>) -> Void) ->
                Void
        )?
    /// Who is told what was listened to.
    var playObservers: [any PlayObserver] = []
    /// Who has started us and wants to know how we are; nil where nobody does.
    var serviceManager: ServiceManager?
    /// Reads the configuration again; nil where there is none to read.
    var reloader: Reloader?
    /// Takes over the servers of a configuration that was read again; nil where that takes a restart.
    var reloadServers: (([ServerConfiguration]) -> Void)?
    /// The shelves beside the library's tree.
    var shelves: ShelfKeeper

    private var listeners: [CInt: Listener] = [:]
    private(set) var connections: [CInt: Connection] = [:]
    private var descriptors: [Connection.ID: CInt] = [:]
    /// What happens when other descriptors become readable: signals.
    private var readers: [CInt: (Server) -> Void] = [:]
    private var lastConnectionID: UInt64 = 0
    private var maximumConnections: Int
    private var readBuffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Events for all partitions that clients have not been told yet.
    private var pendingEvents: Subsystems = []
    /// The same for single clients.
    private var privateEvents: [Connection.ID: Subsystems] = [:]
    /// Connections that have used up their share, in the order in which they get the next one.
    private var unfinished = WaitingLine<Connection.ID>()
    /// Connections that have an event in their reply which was not sent yet.
    private var untold = WaitingLine<Connection.ID>()
    /// From when on nothing long is begun in this turn of the loop.
    private(set) var turnEnd = Instant.now
    /// Clients that were turned away since the log heard of it.
    private var refusals = 0
    /// Listeners with clients at the door.
    private var knocking: [Listener] = []

    init(
        core: Core,
        configuration: Configuration,
        log: Log,
        library: LibrarySnapshot,
        shelves: ShelfLists = ShelfLists(),
        songs: SongTable,
        partition: Partition,
        access: AccessRules,
        music: [MusicServer] = [],
        active activeID: ServerID? = nil,
        mounts: [(path: String, id: ServerID)] = []
    ) {
        self.core = core
        self.configuration = configuration
        self.log = log
        self.library = library
        var lists = shelves
        lists.hasFavorites = configuration.showsFavorites
        self.shelves = ShelfKeeper(library, lists, isShown: configuration.showsShelves)
        self.songs = songs
        self.access = access
        defaultPartition = partition
        commands = CommandTable.standard
        workers = WorkerPool(count: 2)
        maximumConnections = FileLimit.clients(wanted: configuration.maxConnections)
        let info = library.info
        active =
            music.first { $0.id == activeID } ?? music.first
            ?? MusicServer(
                MusicServer.Reference(core),
                id: ServerID(text: info.serverID),
                name: info.serverName,
                url: "",
                library: library
            )
        musicServers = music.isEmpty ? [active] : music
        self.mounts = mounts.compactMap { mount in
            music.first { $0.id == mount.id }.map { Mount(path: mount.path, music: $0) }
        }
        partition.queueObservers.append { [unowned self] in active.playQueue?.noteChange() }
        for server in musicServers { server.server = self }
        equipment = [
            { [unowned self] partition in
                partition.plays.report = { [unowned self, unowned partition] in listened($0, in: partition) }
            }
        ]
        add(partition)
    }

    // MARK: Listening

    /// Begins to accept clients of a listener.
    func listen(_ listener: Listener) throws {
        try core.loop.watch(listener.descriptor, EPOLLIN.rawValue)
        listeners[listener.descriptor] = listener
        log.notice("Listening on \(listener.name)")
        if !listener.isLocal && !listener.isLoopback && access.letsAnybodyIn {
            log.notice("Whoever reaches \(listener.name) can control the music: there is no password")
        }
        if listeners.count == 1 { scheduleSweep() }
    }

    // MARK: Events of the loop

    func ready(_ descriptor: CInt, _ events: UInt32) {
        if let connection = connections[descriptor] {
            if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
                close(connection)
                return
            }
            if connection.isQueued {
                // It is not read from before its turn, or it could send without end.
                connection.updateWatch(core.loop)
                return
            }
            if events & EPOLLIN.rawValue != 0 {
                switch connection.read(into: &readBuffer) {
                case .progress: break
                case .nothing: return
                case .closed:
                    // What was asked before is still answered: `printf 'status\n' | nc`.
                    connection.closeAfterFlush()
                }
            }
            // The next piece of a long reply takes its place in the line: it is the short ones that must not wait.
            if connection.isAtLength { queue(connection) } else { serve(connection) }
        } else if let listener = listeners[descriptor] {
            // At the end of the turn: a new client may get the number of a descriptor that was closed in this turn, and
            // must not get the events that are still on their way for that one.
            knocking.append(listener)
        } else {
            readers[descriptor]?(self)
        }
    }

    /// Calls `action` whenever a descriptor can be read.
    func whenReadable(_ descriptor: CInt, _ action: @escaping (Server) -> Void) throws {
        try core.loop.watch(descriptor, EPOLLIN.rawValue)
        readers[descriptor] = action
    }

    /// Whether there is something to be done without waiting for a socket.
    var hasMoreToDo: Bool { unfinished.count > 0 || untold.count > 0 }

    /// A turn of the loop begins.
    func turnBegan() { turnEnd = Instant.now.advanced(by: Self.turnShare) }

    func turnEnded() {
        for listener in knocking { accept(listener) }
        knocking = []
        serveUnfinished()
        deliverEvents()
        tell()
    }

    /// How long the core is at work before it looks at its sockets again, unless single commands take longer.
    private static let turnShare = Duration.microseconds(500)

    /// Gives the first in the line its share. Only the first: whoever has little to ask waits for one share, not for one of
    /// each who asks for much.
    private func serveUnfinished() {
        guard let id = unfinished.next(), let connection = connection(id) else { return }
        connection.isQueued = false
        turnEnd = max(turnEnd, Instant.now.advanced(by: Connection.share))
        serve(connection)
    }

    /// Sends what events there were, as long as the sockets can wait: thousands may have waited for the same, and to tell one
    /// of them takes as long as a `ping`.
    private func tell() {
        guard untold.count > 0 else { return }
        let end = Instant.now.advanced(by: Self.turnShare)
        while let id = untold.next() {
            guard let connection = connection(id) else { continue }
            connection.isQueued = false
            serve(connection)
            if Instant.now >= end { return }
        }
    }

    /// Puts the connection in the line; it has had its share of this turn.
    func queue(_ connection: Connection) {
        guard !connection.isQueued else { return }
        connection.isQueued = true
        unfinished.append(connection.id)
        connection.updateWatch(core.loop)
    }

    private func accept(_ listener: Listener) {
        guard listeners[listener.descriptor] != nil else { return }
        for _ in 0..<64 {
            let descriptor = shelv_accept_nonblocking(listener.descriptor)
            guard descriptor >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause(listener, SystemError.text(of: errno)) }
                return
            }
            guard connections.count < maximumConnections else {
                noteRefusal()
                Glibc.close(descriptor)
                continue
            }
            if !listener.isLocal { setSocketOptions(descriptor) }
            lastConnectionID += 1
            let connection = Connection(
                id: Connection.ID(rawValue: lastConnectionID),
                descriptor: descriptor,
                session: Session(
                    isLocal: listener.isLocal,
                    partition: defaultPartition,
                    permissions: access.initialPermissions(descriptor, isLocal: listener.isLocal),
                    tagMask: configuration.metadataToUse
                ),
                maximumListSize: configuration.maxCommandListSize
            )
            guard (try? core.loop.watch(descriptor, EPOLLIN.rawValue)) != nil else {
                connection.close()
                continue
            }
            connections[descriptor] = connection
            descriptors[connection.id] = descriptor
            connection.reply.greeting(version: "0.24.0")
            serve(connection)
        }
    }

    /// Thousands may knock in vain: the log hears of the first one, and once a minute of how many more there were.
    private func noteRefusal() {
        refusals += 1
        guard refusals == 1 else { return }
        log.notice("Refused a client: max_connections reached limit=\(maximumConnections)")
        _ = timers.schedule(at: .now.advanced(by: .seconds(60))) { server in
            let more = server.refusals - 1
            if more > 0 { server.log.notice("Refused \(more) more within a minute limit=\(server.maximumConnections)") }
            server.refusals = 0
        }
    }

    /// The machine has no room for another client: the listener would ask for attention without end.
    private func pause(_ listener: Listener, _ reason: String) {
        log.notice("Cannot take a client: \(reason)")
        core.loop.rewatch(listener.descriptor, 0)
        _ = timers.schedule(at: .now.advanced(by: .seconds(1))) { server in
            guard server.listeners[listener.descriptor] != nil else { return }
            server.core.loop.rewatch(listener.descriptor, EPOLLIN.rawValue)
        }
    }

    /// Replies are small and wanted at once; a phone that fell asleep is noticed after a while.
    private func setSocketOptions(_ descriptor: CInt) {
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, size)
    }

    // MARK: Connections

    func connection(_ id: Connection.ID) -> Connection? {
        descriptors[id].flatMap { connections[$0] }
    }

    func close(_ connection: Connection) {
        guard !connection.isClosed else { return }
        connections[connection.descriptor] = nil
        descriptors[connection.id] = nil
        connection.close()
        releasePartition(of: connection)
    }

    /// Once a second: drops clients that are silent, or do not read, for too long.
    private func scheduleSweep() {
        _ = timers.schedule(at: .now.advanced(by: .seconds(1))) { server in
            server.sweep()
            server.scheduleSweep()
        }
    }

    private func sweep() {
        let now = Instant.now
        let stalled = now.advanced(by: .seconds(-60))
        let silent = configuration.connectionTimeout.map { now.advanced(by: .zero - $0) }
        for connection in connections.values {
            let isStalled = connection.pendingOutput > 0 && connection.lastActivity < stalled
            let isSilent =
                switch connection.progress {
                case .ready where !connection.protocolState.idle.isWaiting && connection.pendingOutput == 0:
                    silent.map { connection.lastActivity < $0 } ?? false
                default: false
                }
            if isStalled || isSilent { close(connection) }
        }
    }

    // MARK: Idle events

    /// Notes events for the clients of all partitions; told at the end of the turn.
    func raise(_ events: Subsystems) { pendingEvents.formUnion(events) }

    /// Notes events for one client; told at the end of the turn.
    func raise(_ events: Subsystems, for connection: Connection) {
        privateEvents[connection.id, default: []].formUnion(events)
    }

    private func deliverEvents() {
        let everywhere = pendingEvents
        pendingEvents = []
        var inPartition: [PartitionID: Subsystems] = [:]
        // A list that takes several turns is one act, and is told as one.
        for partition in partitions where partition.owner == nil {
            let events = partition.takeEvents()
            if !events.isEmpty { inPartition[partition.id] = events }
        }
        let forOne = privateEvents
        privateEvents = [:]
        guard !everywhere.isEmpty || !inPartition.isEmpty || !forOne.isEmpty else { return }
        let now = Instant.now
        for connection in connections.values {
            let here = inPartition[connection.session.partition.id] ?? []
            let events = everywhere.union(here).union(forOne[connection.id] ?? [])
            guard !events.isEmpty, let report = connection.protocolState.raise(events) else { continue }
            connection.reply.changed(report)
            connection.lastActivity = now
            guard !connection.isQueued else { continue }
            connection.isQueued = true
            untold.append(connection.id)
        }
    }

    // MARK: Configured servers

    /// The configured server that a reference leads to.
    func musicServer(_ number: UInt64) -> MusicServer? { musicServers.first { $0.reference.number == number } }

    /// The configured server with this identity.
    func musicServer(id: String) -> MusicServer? { musicServers.first { $0.id.text == id } }

    /// Takes the configured servers in this order; those that are not among them are gone. The active one must be.
    func setMusicServers(_ servers: [MusicServer]) {
        for server in musicServers where !servers.contains(where: { $0 === server }) { server.shutdown() }
        musicServers = servers
        for server in servers { server.server = self }
        noteReachable()
    }

    /// The servers whose libraries clients see, the active one first.
    var attached: [MusicServer] { [active] + mounts.map(\.music) }

    /// Songs of configured servers can be played, though the library that is shown does not have them.
    private func noteReachable() {
        let attached = attached
        songs.setReachable(
            Set(musicServers.lazy.filter { music in !attached.contains { $0 === music } }.map(\.id.text))
        )
    }

    /// Shows clients the library of a server, and beside it those of others. Queue and music stay.
    /// - Parameters:
    ///   - snapshot: the library of them all.
    ///   - translation: where the songs that are shown now are in it.
    ///   - gone: what is known of songs that it does not have, as far as it was looked up off the core.
    ///   - isRenewed: whether what only the active server has is anew, too.
    func arrange(
        _ music: MusicServer,
        _ mounts: [Mount],
        _ snapshot: LibrarySnapshot,
        _ translation: SongTranslation,
        gone: [UInt32: SongTable.GoneSong],
        isRenewed: Bool
    ) {
        let (former, formerMounts) = (active, self.mounts)
        active = music
        self.mounts = mounts
        if former !== music { former.playlists = PlaylistShelf(PlaylistShelf.Settings(isEnabled: false)) }
        noteReachable()
        if isRenewed {
            var lists = ShelfLists()
            lists.hasFavorites = configuration.showsFavorites
            shelves = ShelfKeeper(snapshot, lists, isShown: configuration.showsShelves)
        }
        show(snapshot, translation, gone: gone)
        showLists()
        showStars()
        let attached = attached
        for music in [former] + formerMounts.map(\.music) where !attached.contains(where: { $0 === music }) {
            syncEnded(music, didChange: false)
        }
        let isSame = formerMounts.elementsEqual(mounts) { $0.path == $1.path && $0.music === $1.music }
        if isRenewed { raise([.database, .storedPlaylist, .sticker]) }
        if !isSame { raise([.database, .mount, .sticker]) }
        if mergeHasNews { raise(.database) }
        mergeHasNews = false
    }

    /// The library of one of several attached servers is another one: they are to be put together anew.
    /// - Parameter hasNews: whether clients can see a difference then.
    func wantMerge(hasNews: Bool) {
        if hasNews { mergeHasNews = true }
        guard !isMergeWanted else { return }
        isMergeWanted = true
        changeServers?(.merge) { [log] result in
            if case .failure(let error) = result { log.error("The libraries cannot be put together: \(error)") }
        }
    }

    /// They are about to be put together as they are now.
    func mergeBegins() { isMergeWanted = false }

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

    // MARK: The library

    /// Puts a new library in the place of the present one.
    /// - Parameter hasChanged: whether clients can see a difference.
    func replaceLibrary(_ snapshot: LibrarySnapshot, _ translation: SongTranslation, hasChanged: Bool) {
        active.follow(snapshot, translation)
        show(snapshot, translation)
        if hasChanged { raise(.database) }
    }

    /// Shows clients another library.
    private func show(
        _ snapshot: LibrarySnapshot,
        _ translation: SongTranslation,
        gone: [UInt32: SongTable.GoneSong] = [:]
    ) {
        let changed = songs.replaceLibrary(with: snapshot, translation, gone: gone)
        library = snapshot
        serviceManager?.status(statusLine)
        if let shelves = shelves.follow(snapshot) { workers.submit { shelves.prepare() } }
        let hasNewIDs = songs.takeNewIDs()
        for partition in partitions {
            if !changed.isEmpty { partition.songsChanged(changed) }
            if hasNewIDs { partition.saver?.saveAnew() }
        }
    }

    /// Forgets what is known of URLs that have left all queues.
    func forgetUnusedStreams() {
        guard songs.hasManyStreams else { return }
        songs.forgetStreams(except: Set(partitions.lazy.flatMap { $0.queue.entries.lazy.map(\.key) }))
    }

    /// A client wants the library compared with the server.
    /// - Returns: the number of the job that does it.
    func requestUpdate(rescans: Bool) -> UInt32 {
        let (job, begins) = updates.request(rescans: rescans)
        if begins { raise(.update) }
        for music in attached {
            guard let requestSync = music.requestSync else { continue }
            updating.insert(music.reference.number)
            requestSync(rescans)
        }
        return job
    }

    /// A client wants a shelf brought up to date, or all of them. What stands on the others comes from the library.
    /// - Returns: the number of the job that does it, or of the one that is under way.
    func requestShelfUpdate(path: [UInt8]) -> UInt32 {
        let shelf = Shelf(path: path)
        if shelf == nil || shelf == .random { shelves.draw(at: .now) }
        switch shelf {
        case .recentlyAdded, .genres, .decades: return requestUpdate(rescans: false)
        case .radio: return requestUpdate(rescans: false)
        case nil, .recentlyPlayed, .frequentlyPlayed, .random, .favorites: break
        }
        if let running = updates.running {
            for music in attached { music.requestShelves?(shelf, false) }
            return running
        }
        let job = updates.request().job
        raise(.update)
        var isAsked = false
        for music in attached where shelf != .random {
            guard let requestShelves = music.requestShelves else { continue }
            isAsked = true
            updating.insert(music.reference.number)
            requestShelves(shelf, true)
        }
        if !isAsked { syncEnded(active, didChange: shelf == .random) }
        return job
    }

    /// A comparison with the server begins, asked for or not.
    func syncBegan(_ music: MusicServer) {
        updating.insert(music.reference.number)
        guard updates.running == nil else { return }
        _ = updates.request()
        raise(.update)
    }

    /// A comparison with the server has ended.
    /// - Parameter didChange: whether clients can see a difference.
    func syncEnded(_ music: MusicServer, didChange: Bool) {
        updating.remove(music.reference.number)
        if didChange {
            raise(.database)
            if isMergeWanted { mergeHasNews = true }
        }
        guard updates.running != nil, updating.isEmpty else { return }
        if updates.end() { raise(.database) }
        // Those who asked meanwhile are answered by all.
        if updates.running != nil {
            for music in attached where music.requestSync != nil { updating.insert(music.reference.number) }
        }
        raise(.update)
    }

    // MARK: What changes while it runs

    /// Takes over a new configuration as far as it is read while serving. Clients keep their connection; what they may do
    /// is found out again.
    func adopt(_ configuration: Configuration, _ access: AccessRules) {
        self.configuration = configuration
        self.access = access
        maximumConnections = FileLimit.clients(wanted: configuration.maxConnections)
        for connection in connections.values {
            let byPassword = connection.session.password.flatMap { access.permissions(password: $0) }
            connection.session.permissions =
                byPassword ?? access.initialPermissions(connection.descriptor, isLocal: connection.session.isLocal)
        }
    }

    // MARK: The end

    /// Ends the server cleanly, after what is under way.
    func end(_ reason: String) {
        log.notice("Ending: \(reason)")
        serviceManager?.stopping()
        core.post { server in
            server.shutdown()
            server.core.loop.stop()
        }
    }

    /// Closes all sockets and stops what runs.
    func shutdown() {
        for partition in partitions { endSounding(in: partition) }
        for music in musicServers { music.playQueue?.finish() }
        for partition in partitions { partition.saver?.finish() }
        for listener in listeners.values { listener.close() }
        listeners = [:]
        for connection in connections.values { _ = connection.flush() }
        for connection in Array(connections.values) { close(connection) }
        workers.shutdown()
        for music in musicServers { music.covers?.shutdown() }
        for partition in partitions { partition.player.shutdown() }
    }
}
