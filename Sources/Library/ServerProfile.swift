import MPDProtocol
import SubsonicKit

/// How a server hands out its library, found out by asking.
struct ServerProfile: Sendable, Hashable {
    /// The way to all songs.
    enum Plan: Sendable, Hashable {
        /// Pages of an empty search, spelt like this.
        case search(query: String)
        /// The list of albums, then each album.
        case crawl
    }

    /// A music folder that is fetched by itself.
    struct Root: Sendable, Hashable {
        /// Nil: everything at once.
        var id: String?
        var name: String
    }

    var server: ServerInfo
    var kind: ServerKind
    var plan: Plan
    var roots: [Root]
    /// The tags that songs are to have.
    var tags = TagMask.all

    /// How its songs become MPD's.
    var mapping: SongMapping { SongMapping(kind: kind, tags: tags) }

    /// Songs in one page: the most that no server rejects.
    var pageSize: Int { kind == .funkwhale ? 100 : 500 }

    /// Requests at once. supysonic sorts its whole table for each page, and LMS is fast only in order.
    var width: Int {
        switch plan {
        case .crawl: kind == .supysonic ? 2 : 4
        case .search:
            switch kind {
            case .navidrome: 4
            case .lms, .supysonic: 1
            default: 2
            }
        }
    }

    /// Pages under way at once. Where the server bears as many requests as the client lets through, two more stand ready to
    /// follow when one is answered.
    var pagesAtOnce: Int { width < SubsonicClient.slots ? width : width + 2 }

    /// Whether `getScanStatus` counts songs.
    var countsSongs: Bool { kind == .navidrome || kind == .gonic }
}

/// First contact with a server.
struct ServerProbe: Sendable {
    let call: SyncCaller
    /// Names or ids of the music folders that the user wants; empty for all.
    let wantedFolders: [String]
    let log: @Sendable (String) -> Void

    /// Folders are told apart by asking each; with more than this they are taken together.
    private static let mostFolders = 32

    /// Asks who it is, which music folders it has, and how it gives its songs.
    func profile() async throws(SubsonicError) -> ServerProfile {
        let server = try await call { (server) async throws(SubsonicError) in try await server.ping() }
        let kind = ServerKind(server)
        let plan = try await plan()
        let roots = try await roots(plan)
        return ServerProfile(server: server, kind: kind, plan: plan, roots: roots)
    }

    private func plan() async throws(SubsonicError) -> ServerProfile.Plan {
        for query in ["", "\"\""] {
            if try await firstSong(query: query, folder: nil) != nil { return .search(query: query) }
        }
        // Nothing found: an empty library, or one that cannot be searched like this.
        return try await firstAlbum(folder: nil) == nil ? .search(query: "") : .crawl
    }

    private func roots(_ plan: ServerProfile.Plan) async throws(SubsonicError) -> [ServerProfile.Root] {
        let all = [ServerProfile.Root(id: nil, name: "")]
        let listed = try await call.ifSupported { (server) async throws(SubsonicError) in
            try await server.musicFolders()
        }
        // Nextcloud's −1 and −2 are ways to look at one library.
        let folders = (listed ?? []).filter { !$0.id.hasPrefix("-") }
        let wanted = folders.filter { folder in
            wantedFolders.isEmpty || wantedFolders.contains(folder.id) || wantedFolders.contains(folder.name ?? "")
        }
        for name in wantedFolders where !folders.contains(where: { $0.id == name || $0.name == name }) {
            log("There is no music folder “\(name)”; the server has: \(folders.map { $0.name ?? $0.id })")
        }
        guard folders.count > 1, folders.count <= Self.mostFolders, !wanted.isEmpty else { return all }
        var firsts: [String: String] = [:]
        for folder in folders {
            let first: String? =
                switch plan {
                case .search(let query): try await firstSong(query: query, folder: folder.id)
                case .crawl: try await firstAlbum(folder: folder.id)
                }
            if let first { firsts[folder.id] = first }
        }
        if firsts.count > 1, Set(firsts.values).count == 1 {
            // The same song everywhere: the folder in the question is ignored.
            if !wantedFolders.isEmpty { log("The server does not tell its music folders apart; taking all of them") }
            return all
        }
        let filled = wanted.filter { firsts[$0.id] != nil }
        if firsts.count <= 1, wanted.count == folders.count { return all }
        return filled.map { ServerProfile.Root(id: $0.id, name: $0.name ?? $0.id) }
    }

    private func firstSong(query: String, folder: String?) async throws(SubsonicError) -> String? {
        let page = SearchPage(query: query, songs: 0..<1, musicFolder: folder)
        return try await call.ifSupported { (server) async throws(SubsonicError) in
            try await server.search3(page).songs.first?.id
        } ?? nil
    }

    private func firstAlbum(folder: String?) async throws(SubsonicError) -> String? {
        for type in [AlbumListType.newest, .alphabeticalByArtist] {
            let albums = try await call.ifSupported { (server) async throws(SubsonicError) in
                try await server.albumList2(type: type, size: 1, musicFolder: folder)
            }
            if let albums { return albums.first?.id }
        }
        return nil
    }
}
