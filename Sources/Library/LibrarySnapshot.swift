public import MPDProtocol

/// A song of one snapshot, by its place in database order. Means nothing in another snapshot: translate by song id.
public struct SongIndex: Sendable, Hashable, Comparable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (a: SongIndex, b: SongIndex) -> Bool { a.rawValue < b.rawValue }
}

/// A directory of one snapshot, by its place in database order; the root is 0.
public struct DirectoryIndex: Sendable, Hashable, Comparable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let root = DirectoryIndex(rawValue: 0)

    public static func < (a: DirectoryIndex, b: DirectoryIndex) -> Bool { a.rawValue < b.rawValue }
}

/// Songs that a query found, in the order it wants them.
public struct SongSelection: Sendable, RandomAccessCollection {
    private let list: [UInt32]

    init(_ list: [UInt32]) { self.list = list }

    public var startIndex: Int { 0 }
    public var endIndex: Int { list.count }
    public subscript(position: Int) -> SongIndex { SongIndex(rawValue: list[position]) }
}

/// The numbers of `stats`.
public struct LibraryStatistics: Sendable, Hashable {
    public var songs: Int
    /// Distinct values of Artist.
    public var artists: Int
    /// Distinct values of Album.
    public var albums: Int
    /// All songs together, in milliseconds.
    public var playtime: UInt64
}

/// A library as it was at one moment: immutable, shared by all threads, kept alive by whoever still answers from it.
public final class LibrarySnapshot: Sendable {
    public let info: LibraryInfo

    init(info: LibraryInfo) { self.info = info }

    /// Maps and verifies an image that `LibraryBuilder.build` wrote.
    public static func open(file: String) throws(LibraryError) -> LibrarySnapshot { throw .noFile }

    /// Precomputed.
    public var statistics: LibraryStatistics { .init(songs: 0, artists: 0, albums: 0, playtime: 0) }

    // Look-ups: constant time.

    /// The song with this URI, or that once had it.
    public func song(uri: [UInt8]) -> SongIndex? { nil }
    /// The song with this id of the server.
    public func song(id: String) -> SongIndex? { nil }
    /// The directory with this path (no slash at either end; empty is the root).
    public func directory(path: [UInt8]) -> DirectoryIndex? { nil }
    /// All songs at and below a directory, in database order.
    public func songs(below directory: DirectoryIndex) -> SongSelection { SongSelection([]) }

    // Facts about one song.

    public func songID(_ song: SongIndex) -> String { "" }
    public func uri(_ song: SongIndex) -> [UInt8] { [] }
    /// Milliseconds.
    public func duration(_ song: SongIndex) -> UInt32? { nil }
    /// All there is, as it was added.
    public func record(_ song: SongIndex) -> SongRecord { SongRecord(songID: "", uri: "") }
    /// Appends the record of the song: `file:` to `duration:`, with the tags of the mask.
    public func appendSong(_ song: SongIndex, mask: TagMask, to reply: inout [UInt8]) {}

    // Queries.

    /// About how many songs and values an evaluation touches; up to a few thousand it may run on the core.
    public func estimatedCost(_ filter: Filter) -> Int { 0 }
    /// The songs that match, sorted (else in database order), and of these the window.
    public func select(
        _ filter: Filter,
        sort: SortOrder? = nil,
        window: Range<Int>? = nil
    ) throws(FilterError) -> SongSelection { SongSelection([]) }
    /// Number of the songs that match, and their length in milliseconds.
    public func count(_ filter: Filter) throws(FilterError) -> (songs: Int, playtime: UInt64) { (0, 0) }
}
