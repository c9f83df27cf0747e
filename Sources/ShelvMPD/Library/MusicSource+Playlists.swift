import Library
import Logging
import SubsonicKit

extension MusicSource {
    /// Does at the server what the stored playlists need, one job at a time; until the task is cancelled.
    func keepPlaylists(_ core: Core) async {
        let (jobs, queue) = AsyncStream.makeStream(of: PlaylistJob.self)
        let courier = PlaylistCourier(client, log: log) { [store] attempt, key in
            try await store.write("what is about to be sent") { database throws(StoreError) in
                try PlaylistTable.keep(attempt, of: key, in: database)
            }
        }
        core.post { server in server.playlists.connect(to: server) { queue.yield($0) } }
        for await job in jobs {
            switch job {
            case .refresh(let refresh):
                let result: Result<PlaylistNews, SubsonicError>
                do {
                    result = .success(try await courier.refresh(refresh))
                } catch {
                    result = .failure(error)
                }
                if Task.isCancelled { return }
                core.post { $0.playlists.refreshed(result) }
            case .deliver(let delivery):
                let receipt = await courier.deliver(delivery)
                if Task.isCancelled { return }
                core.post { $0.playlists.delivered(delivery, receipt) }
            }
        }
    }

    /// The stored playlists as the last run left them.
    func savedPlaylists(_ configuration: Configuration) async throws -> PlaylistShelf.Saved {
        let saved = try await SavedPlaylists.load(from: store, server: id)
        return PlaylistShelf.Saved(
            settings: PlaylistShelf.Settings(
                isEnabled: configuration.showsPlaylists,
                user: configuration.servers.first.flatMap { $0.user.isEmpty ? nil : $0.user },
                maximumLength: configuration.maxPlaylistLength
            ),
            playlists: saved,
            store: store,
            server: id,
            log: log
        )
    }
}

extension PlaylistShelf {
    /// All that a shelf is made of, on its way to the core.
    struct Saved: Sendable {
        var settings: Settings
        var playlists: SavedPlaylists
        var store: Store
        var server: ServerID
        var log: Log
    }

    /// The shelf of a server, with what the last run left.
    convenience init(_ saved: Saved) {
        let lastEdit = saved.playlists.lastEdit
        self.init(
            saved.settings,
            saved: saved.settings.isEnabled ? saved.playlists : SavedPlaylists(),
            journal: JournalWriter(saved.store, server: saved.server, lastID: lastEdit),
            log: saved.log
        )
    }
}
