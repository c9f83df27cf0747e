import MPDProtocol
import Synchronization

/// The shelves of one snapshot.
///
/// Immutable but for what is computed at the first look: the album table, which catalogs of one snapshot share, and the
/// contents. A path that was shown keeps its meaning: albums are found by their folders' names on any shelf, whether
/// they still stand there or not, and names that a refresh took away are remembered.
public final class ShelfCatalog: Sendable {
    public let library: LibrarySnapshot
    public let lists: ShelfLists
    private let albums: SharedAlbums
    private let content = Mutex<ShelfContent?>(nil)

    /// The shelves of a library that nobody has looked at yet.
    public convenience init(_ library: LibrarySnapshot, _ lists: ShelfLists) {
        self.init(library, lists, SharedAlbums(former: nil))
    }

    private init(_ library: LibrarySnapshot, _ lists: ShelfLists, _ albums: SharedAlbums) {
        self.library = library
        self.lists = lists
        self.albums = albums
    }

    /// The shelves of the same library with other contents.
    public func with(_ lists: ShelfLists) -> ShelfCatalog { ShelfCatalog(library, lists, albums) }

    /// The shelves of the next library, which remember the names that this one had.
    public func following(_ next: LibrarySnapshot) -> ShelfCatalog {
        ShelfCatalog(next, lists, SharedAlbums(former: isReady ? self : nil))
    }

    /// Whether somebody has looked, so that the next look costs little. Never waits for a first look that is under way.
    public var isReady: Bool { albums.table.withLockIfAvailable { $0 != nil } ?? false }

    /// About how many songs the first look costs; for planning.
    public var cost: Int { isReady ? 1 : library.songCount }

    /// Makes ready what the first look would have to.
    public func prepare() { _ = table }

    // MARK: Paths

