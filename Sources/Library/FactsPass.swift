import SubsonicKit

/// Fetches what songs take from their albums and artists, both at once.
struct FactsPass: Sendable {
    let call: SyncCaller
    let profile: ServerProfile

    /// Facts of all albums and artists; the albums' ids in order, with the numbers of their music folders.
    @concurrent
    func run() async throws -> (LibraryFacts, [(id: String, folder: Int)]) {
        async let artists = artists()
        var facts = LibraryFacts()
        var order: [(id: String, folder: Int)] = []
        for (folder, root) in profile.roots.enumerated() {
            for album in try await albums(in: root) where facts.albums[album.id] == nil {
                facts.albums[album.id] = AlbumFacts(album)
                order.append((album.id, folder))
            }
        }
        for artist in try await artists { facts.artists[artist.id] = ArtistFacts(artist) }
        return (facts, order)
    }

    private func albums(in root: ServerProfile.Root) async throws -> [Album] {
        guard case .search(let query) = profile.plan else { return try await listedAlbums(in: root) }
        return try await list { page in
            SearchPage(query: query, albums: page.offset..<page.offset + page.count, musicFolder: root.id)
        } take: {
            $0.albums
        } id: {
            $0.id
        }
    }

    /// Only OpenSubsonic servers tell more of artists than songs do.
    private func artists() async throws -> [Artist] {
        guard profile.server.isOpenSubsonic else { return [] }
        guard case .search(let query) = profile.plan else {
            return try await call.ifSupported { (server) async throws(SubsonicError) in try await server.artists() }
                ?? []
        }
        return try await list { page in
            SearchPage(query: query, artists: page.offset..<page.offset + page.count)
        } take: {
            $0.artists
        } id: {
            $0.id
        }
    }

    /// Everything of one kind by empty search.
    private func list<Item: Sendable>(
        _ page: @escaping @Sendable (PageCursor.Page) -> SearchPage,
        take: @escaping @Sendable (SearchResult) -> [Item],
        id: (Item) -> String
    ) async throws -> [Item] {
        let call = call
        let run = PageRun(width: profile.width) { (cursorPage) async throws(SubsonicError) -> [Item] in
            try await call { (server) async throws(SubsonicError) in try await take(server.search3(page(cursorPage))) }
        }
        return try await collect(run, id: id)
    }

    /// The list of albums in the first order that the server can give.
    private func listedAlbums(in root: ServerProfile.Root) async throws -> [Album] {
        var failure: SubsonicError?
        for type in AlbumListType.allCases {
            let call = call
            let run = PageRun(width: profile.width) { (page) async throws(SubsonicError) -> [Album] in
                try await call { (server) async throws(SubsonicError) in
                    try await server.albumList2(type: type, size: page.count, offset: page.offset, musicFolder: root.id)
                }
            }
            do {
                return try await collect(run) { $0.id }
            } catch let error as SubsonicError {
                guard !error.isCancellation, !error.isAuthentication else { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? SyncCaller.cancelled
    }

    private func collect<Item: Sendable>(
        _ run: PageRun<[Item], [Item]>,
        id: (Item) -> String
    ) async throws -> [Item] {
        var cursor = PageCursor(pageSize: profile.pageSize)
        var known: Set<String> = []
        var items: [Item] = []
        try await run.run(&cursor) { _, page in
            let before = items.count
            for item in page where known.insert(id(item)).inserted { items.append(item) }
            return (page.count, items.count - before)
        }
        return items
    }
}
