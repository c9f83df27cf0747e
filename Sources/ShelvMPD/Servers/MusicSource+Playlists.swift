import Library
import Logging
import MPDProtocol
import Playback
import SubsonicKit

extension MusicSource {
    /// Does at the server what the stored playlists need, as the active or a mounted one; until the task is cancelled.
    func keepPlaylists(_ home: MusicServer.Reference) async {
        await PlaylistCourier(client, store: store, log: log).work(for: home)
    }

    /// The stored playlists as the last run left them.
    func savedPlaylists(_ configuration: Configuration) async throws -> PlaylistShelf.Saved {
        try await PlaylistShelf.Saved(of: id, made.block, from: store, configuration, log)
    }
}

extension RemotePlaylist {
    /// Fetches a playlist of the network, as long as the present `Asker` is there.
    /// - Parameter whenDone: told on any thread what can be played of it.
    static func fetch(
        _ address: StreamAddress,
        by transport: any HTTPTransport,
        _ whenDone: @escaping @Sendable (Result<[PlaylistEntry], RemotePlaylistError>) -> Void
    ) {
        let task = Task {
            do throws(RemotePlaylistError) {
                let playlist = try await RemotePlaylist.load(address, by: transport)
                whenDone(.success(playlist.rows.map { .stream(StreamSong($0)) }))
            } catch {
                whenDone(.failure(error))
            }
        }
        Asker.current?.wants(task)
    }
}

extension PlaylistShelf {
    /// All that a shelf is made of, on its way to the core.
    struct Saved: Sendable {
        var settings: Settings
        var playlists: SavedPlaylists
        var log: Log
    }

    /// The shelf of a server, with what the last run left.
    convenience init(_ saved: Saved, _ journal: JournalWriter) {
        self.init(
            saved.settings,
            saved: saved.settings.isEnabled ? saved.playlists : SavedPlaylists(),
            journal: journal,
            log: saved.log
        )
    }
}

extension PlaylistShelf.Saved {
    /// Reads what the last run, or the last use, left of a server's playlists.
    /// - Parameter isMounted: whether the server is mounted, and not the active one.
    init(
        of id: ServerID,
        _ block: ServerConfiguration,
        from store: Store,
        _ configuration: Configuration,
        _ log: Log,
        isMounted: Bool = false
    ) async throws {
        self.init(
            settings: PlaylistShelf.Settings(
                isEnabled: configuration.showsPlaylists,
                isReadOnly: isMounted,
                user: block.user.isEmpty ? nil : block.user,
                maximumLength: configuration.maxPlaylistLength
            ),
            playlists: try await SavedPlaylists.load(from: store, server: id, hasLocal: !isMounted),
            log: log
        )
    }
}

extension MusicServer {
    /// Has the playlists that the last run, or the last use, left.
    func showPlaylists(_ saved: PlaylistShelf.Saved) {
        if let journal { playlists = PlaylistShelf(saved, journal) }
    }

    /// Clients do not see its playlists any more.
    func showNoPlaylists() { playlists = PlaylistShelf(PlaylistShelf.Settings(isEnabled: false)) }
}

extension StreamSong {
    /// A row of a playlist of the network, with its title.
    init(_ row: RemotePlaylist.Row) {
        self.init(uri: row.address.text, tags: row.title.flatMap { Value(.title, Array($0.utf8)) }.map { [$0] } ?? [])
    }
}
