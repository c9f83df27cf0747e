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
    /// Which Subsonic servers there are, and which of them clients see.
    var configured: ConfiguredServers
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
    /// The highest key that a shelf of playlists has given out.
    var lastPlaylistKey: Int64 = 0
    /// The update job under way and the number of the last one.
    var updates = UpdateJobs()
    /// Why clients see no library, or not all of it; nil while that is as it should be.
    var libraryTrouble: String?
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

    var doors: Doors
    var clients = Clients()
    var turn = Turn()
    var pendingEvents = PendingEvents()
    private var isEnding = false
    private var hasEnded = false

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
        doors = Doors(maximumConnections: FileLimit.clients(wanted: configuration.maxConnections))
        configured = ConfiguredServers(music, active: activeID, mounts, library: library, core)
        partition.queueObservers.append { [unowned self] in active.playQueue?.noteChange() }
        for server in musicServers { server.server = self }
        noteReachable()
        equipment = [
            { [unowned self] partition in
                partition.plays.report = { [unowned self, unowned partition] in listened($0, in: partition) }
            }
        ]
        add(partition)
    }

    // MARK: The library

    /// Shows clients another library.
    /// - Parameter prepared: what was worked out of it off the core. What does not fit is not used.
    func show(_ snapshot: LibrarySnapshot, _ translation: SongTranslation, _ prepared: SongReplacement? = nil) {
        let replacement = prepared.flatMap { $0.leads(to: snapshot) ? $0 : nil }
        let changed =
            replacement.flatMap { songs.replaceLibrary(by: $0) } ?? songs.replaceLibrary(with: snapshot, translation)
        if let replacement { workers.submit { replacement.clear() } }
        library = snapshot
        serviceManager?.status(statusLine)
        if let shelves = shelves.follow(snapshot) { workers.submit { shelves.prepare() } }
        let hasNewIDs = songs.takeNewIDs()
        for partition in partitions {
            if !changed.isEmpty { partition.songsChanged(changed) }
            if hasNewIDs { partition.saver?.saveAnew() }
        }
    }

    // MARK: What changes while it runs

    /// Takes over a new configuration as far as it is read while serving. Clients keep their connection; what they may do
    /// is found out again.
    func adopt(_ configuration: Configuration, _ access: AccessRules) {
        self.configuration = configuration
        self.access = access
        partitionFactory?.configuration = configuration
        doors.maximumConnections = FileLimit.clients(wanted: configuration.maxConnections)
        for connection in connections.values {
            let byPassword = connection.session.password.flatMap { access.permissions(password: $0) }
            connection.session.permissions =
                byPassword ?? access.initialPermissions(connection.descriptor, isLocal: connection.session.isLocal)
        }
    }

    // MARK: The end

    /// Ends the server cleanly, after what is under way. Whoever wants it a second time need not.
    func end(_ reason: String) {
        guard !isEnding else { return }
        isEnding = true
        log.notice("Ending: \(reason)")
        serviceManager?.stopping()
        core.post { server in
            server.shutdown()
            server.core.loop.stop()
        }
    }

    /// Closes all sockets and stops what runs.
    func shutdown() {
        guard !hasEnded else { return }
        hasEnded = true
        for partition in partitions { endSounding(in: partition) }
        for music in musicServers { music.playQueue?.finish() }
        for partition in partitions { partition.saver?.finish() }
        for connection in connections.values { _ = connection.flush() }
        letGo()
        for music in musicServers { music.covers?.shutdown() }
        for partition in partitions { partition.player.shutdown() }
    }

    /// Gives back sockets and threads, and saves nothing: all that is left to do once the loop has ended, in order or not.
    func letGo() {
        closeDoors()
        for connection in Array(connections.values) { close(connection) }
        workers.shutdown()
    }
}
