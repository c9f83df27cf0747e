import MPDProtocol

/// The songs of each distinct value of one tag type, its fallbacks applied.
///
/// Tag types whose fallbacks lead to the same values share an index. Places are positions in `values`; as these
/// ascend in byte order, a place is also a rank.
struct TagIndex: Sendable {
    /// Ids of values, ascending.
    let values: ImageArray<UInt32>
    /// Where the songs of a place start in `postings`.
    let postingOffsets: ImageArray<UInt32>
    /// Songs, ascending for each place.
    let postings: ImageArray<UInt32>
    /// The songs without any value, ascending.
    let missing: ImageArray<UInt32>
    let foldedOffsets: ImageArray<UInt32>
    /// The folded texts, with a zero byte before, between and after them.
    let folded: ImageArray<UInt8>

    /// The index in this row of the image's table, or nil if the row points beyond its sections.
    init?(image: LibraryImage, row: Int) {
        let table = image.words(.indexTable)
        var cursor = row * ImageLayout.indexWords
        func part<Element>(_ section: Section, of type: Element.Type) -> ImageArray<Element>? {
            let start = Int(table[cursor])
            let count = Int(table[cursor + 1])
            cursor += 2
            let whole = image.array(section, of: type)
            guard start <= whole.count, count <= whole.count - start else { return nil }
            return whole.part(start, count)
        }
        guard let values = part(.indexValues, of: UInt32.self),
            let postingOffsets = part(.indexPostingOffsets, of: UInt32.self),
            let postings = part(.indexPostings, of: UInt32.self),
            let missing = part(.indexMissing, of: UInt32.self),
            let foldedOffsets = part(.indexFoldedOffsets, of: UInt32.self),
            let folded = part(.indexFolded, of: UInt8.self)
        else { return nil }
        self.values = values
        self.postingOffsets = postingOffsets
        self.postings = postings
        self.missing = missing
        self.foldedOffsets = foldedOffsets
        self.folded = folded
    }

    /// The songs with the value at this place.
    func songs(at place: Int) -> ImageArray<UInt32> {
        let start = Int(postingOffsets[place])
        return postings.part(start, Int(postingOffsets[place + 1]) - start)
    }

    /// The place of a value, if a song has it.
    func place(of value: UInt32) -> Int? {
        let place = values.firstPlace { $0 >= value }
        return place < values.count && values[place] == value ? place : nil
    }

    /// All folded texts with their separators.
    var foldedTexts: ByteView { unsafe ByteView(folded.buffer) }

    /// The folded text at this place.
    func foldedText(at place: Int) -> ByteView {
        foldedTexts.slice(Int(foldedOffsets[place]), Int(foldedOffsets[place + 1]) - 1)
    }
}

extension ImageArray {
    /// The first place where `isBeyond` holds, which must be false before it and true from there on.
    func firstPlace(where isBeyond: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
