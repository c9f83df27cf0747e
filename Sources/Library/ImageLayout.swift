/// The parts of an image, in file order. Each starts at a multiple of 64 bytes.
///
/// `Offsets` are one longer than what they delimit: element i is from offset i up to offset i + 1. Ids are 32 bits
/// wide; `ImageLayout.none` stands for "has none". Changing anything here needs a new `ImageLayout.format`.
enum Section: Int, CaseIterable {
    /// `LibraryInfo`: texts with a 32-bit length each.
    case info
    /// 64-bit numbers: artists, albums, playtime in ms, last sync, is complete.
    case numbers

    // Songs, in database order. A URI is its directory's path, a slash, and the name.
    case songNameOffsets, songNames, songDirectories
    case songIDOffsets, songIDs
    /// ms
    case durations
    /// Seconds since 1970.
    case lastModified, added
    /// Bytes; the highest value is "unknown".
    case sizes
    /// Rows of `kindTable`.
    case kinds
    /// kbit/s, 16 bits; the highest value is "unknown".
    case bitRates
    /// 8 bits: the rating, under `ImageLayout.ratingMask`.
    case marks
    case playCounts
    /// Seconds since 1970.
    case played
    /// Texts.
    case coverArts, albumIDs, artistIDs
    /// Rows of `gainTable`.
    case gains
    /// Sample rate, sample format and channels, suffix, MIME type.
    case kindTable
    /// Six floats; not a number is "none".
    case gainTable
    case textOffsets, texts

    // Tags of songs: type in the upper 6 bits, value in the lower 26.
    case tagOffsets, tags
    // Distinct values of all tags, in byte order: a value's id is its rank.
    case valueOffsets, values

    /// For each tag type the row of `indexTable`.
    case tagIndexes
    /// Where an index starts in each of the following, and how long it is there (see `TagIndex`).
    case indexTable
    case indexValues, indexPostingOffsets, indexPostings, indexMissing, indexFoldedOffsets, indexFolded

    // Directories, depth first, the root first.
    case directoryPathOffsets, directoryPaths, directoryParents
    /// First song of the directory, end of its own songs, end of all songs below it.
    case directorySongs, directorySongEnds, directoryTreeSongEnds
    /// The next directory that is not below this one.
    case directoryEnds
    case directoryTimes

    // Hash tables with open addressing: id + 1, or 0.
    case uriTable, idTable, pathTable

    // Former URIs, in byte order.
    case aliasOffsets, aliases, aliasSongs
}

/// Numbers of the file format.
enum ImageLayout {
    /// "shelvlib", as a number in this machine's byte order: another order does not match.
    static let magic: UInt64 = 0x6269_6C76_6C65_6873
    /// Raised with every change of the layout, of folding, or of sorting.
    static let format: UInt64 = 2
    static let alignment = 64
    static let none = UInt32.max
    static let unknownSize = UInt64.max
    static let unknownBitRate = UInt16.max
    static let ratingMask: UInt8 = 7

    static let valueBits: UInt32 = 26
    static let valueMask: UInt32 = (1 << valueBits) - 1

    /// 64-bit words of the header: magic, format, length of the image, songs, sections, checksum of header and section
    /// table (taken with this word 0), two unused.
    static let headerWords = 8
    static let checksumWord = 5
    /// Words of an entry of the section table: start, length in bytes, checksum.
    static let entryWords = 3
    static let tableWords = headerWords + Section.allCases.count * entryWords
    static let kindWords = 4
    static let gainWords = 6
    static let indexWords = 12
    static let numberWords = 5

    /// A longer line would break libmpdclient, whose buffer holds 4 KiB.
    static let longestText = 4000

    /// Slots for a hash table of `count` entries: at least a third is free.
    static func slots(for count: Int) -> Int {
        var slots = 8
        while slots < count + count / 2 + 1 { slots *= 2 }
        return slots
    }
}

/// A checksum that every single changed byte changes, at several bytes a cycle.
///
/// - Note: It tells damage, not malice; the offsets are validated apart from it.
struct ImageChecksum {
    private var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    private var length: UInt64 = 0
    /// The last bytes that do not fill a step yet.
    private var rest: [UInt8] = []
    private static let width = 32
    private static let factor: UInt64 = 0x9E37_79B1_85EB_CA87

    /// Takes bytes in; it does not matter how they are divided.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        if !rest.isEmpty {
            index = min(Self.width - rest.count, bytes.count)
            unsafe rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<index]))
            if rest.count < Self.width { return length &+= UInt64(truncatingIfNeeded: index) }
            let whole = rest
            rest.removeAll(keepingCapacity: true)
            length &-= UInt64(Self.width - index)
            unsafe whole.withUnsafeBytes { unsafe update($0) }
        }
        guard let base = bytes.baseAddress else { return }
        length &+= UInt64(truncatingIfNeeded: bytes.count - index)
        var (a, b, c, d) = lanes
        while index + Self.width <= bytes.count {
            a = Self.step(a, unsafe base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            b = Self.step(b, unsafe base.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
            c = Self.step(c, unsafe base.loadUnaligned(fromByteOffset: index + 16, as: UInt64.self))
            d = Self.step(d, unsafe base.loadUnaligned(fromByteOffset: index + 24, as: UInt64.self))
            index += Self.width
        }
        if index < bytes.count { unsafe rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[index...])) }
        lanes = (a, b, c, d)
    }

    var value: UInt64 {
        var result = length
        let first = rest.reduce(lanes.0) { Self.step($0, UInt64($1) | 0x100) }
        for lane in [first, lanes.1, lanes.2, lanes.3] { result = Self.step(result, lane) }
        return result ^ result >> 32
    }

    /// One-to-one in `word` and in `state`, so a difference never gets lost.
    private static func step(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* factor
        return product << 29 | product >> 35
    }
}
