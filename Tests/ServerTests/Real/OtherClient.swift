import SubsonicKit
import Support
import Testing

/// Another client of a Subsonic server: curl.
struct OtherClient {
    var url: String
    var user: String
    var password: String

    /// What the server answers.
    /// - Throws: when it does not, or refuses.
    @discardableResult
    func call(_ method: String, _ parameters: [(String, String)] = []) throws -> Envelope {
        var words = ["curl", "-sS", "--get", "\(url)/rest/\(method).view"]
        let all = [("u", user), ("p", password), ("v", "1.12.0"), ("c", "other"), ("f", "json")] + parameters
        for (name, value) in all { words += ["--data-urlencode", "\(name)=\(value)"] }
        let result = try #require(TestProcess.run(words))
        let envelope = try Envelope(Array(result.output.utf8))
        if let failure = envelope.failure { throw RealFailure("\(method): \(failure)") }
        return envelope
    }

    /// Titles of the songs in all playlists, as `name: title|title`.
    func playlists() throws -> [String] {
        let heads = try call("getPlaylists").content[.playlists]?[.playlist]?.elements.compactMap { Playlist($0) } ?? []
        return try heads.map { head in
            let list = try call("getPlaylist", [("id", head.id)]).content[.playlist].flatMap { Playlist($0) }
            return "\(head.name ?? ""): \((list?.entries.map { $0.title ?? "" } ?? []).joined(separator: "|"))"
        }.sorted()
    }

    /// The id of the playlist with this name.
    func id(of name: String) throws -> String {
        let heads = try call("getPlaylists").content[.playlists]?[.playlist]?.elements.compactMap { Playlist($0) } ?? []
        return try #require(heads.first { $0.name == name }?.id)
    }
}

extension OtherClient {
    /// What is starred: titles of songs, names of albums and artists.
    func stars() throws -> Set<String> {
        let starred = try call("getStarred2").content[.starred2].map { SearchResult($0) } ?? SearchResult()
        return Set(
            starred.songs.compactMap(\.title) + starred.albums.compactMap(\.name) + starred.artists.compactMap(\.name)
        )
    }

    /// How many songs are starred.
    func starredSongs() throws -> Int {
        try call("getStarred2").content[.starred2].map { SearchResult($0).songs.count } ?? 0
    }

    /// The song with this title.
    func song(_ title: String) throws -> Song {
        let found = try call("search3", [("query", title), ("songCount", "50")]).content[.searchResult3]
        let songs = found.map { SearchResult($0).songs } ?? []
        return try #require(songs.first { $0.title == title })
    }

    /// The rating of a song, 0 for none.
    func rating(_ id: String) throws -> Int {
        try call("getSong", [("id", id)]).content[.song].flatMap { Song($0) }?.userRating ?? 0
    }
}

/// The program in front of a server that nobody else uses, synced, and another client of that server.
struct RealStage<Server> {
    let server: Server
    let other: OtherClient
    let instance: RealInstance
    /// How many songs the server has.
    let songs: Int

    private init(_ server: Server, url: String, user: String, password: String, songs: Int, options: String) throws {
        self.server = server
        self.songs = songs
        other = OtherClient(url: url, user: user, password: password)
        instance = try RealInstance(url: url, user: user, password: password) { _ in options + RealInstance.silence }
        try instance.startAndSync(songs: songs)
    }
}

extension RealStage<SupysonicServer> {
    static var needs: Comment { "supysonic, gunicorn or ffmpeg is not installed" }

    /// With supysonic and the tone library.
    /// - Parameter options: lines of the configuration.
    init(_ library: ToneLibrary, options: String = "") throws {
        let server = try #require(SupysonicServer(music: library.path))
        do {
            try self.init(
                server,
                url: server.url,
                user: server.user,
                password: server.password,
                songs: library.songs.count,
                options: options
            )
        } catch {
            server.stop()
            throw error
        }
    }
}

extension RealStage<SyntheticServer> {
    static var needs: Comment { "there are no tools in SHELV_SHARED or ../shared" }

    /// With a synthetic server that has the habits of a real one.
    /// - Parameters:
    ///   - arguments: further ones of the server.
    ///   - options: lines of the configuration.
    init(profile: String, _ arguments: [String], options: String = "") throws {
        let server = try #require(SyntheticServer(["--profile", profile] + arguments))
        do {
            try self.init(
                server,
                url: server.url,
                user: "test",
                password: "test",
                songs: server.songs,
                options: options
            )
        } catch {
            server.stop()
            throw error
        }
    }
}
