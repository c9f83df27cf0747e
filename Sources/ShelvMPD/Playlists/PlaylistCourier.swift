import Library
import Logging
import SubsonicKit

/// Carries out at one server what the shelf wants: looks for changes, and brings edits in the server's own way.
///
/// Used for one job at a time. What comes back is the truth of the server: every edit is verified by reading the list.
actor PlaylistCourier {
    let server: any SubsonicCalling
    let log: Log
    /// Keeps what is about to be sent; returns when it cannot be lost any more.
    let keepAttempt: @Sendable (PlaylistAttempt, PlaylistKey) async throws -> Void
    var traits: PlaylistTraits?

    init(_ server: any SubsonicCalling, store: Store, log: Log) {
        self.server = server
        self.log = log
        keepAttempt = { attempt, key in
            try await store.write("what is about to be sent") { database throws(StoreError) in
                try PlaylistTable.keep(attempt, of: key, in: database)
            }
        }
    }

    /// Carries out what the core's shelf wants, one job at a time, until the task is cancelled.
    nonisolated func work(for home: MusicServer.Reference) async {
        let (jobs, queue) = AsyncStream.makeStream(of: PlaylistJob.self)
        home.post { $0.playlists.connect { queue.yield($0) } }
        for await job in jobs {
            switch job {
            case .refresh(let wanted):
                let result: Result<PlaylistNews, SubsonicError>
                do {
                    result = .success(try await refresh(wanted))
                } catch {
                    result = .failure(error)
                }
                if Task.isCancelled { return }
                home.post { $0.playlists.refreshed(result) }
            case .deliver(let delivery):
                let receipt = await deliver(delivery)
                if Task.isCancelled { return }
                home.post { $0.playlists.delivered(delivery, receipt) }
            }
        }
    }

    // MARK: Looking

    /// Finds out what differs from what is known.
    func refresh(_ refresh: PlaylistRefresh) async throws(SubsonicError) -> PlaylistNews {
        let heads = try await server.playlists()
        var items: [PlaylistNews.Item] = []
        for head in heads {
            let known = refresh.known[head.id]
            let isSame = known.map { $0.isBusy || (!$0.isWanted && $0.stamp == PlaylistStamp(head)) } ?? false
            if isSame {
                items.append(PlaylistNews.Item(playlist: head, entries: nil, wasRead: false))
            } else if let item = try await read(head, known) {
                items.append(item)
            }
        }
        // Funkwhale leaves empty lists out.
        let present = Set(heads.map(\.id))
        for (id, known) in refresh.known where known.entries.isEmpty && !known.isBusy && !present.contains(id) {
            if let item = try await read(Playlist(id: id), known) { items.append(item) }
        }
        return PlaylistNews(items: items)
    }

    /// Reads what a list holds; nil for one that has gone meanwhile.
    private func read(
        _ head: Playlist,
        _ known: PlaylistRefresh.Known?
    ) async throws(SubsonicError) -> PlaylistNews.Item? {
        guard let content = try await content(head.id) else { return nil }
        let entries = content.songIDs.map { PlaylistEntry.song($0) }
        // The head in the list tells more on some servers, and its stamp is what the next one is compared with.
        let playlist = head.name == nil ? content.playlist : head
        let isNew = known.map { $0.entries != entries } ?? true
        return PlaylistNews.Item(playlist: playlist, entries: isNew ? entries : nil, wasRead: true)
    }

    /// A list with the ids of its songs; nil when it is gone.
    func content(_ id: String) async throws(SubsonicError) -> PlaylistContent? {
        do {
            return try await server.playlistContent(id: id)
        } catch {
            if error.serverCode == 70 { return nil }
            throw error
        }
    }
}

/// What is known of a server's ways with playlists.
struct PlaylistTraits: Sendable {
    var kind: ServerKind
    /// Whether long lists may go as a form: by what the server says, then by what was seen.
    var takesForms: Bool
    /// Whether `createPlaylist` with an id puts other songs in the place of those that are there.
    var replaces: Bool
}
