import Library
import Logging

/// The stored playlist of what is starred: the songs of each server that is shown in the order in which they were, the newest
/// last. Adding stars, removing takes the star away.
final class FavoritesPlaylist: VirtualPlaylist {
    /// What clients call it.
    static let title = "Favorites"

    let name = title
    private unowned let server: Server

    init(of server: Server) { self.server = server }

    private var songs: [(music: MusicServer, id: String)] {
        server.attached.flatMap { music in music.marks.book.starred(.song).map { (music, $0) } }
    }

    private var entries: [PlaylistEntry] {
        songs.map { music, id in
            music.isActive ? .song(id) : .foreign(SongIdentity(serverID: music.id.text, songID: id))
        }
    }

    /// One that holds nothing says nothing.
    var isListed: Bool { server.attached.contains { !$0.marks.book.starred(.song).isEmpty } }

    /// When the newest was starred.
    var lastModified: Int64 {
        let times = server.attached.map { music in
            music.marks.book.starred(.song).last.flatMap { music.marks.book[.song($0)]?.starred } ?? 0
        }
        return times.max() ?? 0
    }

    func content(for _: VirtualPlaylistUse, of _: Server) -> VirtualContent {
        let entries = entries
        return .made(cost: entries.count) { entries }
    }

    func editableEntries(of _: Server) -> [PlaylistEntry] { entries }

    func edit(_ edit: PlaylistEdit, of _: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        switch edit {
        case .insert(let entries, _):
            // Where they go is not for clients to say.
            var added: [(music: MusicServer, id: String)] = []
            for entry in entries {
                switch entry {
                case .song(let id): added.append((server.active, id))
                case .foreign(let song):
                    let music = server.attached.first { $0.id.text == song.serverID }
                    guard let music else { throw .notForServer }
                    added.append((music, song.songID))
                case .stream: throw .notForServer
                }
            }
            star(added, true, whenKept)
        case .remove(let range): star(Array(songs[range.clamped(to: 0..<songs.count)]), false, whenKept)
        case .replace(let entries) where entries.isEmpty: star(songs, false, whenKept)
        case .create, .replace, .move, .rename, .delete: throw .readOnly(.favorites)
        }
    }

    /// - Parameter whenKept: told once nothing of it can be lost any more.
    private func star(
        _ songs: [(music: MusicServer, id: String)],
        _ isStarred: Bool,
        _ whenKept: @escaping Store.WhenDone
    ) {
        let groups = server.attached.map { music in (music, songs.filter { $0.music === music }.map { $0.id }) }
            .filter { !$0.1.isEmpty }
        if groups.isEmpty { return whenKept(.success(())) }
        let whenKept = KeptParts(groups.count, whenKept).part
        for (music, ids) in groups { music.marks.star(ids.map { .song($0) }, isStarred, whenKept: whenKept) }
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
        if configuration.showsFavorites { playlists.add(virtual: FavoritesPlaylist(of: self)) }
        marks.showStars()
    }
}

extension MusicSource {
    /// Does at the server what stars and ratings need; until the task is cancelled.
    func keepMarks(_ home: MusicServer.Reference) async {
        await MarkCourier(client, log: log).work(for: home)
    }
}
