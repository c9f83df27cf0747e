/// The mixes that are stored playlists: Docs/listening.md, “Mixes”. The names are those of the playlists.
public enum Mix: String, Sendable, CaseIterable {
    case newestTracks = "Mix: Newest Tracks"
    case mostPlayed = "Mix: Most Played"
    case recentlyPlayed = "Mix: Recently Played"
    case shuffleAll = "Mix: Shuffle All"

    /// Albums that the newest tracks come from.
    static let newestAlbums = 10
    /// Songs of a mix of what was played.
    static let size = 50
}

extension ShelfCatalog {
    /// What a mix is made of, in the order of the shelves; to be shuffled for playing.
    public func songs(of mix: Mix) -> SongSelection {
        switch mix {
        case .newestTracks: SongSelection(list: songs(ofAlbumsOn: .recentlyAdded, first: Mix.newestAlbums))
        case .recentlyPlayed:
            SongSelection(list: Array(songs(ofAlbumsOn: .recentlyPlayed, first: Shelf.size).prefix(Mix.size)))
        case .mostPlayed:
            SongSelection(
                list: Array(
                    songs(ofAlbumsOn: .frequentlyPlayed, first: Shelf.size).enumerated().sorted { a, b in
                        let counts = (
                            library.songs.playCounts[Int(a.element)], library.songs.playCounts[Int(b.element)]
                        )
                        return counts.0 == counts.1 ? a.offset < b.offset : counts.0 > counts.1
                    }.prefix(Mix.size).map(\.element)
                )
            )
        case .shuffleAll: SongSelection(range: 0..<library.songCount)
        }
    }

    private func songs(ofAlbumsOn shelf: Shelf, first count: Int) -> [UInt32] {
        children(of: .shelf(shelf)).folders.prefix(count).flatMap { folder -> [UInt32] in
            guard let node = node(of: folder, in: .shelf(shelf)) else { return [] }
            return children(of: node).songs
        }
    }
}
