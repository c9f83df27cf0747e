import Library
import Logging
import Playback
import QueueEngine
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A whole server on a port of its own, with a library from memory and a player that plays nothing.
final class TestServer: Sendable {
    let port: Int
    let players = FakePlayers()
    /// That of the default partition.
    var player: FakePlayer { players["default"] }
    let core: Core
    private let thread: TestThread?

    init(
        _ records: [SongRecord] = LibraryFixture.records,
        covers: CoverRecipe? = nil,
        outputs: [OutputState] = [OutputState(name: "test", plugin: "null", isEnabled: true, isDevice: true)],
        isComplete: Bool = true,
        configure: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        configuration.songsAhead = 0
        configure(&configuration)
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        let library = try builder.build(
            info: LibraryInfo(serverID: "test", serverName: "test", isComplete: isComplete),
            file: nil
        )
        let listener = try Listener.tcp(host: "127.0.0.1", port: 0)[0]
        port = listener.port ?? 0
        // Clients of a test take files of the same process.
        try FileLimit.raise()
        let core = try Core()
        self.core = core
        let players = players
        thread = TestThread { [configuration] in
            try? core.run { core in
                let songs = SongTable(library: library)
                let factory = PartitionFactory(
                    configuration,
                    outputs: outputs,
                    store: nil,
                    core: core,
                    log: .silent,
                    source: { song, library in
                        AudioSource(
                            cacheKey: library.songID(song),
                            duration: library.duration(song).map { .milliseconds(Int64($0)) }
                        ) { _ in HTTPRequest(url: "http://127.0.0.1/") }
                    },
                    absentSource: { _ in nil },
                    makePlayer: { id, configuration, _ in players.make(id, configuration, core) }
                )
                let partition = try factory.make(PartitionPlan.defaultName, songs, isFirst: true)
                let server = Server(
                    core: core,
                    configuration: configuration,
                    log: .silent,
                    library: library,
                    songs: songs,
                    partition: partition,
                    access: AccessRules(configuration)
                )
                server.open([], by: factory, PartitionPlan())
                server.covers = covers?.make(core)
                server.marks = MarkKeeper(hasFavorites: configuration.showsFavorites)
                server.showFavorites()
                try server.listen(listener)
                return server
            }
        }
    }

    deinit {
        core.post { $0.shutdown() }
        core.loop.stop()
        thread?.join()
    }

    /// Lets it listen at further places.
    func listen(_ listeners: [Listener]) throws {
        // What is posted before there is a server gets lost.
        _ = try MPDTestClient(port: port)
        core.post { server in
            for listener in listeners { try? server.listen(listener) }
        }
    }

    /// Lets other rules hold from now on; the commands that come later are carried out by them.
    func adopt(_ configuration: Configuration) {
        let access = AccessRules(configuration)
        core.post { $0.adopt(configuration, access) }
    }

    /// A new client, which keeps the server alive.
    func client() throws -> MPDTestClient {
        let client = try MPDTestClient(port: port)
        client.server = self
        return client
    }
}