    /// What a path in the folder leads to; nil if it leads nowhere.
    public func node(path: [UInt8]) -> ShelfNode? {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash, omittingEmptySubsequences: false)
        guard segments.first?.elementsEqual(Shelf.folder.utf8) == true else { return nil }
        if segments.count == 1 { return .folder }
        guard let shelf = Shelf(rawValue: String(decoding: segments[1], as: UTF8.self)),
            shelf != .favorites || lists.hasFavorites
        else { return nil }
        if segments.count == 2 { return .shelf(shelf) }
        switch shelf {
        case .radio: return radioNode(segments[2...])
        case .genres, .decades:
            guard let group = group(segments[2], on: shelf) else { return nil }
            return segments.count == 3 ? group : inAlbums(segments[3...])
        case .favorites:
            if let found = inAlbums(segments[2...]) { return found }
            guard hasArtist(segments[2]) else { return nil }
            return segments.count == 3 ? .artist(Array(segments[2])) : inAlbums(segments[3...])
        default: return inAlbums(segments[2...])
        }
    }

    /// An album's folder, or a song in it by its file's name.
    private func inAlbums(_ segments: ArraySlice<ArraySlice<UInt8>>) -> ShelfNode? {
        guard let name = segments.first, segments.count <= 2,
            let album = table.album(named: name) ?? albums.former(name, in: self)
        else { return nil }
        guard segments.count == 2, let file = segments.last else { return .album(album) }
        let song = table.songs(of: album).first { library.songs.names[Int($0)].array.elementsEqual(file) }
        return song.map { .song(SongIndex(rawValue: $0)) }
    }

    private func group(_ name: ArraySlice<UInt8>, on shelf: Shelf) -> ShelfNode? {
        if shelf == .genres {
            let known = !genreValues(named: name).isEmpty || albums.hadGenre(name)
            return known ? .genre(Array(name)) : nil
        }
        guard name.count == 5, name.last == UInt8(ascii: "s"),
            let year = UInt16(String(decoding: name.dropLast(), as: UTF8.self)),
            year >= 1000, year % 10 == 0
        else { return nil }
        return .decade(year)
    }

    // MARK: Contents

    /// What a folder holds itself.
    func children(of node: ShelfNode) -> ShelfChildren {
        switch node {
        case .song(let song): ShelfChildren(songs: [song.rawValue])
        case .album(let album): ShelfChildren(songs: Array(table.songs(of: album)))
        case .folder:
            ShelfChildren(
                folders: Shelf.allCases.filter { $0 != .favorites || lists.hasFavorites }
                    .map { .named(Array($0.rawValue.utf8)) }
            )
        case .shelf(let shelf): children(of: shelf)
        case .genre(let name): ShelfChildren(folders: albums(ofGenre: name).map { .album($0) })
        case .decade(let year): ShelfChildren(folders: albums(ofDecade: year).map { .album($0) })
        case .artist(let name): ShelfChildren(folders: albums(ofArtist: name).map { .album($0) })
        case .radioArtist(let name): radioChildren(of: name)
        // What they hold the server says when it is asked.
        case .radio, .similar: ShelfChildren()
        }
    }

    private func children(of shelf: Shelf) -> ShelfChildren {
        let content = shelfContent
        func folders(_ albums: [UInt32]) -> [ShelfChild] { albums.map { .album($0) } }
        switch shelf {
        case .recentlyAdded: return ShelfChildren(folders: folders(content.added))
        case .recentlyPlayed: return ShelfChildren(folders: folders(content.recent))
        case .frequentlyPlayed: return ShelfChildren(folders: folders(content.frequent))
        case .random: return ShelfChildren(folders: folders(content.random))
        case .favorites:
            return ShelfChildren(
                songs: content.starredSongs,
                folders: folders(content.starredAlbums) + content.starredArtists.map { .named($0) }
            )
        case .genres: return ShelfChildren(folders: content.genres.map { .named($0) })
        case .decades: return ShelfChildren(folders: content.decades.map { .named(Array("\($0)s".utf8)) })
        case .radio: return radioChildren(of: nil)
        }
    }

    /// The songs below a folder, each once, in the order of the shelf.
    public func songs(below node: ShelfNode) -> SongSelection {
        if case .song(let song) = node { return SongSelection([song]) }
        var seen = SongBits(count: library.songCount)
        var songs: [UInt32] = []
        func add(_ children: ShelfChildren, _ path: ShelfNode) {
            // Nothing stands there that is known here.
            if path == .shelf(.radio) { return }
            for song in children.songs where !seen.contains(Int(song)) {
                seen.insert(Int(song))
                songs.append(song)
            }
            for child in children.folders {
                if let node = self.node(of: child, in: path) { add(self.children(of: node), node) }
            }
        }
        add(children(of: node), node)
        return SongSelection(list: songs)
    }

    /// What a folder in a folder is.
    func node(of child: ShelfChild, in parent: ShelfNode) -> ShelfNode? {
        switch (child, parent) {
        case (.album(let album), _): .album(album)
        case (.named(let name), .folder): Shelf(rawValue: String(decoding: name, as: UTF8.self)).map { .shelf($0) }
        case (.named(let name), .shelf(.genres)), (.named(let name), .shelf(.decades)):
            group(name[...], on: parent == .shelf(.genres) ? .genres : .decades)
        case (.named(let name), .shelf(.favorites)): .artist(name)
        case (.named(let name), .shelf(.radio)): .radioArtist(name)
        case (.named(let name), .radioArtist(let artist)): radioNode([artist[...], name[...]])
        case (.named, _): nil
        }
    }

    /// A folder's name.
    func name(of child: ShelfChild) -> [UInt8] {
        switch child {
        case .named(let name): name
        case .album(let album): Array(table.name(of: album))
        }
    }

    // MARK: Albums

    private var table: AlbumTable {
        albums.table.withLock { table in
            if let table { return table }
            let made = AlbumTable(library)
            table = made
            return made
        }
    }

    private var shelfContent: ShelfContent {
        let table = table
        return content.withLock { content in
            if let content { return content }
            let made = ShelfContent(library, table, lists)
            content = made
            return made
        }
    }

    private func albums(ofGenre name: [UInt8]) -> [UInt32] {
        guard let index = library.indexes[Int(Tag.genre.rawValue)] else { return [] }
        var found = Set<UInt32>()
        for place in genreValues(named: name[...]) {
            for song in index.songs(at: place) { found.insert(table.albumOfSong[Int(song)]) }
        }
        found.remove(ImageLayout.none)
        return found.sorted()
    }

    /// The places of the genres whose folder is called so; several may be.
    private func genreValues(named name: ArraySlice<UInt8>) -> [Int] {
        guard let index = library.indexes[Int(Tag.genre.rawValue)] else { return [] }
        return (0..<index.values.count).filter { place in
            ShelfContent.folderName(library.values[Int(index.values[place])]).elementsEqual(name)
        }
    }

    private func albums(ofDecade year: UInt16) -> [UInt32] {
        table.decades.indices.filter { table.decades[$0] == year }.map { UInt32($0) }
    }

    private func hasArtist(_ name: ArraySlice<UInt8>) -> Bool { !artistValues(named: name).isEmpty }

    private func albums(ofArtist name: [UInt8]) -> [UInt32] {
        guard let index = library.indexes[Int(Tag.albumArtist.rawValue)] else { return [] }
        var found = Set<UInt32>()
        for place in artistValues(named: name[...]) {
            for song in index.songs(at: place) { found.insert(table.albumOfSong[Int(song)]) }
        }
        found.remove(ImageLayout.none)
        return found.sorted()
    }

    func artistValues(named name: ArraySlice<UInt8>) -> [Int] {
        guard let index = library.indexes[Int(Tag.albumArtist.rawValue)] else { return [] }
        return (0..<index.values.count).filter { place in
            let value = library.values[Int(index.values[place])]
            // A folder's name has as many bytes, unless it was cut.
            guard value.count == name.count || value.count > PathSegment.longest else { return false }
            return ShelfContent.folderName(value).elementsEqual(name)
        }
    }

    fileprivate func album(id: String) -> UInt32? {
        (0..<UInt32(table.count)).first { album in
            table.songs(of: album).first.flatMap { library.albumID(SongIndex(rawValue: $0)) } == id
        }
    }

    /// The names of album folders, with the ids of their albums.
    fileprivate var albumNames: [(name: [UInt8], id: String)] {
        let table = table
        return (0..<UInt32(table.count)).compactMap { album in
            table.songs(of: album).first.flatMap { library.albumID(SongIndex(rawValue: $0)) }.map {
                (Array(table.name(of: album)), $0)
            }
        }
    }

    fileprivate var genreNames: [[UInt8]] { shelfContent.genres }

    fileprivate func has(_ name: [UInt8]) -> Bool { table.album(named: name[...]) != nil }

    fileprivate var formerNames: SharedAlbums.FormerNames { albums.formerNames(in: self) }
}

