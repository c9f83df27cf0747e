/// The calls on playlists. How they differ between servers is the caller's matter.
extension SubsonicCalling {
    /// All playlists that the account can see, without their songs.
    public func playlists() async throws(SubsonicError) -> [Playlist] {
        let content = try await call("getPlaylists", []).content
        return content[.playlists]?[.playlist]?.list { Playlist($0, withEntries: false) } ?? []
    }

    /// One playlist with the ids of its songs. Throws error 70 if it is gone.
    public func playlistContent(id: String) async throws(SubsonicError) -> PlaylistContent? {
        try await call("getPlaylist", [("id", id)]).content[.playlist].flatMap(PlaylistContent.init)
    }

    /// Makes a playlist. Several servers do not say which: nil then.
    public func createPlaylist(
        name: String,
        songIDs: [String],
        post: Bool
    ) async throws(SubsonicError) -> Playlist? {
        let parameters = [("name", name)] + songIDs.map { ("songId", $0) }
        let content = try await call("createPlaylist", parameters, post: post).content
        return content[.playlist].flatMap { Playlist($0, withEntries: false) }
    }

    /// Puts other songs in the place of a playlist's present ones; most servers do.
    public func replacePlaylist(id: String, songIDs: [String], post: Bool) async throws(SubsonicError) {
        let parameters = [("playlistId", id)] + songIDs.map { ("songId", $0) }
        _ = try await call("createPlaylist", parameters, post: post)
    }

    /// Changes a playlist; what is nil or empty stays.
    public func updatePlaylist(
        id: String,
        _ update: PlaylistUpdate,
        post: Bool = false
    ) async throws(SubsonicError) {
        _ = try await call("updatePlaylist", [("playlistId", id)] + update.parameters, post: post)
    }

    /// Removes a playlist. Throws error 70 if it is gone.
    public func deletePlaylist(id: String) async throws(SubsonicError) {
        _ = try await call("deletePlaylist", [("id", id)])
    }
}

/// What one `updatePlaylist` changes.
public struct PlaylistUpdate: Sendable, Hashable {
    public var name: String?
    /// LMS takes any value for yes, and its absence for no.
    public var isPublic: Bool?
    /// Added at the end.
    public var addedSongIDs: [String] = []
    /// Positions before the call, each once and below the length: gonic does not check.
    public var removedPositions: [Int] = []

    public init(
        name: String? = nil,
        isPublic: Bool? = nil,
        addedSongIDs: [String] = [],
        removedPositions: [Int] = []
    ) {
        self.name = name
        self.isPublic = isPublic
        self.addedSongIDs = addedSongIDs
        self.removedPositions = removedPositions
    }

    var parameters: [(String, String)] {
        var list: [(String, String)] = []
        if let name { list.append(("name", name)) }
        if let isPublic { list.append(("public", isPublic ? "true" : "false")) }
        list += addedSongIDs.map { ("songIdToAdd", $0) }
        // Ampache drops a parameter that is "0", and reads "00" as 0, like everyone else.
        list += removedPositions.map { ("songIndexToRemove", $0 == 0 ? "00" : String($0)) }
        return list
    }
}

/// A playlist and the ids of its songs in order, with repetitions.
public struct PlaylistContent: Sendable, Hashable {
    /// Without `entries`.
    public var playlist: Playlist
    public var songIDs: [String]

    public init(playlist: Playlist, songIDs: [String]) {
        self.playlist = playlist
        self.songIDs = songIDs
    }

    /// Reads no more of a song than its id: a playlist of 20,000 is no rarity. Nil without an id of its own.
    public init?(_ json: JSON) {
        guard let playlist = Playlist(json, withEntries: false) else { return nil }
        let songIDs = json[.entry]?.elements.compactMap { $0[.id]?.filledText } ?? []
        self.init(playlist: playlist, songIDs: songIDs)
    }
}
