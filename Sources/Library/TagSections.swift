import MPDProtocol

/// What an image says of tags: the values in byte order, the tags of each song, and the indexes.
struct TagSections: Sendable {
    private let values: SortedTexts
    /// Where the tags of each song start.
    private let offsets: [UInt32]
    private let tags: [UInt32]
    private let indexes: IndexAssembly

    /// - Parameters:
    ///   - order: Rows of the builder in database order.
    ///   - values: The values that songs in `order` have.
    init(_ builder: LibraryBuilder, _ order: [UInt32], _ values: SortedTexts) throws(LibraryError) {
        var offsets: [UInt32] = [0]
        var tags: [UInt32] = []
        offsets.reserveCapacity(order.count + 1)
        tags.reserveCapacity(builder.tags.count)
        for row in order {
            let song = builder.rows[Int(row)]
            for tag in builder.tags[Int(song.tagStart)..<Int(song.tagEnd)] {
                tags.append(tag & ~ImageLayout.valueMask | values.ranks[Int(tag & ImageLayout.valueMask)])
            }
            offsets.append(UInt32(tags.count))
        }
        indexes = try IndexAssembly(tagOffsets: offsets, tags: tags, values: values)
        self.values = values
        self.offsets = offsets
        self.tags = tags
    }

    /// The number of distinct values of a type, fallbacks included.
    func distinctValues(of tag: Tag) -> Int { indexes.distinctValues(of: tag) }

    func write(_ writer: inout ImageWriter) throws(LibraryError) {
        try writer.add(.valueOffsets, values.offsets)
        try writer.add(.values, values.arena)
        try writer.add(.tagOffsets, offsets)
        try writer.add(.tags, tags)
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
