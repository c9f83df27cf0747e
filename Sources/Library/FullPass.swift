import SubsonicKit

/// Fetches a whole library once: albums and artists first, because songs take facts from them, then the songs into a spool.
struct FullPass {
    let call: SyncCaller
    let profile: ServerProfile
    /// Where the spool stands.
    let directory: String
    let serverID: String
    let log: @Sendable (String) -> Void
    /// How many songs are in, and how many there are to be, if that is known.
    let progress: @Sendable (_ songs: Int, _ expected: Int?) -> Void
    /// Work to be done beside the fetching, once so many songs are in; for showing what is there already.
    let beside: (_ spool: SongSpool, _ expected: Int?) -> (@Sendable () async -> Void)?

    /// What a pass brought.
    struct Outcome {
        var spool: SongSpool
        /// Songs that albums promise and nobody delivered.
        var missing: Int
        /// An album or folder vanished while it was walked, or the server's list repeats itself.
        var isDoubtful: Bool
    }

    /// - Parameter stamp: The server's state when the pass began; an interrupted pass of the same state goes on.
    mutating func run(stamp: SyncStamp) async throws -> Outcome {
        let (facts, albums) = try await FactsPass(call: call, profile: profile).run()
        let expected = Self.expected(facts)
        let state = stamp.encoded.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ";")
        var spool = try SongSpool(
            path: "\(directory)/sync-\(serverID).partial",
            // The number counts the forms in which songs stand in the file.
            purpose:
                "2 \(serverID) \(profile.kind) \(profile.plan) \(profile.tags) \(profile.roots.map { $0.id ?? "" }) \(state)"
        )
        if spool.songCount > 0 { log("Going on with \(spool.songCount) songs of an interrupted sync") }
        var isDoubtful = false
        switch profile.plan {
        case .search(let query):
            for folder in profile.roots.indices {
                let isRepeating = try await search(
                    query,
                    folder: folder,
                    facts: facts,
                    expected: expected,
                    into: &spool
                )
                isDoubtful = isDoubtful || isRepeating
            }
            // A page may have moved while it was asked for; what albums lack is asked for album by album.
            let short = facts.albums.filter { (spool.albumCounts[$0.key] ?? 0) < $0.value.songCount ?? 0 }.map(\.key)
            if !short.isEmpty, short.count <= max(200, facts.albums.count / 5) {
                log("\(short.count) albums lack songs; asking for each")
                let albums = short.sorted().map { (id: $0, folder: 0) }
                let isComplete = try await crawl(albums, facts: facts, expected: expected, into: &spool)
                isDoubtful = isDoubtful || !isComplete
            }
        case .crawl:
            let isComplete = try await crawl(albums, facts: facts, expected: expected, into: &spool)
            let isWalked = try await walkFolders(facts: facts, into: &spool)
            isDoubtful = !isComplete || !isWalked
        }
        progress(spool.songCount, expected)
        let counts = spool.albumCounts
        let missing = facts.albums.reduce(0) { $0 + max(0, ($1.value.songCount ?? 0) - (counts[$1.key] ?? 0)) }
        return Outcome(spool: spool, missing: missing, isDoubtful: isDoubtful)
    }

    private static func expected(_ facts: LibraryFacts) -> Int? {
        let counts = facts.albums.values.compactMap(\.songCount)
        return counts.isEmpty ? nil : counts.reduce(0, +)
    }

    // MARK: Songs

    /// The songs of one music folder by empty search. True if the server repeats itself.
    private func search(
        _ query: String,
        folder: Int,
        facts: LibraryFacts,
        expected: Int?,
        into spool: inout SongSpool
    ) async throws -> Bool {
        // With several music folders it is not known how many songs each has.
        var cursor = PageCursor(pageSize: profile.pageSize, expected: profile.roots.count == 1 ? expected : nil)
        cursor.resume(
            after: spool.keys.compactMap { PageKey($0) }.filter { $0.folder == folder }.map { ($0.page, $0.items) }
        )
        let call = call
        let root = profile.roots[folder].id
        let mapping = profile.mapping
        let run = PageRun(width: profile.pagesAtOnce) { (page) async throws(SubsonicError) -> SongList in
            let asked = SearchPage(query: query, songs: page.offset..<page.offset + page.count, musicFolder: root)
            return try await call { (server) async throws(SubsonicError) in try await server.songs(asked) }
        } read: { (page, songs) -> SpoolBlock in
            var block = mapping.block(key: "", songs: songs, folder: folder, facts: facts)
            block.key = PageKey(folder: folder, page: page, items: block.entries.count).text
            return block
        }
        try await run.run(&cursor) { _, block in
            let new = try spool.append(block)
            progress(spool.songCount, expected)
            return (block.entries.count, new)
        } beside: {
            beside(spool, expected)
        }
        return cursor.isRepeating
    }

    /// The songs of each album. False if one was gone.
    private func crawl(
        _ albums: [(id: String, folder: Int)],
        facts: LibraryFacts,
        expected: Int?,
        into spool: inout SongSpool
    ) async throws -> Bool {
        let done = Set(spool.keys)
        let wanted = albums.filter { !done.contains("album \($0.id)") }
        let call = call
        let mapping = profile.mapping
        var isComplete = true
        // One album is one page of one item.
        var cursor = PageCursor(pageSize: 1)
        let run = PageRun(width: profile.pagesAtOnce) { (page) async throws(SubsonicError) -> [Song]? in
            guard wanted.indices.contains(page.offset) else { return [] }
            let id = wanted[page.offset].id
            do throws(SubsonicError) {
                let album = try await call { (server) async throws(SubsonicError) in try await server.album(id: id) }
                return album?.songs ?? []
            } catch {
                // Gone since it was listed.
                if error.serverCode == 70 { return nil }
                throw error
            }
        } read: { (page, songs) -> SpoolBlock? in
            guard wanted.indices.contains(page.offset), let songs else { return nil }
            let (id, folder) = wanted[page.offset]
            return mapping.block(key: "album \(id)", songs: songs, folder: folder, facts: facts)
        }
        try await run.run(&cursor) { page, block in
            guard wanted.indices.contains(page.offset) else { return (0, 0) }
            guard let block else {
                isComplete = false
                return (1, 1)
            }
            try spool.append(block)
            progress(spool.songCount, expected)
            return (1, 1)
        } beside: {
            beside(spool, expected)
        }
        return isComplete
    }

    /// Songs outside of all albums: they stand at the top of the folders where there are any, and then in folders too.
    /// False if a folder was gone.
    private func walkFolders(facts: LibraryFacts, into spool: inout SongSpool) async throws -> Bool {
        let top = try await call.ifSupported { (server) async throws(SubsonicError) in try await server.indexes() }
        guard let top, !top.songs.isEmpty else { return true }
        let mapping = profile.mapping
        try spool.append(mapping.block(key: "folders", songs: top.songs, folder: 0, facts: facts))
        var waiting = top.folders.map(\.id)
        var seen = Set(waiting)
        var isComplete = true
        while let id = waiting.popLast() {
            let directory = try await call.ifSupported { (server) async throws(SubsonicError) in
                try await server.musicDirectory(id: id)
            }
            guard let directory else {
                isComplete = false
                continue
            }
            for folder in directory.folders where seen.insert(folder).inserted { waiting.append(folder) }
            try spool.append(mapping.block(key: "folder \(id)", songs: directory.songs, folder: 0, facts: facts))
        }
        return isComplete
    }

    /// What a spool's frame of a search page is called.
    private struct PageKey {
        var folder: Int
        var page: PageCursor.Page
        var items: Int

        init(folder: Int, page: PageCursor.Page, items: Int) {
            self.folder = folder
            self.page = page
            self.items = items
        }

        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count == 5, words[0] == "songs" else { return nil }
            let numbers = words.dropFirst().compactMap { Int($0) }
            guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 && $0 < 1 << 40 }) else { return nil }
            self.init(folder: numbers[0], page: .init(offset: numbers[1], count: numbers[2]), items: numbers[3])
        }

        var text: String { "songs \(folder) \(page.offset) \(page.count) \(items)" }
    }
}
