/// One import under way.
struct ImportWork {
    let connection: ServerConnection
    let console: Console
    let collection: OldCollection
    let matcher: SongMatcher
    /// Whether the server shows what is starred as a playlist.
    let hasFavorites: Bool
    /// Whether nothing is to be changed.
    let isDry: Bool
    /// What could not be taken over, but for songs that are not here.
    var failures = 0
    private var found: [String: SongMatcher.Match?] = [:]

    init(
        connection: ServerConnection,
        console: Console,
        collection: OldCollection,
        matcher: SongMatcher,
        hasFavorites: Bool,
        isDry: Bool
    ) {
        self.connection = connection
        self.console = console
        self.collection = collection
        self.matcher = matcher
        self.hasFavorites = hasFavorites
        self.isDry = isDry
    }

    // MARK: Playlists

    mutating func takePlaylists() throws {
        let present = try playlistNames()
        for playlist in collection.playlists {
            let name = playlist.name
            let isFavorites = isFavorites(name)
            if present.contains(name), !isFavorites {
                console.write("Playlist \(name): there is one already, it stays\n")
            } else if playlist.songs.isEmpty {
                console.write("Playlist \(name): it is empty, so there is none here\n")
            } else if !PlaylistNames.isValid(Array(name.utf8)) {
                fail("Playlist \(name): none can be called so here")
            } else {
                try take(playlist, isFavorites: isFavorites)
            }
        }
    }

    /// The names of the playlists that are there.
    func playlistNames() throws(ServerConnectionError) -> Set<String> {
        let pairs = try connection.ask("listplaylists").compactMap(ServerConnection.pair)
        return Set(pairs.filter { $0.0 == "playlist" }.map(\.1))
    }

    /// Whether a playlist is that of what is starred: adding stars.
    func isFavorites(_ name: String) -> Bool { hasFavorites && name == FavoritesPlaylist.title }

    private mutating func take(_ playlist: OldCollection.Playlist, isFavorites: Bool) throws {
        var uris = playlist.songs.compactMap { address(of: $0) }
        let all = uris.count
        if isFavorites {
            let starred = try connection.ask("listplaylist \(ServerConnection.quoted(playlist.name))")
            var seen = Set(starred.compactMap(ServerConnection.pair).map(\.1))
            uris = uris.filter { seen.insert($0).inserted }
        }
        let kept = all - uris.count
        if isFavorites {
            for uri in uris where uri.contains("://") { fail("\(uri): only songs of the server can be starred") }
            uris.removeAll { $0.contains("://") }
        }
        let count = try fill(playlist.name, uris)
        console.write("Playlist \(playlist.name): \(count) of \(playlist.songs.count) songs \(done)")
        console.write(kept > 0 ? "; \(kept) were there already\n" : "\n")
    }

    /// Makes a playlist; returns how many entries it has got.
    ///
    /// A URL goes first and the songs before it are put before it: only a list that begins with one is kept here, where URLs
    /// may stand.
    private mutating func fill(_ name: String, _ uris: [String]) throws -> Int {
        let first = uris.firstIndex { $0.contains("://") } ?? 0
        let order = uris.isEmpty ? [] : [first] + (0..<first) + ((first + 1)..<uris.count)
        var count = 0
        var before = 0
        for index in order {
            let place = index < first ? " \(before)" : ""
            let words = "playlistadd \(ServerConnection.quoted(name)) \(ServerConnection.quoted(uris[index]))\(place)"
            guard try tells(words, uris[index]) else { continue }
            count += 1
            if index < first { before += 1 }
        }
        return count
    }

    // MARK: The end

    /// How songs were found, and which were not.
    func conclude() {
        for way in SongMatcher.Way.allCases {
            let count = found.values.count { $0?.way == way }
            if count > 0 { console.write("\(Self.songs(count)) found by: \(way.rawValue)\n") }
        }
        let missing = found.filter { $0.value == nil }.keys.sorted()
        if !missing.isEmpty {
            console.write("\(Self.songs(missing.count)) not found:\n")
            for uri in missing { console.write("  \(uri)\n") }
        }
        if failures > 0 { console.complain("Not taken over: \(failures), see above\n") }
    }

    private static func songs(_ count: Int) -> String { count == 1 ? "1 song" : "\(count) songs" }

    // MARK: Steps

    var done: String { isDry ? "would be taken over" : "taken over" }

    mutating func match(_ song: OldSong) -> SongMatcher.Match? {
        if let known = found[song.uri] { return known }
        let match = matcher.match(collection.known(song))
        found[song.uri] = .some(match)
        return match
    }

    /// What to add for it: our song, or the same URL.
    mutating func address(of song: OldSong) -> String? {
        song.uri.contains("://") ? song.uri : match(song)?.uri
    }

    /// Tells of something that is lost.
    mutating func fail(_ message: String) {
        failures += 1
        console.complain("\(message)\n")
    }

    /// Whether a command was, or would be, carried out.
    mutating func tells(_ command: String, _ subject: String) throws(ServerConnectionError) -> Bool {
        try reply(to: command, subject) != nil
    }

    /// The reply to a command, without lines where nothing is to be changed; nil where it is refused.
    /// - Throws: where the server cannot be asked any more.
    mutating func reply(to command: String, _ subject: String) throws(ServerConnectionError) -> [[UInt8]]? {
        do throws(ServerConnectionError) {
            if !isDry { return try connection.ask(command) }
            try ServerConnection.check(command)
            return []
        } catch {
            guard error.isRefusal else { throw error }
            fail("\(subject): \(error)")
            return nil
        }
    }
}
