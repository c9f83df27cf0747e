import CLinux
import Glibc
import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// Builds the parts of a running server from its configuration, serves, and takes them down again.
enum Launch {
    /// Serves until a signal ends it. Blocks the calling thread, which becomes the core's.
    static func serve(
        _ configuration: Configuration,
        from source: ConfigurationSource,
        notices: [String]
    ) async -> ExitStatus {
        var log = Log.standardError(level: configuration.logLevel)
        do {
            log = try configuration.logDestination.open(level: configuration.logLevel)
            for notice in notices { log.notice(notice) }
            try await run(configuration, source, log)
            return .success
        } catch {
            log.error("\(error)")
            return .failure
        }
    }

    private static func run(
        _ configuration: Configuration,
        _ configurationSource: ConfigurationSource,
        _ log: Log
    ) async throws {
        let environment = configurationSource.environment
        let passed = try SocketActivation.listeners(environment)
        SocketActivation.forget()
        // A heap for each of the many threads would cost more memory than their waiting costs time.
        mallopt(M_ARENA_MAX, 2)
        // Before any other thread, so that none of them takes a signal.
        let signals = try Signals()
        try FileLimit.raise()
        if let wanted = configuration.maxConnections, FileLimit.clients(wanted: wanted) < wanted {
            log.notice(
                "max_connections is \(FileLimit.clients(wanted: wanted)): only \(FileLimit.files) files may be open at once"
            )
        }
        try Files.makeDirectory(configuration.cacheDirectory)
        let store = try Store(path: configuration.stateFile, log: log)
        defer { store.close() }
        let core = try Core()
        let servers = try MusicServers(configuration, core: core, store: store, log: log)
        defer { servers.shutdown() }
        let start = try await servers.open()
        let (library, sources) = (start.library, servers.sources)
        let saved = try await SavedPartitions.load(from: store, library: library, log: log)
        let players = OpenPlayers()
        let cache = try AudioCache(
            directory: configuration.cacheDirectory + "/audio",
            limit: configuration.cacheLimit,
            transport: servers.audioTransport,
            log: log
        )
        let factory = PartitionFactory(
            configuration,
            store: store,
            core: core,
            log: log,
            cache: cache,
            players: players,
            source: { song, library in sources.audio(song, library) },
            absentSource: { sources.audio($0) },
            problem: { sources.problem(of: $0) }
        )
        let listeners = passed.isEmpty ? try open(configuration, log) : passed
        let access = AccessRules(configuration)
        let announcer = announcer(configuration, listeners, log)
        let running = Mutex<Task<Void, Never>?>(nil)
        try core.run { core in
            let songs = SongTable(library: library, restoring: saved.songs)
            songs.setServers(reachable: Set(start.servers.lazy.map(\.id.text)))
            let (partition, others) = try factory.restore(saved, songs)
            let server = Server(
                core: core,
                configuration: configuration,
                log: log,
                library: library,
                songs: songs,
                partition: partition,
                access: access,
                music: start.make(sources, configuration, log: log),
                active: start.active,
                mounts: start.mounts
            )
            server.open(others, by: factory, saved.plan)
            if configuration.playsOn { server.playOn(log: log) }
            server.showLists()
            start.parts.attach(to: server, sources, isStart: true)
            server.fetchPlaylist = { [transport = servers.audioTransport] address, whenDone in
                RemotePlaylist.fetch(address, by: transport, whenDone)
            }
            servers.connect(to: server)
            for listener in listeners { try server.listen(listener) }
            server.reloader = Reloader(configurationSource, configuration.logDestination, log: log)
            try signals.watch(server) { server, number in
                if number == SIGHUP { server.reloader?.begin(server) } else { server.end("signal \(number)") }
            }
            if let manager = ServiceManager(environment) { server.report(to: manager) }
            // Lives as long as the server: begins when there is one to show things to, ends by `cancel` below.
            running.withLock { $0 = Task { await servers.run(start.parts.extras) } }
            return server
        }
        announcer?.stop()
        let task = running.withLock { $0 }
        task?.cancel()
        await task?.value
        await servers.finish()
        players.wait(atMost: .seconds(3))
        cache.shutdown()
        announcer?.waitForEnd(atMost: .seconds(1))
    }

    /// Tells the network of us, if somebody there can reach us.
    private static func announcer(
        _ configuration: Configuration,
        _ listeners: [Listener],
        _ log: Log
    ) -> ServiceAnnouncer? {
        let port = listeners.first { !$0.isLocal && !$0.isLoopback }?.port
        guard configuration.isAnnounced, let port else { return nil }
        let name = ServiceName.expand(configuration.announcedName, host: ServiceName.host())
        return ServiceAnnouncer(name: name, port: port, log: log)
    }

    /// Opens all listeners. Of the default addresses one is enough, for a machine may lack IPv6, or a session directory; but
    /// none may be in use: clients would reach whoever has it.
    private static func open(_ configuration: Configuration, _ log: Log) throws -> [Listener] {
        var listeners: [Listener] = []
        var failure: (any Error)?
        for address in configuration.addresses {
            do {
                switch address {
                case .any(let port): listeners += try Listener.tcp(host: nil, port: Int(port))
                case .host(let host, let port): listeners += try Listener.tcp(host: host, port: Int(port))
                case .unix(let path):
                    // As MPD does with its folder in the session's directory.
                    if configuration.usesDefaultAddresses { try? Files.makeDirectory(Files.folder(of: path)) }
                    listeners.append(try Listener.unix(path: path))
                case .abstract(let name): listeners.append(try Listener.unix(path: "@" + name))
                }
            } catch {
                let isInUse = (error as? BindError)?.reason == SystemError.text(of: EADDRINUSE)
                guard configuration.usesDefaultAddresses, !isInUse else {
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
