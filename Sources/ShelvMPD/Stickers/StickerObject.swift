import Library
import MPDProtocol

/// What a client names as the bearer of stickers: found, and checked that it exists.
struct StickerObject: Sendable {
    var type: StickerType
    /// Under which its stickers are kept.
    var key: [UInt8]
    /// Of a song, or of a mounted server's playlist; nil for what else the active one has, and what is of no server.
    var serverID: String?
    /// Where servers keep its star and rating; several for the albums of one name. Empty where they keep none.
    var marks: [ServerMark] = []
    var song: SongIndex?

    /// The key of a playlist.
    static func playlist(_ key: PlaylistKey) -> [UInt8] { Array(String(key.rawValue).utf8) }

    /// The key of a playlist that is made up, by its name.
    static func playlist(madeUp name: some Sequence<UInt8>) -> [UInt8] { Array("=".utf8) + name }

    /// The song of this URI.
    init(song uri: [UInt8], in library: LibrarySnapshot) throws(StickerError) {
        guard let song = library.song(uri: uri) else { throw .noSuchSong }
        self.init(song, in: library)
    }

    init(_ song: SongIndex, in library: LibrarySnapshot) {
        type = .song
        let (server, id) = library.origin(song)
        key = Array(id.utf8)
        serverID = server
        marks = [ServerMark(serverID: server, key: .song(id))]
        self.song = song
    }

    /// All that bears a value of a tag.
    init(_ tag: Tag, _ value: [UInt8], in library: LibrarySnapshot) throws {
        let filter = Filter.tag(tag, TextMatch(.equals, value, foldsCase: false))
        // An empty value is there if some song lacks the tag.
        let songs = try library.select(filter)
        guard !songs.isEmpty else { throw StickerError.noSuchValue(tag, value) }
        type = .tag(tag)
        key = value
        if value.isEmpty { return }
        switch tag {
        case .album, .musicBrainzAlbumID: marks = library.albumMarks(of: songs)
        case .artist, .albumArtist: marks = library.artistMarks(String(decoding: value, as: UTF8.self), of: songs)
        default: break
        }
    }

    /// What a filter finds.
    /// - Parameter filter: as a command reads it that minds case.
    init(_ filter: Filter, in library: LibrarySnapshot, shelves: ShelfCatalog?) throws {
        type = .filter
        key = filter.expression
        let songs = try library.select(filter, shelves: shelves)
        guard !songs.isEmpty else { throw StickerError.noMatches(key) }
        marks = Self.marks(filter, songs, in: library)
    }

    /// A filter by names stands for the one album, or the artist, that it finds.
    private static func marks(_ filter: Filter, _ songs: SongSelection, in library: LibrarySnapshot) -> [ServerMark] {
        let parts: [Filter]
        if case .and(let all) = filter { parts = all } else { parts = [filter] }
        var values: [Tag: [UInt8]] = [:]
        for part in parts {
            guard case .tag(let tag, let match) = part, match.operator == .equals, !match.isNegated, !match.foldsCase,
                !match.text.isEmpty
            else { return [] }
            values[tag] = match.text
        }
        let names: Set<Tag> = [.album, .albumArtist, .artist, .date, .originalDate, .musicBrainzAlbumID]
        guard names.isSuperset(of: values.keys) else { return [] }
        if values[.album] != nil || values[.musicBrainzAlbumID] != nil {
            let albums = library.albumMarks(of: songs)
            return albums.count == 1 ? albums : []
        }
        guard values.count == 1, let artist = values[.albumArtist] ?? values[.artist] else { return [] }
        return library.artistMarks(String(decoding: artist, as: UTF8.self), of: songs)
    }
}

/// Where a server keeps a star and a rating.
struct ServerMark: Sendable, Hashable {
    var serverID: String
    var key: MarkKey
}

extension LibrarySnapshot {
    fileprivate func albumMarks(of songs: SongSelection) -> [ServerMark] {
        albumIDs(of: songs).map { album in
            let (server, id) = origin(ofID: album)
            return ServerMark(serverID: server, key: .album(id))
        }
    }

    /// An artist at each server that has some of the songs.
    fileprivate func artistMarks(_ name: String, of songs: SongSelection) -> [ServerMark] {
        let holders =
            serverIDs.count == 1 ? serverIDs : serverIDs.filter(Set(songs.map { origin($0).serverID }).contains)
        return holders.map { ServerMark(serverID: $0, key: .artist(name)) }
    }
}

extension StickerObject {
    /// A playlist by its key.
    /// - Parameter serverID: the mounted server that has it.
    init(playlist key: [UInt8], of serverID: String? = nil) {
        type = .playlist
        self.key = key
        self.serverID = serverID
    }
}
