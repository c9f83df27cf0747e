import MPDProtocol

/// The tags of the songs of an image.
struct SongTags: Sendable {
    /// Where the tags of each song start.
    private(set) var offsets: [UInt32] = [0]
    /// As `Section.tags`.
    private(set) var tags: [UInt32] = []

    /// - Parameters:
    ///   - order: Rows of the builder in database order.
    ///   - values: The values that songs in `order` have.
    init(_ builder: LibraryBuilder, _ order: [UInt32], _ values: SortedTexts) {
        offsets.reserveCapacity(order.count + 1)
        tags.reserveCapacity(builder.tags.count)
        for row in order {
            let song = builder.rows[Int(row)]
            for tag in builder.tags[Int(song.tagStart)..<Int(song.tagEnd)] {
                tags.append(tag & ~ImageLayout.valueMask | values.ranks[Int(tag & ImageLayout.valueMask)])
            }
            offsets.append(UInt32(tags.count))
        }
    }
}

/// What an image says of tags: the values in byte order, the tags of each song, and the indexes.
struct TagSections: Sendable {
    private let values: SortedTexts
    private let songs: SongTags
    private let indexes: IndexAssembly

    init(_ songs: SongTags, _ values: SortedTexts) throws(LibraryError) {
        indexes = try IndexAssembly(tagOffsets: songs.offsets, tags: songs.tags, values: values)
        self.values = values
        self.songs = songs
    }

    /// The number of distinct values of a type, fallbacks included.
    func distinctValues(of tag: Tag) -> Int { indexes.distinctValues(of: tag) }

    func write(_ writer: inout ImageWriter) throws(LibraryError) {
        try writer.add(.valueOffsets, values.offsets)
        try writer.add(.values, values.arena)
        try writer.add(.tagOffsets, songs.offsets)
        try writer.add(.tags, songs.tags)
        try writer.add(.tagIndexes, indexes.tagIndexes)
        try writer.add(.indexTable, indexes.table)
        try writer.add(.indexValues, indexes.values)
        try writer.add(.indexPostingOffsets, indexes.postingOffsets)
        try writer.add(.indexPostings, indexes.postings)
        try writer.add(.indexMissing, indexes.missing)
        try writer.add(.indexFoldedOffsets, indexes.foldedOffsets)
        try writer.add(.indexFolded, indexes.folded)
    }
}

extension LibraryBuilder {
    /// The values that songs have, in byte order.
    var sortedValues: SortedTexts {
        var isUsed = [Bool](repeating: false, count: values.count)
        for song in rows where song.uri != ImageLayout.none {
            for tag in tags[Int(song.tagStart)..<Int(song.tagEnd)] { isUsed[Int(tag & ImageLayout.valueMask)] = true }
        }
        return SortedTexts(values, isUsed: isUsed)
    }
}
