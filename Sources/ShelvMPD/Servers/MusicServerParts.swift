import Library
import Logging
import SubsonicKit
import Synchronization

/// What the last run left of a configured server, on its way to the core.
struct MusicServerParts: Sendable {
    let reference: MusicServer.Reference
    let id: ServerID
    let name: String
    let url: String
    let library: LibrarySnapshot
    /// Why the server cannot be asked; nil if it can.
    let problem: String?
    private let stickers: SavedStickers
    /// Songs that have other ids now, by the old ones.
    private let moved: [String: String]
    private let plays: SavedScrobbles
    /// The playlists, if it is mounted.
    var lists: PlaylistShelf.Saved?

    static func load(
        _ reference: MusicServer.Reference,
        _ id: ServerID,
        _ block: ServerConfiguration,
        library: LibrarySnapshot,
        problem: String?,
        from store: Store
    ) async throws -> MusicServerParts {
        let stickers = try await SavedStickers.load(from: store, server: id)
        return MusicServerParts(
            reference: reference,
            id: id,
            name: block.name,
            url: block.url,
            library: library,
            problem: problem,
            stickers: stickers,
            moved: stickers.moved(in: library),
            plays: try await SavedScrobbles.load(from: store, server: id)
        )
    }

    /// The server as the core has it; on the core.
    func make(
        _ journal: JournalWriter,
        _ sources: MusicSources,
        _ configuration: Configuration,
        log: Log
    ) -> MusicServer {
        let music = MusicServer(reference, id: id, name: name, url: url, library: library)
        music.journal = journal
        if let lists { music.showPlaylists(lists) }
        music.restore(stickers, moved, journal, hasFavorites: configuration.showsFavorites, log: log)
        music.scrobbler = Scrobbler(plays, journal, isEnabled: configuration.scrobbles, log: log)
        music.covers = sources.covers(of: id, reference, configuration, log: log)
        music.askSimilar = { [sources, id] seed, whenDone in
            guard let source = sources[id] else { return whenDone([]) }
            source.similarSongs(seed, whenDone)
        }
        music.lists = sources[id]?.shelves.withLock { $0 } ?? ShelfLists()
        if let problem { music.syncReport = SyncReport(state: .failed, message: problem) }
        return music
    }
}

/// What the last run left of what only the active server has, on its way to the core.
struct ActiveServerParts: Sendable {
    let playlists: PlaylistShelf.Saved
    let extras: ListeningExtras

    static func load(_ source: MusicSource, _ configuration: Configuration) async throws -> ActiveServerParts {
        ActiveServerParts(
            playlists: try await source.savedPlaylists(configuration),
            extras: try await source.listeningExtras(configuration)
        )
    }

    /// Gives the active server what only it has; on the core.
    /// - Parameter isStart: whether another device's queue may take the place of ours.
    func attach(to server: Server, _ sources: MusicSources, isStart: Bool) {
        let active = server.active
        guard active.journal != nil else { return }
        active.showPlaylists(playlists)
        server.showFavorites()
        active.addListening(server.configuration, extras, sources, isStart: isStart)
    }
}
