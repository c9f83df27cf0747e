import Library

/// A mix as a stored playlist: made of the library and its shelves, shuffled each time that it is loaded.
final class MixPlaylist: VirtualPlaylist {
    private let mix: Mix

    init(_ mix: Mix) { self.mix = mix }

    var name: String { mix.rawValue }
    var isListed: Bool { true }
    /// It is always new.
    var lastModified: Int64 { PlaylistShelf.wallClock }

    func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent {
        let catalog = server.shelves.catalog(at: .now)
        let mix = mix
        return .songs(catalog.library, cost: mix == .shuffleAll ? catalog.library.songCount : catalog.planningCost) {
            let songs = catalog.songs(of: mix)
            return use == .look ? songs : SongSelection(songs.shuffled())
        }
    }
}
