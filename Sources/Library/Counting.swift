public import MPDProtocol

/// How many songs there are, and how long they take together.
public struct SongCount: Sendable, Hashable {
    public var songs = 0
    /// Milliseconds.
    public var playtime: UInt64 = 0

    public init() {}

    /// Takes one more song in; an unknown duration is `ImageLayout.none`.
    mutating func add(_ duration: UInt32) {
        songs += 1
        if duration != ImageLayout.none { playtime += UInt64(duration) }
    }
}

/// Songs counted for each value of a tag, in byte order.
public struct GroupedCount: Sendable {
    let snapshot: LibrarySnapshot
    let tag: Tag
    /// Keys as in `TagListing`.
    let rows: [(key: UInt32, count: SongCount)]
}

extension LibrarySnapshot {
    /// Number of the songs that match, and their length.
    public func count(_ filter: Filter, shelves: ShelfCatalog? = nil) throws(FilterError) -> SongCount {
        let set = try evaluate(filter, shelves: shelves)
        if case .range(let range) = set, range.count == songCount {
            var all = SongCount()
            all.songs = songCount
            all.playtime = statistics.playtime
            return all
        }
        var result = SongCount()
        set.forEach { result.add(songs.durations[$0]) }
        return result
    }

    /// The same for each value of a tag; a song with several values counts for each.
    public func count(
        _ filter: Filter = .and([]),
        group: Tag,
        shelves: ShelfCatalog? = nil
    ) throws(FilterError) -> GroupedCount {
        let index = indexes[Int(group.rawValue)]
        var rows: [(key: UInt32, count: SongCount)] = []
        if filter == .and([]), let index {
            func append(_ key: UInt32, _ members: ImageArray<UInt32>) {
                if members.count == 0 { return }
                var count = SongCount()
                for song in members { count.add(songs.durations[Int(song)]) }
                rows.append((key, count))
            }
            append(0, index.missing)
            for place in 0..<index.values.count { append(index.values[place] + 1, index.songs(at: place)) }
        } else {
            let chain = [group] + group.fallbacks
            var counts: [UInt32: SongCount] = [:]
            var keys: [UInt32] = []
            try evaluate(filter, shelves: shelves).forEach { song in
                appendKeys(song, chain, &keys)
                for key in keys { counts[key, default: SongCount()].add(songs.durations[song]) }
            }
            rows = counts.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
        }
        return GroupedCount(snapshot: self, tag: group, rows: rows)
    }

    /// `songs:` and `playtime:` under each value.
    public func reply(_ count: GroupedCount) -> GroupedCountReply { GroupedCountReply(count) }
}

/// The lines of `count ... group`.
public struct GroupedCountReply: ReplySource {
    private let groups: GroupedCount
    private var row = 0

    init(_ groups: GroupedCount) { self.groups = groups }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let groups = groups
        let prefix = TagPrefixes.shared[Int(groups.tag.rawValue)]
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if row == groups.rows.count { return false }
            let (key, count) = groups.rows[row]
            buffer.appendLine(prefix, groups.snapshot.text(ofKey: key))
            buffer.append("songs: ")
            buffer.append(decimal: UInt64(count.songs))
            buffer.append("\nplaytime: ")
            buffer.append(decimal: count.playtime / 1000)
            buffer.append(UInt8(ascii: "\n"))
            row += 1
            return row < groups.rows.count
        }
    }
}
