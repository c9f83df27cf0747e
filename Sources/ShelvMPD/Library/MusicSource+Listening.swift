import Library
import Logging
import SubsonicKit
import Synchronization

extension MusicSource {
    /// Tells the server what is listened to, until the task is cancelled.
    func tellPlays(_ core: Core) async {
        await ScrobbleCourier(client, id: id, store: store, log: log).work(for: core)
    }

    /// What the last run knew about the queue and the stations at the server.
    func listeningExtras(_ configuration: Configuration) async throws -> ListeningExtras {
        let facts = try await store.facts(about: id)
        var courier: PlayQueueCourier?
        if configuration.playQueueSync != nil {
            courier = PlayQueueCourier(client, mark: facts[PlayQueueCourier.markFact] ?? "", log: log) {
                [store, id] mark in
                store.keep(mark, as: PlayQueueCourier.markFact, about: id)
            }
        }
        return ListeningExtras(
            courier: courier,
            stations: facts[StationPlaylist.fact].map { StationPlaylist.decode($0) } ?? []
        )
    }

    /// Gives a server its mixes, stations, the queue of other devices, and music without end, as far as they are wanted.
    /// On the core, before the first client is served.
    func addListening(to server: Server, _ configuration: Configuration, _ extras: ListeningExtras) {
        server.askSimilar = { [self] seed, whenDone in similarSongs(seed, whenDone) }
        if configuration.playsOn { server.infinitePlay = InfinitePlay(server, log: log) }
        if configuration.showsMixes {
            for mix in Mix.allCases { server.playlists.add(virtual: MixPlaylist(mix)) }
        }
        let stations = StationPlaylist(known: extras.stations) { [client] job, whenDone in
            Task {
                do throws(SubsonicError) {
                    whenDone(.success(try await client.carryOut(job)))
                } catch {
                    whenDone(.failure(error))
                }
            }
        }
        server.stations = stations
        server.playlists.add(virtual: stations)
        guard let mode = configuration.playQueueSync, let courier = extras.courier else { return }
        server.playQueue = PlayQueueKeeper(mode, server, log: log)
        let queue = courier.queue
        server.playlists.add(
            virtual: QueuePlaylist(server: client.server.name, of: server) { whenDone in queue.yield(.fetch(whenDone)) }
        )
    }
}

/// What takes part in listening besides the plays, on its way to the core.
struct ListeningExtras: Sendable {
    let courier: PlayQueueCourier?
    let stations: [RadioStation]
    private let ended = AsyncStream.makeStream(of: Void.self)

    /// How long the end of the program waits for the queue to be saved.
    private static let patience = Duration.seconds(2)

    init(courier: PlayQueueCourier?, stations: [RadioStation]) {
        self.courier = courier
        self.stations = stations
    }

    /// Keeps the queue at the server, until `finish`.
    func keepQueue(_ core: Core) async {
        await courier?.work(for: core)
        ended.continuation.finish()
    }

    /// Lets the queue be saved for the last time; returns when it is, or when that takes too long.
    func finish() async {
        guard let courier else { return }
        courier.queue.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended.stream {} }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }
}
