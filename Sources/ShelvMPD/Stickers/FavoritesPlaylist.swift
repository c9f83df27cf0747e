import Library
import Logging

/// The stored playlist of what is starred: the songs in the order in which they were, the newest last. Adding stars,
/// removing takes the star away.
final class FavoritesPlaylist: VirtualPlaylist {
    let name = "Favorites"
    private let marks: MarkKeeper

    init(_ marks: MarkKeeper) { self.marks = marks }

    /// One that holds nothing says nothing.
    var isListed: Bool { !marks.book.starred(.song).isEmpty }

    /// When the newest was starred.
    var lastModified: Int64 { marks.book.starred(.song).last.flatMap { marks.book[.song($0)]?.starred } ?? 0 }

    func content(for _: VirtualPlaylistUse, of _: Server) -> VirtualContent {
        let songs = marks.book.starred(.song)
        return .made(cost: songs.count) { songs.map { .song($0) } }
    }

    func editableEntries(of _: Server) -> [PlaylistEntry] { marks.book.starred(.song).map { .song($0) } }

    func edit(_ edit: PlaylistEdit, of _: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        let songs = marks.book.starred(.song)
        switch edit {
        case .insert(let entries, _):
            // Where they go is not for clients to say.
            let added = entries.compactMap(\.songID)
            guard added.count == entries.count else { throw .notForServer }
            marks.star(added.map { .song($0) }, true, whenKept: whenKept)
        case .remove(let range):
            marks.star(songs[range.clamped(to: 0..<songs.count)].map { .song($0) }, false, whenKept: whenKept)
        case .replace(let entries) where entries.isEmpty:
            marks.star(songs.map { .song($0) }, false, whenKept: whenKept)
        case .create, .replace, .move, .rename, .delete: throw .readOnly(.favorites)
        }
    }
}

extension MusicServer {
    /// Puts stickers and stars as the last run left them in place.
    /// - Parameter moved: songs that have other ids now, by the old ones.
    func restore(
        _ saved: SavedStickers,
        _ moved: [String: String],
        _ journal: JournalWriter,
        hasFavorites: Bool,
        log: Log
    ) {
        stickers = StickerKeeper(saved.stickers, store: journal.store, serverID: journal.server)
        marks = MarkKeeper(saved.marks, hasFavorites: hasFavorites, journal: journal, log: log)
        self.moved = moved
    }
}

extension Server {

    /// Adds the playlist of favourites, and fills the shelf.
    func showFavorites() {
        if configuration.showsFavorites { playlists.add(virtual: FavoritesPlaylist(marks)) }
        marks.showStars()
    }
}

extension MusicSource {
    /// Does at the server what stars and ratings need; until the task is cancelled.
    func keepMarks(_ home: MusicServer.Reference) async {
        await MarkCourier(client, log: log).work(for: home)
    }
}
