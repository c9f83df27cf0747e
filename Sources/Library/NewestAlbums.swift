import SubsonicKit

/// Finds what was added to a server since the last sync: a page of its newest albums, and each album that has other
/// songs than we know.
struct NewestAlbums {
    let call: SyncCaller
    let profile: ServerProfile
    let former: LibrarySnapshot

    /// What was found.
    enum Finding {
        /// Only a full pass can tell.
        case unclear(String)
        /// The albums with news; none if the newest albums are as they were.
        case albums([LibraryAddition.AlbumSongs])
    }

    /// The first page is small, because mostly nothing or one album is new.
    private static let firstPage = 20
    /// Albums to be asked for one by one; with more than this a full pass takes less.
    private static let mostAlbums = 60
    /// Artists to be asked for; the sort names of the others come with the next full pass.
    private static let mostArtists = 40

    /// Asks for the newest albums, until a page holds none that is new or changed.
    func find() async throws -> Finding {
        let known = knownSongs()
        let addition = LibraryAddition(former: former)
        var found: [LibraryAddition.AlbumSongs] = []
        var artists: [String: ArtistFacts] = [:]
        var asked: Set<String> = []
        for (folder, root) in profile.roots.enumerated() {
            var offset = 0
            while true {
                let size = offset == 0 ? Self.firstPage : 500
                let start = offset
                let page = try await call.ifSupported { (server) async throws(SubsonicError) in
                    try await server.albumList2(type: .newest, size: size, offset: start, musicFolder: root.id)
                }
                guard let page else { return .unclear("it has no list of its newest albums") }
                var hasNews = false
                for album in page where album.songCount.map({ $0 != known[album.id]?.count ?? 0 }) ?? true {
                    guard asked.insert(album.id).inserted else { continue }
                    if asked.count > Self.mostAlbums { return .unclear("much is new") }
                    guard let songs = try await songs(of: album.id, folder: folder, &artists) else { continue }
                    switch addition.news(songs, known: known[album.id] ?? []) {
                    case .nothing: break
                    case .unclear: return .unclear("songs have left an album or have moved")
                    case .songs:
                        hasNews = true
                        found.append(songs)
                    }
                }
                if !hasNews || page.isEmpty { break }
                offset += page.count
            }
        }
        return .albums(found)
    }

    private func knownSongs() -> [String: [SongIndex]] {
        var songs: [String: [SongIndex]] = [:]
        for place in 0..<former.songCount {
            if let album = former.albumID(SongIndex(place)) { songs[album, default: []].append(SongIndex(place)) }
        }
        return songs
    }

    /// The songs of an album, mapped as a full pass would map them. Nil if it is gone.
    private func songs(
        of albumID: String,
        folder: Int,
        _ artists: inout [String: ArtistFacts]
    ) async throws(SubsonicError) -> LibraryAddition.AlbumSongs? {
        let album: Album?
        do throws(SubsonicError) {
            album = try await call { (server) async throws(SubsonicError) in try await server.album(id: albumID) }
        } catch {
            if error.serverCode == 70 { return nil }
            throw error
        }
        guard let album else { return nil }
        var facts = LibraryFacts()
        facts.albums[album.id] = AlbumFacts(album)
        // Only OpenSubsonic servers tell more of artists than songs do.
        if profile.server.isOpenSubsonic {
            for id in Set(album.songs.flatMap(Self.artistIDs)).sorted()
            where artists[id] == nil && artists.count < Self.mostArtists {
                let artist = try await call.ifSupported { (server) async throws(SubsonicError) in
                    try await server.artist(id: id)
                }
                if let artist = artist ?? nil { artists[id] = ArtistFacts(artist) }
            }
        }
        facts.artists = artists
        let mapping = profile.mapping
        return LibraryAddition.AlbumSongs(
            albumID: albumID,
            songs: album.songs.map { mapping.spooled($0, folder: folder, facts: facts) }
        )
    }

    private static func artistIDs(_ song: Song) -> [String] {
        let references = (song.artists ?? []) + (song.albumArtists ?? []) + (song.contributors ?? []).map(\.artist)
        return references.compactMap(\.id)
    }
}
