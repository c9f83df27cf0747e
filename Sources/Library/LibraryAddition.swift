import MPDProtocol

/// Makes a library of the former one and the songs of a few albums, without reading all of the server's.
struct LibraryAddition {
    let former: LibrarySnapshot

    /// The songs of an album as the server has them now.
    struct AlbumSongs: Sendable {
        var albumID: String
        var songs: [SpooledSong]
    }

    /// What an album brings that the former library does not have.
    enum News: Equatable {
        case nothing
        case songs
        /// Songs have left the album, or the server's paths have changed their form: only a full pass can tell.
        case unclear
    }

    /// Compares one album with the former library.
    /// - Parameter known: the songs of the album in the former library.
    func news(_ album: AlbumSongs, known: [SongIndex]) -> News {
        let ids = Set(album.songs.map(\.record.songID))
        guard known.allSatisfy({ ids.contains(former.songID($0)) }) else { return .unclear }
        var news = News.nothing
        for song in album.songs {
            guard let index = former.song(id: song.record.songID) else {
                if plainURI(song).map({ isFree($0) }) != true { return .unclear }
                news = .songs
                continue
            }
            var record = song.record
            record.uri = String(decoding: former.uri(index), as: UTF8.self)
            if record != former.record(index) { news = .songs }
        }
        return news
    }

    /// Adds albums whose news are `.songs`. Nil if that is not as simple as it seemed.
    ///
    /// - Parameters:
    ///   - info: What the library will say of itself; what the former one remembers of URIs is added.
    ///   - file: Where the image goes; nil for one in memory.
    /// - Throws: `LibraryError`; `CancellationError` when the task is cancelled.
    @concurrent
    func build(_ albums: [AlbumSongs], info: LibraryInfo, file: String?) async throws -> LibrarySnapshot? {
        var news: [String: SongRecord] = [:]
        for song in albums.lazy.flatMap(\.songs) {
            var record = song.record
            if let index = former.song(id: record.songID) {
                // Where a known song has moved is seen by a full pass.
                record.uri = String(decoding: former.uri(index), as: UTF8.self)
            } else {
                guard let uri = plainURI(song) else { return nil }
                record.uri = uri
            }
            news[record.songID] = record
        }
        guard Set(news.values.map { Array($0.uri.utf8) }).count == news.count else { return nil }
        var builder = LibraryBuilder()
        for place in 0..<former.songCount {
            if place % 4096 == 0 { try Task.checkCancellation() }
            let song = SongIndex(place)
            let record = news.removeValue(forKey: former.songID(song)) ?? former.record(song)
            if !builder.add(record) { return nil }
        }
        for record in news.values.sorted(by: { $0.songID < $1.songID }) where !builder.add(record) { return nil }
        for (uri, song) in former.formerURIs { builder.addAlias(uri: uri, songID: former.songID(song)) }
        var info = info
        for (key, value) in former.info.syncState where key.hasPrefix("rule.") || key == "ids" {
            info.syncState[key] = value
        }
        return try builder.build(info: info, file: file)
    }

    private var rule: PathRule? { PathRule(former.info.syncState) }

    private func plainURI(_ song: SpooledSong) -> String? {
        guard let rule, song.folder < max(rule.prefixes.count, 1) else { return nil }
        if song.folder < rule.prefixes.count, !song.path.utf8.starts(with: rule.prefixes[song.folder].utf8) {
            return nil
        }
        return rule.uri(path: song.path, folder: song.folder)
    }

    /// Whether no song and no directory has this URI, and no song stands where it has a directory.
    private func isFree(_ uri: String) -> Bool {
        guard former.bearer(of: uri) == nil, former.directory(path: uri) == nil else { return false }
        var rest = uri[...]
        while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            if former.bearer(of: String(rest)) != nil { return false }
        }
        return true
    }
}
