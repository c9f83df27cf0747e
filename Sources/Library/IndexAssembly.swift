import MPDProtocol

/// Makes the tag indexes of an image: for each tag type, with fallbacks applied, the songs of each distinct value.
struct IndexAssembly {
    private(set) var tagIndexes = [UInt32](repeating: ImageLayout.none, count: Tag.allCases.count)
    private(set) var table: [UInt32] = []
    private(set) var values: [UInt32] = []
    private(set) var postingOffsets: [UInt32] = []
    private(set) var postings = Pieces<UInt32>()
    private(set) var missing: [UInt32] = []
    private(set) var foldedOffsets: [UInt32] = []
    private(set) var folded = Pieces<UInt8>()
    /// For each value its count of songs, then its next free posting; all 0 between two tag types.
    private var counts: [UInt32]
    /// The types that each song has, so that songs without a type are passed over.
    private var present: [UInt64] = []

    /// - Parameters:
    ///   - tagOffsets: Where the tags of each song start.
    ///   - tags: As `Section.tags`.
    ///   - values: The values, in order of their ids.
    init(tagOffsets: [UInt32], tags: [UInt32], values texts: SortedTexts) throws(LibraryError) {
        counts = Array(repeating: 0, count: texts.count)
        present.reserveCapacity(tagOffsets.count)
        var all: UInt64 = 0
        for song in 0..<(tagOffsets.count - 1) {
            var mask: UInt64 = 0
            for place in Int(tagOffsets[song])..<Int(tagOffsets[song + 1]) {
                mask |= 1 << UInt64(tags[place] >> ImageLayout.valueBits)
            }
            present.append(mask)
            all |= mask
        }
        var rows: [[Tag]: UInt32] = [:]
        for tag in Tag.allCases {
            // Types that no song has do not matter, so what is left of a chain may be that of another type.
            let chain = ([tag] + tag.fallbacks).filter { all & (1 << UInt64($0.rawValue)) != 0 }
            if chain.isEmpty { continue }
            if let row = rows[chain] {
                tagIndexes[Int(tag.rawValue)] = row
                continue
            }
            let row = UInt32(rows.count)
            rows[chain] = row
            tagIndexes[Int(tag.rawValue)] = row
            try add(chain, tagOffsets, tags, texts)
        }
    }

    /// The number of distinct values of a type, fallbacks included.
    func distinctValues(of tag: Tag) -> Int {
        let row = tagIndexes[Int(tag.rawValue)]
        return row == ImageLayout.none ? 0 : Int(table[Int(row) * ImageLayout.indexWords + 1])
    }

    private mutating func add(
        _ chain: [Tag],
        _ tagOffsets: [UInt32],
        _ tags: [UInt32],
        _ texts: SortedTexts
    ) throws(LibraryError) {
        let starts = [
            values.count, postingOffsets.count, postings.count, missing.count, foldedOffsets.count, folded.count,
        ]
        let used = collect(chain, tagOffsets, tags)
        values += used
        try fold(used, texts)
        let ends = [
            values.count, postingOffsets.count, postings.count, missing.count, foldedOffsets.count, folded.count,
        ]
        for (start, end) in zip(starts, ends) {
            guard let start = UInt32(exactly: start), let count = UInt32(exactly: end - Int(start)) else {
                throw .tooLarge
            }
            table += [start, count]
        }
    }

    /// Appends the postings of one chain, and returns the values that occur.
    private mutating func collect(_ chain: [Tag], _ tagOffsets: [UInt32], _ tags: [UInt32]) -> [UInt32] {
        var entries: [(value: UInt32, song: UInt32)] = []
        var found: [UInt32] = []
        entries.reserveCapacity(tagOffsets.count)
        let mask = chain.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue) }
        for song in 0..<(tagOffsets.count - 1) {
            if present[song] & mask == 0 {
                missing.append(UInt32(song))
                continue
            }
            found.removeAll(keepingCapacity: true)
            let range = Int(tagOffsets[song])..<Int(tagOffsets[song + 1])
            Self.effectiveValues(tags, range, chain, &found)
            if found.isEmpty { missing.append(UInt32(song)) }
            for value in found {
                entries.append((value, UInt32(song)))
                counts[Int(value)] += 1
            }
        }
        var used: [UInt32] = []
        var offset: UInt32 = 0
        postingOffsets.append(0)
        for value in counts.indices where counts[value] > 0 {
            used.append(UInt32(value))
            let count = counts[value]
            counts[value] = offset
            offset += count
            postingOffsets.append(offset)
        }
        var piece = [UInt32](repeating: 0, count: entries.count)
        for entry in entries {
            piece[Int(counts[Int(entry.value)])] = entry.song
            counts[Int(entry.value)] += 1
        }
        postings.append(piece)
        for value in used { counts[Int(value)] = 0 }
        return used
    }

    private mutating func fold(_ used: [UInt32], _ texts: SortedTexts) throws(LibraryError) {
        var piece: [UInt8] = []
        // Most texts are as long as they were.
        piece.reserveCapacity(used.reduce(1) { $0 + texts.length($1) + 1 })
        piece.append(0)
        foldedOffsets.append(1)
        texts.arena.withView { arena in
            for value in used {
                TextFolding.append(texts.view(arena, value), to: &piece)
                piece.append(0)
                foldedOffsets.append(UInt32(clamping: piece.count))
            }
        }
        if piece.count >= Int(UInt32.max) { throw .tooLarge }
        folded.append(piece)
    }

    /// Appends the distinct values of the first type in `chain` that the song has, in the song's order.
    static func effectiveValues(_ tags: [UInt32], _ range: Range<Int>, _ chain: [Tag], _ found: inout [UInt32]) {
        for tag in chain {
            for entry in tags[range] where entry >> ImageLayout.valueBits == UInt32(tag.rawValue) {
                let value = entry & ImageLayout.valueMask
                if !found.contains(value) { found.append(value) }
            }
            if !found.isEmpty { return }
        }
    }
}
