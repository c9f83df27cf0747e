import Library

/// The shelves as the core shows them. What of them changes with time changes here.
struct ShelfKeeper {
    private var catalog: ShelfCatalog
    /// Whether there is a folder of shelves; the mixes are made of them in any case.
    private let isShown: Bool
    private var drawn = Instant.now
    /// Chooses what Random holds.
    private let chance: @Sendable () -> UInt64

    /// How long Random stays as it is.
    private static let drawInterval = Duration.seconds(3600)

    /// - Parameter lists: what the server has told.
    init(
        _ library: LibrarySnapshot,
        _ lists: ShelfLists,
        isShown: Bool = true,
        chance: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.chance = chance
        self.isShown = isShown
        var lists = lists
        lists.draw = chance()
        catalog = ShelfCatalog(library, lists)
    }

    /// The shelves of this moment; nil if there are none.
    mutating func current(at now: Instant) -> ShelfCatalog? { isShown ? catalog(at: now) : nil }

    /// What shelves would hold at this moment, whether they are shown or not.
    mutating func catalog(at now: Instant) -> ShelfCatalog {
        if now >= drawn.advanced(by: Self.drawInterval) { draw(at: now) }
        return catalog
    }

    /// Puts other albums on the shelf Random.
    mutating func draw(at now: Instant) {
        drawn = now
        var lists = catalog.lists
        lists.draw = chance()
        catalog = catalog.with(lists)
    }

    /// Puts these on the shelf of favourites: ids, of artists names.
    mutating func star(songs: [String], albums: [String], artists: [String]) {
        var lists = catalog.lists
        lists.starredSongs = songs
        lists.starredAlbums = albums
        lists.starredArtists = artists
        if lists != catalog.lists { self.catalog = catalog.with(lists) }
    }

    /// Takes over what the server told, but for what is starred. Returns whether something differs.
    mutating func take(_ lists: ShelfLists) -> Bool {
        var lists = lists
        lists.draw = catalog.lists.draw
        lists.hasFavorites = catalog.lists.hasFavorites
        lists.starredSongs = catalog.lists.starredSongs
        lists.starredAlbums = catalog.lists.starredAlbums
        lists.starredArtists = catalog.lists.starredArtists
        if lists == catalog.lists { return false }
        catalog = catalog.with(lists)
        return true
    }

    /// Follows the library. Returns what is to be made ready off the core, if somebody uses the shelves.
    mutating func follow(_ library: LibrarySnapshot) -> ShelfCatalog? {
        let wasReady = catalog.isReady
        catalog = catalog.following(library)
        return wasReady ? catalog : nil
    }
}
