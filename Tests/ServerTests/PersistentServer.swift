import Library
import Logging
import Playback
import QueueEngine
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A whole server with a store in a folder; made again on the same folder it is the next start.
final class PersistentServer: Sendable {
    let port: Int
    let players = FakePlayers()
    /// That of the default partition.
    var player: FakePlayer { players["default"] }
    let core: Core
    let store: Store
    private let library: LibrarySnapshot
    private let thread: TestThread?

    /// - Parameters:
    ///   - isComplete: whether the library is all that the server has.
    ///   - serverID: the server that the library comes from.
    ///   - formerURIs: URIs that songs had before, with the songs' ids.
    init(
        _ folder: TemporaryFolder,
        _ records: [SongRecord] = LibraryFixture.records,
        isComplete: Bool = true,
        serverID: String = "test",
        formerURIs: [String: String] = [:],
        pauses: Bool = true,
        outputs: [OutputState] = [OutputState(name: "test", plugin: "null", isEnabled: true)],
        mode: QueueMode = .threeTier,
        findsDevices: Bool = false,
        log: Log = .silent,
        retryDelay: Duration = .seconds(10)
    ) async throws {
        library = try Self.library(records, isComplete: isComplete, serverID: serverID, formerURIs)
        store = try Store(path: folder.path("store.sqlite"), log: log, retryDelay: retryDelay)
        let saved = try await SavedPartitions.load(from: store, library: library, log: log)
        let listener = try Listener.tcp(host: "127.0.0.1", port: 0)[0]
        port = listener.port ?? 0
        let core = try Core()
        self.core = core
        var configuration = Configuration()
        configuration.songsAhead = 0
        configuration.queueMode = mode
        configuration.restorePaused = pauses
        configuration.findsDevices = findsDevices
        thread = TestThread { [players, store, library, configuration] in
            try? core.run { core in
                let songs = SongTable(library: library, restoring: saved.songs)
                let factory = PartitionFactory(
                    configuration,
                    outputs: outputs,
                    store: store,
                    core: core,
                    log: .silent,
                    source: { song, library in Self.source(library.songID(song)) },
                    absentSource: { Self.source($0.songID) },
                    makePlayer: { id, configuration, _ in players.make(id, configuration, core) }
                )
                let (partition, others) = try factory.restore(saved, songs)
                let server = Server(
                    core: core,
                    configuration: Configuration(),
                    log: .silent,
                    library: library,
                    songs: songs,
                    partition: partition,
                    access: AccessRules(Configuration())
                )
                server.open(others, by: factory, saved.plan)
                try server.listen(listener)
                return server
            }
        }
    }

    private static func source(_ songID: String) -> AudioSource {
        AudioSource(cacheKey: songID, duration: .seconds(60)) { _ in HTTPRequest(url: "http://127.0.0.1/") }
    }

    private static func library(
        _ records: [SongRecord],
        isComplete: Bool,
        serverID: String,
        _ formerURIs: [String: String] = [:]
    ) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        for (uri, songID) in formerURIs { builder.addAlias(uri: uri, songID: songID) }
        let info = LibraryInfo(serverID: serverID, serverName: serverID, isComplete: isComplete)
        return try builder.build(info: info, file: nil)
    }

    /// The server has other songs now.
    func replaceLibrary(
        _ records: [SongRecord],
        isComplete: Bool = true,
        formerURIs: [String: String] = [:]
    ) throws {
        let snapshot = try Self.library(records, isComplete: isComplete, serverID: "test", formerURIs)
        onCore { server in
            let translation = SongTranslation(from: server.library, to: snapshot)
            server.replaceLibrary(snapshot, translation, hasChanged: true)
        }
    }

    /// Does something on the core and waits for it.
    @discardableResult
    func onCore<Value: Sendable>(_ body: @escaping @Sendable (Server) -> Value) -> Value? {
        let gate = TestGate()
        let box = Box<Value>()
        core.post { server in
            let value = body(server)
            box.result.withLock { $0 = value }
            gate.open()
        }
        gate.wait(timeout: 20_000)
        return box.result.withLock { $0 }
    }

    /// Waits until the store has what the clients have done.
    func settle() -> Bool {
        waitUntil(milliseconds: 20_000) {
            self.onCore { $0.partitions.allSatisfy { $0.saver?.isUpToDate == true } } == true
        }
    }

    /// Ends in order.
    func end() {
        core.post { $0.shutdown() }
        core.loop.stop()
        thread?.join()
        store.close()
    }

    /// Ends without saving anything more.
    func kill() {
        core.loop.stop()
        thread?.join()
        store.close()
    }

    func client() throws -> MPDTestClient {
        let client = try MPDTestClient(port: port)
        client.server = self
        return client
    }

    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Value?>(nil)
    }
}
