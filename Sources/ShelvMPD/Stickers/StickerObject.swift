import Library
import MPDProtocol

/// What a client names as the bearer of stickers: found, and checked that it exists.
struct StickerObject: Sendable {
    var type: StickerType
    /// Under which its stickers are kept.
    var key: [UInt8]
    /// Where the server keeps its star and rating; several for the albums of one name. Empty where it keeps none.
    var marks: [MarkKey] = []
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
        let id = library.songID(song)
        key = Array(id.utf8)
        marks = [.song(id)]
        self.song = song
    }

    /// All that bears a value of a tag.
    init(_ tag: Tag, _ value: [UInt8], in library: LibrarySnapshot) throws {
        let filter = Filter.tag(tag, TextMatch(.equals, value, foldsCase: false))
        let songs = value.isEmpty ? SongSelection([]) : try library.select(filter)
        guard !songs.isEmpty else { throw StickerError.noSuchValue(tag, value) }
        type = .tag(tag)
        key = value
        switch tag {
        case .album, .musicBrainzAlbumID: marks = library.albumIDs(of: songs).map { .album($0) }
        case .artist, .albumArtist: marks = [.artist(String(decoding: value, as: UTF8.self))]
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
    private static func marks(_ filter: Filter, _ songs: SongSelection, in library: LibrarySnapshot) -> [MarkKey] {
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
            let albums = library.albumIDs(of: songs)
            return albums.count == 1 ? [.album(albums[0])] : []
        }
        guard values.count == 1, let artist = values[.albumArtist] ?? values[.artist] else { return [] }
        return [.artist(String(decoding: artist, as: UTF8.self))]
    }
}

extension StickerObject {
    /// A playlist by its key.
    init(playlist key: [UInt8]) {
        type = .playlist
        self.key = key
    }
}
