import MPDProtocol

/// Sorts the songs of a builder into database order.
///
/// In a directory: by Album with Unicode collation (songs without one first), Disc and Track as numbers (missing and
/// not positive ones first), then by file name with collation.
///
/// Source: MPD `src/db/plugins/simple/SongSort.cxx`.
struct SongOrder {
    private struct Key {
        var directoryAndAlbum: UInt64
        var discAndTrack: UInt64
        var row: UInt32

        func precedes(_ other: Key) -> Bool? {
            if directoryAndAlbum != other.directoryAndAlbum { return directoryAndAlbum < other.directoryAndAlbum }
            if discAndTrack != other.discAndTrack { return discAndTrack < other.discAndTrack }
            return nil
        }
    }

    /// Rows in database order; `directories` holds each row's place in the tree.
    static func rows(
        of builder: LibraryBuilder,
        directories: [UInt32],
        collation: borrowing Collation
    ) -> [UInt32] {
        var keys: [Key] = []
        keys.reserveCapacity(builder.rows.count)
        let albums = albumRanks(builder, collation)
        builder.values.arena.withView { arena in
            for (row, song) in builder.rows.enumerated() where song.uri != ImageLayout.none {
                var album: UInt32?
                var disc: UInt32?
                var track: UInt32?
                for tag in builder.tags[Int(song.tagStart)..<Int(song.tagEnd)] {
                    let value = tag & ImageLayout.valueMask
                    switch Tag(rawValue: UInt8(tag >> ImageLayout.valueBits)) {
                    case .album: album = album ?? albums[Int(value)]
                    case .disc: disc = disc ?? positive(builder.values.view(arena, value))
                    case .track: track = track ?? positive(builder.values.view(arena, value))
                    default: break
                    }
                }
                keys.append(
                    Key(
                        directoryAndAlbum: UInt64(directories[row]) << 32 | UInt64(album ?? 0),
                        discAndTrack: UInt64(disc ?? 0) << 32 | UInt64(track ?? 0),
                        row: UInt32(row)
                    )
                )
            }
        }
        keys.sort { $0.precedes($1) ?? ($0.row < $1.row) }
        sortEqual(&keys, builder, collation)
        return keys.map(\.row)
    }

    /// Puts songs that differ only in their names into the names' order.
    private static func sortEqual(_ keys: inout [Key], _ builder: LibraryBuilder, _ collation: borrowing Collation) {
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[start].precedes(keys[end]) == nil { end += 1 }
            if end - start > 1 {
                var names = CollationKeys()
                for key in keys[start..<end] {
                    builder.uris.withText(builder.rows[Int(key.row)].uri) { uri in
                        let name = uri.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
                        names.add(uri.slice(name, uri.count), collation)
                    }
                }
                let sorted = (0..<(end - start)).sorted { a, b in
                    let order = names.compare(a, b)
                    if order != 0 { return order < 0 }
                    return builder.uris.arena.withView { arena in
                        let first = builder.uris.view(arena, builder.rows[Int(keys[start + a].row)].uri)
                        let second = builder.uris.view(arena, builder.rows[Int(keys[start + b].row)].uri)
                        return ByteView.compare(first, second) < 0
                    }
                }
                keys.replaceSubrange(start..<end, with: sorted.map { keys[start + $0] })
            }
            start = end
        }
    }

    /// For each value that is an album its rank by collation, from 1 on; equal keys share a rank.
    private static func albumRanks(_ builder: LibraryBuilder, _ collation: borrowing Collation) -> [UInt32] {
        var ranks = [UInt32](repeating: 0, count: builder.values.count)
        let album = UInt32(Tag.album.rawValue)
        var albums: [UInt32] = []
        for tag in builder.tags where tag >> ImageLayout.valueBits == album {
            let value = Int(tag & ImageLayout.valueMask)
            if ranks[value] == 0 {
                ranks[value] = 1
                albums.append(UInt32(value))
            }
        }
        var keys = CollationKeys()
        for value in albums { builder.values.withText(value) { keys.add($0, collation) } }
        let sorted = albums.indices.sorted { keys.compare($0, $1) < 0 }
        var rank: UInt32 = 0
        var last: Int?
        for index in sorted {
            if let last, keys.compare(last, index) == 0 {} else { rank += 1 }
            ranks[Int(albums[index])] = rank
            last = index
        }
        return ranks
    }

    private static func positive(_ text: ByteView) -> UInt32 { UInt32(clamping: max(text.leadingInteger, 0)) }
}

extension ByteView {
    /// The number at the start, as `strtol` reads it: white space, a sign, digits; 0 without digits; clamped.
    var leadingInteger: Int64 {
        var index = 0
        while index < count, self[index] == 0x20 || (self[index] >= 9 && self[index] <= 13) { index += 1 }
        let isNegative = index < count && self[index] == UInt8(ascii: "-")
        if isNegative || (index < count && self[index] == UInt8(ascii: "+")) { index += 1 }
        var value: Int64 = 0
        while index < count, self[index] >= 0x30, self[index] <= 0x39 {
            let digit = Int64(self[index] - 0x30)
            if value > (Int64.max - digit) / 10 { return isNegative ? .min : .max }
            value = value * 10 + digit
            index += 1
        }
        return isNegative ? -value : value
    }
}
