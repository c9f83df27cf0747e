/// The calls that read a server's library. Each throws what `call` throws; a payload that is missing is an empty one,
/// because servers leave it out when there is nothing to say.
extension SubsonicCalling {
    /// Asks for nothing, to see who answers.
    public func ping() async throws(SubsonicError) -> ServerInfo {
        try await call("ping", []).server
    }

    /// The extensions of OpenSubsonic that the server has; older servers answer with an error, which means none.
    public func openSubsonicExtensions() async throws(SubsonicError) -> [ServerExtension] {
        let content = try await call("getOpenSubsonicExtensions", []).content
        return content[.openSubsonicExtensions]?.list(ServerExtension.init) ?? []
    }

    /// The account that asks.
    public func user(named name: String) async throws(SubsonicError) -> User {
        let content = try await call("getUser", [("username", name)]).content
        return content[.user].map(User.init) ?? User()
    }

    /// The roots of the library.
    public func musicFolders() async throws(SubsonicError) -> [MusicFolder] {
        let content = try await call("getMusicFolders", []).content
        return content[.musicFolders]?[.musicFolder]?.list(MusicFolder.init) ?? []
    }

    /// One page of a search.
    ///
    /// Counts of 0 leave a kind out, but Ampache takes them for 20: ignore what was not asked for.
    public func search3(_ search: SearchPage) async throws(SubsonicError) -> SearchResult {
        let content = try await call("search3", search.parameters).content
        return content[.searchResult3].map(SearchResult.init) ?? SearchResult()
    }

    /// The songs of one page of a search, read from the answer one after the other: a page of them takes far more memory
    /// than its text.
    public func songs(_ search: SearchPage) async throws(SubsonicError) -> SongList {
        let content = try await call("search3", search.parameters).content
        return SongList(content[.searchResult3]?[.song])
    }

    /// One page of the list of albums.
    public func albumList2(
        type: AlbumListType,
        size: Int,
        offset: Int = 0,
        musicFolder: String? = nil
    ) async throws(SubsonicError) -> [Album] {
        var parameters = [("type", type.rawValue), ("size", String(size)), ("offset", String(offset))]
        if let musicFolder { parameters.append(("musicFolderId", musicFolder)) }
        let content = try await call("getAlbumList2", parameters).content
        return content[.albumList2]?[.album]?.list(Album.init) ?? []
    }

    /// Everything the user has starred, in one answer.
    public func starred2(musicFolder: String? = nil) async throws(SubsonicError) -> SearchResult {
        let content = try await call("getStarred2", musicFolder.map { [("musicFolderId", $0)] } ?? []).content
        return content[.starred2].map(SearchResult.init) ?? SearchResult()
    }

    /// An artist with the albums. Throws error 70 if it is gone.
    public func artist(id: String) async throws(SubsonicError) -> Artist? {
        try await call("getArtist", [("id", id)]).content[.artist].flatMap(Artist.init)
    }

    /// An album with its songs. Throws error 70 if it is gone.
    public func album(id: String) async throws(SubsonicError) -> Album? {
        try await call("getAlbum", [("id", id)]).content[.album].flatMap(Album.init)
    }

    /// One song. Throws error 70 if it is gone.
    public func song(id: String) async throws(SubsonicError) -> Song? {
        try await call("getSong", [("id", id)]).content[.song].flatMap(Song.init)
    }

    /// All artists, in one answer; of 29,000 artists that is 8 MB.
    public func artists() async throws(SubsonicError) -> [Artist] {
        let content = try await call("getArtists", []).content
        return content[.artists].map(Indexes.artists(of:)) ?? []
    }

    /// The folders at the top; `isUnmodified` and without them if nothing changed since `modifiedSince` (milliseconds since
    /// 1970).
    ///
    /// - Note: Airsonic answers as if nothing had changed while it scans.
    public func indexes(modifiedSince: Int64? = nil) async throws(SubsonicError) -> Indexes {
        let parameters = modifiedSince.map { [("ifModifiedSince", String($0))] } ?? []
        let content = try await call("getIndexes", parameters).content
        var indexes = content[.indexes].map(Indexes.init) ?? Indexes()
        let isEmpty = content[.indexes].map { $0[.index] == nil && $0[.child] == nil } ?? true
        indexes.isUnmodified = modifiedSince != nil && isEmpty
        return indexes
    }

    /// What a folder holds. Throws error 70 if it is gone.
    public func musicDirectory(id: String) async throws(SubsonicError) -> Directory {
        let content = try await call("getMusicDirectory", [("id", id)]).content
        return content[.directory].map(Directory.init) ?? Directory()
    }

    /// Whether the server scans, and what it counted. Error 50 where only an administrator may ask.
    public func scanStatus() async throws(SubsonicError) -> ScanStatus {
        let content = try await call("getScanStatus", []).content
        return content[.scanStatus].map(ScanStatus.init) ?? ScanStatus()
    }

    /// Makes the server look for changed files; it answers before it is done. Error 50 for others than administrators.
    @discardableResult
    public func startScan() async throws(SubsonicError) -> ScanStatus {
        let content = try await call("startScan", []).content
        return content[.scanStatus].map(ScanStatus.init) ?? ScanStatus()
    }
}

/// The orders in which `getAlbumList2` lists albums, as far as they are used.
public enum AlbumListType: String, Sendable, CaseIterable {
    case alphabeticalByName, alphabeticalByArtist, newest, recent, frequent
    /// The highest rating first; on some servers that of the user, on others that of all.
    case highest
}

/// What one call of `search3` asks for.
public struct SearchPage: Sendable, Hashable {
    /// The text to search for; empty finds everything on most servers, two quotation marks on the others.
    public var query: String
    public var songs: Range<Int>
    public var albums: Range<Int>
    public var artists: Range<Int>
    public var musicFolder: String?

    /// The ranges are positions in the respective list of results; an empty range asks for none.
    public init(
        query: String,
        songs: Range<Int> = 0..<0,
        albums: Range<Int> = 0..<0,
        artists: Range<Int> = 0..<0,
        musicFolder: String? = nil
    ) {
        self.query = query
        self.songs = songs
        self.albums = albums
        self.artists = artists
        self.musicFolder = musicFolder
    }

    var parameters: [(String, String)] {
        var list = [("query", query)]
        for (kind, range) in [("song", songs), ("album", albums), ("artist", artists)] {
            list.append((kind + "Count", String(range.count)))
            list.append((kind + "Offset", String(range.lowerBound)))
        }
        if let musicFolder { list.append(("musicFolderId", musicFolder)) }
        return list
    }
}
