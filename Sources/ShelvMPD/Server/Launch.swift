import CLinux
import Glibc
import Library
import Logging
import SubsonicKit
import Synchronization

/// Builds the parts of a running server from its configuration, serves, and takes them down again.
enum Launch {
    /// Serves until a signal ends it. Blocks the calling thread, which becomes the core's.
    static func serve(_ configuration: Configuration, notices: [String]) async -> ExitStatus {
        let log = Log.standardError(level: configuration.logLevel)
        for notice in notices { log.notice(notice) }
        do {
            try await run(configuration, log)
            return .success
        } catch {
            log.error("\(error)")
            return .failure
        }
    }

    private static func run(_ configuration: Configuration, _ log: Log) async throws {
        // A heap for each of the many threads would cost more memory than their waiting costs time.
        mallopt(M_ARENA_MAX, 2)
        // Before any other thread, so that none of them takes a signal.
        let signals = try Signals()
        try Files.makeDirectory(configuration.cacheDirectory)
        let store = try Store(path: configuration.stateFile, log: log)
        defer { store.close() }
        let source = try await MusicSource(configuration, store: store, log: log)
        defer { source.shutdown() }

        let core = try Core()
        let library = source.shown.withLock { $0 }
        let playlists = try await source.savedPlaylists(configuration)
        let stickers = try await SavedStickers.load(from: store, server: source.id)
        let moved = stickers.moved(in: library)
        let journal = try await JournalWriter.opening(store, server: source.id)
        let plays = try await SavedScrobbles.load(from: store, server: source.id)
        let extras = try await source.listeningExtras(configuration)
        let saved = try await SavedPartition.load("default", from: store, library: library, log: log)
        let factory = PartitionFactory(
            configuration: configuration,
            store: store,
            core: core,
            log: log,
            transport: source.audioTransport,
            source: { song, library in source.audio(song, library) },
            absentSource: { source.audio($0) }
        )
        let player = try factory.makePlayer("default")
        let listeners = try open(configuration, log)
        let sync = Mutex<[Task<Void, Never>]>([])
        try core.run { core in
            let songs = SongTable(library: library, restoring: saved.songs)
            let partition = factory.make("default", player, saved, songs)
            // Before the first client is served, and before any sound.
            partition.restore(saved, pauses: configuration.restorePaused)
            let server = Server(
                core: core,
                configuration: configuration,
                log: log,
                library: library,
                shelves: source.shelves.withLock { $0 } ?? ShelfLists(),
                songs: songs,
                partition: partition,
                access: AccessRules(configuration)
            )
            let journal = journal()
            server.journal = journal
            server.playlists = PlaylistShelf(playlists, journal)
            server.restore(stickers, moved, journal, source.id, log: log)
            if configuration.scrobbles { server.scrobbler = Scrobbler(plays, journal, log: log) }
            source.addListening(to: server, configuration, extras)
            server.covers = source.covers(configuration, core)
            server.fetchPlaylist = { address, whenDone in source.fetchPlaylist(address, whenDone) }
            for listener in listeners { try server.listen(listener) }
            try signals.watch(server) { server, number in
                // SIGHUP asks a daemon to read its configuration again; until there is one that can change, it is ignored.
                if number == SIGHUP { return }
                log.notice("Ending on signal \(number)")
                server.shutdown()
                server.core.loop.stop()
            }
            // Lives as long as the server: begins when there is one to show things to, ends by `cancel` below.
            sync.withLock { tasks in
                tasks = [
                    Task { await source.keepInSync(core) }, Task { await source.keepPlaylists(core) },
                    Task { await source.keepMarks(core) },
                    Task { await source.learnTimeOffset() }, Task { await source.tellPlays(core) },
                    Task { await extras.keepQueue(core) },
                ]
            }
            return server
        }
        await extras.finish()
        let tasks = sync.withLock { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        factory.players.wait(atMost: .seconds(3))
    }

    /// Opens all listeners. Of the default addresses one is enough: a machine may lack IPv6, or a session directory.
    private static func open(_ configuration: Configuration, _ log: Log) throws -> [Listener] {
        var listeners: [Listener] = []
        var failure: (any Error)?
        for address in configuration.addresses {
            do {
                switch address {
                case .any(let port): listeners += try Listener.tcp(host: nil, port: Int(port))
                case .host(let host, let port): listeners += try Listener.tcp(host: host, port: Int(port))
                case .unix(let path): listeners.append(try Listener.unix(path: path))
                case .abstract(let name): listeners.append(try Listener.unix(path: "@" + name))
                }
            } catch {
                guard configuration.usesDefaultAddresses else {
                    for listener in listeners { listener.close() }
                    throw error
                }
                log.notice("\(error)")
                failure = error
            }
        }
        if listeners.isEmpty, let failure { throw failure }
        return listeners
    }
}
