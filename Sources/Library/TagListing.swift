public import MPDProtocol

/// Distinct combinations of tag values among songs, each level in byte order: what `list` prints.
///
/// A key is 0 for "no value", else the value's id + 1; as ids are ranks, keys order as the texts do.
public struct TagListing: Sendable {
    let snapshot: LibrarySnapshot
    /// Outermost first; the listed type itself is the last.
    let levels: [Tag]
    /// Ascending, without repetition, one key for each level.
    private(set) var keys: [UInt32]

    /// The number of lines on the innermost level.
    public var count: Int { keys.count / levels.count }

    init(_ snapshot: LibrarySnapshot, levels: [Tag], set: SongSet?) {
        self.snapshot = snapshot
        self.levels = levels
        keys = []
        if levels.count == 1, set == nil {
            listAll(levels[0])
        } else {
            collect(set ?? .range(0..<snapshot.songCount))
            sort()
        }
    }

    func key(_ row: Int, _ level: Int) -> UInt32 { keys[row * levels.count + level] }

    /// Keeps these values of the outermost level; `window` as MPD 0.25 has it.
    mutating func clip(to window: Range<Int>) {
        var kept: [UInt32] = []
        var outer = -1
        for row in 0..<count {
            if row == 0 || key(row, 0) != key(row - 1, 0) { outer += 1 }
            if window.contains(outer) { kept += keys[(row * levels.count)..<((row + 1) * levels.count)] }
        }
        keys = kept
    }

    /// The index knows all values of all songs.
    private mutating func listAll(_ tag: Tag) {
        guard let index = snapshot.indexes[Int(tag.rawValue)] else {
            if snapshot.songCount > 0 { keys = [0] }
            return
        }
        if index.missing.count > 0 { keys.append(0) }
        keys.append(contentsOf: index.values.lazy.map { $0 + 1 })
    }

    /// Appends the combinations of each song; songs of an album mostly have the same as the one before.
    private mutating func collect(_ set: SongSet) {
        let chains = levels.map { [$0] + $0.fallbacks }
        let width = levels.count
        var values = [[UInt32]](repeating: [], count: width)
        var former = values
        var row = [UInt32](repeating: 0, count: width)
        set.forEach { song in
            for level in 0..<width { snapshot.appendKeys(song, chains[level], &values[level]) }
            if values == former { return }
            swap(&values, &former)
            combine(former, level: 0, &row)
        }
    }

    private mutating func combine(_ values: [[UInt32]], level: Int, _ row: inout [UInt32]) {
        if level == values.count {
            keys += row
            return
        }
        for value in values[level] {
            row[level] = value
            combine(values, level: level + 1, &row)
        }
    }

    private mutating func sort() {
        let width = levels.count
        if width == 1 {
            keys.sort()
        } else {
            let unsorted = keys
            let rows = (0..<count).sorted { a, b in
                for level in 0..<width {
                    let first = unsorted[a * width + level]
                    let second = unsorted[b * width + level]
                    if first != second { return first < second }
                }
                return false
            }
            keys.removeAll(keepingCapacity: true)
            for row in rows { keys += unsorted[(row * width)..<((row + 1) * width)] }
        }
        removeRepetitions(width)
    }

    private mutating func removeRepetitions(_ width: Int) {
        var kept = 0
        for row in 0..<count {
            let isNew = kept == 0 || (0..<width).contains { keys[row * width + $0] != keys[(kept - 1) * width + $0] }
            if isNew {
                for level in 0..<width { keys[kept * width + level] = keys[row * width + level] }
                kept += 1
            }
        }
        keys.removeLast(keys.count - kept * width)
    }
}

extension LibrarySnapshot {
    /// The distinct values of a tag among the songs that match, nested in those of the groups.
    /// - Parameters:
    ///   - groups: Outermost first.
    ///   - window: Which values of the outermost level.
    public func list(
        _ tag: Tag,
        matching filter: Filter = .and([]),
        groups: [Tag] = [],
        window: Range<Int>? = nil,
        shelves: ShelfCatalog? = nil
    ) throws(FilterError) -> TagListing {
        let set = filter == .and([]) ? nil : try evaluate(filter, shelves: shelves)
        var listing = TagListing(self, levels: groups + [tag], set: set)
        if let window { listing.clip(to: window) }
        return listing
    }

    /// Replaces `keys` by those of the song: of the first type in the chain that it has, else 0.
    func appendKeys(_ song: Int, _ chain: [Tag], _ keys: inout [UInt32]) {
        keys.removeAll(keepingCapacity: true)
        let range = songs.tagRange(song)
        for tag in chain {
            for index in range where songs.tags[index] >> ImageLayout.valueBits == UInt32(tag.rawValue) {
                let key = songs.tags[index] & ImageLayout.valueMask + 1
                if !keys.contains(key) { keys.append(key) }
            }
            if !keys.isEmpty { return }
        }
        keys.append(0)
    }

    /// The text of a key; none for 0.
    func text(ofKey key: UInt32) -> ByteView {
        key == 0 || Int(key) > values.count ? unsafe ByteView(nil, count: 0) : values[Int(key) - 1]
    }

    /// The lines of a `list`.
    public func reply(_ listing: TagListing) -> TagListReply { TagListReply(listing) }
}

/// `Tag: value` lines; those of outer levels only where they change.
public struct TagListReply: ReplySource {
    private let listing: TagListing
    private var row = 0

    init(_ listing: TagListing) { self.listing = listing }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let listing = listing
        let prefixes = TagPrefixes.shared
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if row == listing.count { return false }
            var hasChanged = row == 0
            for level in listing.levels.indices {
                let key = listing.key(row, level)
                hasChanged = hasChanged || key != listing.key(row - 1, level)
                if hasChanged {
                    let prefix = prefixes[Int(listing.levels[level].rawValue)]
                    buffer.appendLine(prefix, listing.snapshot.text(ofKey: key))
                }
            }
            row += 1
            return row < listing.count
        }
    }
}
