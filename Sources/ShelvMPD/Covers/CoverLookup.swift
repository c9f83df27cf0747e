import Library

/// Whose picture belongs to a path.
extension LibrarySnapshot {
    /// Songs that are looked at to find out whose folder it is.
    private static let songsLookedAt = 200

    /// A song's own picture, else that of its album.
    ///
    /// - Parameter asAlbum: whether the album's is wanted first, where there are both.
    func coverSources(of song: SongIndex, asAlbum: Bool = false) -> [CoverSource] {
        if let own = coverArt(song) { return asAlbum ? albumSources(of: song, own: own) : [.art(own)] }
        guard let album = albumID(song) else { return [] }
        for other in songs(in: directory(of: song)).prefix(Self.songsLookedAt) where albumID(other) == album {
            if let art = coverArt(other) { return [.art(art)] }
        }
        return []
    }

    /// What an album's picture is asked by, if its songs may have pictures of their own. Navidrome says `mf-` where there is
    /// one in the file, and knows the album's, which is that of the folder if it has one, as `al-` and the album's id.
    private func albumSources(of song: SongIndex, own: String) -> [CoverSource] {
        guard own.utf8.starts(with: "mf-".utf8), let album = albumID(song) else { return [.art(own)] }
        return [.art("al-\(album)"), .art(own)]
    }

    /// The picture of a folder: that of the artist, if it holds folders with several albums of one artist, else of an
    /// album in it.
    func coverSources(of directory: DirectoryIndex) -> [CoverSource] {
        guard directory != .root else { return [] }
        return coverSources(of: songs(below: directory), mayBeArtist: songs(in: directory).isEmpty)
    }

    /// - Parameter mayBeArtist: whether the artist's picture is wanted rather than an album's.
    func coverSources(of songs: SongSelection, mayBeArtist: Bool) -> [CoverSource] {
        var sources: [CoverSource] = []
        // Evenly spread, so that the albums of an artist are among them.
        let step = max(1, songs.count / Self.songsLookedAt)
        let some = stride(from: 0, to: songs.count, by: step).map { songs[$0] }
        if mayBeArtist, let first = some.first, let artist = artistID(first),
            some.allSatisfy({ artistID($0) == artist }), some.contains(where: { albumID($0) != albumID(first) })
        {
            sources.append(.artist(artist))
        }
        for song in some {
            guard let art = coverArt(song) else { continue }
            sources += albumSources(of: song, own: art)
            break
        }
        return sources
    }
}

extension Server {
    /// Who has pictures, and what those are there; of several servers the first one's, as they are of one thing.
    /// - Parameter owner: whose own library the sources are of; nil for the one that clients see.
    func covers(
        for sources: [CoverSource],
        of owner: MusicServer.Reference? = nil
    ) -> (covers: Covers, sources: [CoverSource])? {
        if let owner { return owner.find(in: self)?.covers.map { ($0, sources) } }
        let origins = sources.map { (source: $0, origin: library.origin(ofID: $0.id)) }
        let server = origins.first?.origin.serverID ?? library.info.serverID
        guard let covers = musicServer(id: server)?.covers else { return nil }
        return (covers, origins.filter { $0.origin.serverID == server }.map { $0.source.with(id: $0.origin.id) })
    }
}

extension ShelfCatalog {
    /// The picture of what stands on a shelf. Computes the shelf at the first look: not for the core then.
    /// - Parameter asAlbum: whether the album's is wanted rather than the song's own.
    func coverSources(of node: ShelfNode, asAlbum: Bool) -> [CoverSource] {
        switch node {
        case .song(let song): library.coverSources(of: song, asAlbum: asAlbum)
        case .album: library.coverSources(of: songs(below: node), mayBeArtist: false)
        case .artist: library.coverSources(of: songs(below: node), mayBeArtist: true)
        case .folder, .shelf(.radio): []
        case .radioArtist, .radio, .similar:
            radioSeed(adding: node).map { seed in
                library.coverSources(of: SongSelection([seed.song]), mayBeArtist: seed.isArtist)
            } ?? []
        case .shelf, .genre, .decade: library.coverSources(of: songs(below: node), mayBeArtist: false)
        }
    }
}
