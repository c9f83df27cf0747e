/// The virtual folder beside the tree, and what stands in it: Docs/mapping.md, “Shelves”.
public enum Shelf: String, Sendable, CaseIterable {
    case recentlyAdded = "Recently Added"
    case recentlyPlayed = "Recently Played"
    case frequentlyPlayed = "Frequently Played"
    case random = "Random"
    case favorites = "Favorites"
    case genres = "Genres"
    case decades = "Decades"
    case radio = "Radio"

    /// The name of the folder. No directory of a server is called so: `PathRule` gives it another name.
    public static let folder = "Shelves"

    /// Albums on a shelf that has no natural end.
    public static let size = 100

    /// The shelf whose path, or a path below it, this is.
    public init?(path: [UInt8]) {
        guard Self.contains(path: path) else { return nil }
        let rest = path.dropFirst(Self.folder.utf8.count + 1)
        guard let name = rest.split(separator: UInt8(ascii: "/")).first else { return nil }
        self.init(rawValue: String(decoding: name, as: UTF8.self))
    }

    /// Whether a path is the folder's or lies in it.
    public static func contains(path: some Collection<UInt8>) -> Bool {
        guard path.starts(with: folder.utf8) else { return false }
        let rest = path.dropFirst(folder.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }

    /// The same for bytes that somebody else keeps.
    static func contains(path: ByteView) -> Bool {
        folder.withView { path.hasPrefix($0) && (path.count == $0.count || path[$0.count] == UInt8(ascii: "/")) }
    }

    /// A URI that would lie in the folder, led past it.
    static func avoiding(_ uri: String) -> String {
        contains(path: uri.utf8) ? folder + "_" + uri.dropFirst(folder.count) : uri
    }
}

/// What the shelves take from the server, by its ids, and what chance has drawn.
public struct ShelfLists: Sendable, Hashable {
    /// Albums, the last one played first.
    public var recentlyPlayed: [String] = []
    /// Albums, the most played first.
    public var frequentlyPlayed: [String] = []
    /// In any order, as what else is starred; it is not kept with the other lists.
    public var starredAlbums: [String] = []
    /// Names, as album artists bear them.
    public var starredArtists: [String] = []
    public var starredSongs: [String] = []
    /// Whether there is a shelf of what is starred.
    public var hasFavorites = true
    /// Decides which albums are on the shelf Random; another number draws others.
    public var draw: UInt64 = 0

    public init() {}

    /// Reads what `encoded` made; what is missing is empty.
    public init(encoded: String) {
        let lists = encoded.split(separator: "\u{1D}", omittingEmptySubsequences: false).map { list in
            list.split(separator: "\u{1E}").map { String($0) }
        }
        guard lists.count >= 2 else { return }
        recentlyPlayed = lists[0]
        frequentlyPlayed = lists[1]
    }

    /// A text that is kept with the library; without what is kept elsewhere, and the draw, which each run makes anew.
    public var encoded: String {
        [recentlyPlayed, frequentlyPlayed]
            .map { $0.joined(separator: "\u{1E}") }.joined(separator: "\u{1D}")
    }
}