/// What a path in the folder of the shelves leads to.
public enum ShelfNode: Sendable, Hashable {
    case folder
    case shelf(Shelf)
    case genre([UInt8])
    /// By its first year.
    case decade(UInt16)
    case artist([UInt8])
    case album(UInt32)
    case song(SongIndex)
    /// On the shelf Radio.
    case radioArtist([UInt8])
    /// The songs that go with the artist of a song, and those that go with a song.
    case radio(SongIndex)
    case similar(SongIndex)
}

/// A folder in a folder.
enum ShelfChild: Sendable {
    case named([UInt8])
    case album(UInt32)
}

/// What a folder holds itself.
struct ShelfChildren: Sendable {
    var songs: [UInt32] = []
    var folders: [ShelfChild] = []
    /// Names of what the server fills when it is loaded. No folders: a client that walks through all folders would have it
    /// look for songs that go with each song there is.
    var playlists: [[UInt8]] = []
}

/// The album table of a snapshot, and the names that earlier snapshots had.
private final class SharedAlbums: Sendable {
    /// Names of album folders with the albums' ids, and names of genres.
    struct FormerNames: Sendable {
        var albums: [[UInt8]: String] = [:]
        var genres: Set<[UInt8]> = []
    }

    /// More names than anyone has in view.
    private static let mostNames = 20_000

    let table = Mutex<AlbumTable?>(nil)
    private let state: Mutex<(former: ShelfCatalog?, names: FormerNames?)>

    init(former: ShelfCatalog?) { state = Mutex((former, nil)) }

    /// The album whose folder was called so.
    func former(_ name: ArraySlice<UInt8>, in catalog: ShelfCatalog) -> UInt32? {
        formerNames(in: catalog).albums[Array(name)].flatMap { catalog.album(id: $0) }
    }

    func hadGenre(_ name: ArraySlice<UInt8>) -> Bool {
        state.withLock {
            $0.names?.genres.contains(Array(name)) ?? $0.former?.genreNames.contains(Array(name)) ?? false
        }
    }

    /// Found out once; the former snapshot is let go then.
    func formerNames(in catalog: ShelfCatalog) -> FormerNames {
        let (former, known) = state.withLock { $0 }
        if let known { return known }
        var names = FormerNames()
        if let former {
            names = former.formerNames
            if names.albums.count > Self.mostNames { names.albums = [:] }
            for (name, id) in former.albumNames where !catalog.has(name) { names.albums[name] = id }
            names.genres.formUnion(former.genreNames)
        }
        state.withLock { $0 = (nil, names) }
        return names
    }
}
