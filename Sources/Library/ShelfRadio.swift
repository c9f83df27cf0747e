public import MPDProtocol

/// The shelf Radio: a folder for each artist, and in it playlists whose songs the server names when they are loaded.
extension ShelfCatalog {
    /// Begin the names of the playlist of songs that go with an artist's, and of those that go with a song.
    static let radioPrefix = "Radio: "
    static let similarPrefix = "Similar: "

    /// What the segments behind `Shelves/Radio` lead to.
    func radioNode(_ segments: ArraySlice<ArraySlice<UInt8>>) -> ShelfNode? {
        guard let artist = segments.first else { return .shelf(.radio) }
        let songs = songs(ofArtist: artist)
        guard let first = songs.first else { return nil }
        switch segments.count {
        case 1: return .radioArtist(Array(artist))
        case 2:
            guard let name = segments.last else { return nil }
            if name.elementsEqual(Self.radioPrefix.utf8 + artist) {
                return .radio(Self.seed(of: artist, songs, in: library) ?? first)
            }
            guard name.starts(with: Self.similarPrefix.utf8) else { return nil }
            return songs.first { similarName(of: $0).elementsEqual(name) }.map { .similar($0) }
        default: return nil
        }
    }

    /// The folders of the shelf, or the playlists of an artist on it.
    func radioChildren(of artist: [UInt8]?) -> ShelfChildren {
        guard let artist else {
            guard let index = library.indexes[Int(Tag.albumArtist.rawValue)] else { return ShelfChildren() }
            let names = index.values.map { ShelfContent.folderName(library.values[Int($0)]) }
            return ShelfChildren(folders: ShelfContent.ordered(names).map { .named($0) })
        }
        let similar = ShelfContent.ordered(songs(ofArtist: artist[...]).map { similarName(of: $0) })
        let radio = Array(Self.radioPrefix.utf8) + artist
        return ShelfChildren(playlists: [radio] + similar)
    }

    /// What stands behind a playlist that the server fills; nil for anything else.
    public func radioSeed(of node: ShelfNode) -> RadioSeed? {
        switch node {
        case .radio(let song): RadioSeed(song: song, isArtist: true)
        case .similar(let song): RadioSeed(song: song, isArtist: false)
        default: nil
        }
    }

    /// The same for what is added to the queue: an artist's folder stands for its radio.
    public func radioSeed(adding node: ShelfNode) -> RadioSeed? {
        guard case .radioArtist(let artist) = node else { return radioSeed(of: node) }
        let songs = songs(ofArtist: artist[...])
        return (Self.seed(of: artist[...], songs, in: library) ?? songs.first).map {
            RadioSeed(song: $0, isArtist: true)
        }
    }

    private func songs(ofArtist name: ArraySlice<UInt8>) -> [SongIndex] {
        guard let index = library.indexes[Int(Tag.albumArtist.rawValue)] else { return [] }
        return artistValues(named: name).flatMap { index.songs(at: $0).map { SongIndex(rawValue: $0) } }
    }

    /// A song that the artist sings: the album may hold others, too.
    private static func seed(
        of artist: ArraySlice<UInt8>,
        _ songs: [SongIndex],
        in library: LibrarySnapshot
    ) -> SongIndex? {
        songs.first { song in
            library.artistID(song) != nil
                && library.firstValue(Int(song.rawValue), [.artist]).map {
                    ShelfContent.folderName(library.values[Int($0)]).elementsEqual(artist)
                } ?? false
        }
    }

    private func similarName(of song: SongIndex) -> [UInt8] {
        let title = library.firstValue(Int(song.rawValue), [.title]).map { library.values[Int($0)].string }
        let name = title ?? library.songs.names[Int(song.rawValue)].string
        return Array((PathSegment.safe(Self.similarPrefix + name) ?? "_").utf8)
    }
}

/// What the songs of a playlist go with.
public struct RadioSeed: Sendable, Hashable {
    public var song: SongIndex
    /// Its artist, or the song itself.
    public var isArtist: Bool
}

extension LibrarySnapshot {
    /// The first value of a tag, its fallbacks not applied.
    public func firstText(_ tag: Tag, of song: SongIndex) -> [UInt8]? {
        firstValue(Int(song.rawValue), [tag]).map { values[Int($0)].array }
    }
}
