import CLinux
import Glibc

/// A song of one snapshot, by its place in database order. Means nothing in another snapshot: translate by song id.
public struct SongIndex: Sendable, Hashable, Comparable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ place: Int) { rawValue = UInt32(truncatingIfNeeded: place) }

    var place: Int { Int(rawValue) }

    public static func < (a: SongIndex, b: SongIndex) -> Bool { a.rawValue < b.rawValue }
}

/// A directory of one snapshot, by its place in database order; the root is 0.
public struct DirectoryIndex: Sendable, Hashable, Comparable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ place: Int) { rawValue = UInt32(truncatingIfNeeded: place) }

    var place: Int { Int(rawValue) }

    public static let root = DirectoryIndex(rawValue: 0)

    public static func < (a: DirectoryIndex, b: DirectoryIndex) -> Bool { a.rawValue < b.rawValue }
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
///
/// Its memory is a mapped image; see `Section`. A `SongIndex` or `DirectoryIndex` must come from this snapshot.
public final class LibrarySnapshot: Sendable {
    public let info: LibraryInfo
    /// The servers whose songs it holds beside those of its own.
    let mounts: [MountedServer]
    /// Differs for images with other content.
    let checksum: UInt64
    /// Precomputed.
    public let statistics: LibraryStatistics
    public let songCount: Int
    /// At least 1: the root.
    public let directoryCount: Int
    /// Length of the image in bytes.
    public let imageSize: Int

    private let image: LibraryImage
    let songs: SongColumns
    let directories: DirectoryColumns
    let texts: ImageTexts
    let values: ImageTexts
    /// By tag type; nil where no song has it.
    let indexes: [TagIndex?]
    /// The indexes without repetitions.
    let distinctIndexes: [TagIndex]
    let uriTable: ImageArray<UInt32>
    let idTable: ImageArray<UInt32>
    let pathTable: ImageArray<UInt32>
    let aliases: ImageTexts
    let aliasSongs: ImageArray<UInt32>

    init(image: LibraryImage) throws(LibraryError) {
        self.image = image
        songCount = image.songCount
        imageSize = image.length
        songs = SongColumns(image: image)
        directories = DirectoryColumns(image: image)
        directoryCount = directories.parents.count
        texts = image.texts(.textOffsets, .texts)
        values = image.texts(.valueOffsets, .values)
        uriTable = image.words(.uriTable)
        idTable = image.words(.idTable)
        pathTable = image.words(.pathTable)
        aliases = image.texts(.aliasOffsets, .aliases)
        aliasSongs = image.words(.aliasSongs)
        let rows = image.words(.indexTable).count / ImageLayout.indexWords
        distinctIndexes = (0..<rows).compactMap { TagIndex(image: image, row: $0) }
        let all = distinctIndexes
        indexes = image.words(.tagIndexes).map { $0 == ImageLayout.none ? nil : all[Int($0)] }

        let numbers = image.array(.numbers, of: UInt64.self)
        let info = InfoCoding.decode(
            unsafe ByteView(image.bytes(.info).buffer),
            lastSync: Int64(bitPattern: numbers[3]),
            isComplete: numbers[4] != 0
        )
        guard let info else { throw .damaged("info") }
        self.info = info
        mounts = MountedServer.all(in: info)
        checksum = image.checksum
        statistics = LibraryStatistics(
            songs: songCount,
            artists: Int(clamping: numbers[0]),
            albums: Int(clamping: numbers[1]),
            playtime: numbers[2]
        )
    }

    /// A section as it stands in the image, for copying.
    func bytes(_ section: Section) -> ImageArray<UInt8> { image.bytes(section) }

    /// The section `numbers`.
    var numbers: ImageArray<UInt64> { image.array(.numbers, of: UInt64.self) }

    /// Maps and verifies an image that `LibraryBuilder.build` wrote.
    ///
    /// Reads the whole file once, some 100 ms for a million songs: not for the core.
    public static func open(file: String) throws(LibraryError) -> LibrarySnapshot {
        let descriptor = unsafe shelv_open(file, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw .noFile }
            throw .system(operation: "open", path: file, errno: errno)
        }
        defer { close(descriptor) }
        return try LibrarySnapshot(image: LibraryImage(descriptor: descriptor, path: file))
    }
}

/// The facts about songs, each an array in database order.
struct SongColumns: Sendable {
    let names: ImageTexts
    let directories: ImageArray<UInt32>
    let ids: ImageTexts
    let durations: ImageArray<UInt32>
    let lastModified: ImageArray<UInt32>
    let added: ImageArray<UInt32>
    let sizes: ImageArray<UInt64>
    let kinds: ImageArray<UInt32>
    let bitRates: ImageArray<UInt16>
    let marks: ImageArray<UInt8>
    let playCounts: ImageArray<UInt32>
    let played: ImageArray<UInt32>
    let coverArts: ImageArray<UInt32>
    let albumIDs: ImageArray<UInt32>
    let artistIDs: ImageArray<UInt32>
    let gains: ImageArray<UInt32>
    let kindTable: ImageArray<UInt32>
    let gainTable: ImageArray<Float>
    let tagOffsets: ImageArray<UInt32>
    let tags: ImageArray<UInt32>

    init(image: LibraryImage) {
        names = image.texts(.songNameOffsets, .songNames)
        directories = image.words(.songDirectories)
        ids = image.texts(.songIDOffsets, .songIDs)
        durations = image.words(.durations)
        lastModified = image.words(.lastModified)
        added = image.words(.added)
        sizes = image.array(.sizes, of: UInt64.self)
        kinds = image.words(.kinds)
        bitRates = image.array(.bitRates, of: UInt16.self)
        marks = image.bytes(.marks)
        playCounts = image.words(.playCounts)
        played = image.words(.played)
        coverArts = image.words(.coverArts)
        albumIDs = image.words(.albumIDs)
        artistIDs = image.words(.artistIDs)
        gains = image.words(.gains)
        kindTable = image.words(.kindTable)
        gainTable = image.array(.gainTable, of: Float.self)
        tagOffsets = image.words(.tagOffsets)
        tags = image.words(.tags)
    }

    /// Where the tags of a song stand in `tags`.
    func tagRange(_ song: Int) -> Range<Int> {
        let start = Int(tagOffsets[song])
        return start..<max(start, Int(tagOffsets[song + 1]))
    }
}

/// The directories, each field an array in database order.
struct DirectoryColumns: Sendable {
    let paths: ImageTexts
    let parents: ImageArray<UInt32>
    let songs: ImageArray<UInt32>
    let songEnds: ImageArray<UInt32>
    let treeSongEnds: ImageArray<UInt32>
    let ends: ImageArray<UInt32>
    let times: ImageArray<UInt32>

    init(image: LibraryImage) {
        paths = image.texts(.directoryPathOffsets, .directoryPaths)
        parents = image.words(.directoryParents)
        songs = image.words(.directorySongs)
        songEnds = image.words(.directorySongEnds)
        treeSongEnds = image.words(.directoryTreeSongEnds)
        ends = image.words(.directoryEnds)
        times = image.words(.directoryTimes)
    }
}
