import Library
import Logging
import SubsonicKit
import Synchronization

extension MusicSource {
    /// Who tells the server what is listened to.
    func playCourier() -> ScrobbleCourier { ScrobbleCourier(client, id: id, store: store, log: log) }

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
}

extension MusicServer {
    /// Gives the active server its mixes, stations and the queue of other devices, as far as they are wanted.
    /// - Parameter isStart: whether another device's queue may take the place of ours.
    func addListening(_ configuration: Configuration, _ extras: ListeningExtras, _ sources: MusicSources, isStart: Bool)
    {
        if configuration.showsMixes {
            for mix in Mix.allCases { playlists.add(virtual: MixPlaylist(mix)) }
        }
        let stations = StationPlaylist(known: extras.stations, of: self) { [sources, id] job, whenDone in
            guard let client = sources[id]?.client else {
                return whenDone(.failure(.transport(TransportError(.local, "the server cannot be used"))))
            }
            Task {
                do throws(SubsonicError) {
                    whenDone(.success(try await client.carryOut(job)))
                } catch {
                    whenDone(.failure(error))
                }
            }
        }
        self.stations = stations
        playlists.add(virtual: stations)
        playQueue = nil
        guard let server, let mode = configuration.playQueueSync, let courier = extras.courier else { return }
        playQueue = PlayQueueKeeper(isStart ? mode : .save, server, log: server.log)
        playlists.add(virtual: QueuePlaylist(server: name, of: server) { whenDone in courier.fetch(whenDone) })
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
    func keepQueue(_ home: MusicServer.Reference) async {
        await courier?.work(for: home)
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
