import MPDProtocol

/// Which albums stand on which shelf, by their numbers.
struct ShelfContent: Sendable {
    /// Newest first.
    let added: [UInt32]
    let recent: [UInt32]
    let frequent: [UInt32]
    let random: [UInt32]
    let starredAlbums: [UInt32]
    /// Folder names.
    let starredArtists: [[UInt8]]
    /// In database order.
    let starredSongs: [UInt32]
    /// Folder names, in the order of directories.
    let genres: [[UInt8]]
    /// First years, the latest first.
    let decades: [UInt16]

    init(_ library: LibrarySnapshot, _ table: AlbumTable, _ lists: ShelfLists) {
        let albums = 0..<UInt32(table.count)
        let songs = library.songs
        let times = albums.map { album in table.songs(of: album).reduce(0) { max($0, songs.added[Int($1)]) } }
        added = albums.filter { times[Int($0)] > 0 }
            .sorted { times[Int($0)] == times[Int($1)] ? $0 < $1 : times[Int($0)] > times[Int($1)] }
            .prefix(Shelf.size).map { $0 }

        var wanted = Set(lists.recentlyPlayed)
        wanted.formUnion(lists.frequentlyPlayed)
        wanted.formUnion(lists.starredAlbums)
        var byID: [String: UInt32] = [:]
        if !wanted.isEmpty {
            for album in albums {
                guard let first = table.songs(of: album).first, let id = library.albumID(SongIndex(rawValue: first))
                else { continue }
                if wanted.contains(id) { byID[id] = album }
            }
        }
        recent = Self.distinct(lists.recentlyPlayed, byID)
        frequent = Self.distinct(lists.frequentlyPlayed, byID)
        starredAlbums = Self.distinct(lists.starredAlbums, byID).sorted()

        // The albums with the smallest lots: the same as long as the draw and the library are.
        let lots = albums.map { album in
            var lot: UInt64 = lists.draw &+ 0x9E37_79B9_7F4A_7C15
            for byte in table.name(of: album) { lot = (lot ^ UInt64(byte)) &* 0x100_0000_01B3 }
            lot = (lot ^ lot >> 30) &* 0xBF58_476D_1CE4_E5B9
            return (lot ^ lot >> 27) &* 0x94D0_49BB_1331_11EB
        }
        random = albums.sorted { lots[Int($0)] < lots[Int($1)] }.prefix(Shelf.size).map { $0 }

        starredSongs = lists.starredSongs.compactMap { library.song(id: $0)?.rawValue }.sorted()
        starredArtists = Self.ordered(lists.starredArtists.map { name in name.withView { Self.folderName($0) } })
        genres = Self.ordered(
            library.indexes[Int(Tag.genre.rawValue)].map { index in
                index.values.map { Self.folderName(library.values[Int($0)]) }
            } ?? []
        )
        decades = Set(table.decades).subtracting([0]).sorted(by: >)
    }

    /// What the folder of a genre or an artist is called.
    static func folderName(_ value: ByteView) -> [UInt8] { Array((PathSegment.safe(value.string) ?? "_").utf8) }

    private static func distinct(_ ids: [String], _ albums: [String: UInt32]) -> [UInt32] {
        var seen = Set<UInt32>()
        return ids.compactMap { albums[$0] }.filter { seen.insert($0).inserted }
    }

    /// Without repetitions, as MPD orders directories.
    static func ordered(_ names: [[UInt8]]) -> [[UInt8]] {
        let distinct = Array(Set(names))
        let collation = Collation()
        var keys = CollationKeys()
        for name in distinct { name.withView { keys.add($0, collation) } }
        let order = distinct.indices.sorted { a, b in
            let order = keys.compare(a, b)
            return order == 0 ? distinct[a].lexicographicallyPrecedes(distinct[b]) : order < 0
        }
        return order.map { distinct[$0] }
    }
}
