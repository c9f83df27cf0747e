import Glibc
import Library
import Logging
import QueueEngine
import Support
import Synchronization

@testable import ShelvMPD

/// All that runs for several Subsonic servers, in this process, with players that play nothing.
final class SwitchingServer: Sendable {
    let folder: TemporaryFolder
    let port: Int
    let core: Core
    let servers: MusicServers
    let players = FakePlayers()
    /// Lets go of them with itself.
    private let remotes: [SmallMusicServer]
    let store: Store
    private let thread: TestThread?
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let extras: ListeningExtras
    private let lines = Lines()

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// What it has logged.
    var log: String { lines.all.withLock { $0.joined(separator: "\n") } }

    /// - Parameters:
    ///   - blocks: lines of `subsonic_server` blocks, as `block` makes them.
    ///   - options: further lines of the configuration.
    ///   - begins: whether changes are carried out at once, not only after `begin`.
    ///   - remotes: lives as long as this.
    init(_ blocks: [String], options: String = "", begins: Bool = true, _ remotes: [SmallMusicServer] = []) async throws
    {
        self.remotes = remotes
        guard let folder = TemporaryFolder() else { throw SystemError("no folder", code: errno) }
        self.folder = folder
        Self.write(blocks, options, in: folder)
        let lines = lines
        let log = Log(level: .debug) { level, line in lines.all.withLock { $0.append("\(level): \(line)") } }
        let configuration = try ConfigurationReader.load(folder.path("conf"), environment: .current()).configuration
        try Files.makeDirectory(configuration.cacheDirectory)
        let store = try Store(path: configuration.stateFile, log: .silent)
        self.store = store
        let core = try Core()
        self.core = core
        let servers = try MusicServers(configuration, core: core, store: store, log: log)
        self.servers = servers
        let start = try await servers.open()
        let saved = try await SavedPartitions.load(from: store, library: start.library, log: .silent)
        let (sources, players) = (servers.sources, players)
        let factory = PartitionFactory(
            configuration,
            outputs: [OutputState(name: "test", plugin: "null", isEnabled: true)],
            store: store,
            core: core,
            log: .silent,
            source: { song, library in sources.audio(song, library) },
            absentSource: { sources.audio($0) },
            problem: { sources.problem(of: $0) },
            makePlayer: { id, configuration, _ in players.make(id, configuration, core) }
        )
        let listener = try Listener.tcp(host: "127.0.0.1", port: 0)[0]
        port = listener.port ?? 0
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        thread = TestThread {
            try? core.run { core in
                let songs = SongTable(library: start.library, restoring: saved.songs)
                let (partition, others) = try factory.restore(saved, songs)
                let server = Server(
                    core: core,
                    configuration: configuration,
                    log: log,
                    library: start.library,
                    songs: songs,
                    partition: partition,
                    access: AccessRules(configuration),
                    music: start.make(sources, configuration, log: log),
                    active: start.active,
                    mounts: start.mounts
                )
                server.open(others, by: factory, saved.plan)
                start.parts.attach(to: server, sources, isStart: true)
                servers.connect(to: server)
                try server.listen(listener)
                starting.finish()
                return server
            }
        }
        for await _ in started {}
        extras = start.parts.extras
        if begins { begin() }
    }

    /// Carries out what clients want of the servers.
    func begin() { task.withLock { $0 = Task { [servers, extras] in await servers.run(extras) } } }

    static func block(
        _ name: String,
        _ url: String,
        user: String = "u",
        password: String = "password \"p\""
    ) -> String {
        """
        subsonic_server {
            name "\(name)"
            url "\(url)"
            user "\(user)"
            \(password)
        }
        """
    }

    /// Changes the configuration file.
    func configure(_ blocks: [String], options: String = "") { Self.write(blocks, options, in: folder) }

    private static func write(_ blocks: [String], _ options: String, in folder: TemporaryFolder) {
        let path = folder.write(
            "conf",
            """
            state_directory "\(folder.path("state"))"
            cache_directory "\(folder.path("cache"))"
            queue_mode "mpd"
            mixes "no"
            \(options)
            \(blocks.joined(separator: "\n"))

            """
        )
        unsafe chmod(path, 0o600)
    }

    func client() throws -> MPDTestClient { try MPDTestClient(port: port, timeout: 60) }

    /// Ends what carries out changes, as the end of the program does.
    func stopChanges() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    func end() async {
        await stopChanges()
        core.post { server in
            server.shutdown()
            server.core.loop.stop()
        }
        thread?.join()
        await servers.finish()
        servers.shutdown()
        store.close()
    }
}
