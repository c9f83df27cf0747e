import Library
import Logging
import MPDProtocol
import Playback
import SubsonicKit

extension MusicSource {
    /// Does at the server what the stored playlists need; until the task is cancelled.
    func keepPlaylists(_ core: Core) async {
        await PlaylistCourier(client, store: store, log: log).work(for: core)
    }

    /// Fetches a playlist of the network.
    /// - Parameter whenDone: told on any thread what can be played of it.
    func fetchPlaylist(
        _ address: StreamAddress,
        _ whenDone: @escaping @Sendable (Result<[PlaylistEntry], RemotePlaylistError>) -> Void
    ) {
        Task { [audioTransport] in
            do throws(RemotePlaylistError) {
                let playlist = try await RemotePlaylist.load(address, by: audioTransport)
                whenDone(.success(playlist.rows.map { .stream(StreamSong($0)) }))
            } catch {
                whenDone(.failure(error))
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
            log: log
        )
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

extension StreamSong {
    /// A row of a playlist of the network, with its title.
    init(_ row: RemotePlaylist.Row) {
        self.init(uri: row.address.text, tags: row.title.flatMap { Value(.title, Array($0.utf8)) }.map { [$0] } ?? [])
    }
}
