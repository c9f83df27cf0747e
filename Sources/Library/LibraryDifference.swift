/// How much two libraries of one server differ.
enum LibraryDifference: Int, Comparable, Sendable {
    case none
    /// Stars, ratings, plays, or URIs that songs once had: nothing that the database shows.
    case annotations
    /// Songs, or what is known of them.
    case content

    static func < (a: LibraryDifference, b: LibraryDifference) -> Bool { a.rawValue < b.rawValue }

    /// Compares song by song; a few hundred nanoseconds each, less where the texts are the same: not for the core.
    static func between(_ a: LibrarySnapshot, _ b: LibrarySnapshot) -> LibraryDifference {
        guard a.songCount == b.songCount, a.directoryCount == b.directoryCount,
            sameTexts(a.directories.paths, b.directories.paths), sameTexts(a.songs.names, b.songs.names),
            sameTexts(a.songs.ids, b.songs.ids), same(a.songs.directories, b.songs.directories),
            same(a.songs.durations, b.songs.durations), same(a.songs.lastModified, b.songs.lastModified),
            same(a.songs.added, b.songs.added), same(a.songs.sizes, b.songs.sizes),
            same(a.songs.bitRates, b.songs.bitRates), sameTags(a, b), sameKinds(a, b), sameGains(a, b),
            sameTexts(a.songs.coverArts, of: a, b.songs.coverArts, of: b),
            sameTexts(a.songs.albumIDs, of: a, b.songs.albumIDs, of: b),
            sameTexts(a.songs.artistIDs, of: a, b.songs.artistIDs, of: b)
        else { return .content }
        guard same(a.songs.marks, b.songs.marks), same(a.songs.playCounts, b.songs.playCounts),
            same(a.songs.played, b.songs.played),
            sameTexts(a.aliases, b.aliases), same(a.aliasSongs, b.aliasSongs)
        else { return .annotations }
        return .none
    }

    private static func same<Element: BitwiseCopyable & Equatable>(
        _ a: ImageArray<Element>,
        _ b: ImageArray<Element>
    ) -> Bool { unsafe a.buffer.elementsEqual(b.buffer) }

    private static func sameTexts(_ a: ImageTexts, _ b: ImageTexts) -> Bool {
        same(a.offsets, b.offsets) && same(a.arena, b.arena)
    }

    private static func sameTags(_ a: LibrarySnapshot, _ b: LibrarySnapshot) -> Bool {
        // An unused value is in no library, so equal tags have equal values.
        sameTexts(a.values, b.values) && same(a.songs.tagOffsets, b.songs.tagOffsets)
            && same(a.songs.tags, b.songs.tags)
    }

    /// Columns of ids whose numbers depend on the order of arrival: the texts behind them count.
    private static func sameTexts(
        _ first: ImageArray<UInt32>,
        of a: LibrarySnapshot,
        _ second: ImageArray<UInt32>,
        of b: LibrarySnapshot
    ) -> Bool {
        guard first.count == second.count else { return false }
        return first.indices.allSatisfy { place in
            let (one, other) = (first[place], second[place])
            if one == ImageLayout.none || other == ImageLayout.none { return one == other }
            return a.texts[Int(one)] == b.texts[Int(other)]
        }
    }

    private static func sameKinds(_ a: LibrarySnapshot, _ b: LibrarySnapshot) -> Bool {
        var known: [UInt64: Bool] = [:]
        return a.songs.kinds.indices.allSatisfy { place in
            let (one, other) = (a.songs.kinds[place], b.songs.kinds[place])
            let pair = UInt64(one) << 32 | UInt64(other)
            if let known = known[pair] { return known }
            let (first, second) = (Int(one) * ImageLayout.kindWords, Int(other) * ImageLayout.kindWords)
            let isSame =
                (0..<2).allSatisfy { a.songs.kindTable[first + $0] == b.songs.kindTable[second + $0] }
                && (2..<4).allSatisfy {
                    a.texts[Int(a.songs.kindTable[first + $0])] == b.texts[Int(b.songs.kindTable[second + $0])]
                }
            known[pair] = isSame
            return isSame
        }
    }

    private static func sameGains(_ a: LibrarySnapshot, _ b: LibrarySnapshot) -> Bool {
        a.songs.gains.indices.allSatisfy { place in
            let (one, other) = (a.songs.gains[place], b.songs.gains[place])
            if one == ImageLayout.none || other == ImageLayout.none { return one == other }
            return (0..<ImageLayout.gainWords).allSatisfy { word in
                a.songs.gainTable[Int(one) * ImageLayout.gainWords + word].bitPattern
                    == b.songs.gainTable[Int(other) * ImageLayout.gainWords + word].bitPattern
            }
        }
    }
}
