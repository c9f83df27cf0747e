import Library

/// What a stored playlist holds at one position.
enum PlaylistEntry: Hashable, Sendable {
    /// A song of the library's server, by the server's id.
    case song(String)
    /// A song of a server that is not the library's.
    case foreign(SongIdentity)
    /// What is no server's at all.
    case stream(StreamSong)

    /// The server's id of the song, if it is one that the library's server could hold.
    var songID: String? { if case .song(let id) = self { id } else { nil } }
}

/// Names a stored playlist as long as the store lives, whatever it is called; never used twice.
struct PlaylistKey: Hashable, Sendable, Comparable {
    let rawValue: Int64

    static func < (a: PlaylistKey, b: PlaylistKey) -> Bool { a.rawValue < b.rawValue }
}

/// A stored playlist as clients see it.
struct StoredPlaylist: Sendable {
    let key: PlaylistKey
    /// Unique among all; see `PlaylistNames`.
    var name: String
    /// Unix time in seconds.
    var lastModified: Int64
    var entries: [PlaylistEntry]
}

/// All stored playlists at one moment: a value that any thread can read.
struct PlaylistBook: Sendable {
    private var playlists: [PlaylistKey: StoredPlaylist] = [:]
    private var keys: [String.UTF8Key: PlaylistKey] = [:]
    /// In the order of their names.
    private(set) var order: [PlaylistKey] = []
    /// How often something in it has changed.
    private(set) var version = 0

    init() {}

    /// The playlist with exactly this name.
    subscript(name: [UInt8]) -> StoredPlaylist? { keys[String.UTF8Key(name)].flatMap { playlists[$0] } }

    subscript(key: PlaylistKey) -> StoredPlaylist? { playlists[key] }

    /// All of them, in the order of their names.
    var all: some Sequence<StoredPlaylist> { order.lazy.compactMap { playlists[$0] } }

    /// Puts these in the place of all.
    init(_ all: [StoredPlaylist]) {
        for playlist in all { playlists[playlist.key] = playlist }
        index()
    }

    /// Adds one, or takes one out.
    mutating func set(_ key: PlaylistKey, _ playlist: StoredPlaylist?) {
        playlists[key] = playlist
        index()
    }

    /// Adds some, and gives some another name.
    mutating func add(_ new: [StoredPlaylist], names: [PlaylistKey: String]) {
        for playlist in new { playlists[playlist.key] = playlist }
        for (key, name) in names { playlists[key]?.name = name }
        index()
    }

    /// Changes the entries where they are.
    mutating func edit(_ key: PlaylistKey, _ body: (inout StoredPlaylist) -> Void) {
        guard playlists[key] != nil else { return }
        version += 1
        // Not by taking it out and putting it back, which would copy a long list.
        body(&playlists[key, default: StoredPlaylist(key: key, name: "", lastModified: 0, entries: [])])
    }

    private mutating func index() {
        version += 1
        order = playlists.values.sorted { ($0.name, $0.key) < ($1.name, $1.key) }.map(\.key)
        keys = Dictionary(playlists.values.map { (String.UTF8Key(Array($0.name.utf8)), $0.key) }) { $1 }
    }
}

extension String {
    /// A text by its bytes: `String` itself takes different spellings of a character for equal.
    struct UTF8Key: Hashable, Sendable {
        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        init(_ text: String) { bytes = Array(text.utf8) }
    }
}
