/// A list of songs that the server keeps.
public struct Playlist: Sendable, Hashable {
    /// Never empty.
    public var id: String
    public var name: String?
    public var comment: String?
    public var owner: String?
    public var isPublic: Bool?
    public var songCount: Int?
    public var duration: Duration?
    /// Unix time in seconds, as all moments.
    public var created: Int64?
    public var changed: Int64?
    public var coverArt: String?
    /// Made by rules, or another's: edits are refused.
    public var isReadonly = false
    public var validUntil: Int64?
    /// Empty where the answer only names playlists. Folders in it are left out.
    public var entries: [Song] = []

    public init(id: String) { self.id = id }

    /// Reads a playlist; nil for what has no id.
    /// - Parameter withEntries: whether its songs are read, too.
    public init?(_ json: JSON, withEntries: Bool = true) {
        self.init(id: "")
        for (field, value) in json.fields where !value.isNull {
            switch field {
            case .id: id = value.text ?? ""
            case .name: name = value.filledText
            case .comment: comment = value.filledText
            case .owner: owner = value.filledText
            case .public: isPublic = value.boolean
            case .songCount: songCount = value.integer(in: 0...10_000_000)
            case .duration: duration = value.seconds
            case .created: created = value.moment
            case .changed: changed = value.moment
            case .coverArt: coverArt = value.filledText
            case .readonly: isReadonly = value.boolean ?? false
            case .validUntil: validUntil = value.moment
            case .entry where withEntries: entries = value.list(Song.init)
            default: break
            }
        }
        if id.isEmpty { return nil }
    }
}

/// A root of the server's library.
public struct MusicFolder: Sendable, Hashable {
    /// As it came; a number keeps its digits.
    public var id: String
    public var name: String?

    public init(id: String, name: String?) {
        self.id = id
        self.name = name
    }

    /// Nil without an id.
    public init?(_ json: JSON) {
        guard let id = json[.id]?.filledText else { return nil }
        self.init(id: id, name: json[.name]?.filledText)
    }
}

/// What `getScanStatus` tells.
public struct ScanStatus: Sendable, Hashable {
    public var isScanning = false
    /// Songs in Navidrome and gonic, other sums elsewhere.
    public var count: Int?
    /// The server's own words: only good for comparing. Navidrome only.
    public var lastScan: String?

    public init(isScanning: Bool = false, count: Int? = nil, lastScan: String? = nil) {
        self.isScanning = isScanning
        self.count = count
        self.lastScan = lastScan
    }

    public init(_ json: JSON) {
        isScanning = json[.scanning]?.boolean ?? false
        count = json[.count]?.integer(in: 0...1_000_000_000)
        lastScan = json[.lastScan]?.filledText
    }
}

/// The account, as far as it matters what it may do.
public struct User: Sendable, Hashable {
    public var username: String?
    public var isAdmin = false
    public var scrobblingEnabled = true
    public var mayStream = true
    public var mayDownload = true
    public var mayEditPlaylists = true
    /// The music folders it may see; empty if the server did not say.
    public var folders: [String] = []

    public init() {}

    public init(_ json: JSON) {
        for (field, value) in json.fields {
            switch field {
            case .username: username = value.filledText
            case .adminRole: isAdmin = value.boolean ?? false
            case .scrobblingEnabled: scrobblingEnabled = value.boolean ?? true
            case .streamRole: mayStream = value.boolean ?? true
            case .downloadRole: mayDownload = value.boolean ?? true
            case .playlistRole: mayEditPlaylists = value.boolean ?? true
            // Funkwhale writes [{"value": 1}].
            case .folder: folders = value.elements.compactMap { ($0.kind == .object ? $0[.value] : $0)?.filledText }
            default: break
            }
        }
    }
}

/// One extension of OpenSubsonic that a server has.
public struct ServerExtension: Sendable, Hashable {
    public var name: String
    public var versions: [Int]

    public init(name: String, versions: [Int]) {
        self.name = name
        self.versions = versions
    }

    /// Nil without a name.
    public init?(_ json: JSON) {
        guard let name = json[.name]?.filledText else { return nil }
        self.init(name: name, versions: json[.versions]?.elements.compactMap { $0.integer(in: 0...1000) } ?? [])
    }
}

/// The server's folders by initial, and what lies beside them.
public struct Indexes: Sendable, Hashable {
    /// Milliseconds since 1970; nil or 0 where the server keeps none.
    public var lastModified: Int64?
    /// Folders in most servers, artists in Navidrome and Nextcloud.
    public var folders: [Artist] = []
    /// Songs at the top, outside of every folder.
    public var songs: [Song] = []
    /// Nothing changed since the moment that was asked about, so the rest is left out.
    public var isUnmodified = false

    public init() {}

    public init(_ json: JSON) {
        lastModified = json[.lastModified]?.integer
        folders = Indexes.artists(of: json)
        songs = json[.child]?.list(Song.init) ?? []
    }

    /// The artists of all `index` groups.
    static func artists(of json: JSON) -> [Artist] {
        json[.index]?.elements.flatMap { $0[.artist]?.list(Artist.init) ?? [] } ?? []
    }
}

/// A folder's content.
public struct Directory: Sendable, Hashable {
    public var folders: [String] = []
    public var songs: [Song] = []

    public init() {}

    public init(_ json: JSON) {
        guard let children = json[.child] else { return }
        for child in children.elements {
            if let song = Song(child) {
                songs.append(song)
            } else if let id = child[.id]?.filledText {
                folders.append(id)
            }
        }
    }
}

/// One page of a search, or all that is starred.
public struct SearchResult: Sendable, Hashable {
    public var songs: [Song] = []
    public var albums: [Album] = []
    public var artists: [Artist] = []

    public init() {}

    public init(_ json: JSON) {
        for (field, value) in json.fields {
            switch field {
            case .song: songs = value.list(Song.init)
            case .album: albums = value.list(Album.init)
            case .artist: artists = value.list(Artist.init)
            default: break
            }
        }
    }
}
