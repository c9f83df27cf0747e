import MPDProtocol

/// The checks that let queries use an image without fear: lengths fit each other, offsets ascend and stay in their
/// arenas, ids name something, trees and hash tables end.
extension LibraryImage {
    func validate() throws(LibraryError) {
        try validateSongs()
        try validateTags()
        try validateIndexes()
        try validateDirectories()
        try validateTables()
        guard array(.numbers, of: UInt64.self).count == ImageLayout.numberWords else { throw .damaged("numbers") }
    }

    private func validateSongs() throws(LibraryError) {
        try offsets(.songNameOffsets, in: .songNames, count: songCount)
        try offsets(.songIDOffsets, in: .songIDs, count: songCount)
        try length(.sizes, 8, songCount)
        try length(.bitRates, 2, songCount)
        try length(.marks, 1, songCount)
        for section in [Section.durations, .lastModified, .added, .playCounts, .played] {
            try length(section, 4, songCount)
        }
        let texts = words(.textOffsets).count - 1
        try offsets(.textOffsets, in: .texts, count: texts)
        for section in [Section.coverArts, .albumIDs, .artistIDs] {
            try length(section, 4, songCount)
            try ids(section, below: texts, orNone: true)
        }
        let kinds = words(.kindTable).count / ImageLayout.kindWords
        try length(.kindTable, 4, kinds * ImageLayout.kindWords)
        for kind in 0..<kinds {
            for word in 2...3 where words(.kindTable)[kind * ImageLayout.kindWords + word] >= texts {
                throw .damaged("kinds")
            }
        }
        try length(.kinds, 4, songCount)
        try ids(.kinds, below: kinds)
        let gains = words(.gainTable).count / ImageLayout.gainWords
        try length(.gainTable, 4, gains * ImageLayout.gainWords)
        try length(.gains, 4, songCount)
        try ids(.gains, below: gains, orNone: true)
    }

    private func validateTags() throws(LibraryError) {
        let tags = words(.tags)
        let values = words(.valueOffsets).count - 1
        try offsets(.valueOffsets, in: .values, count: values)
        try offsets(.tagOffsets, end: tags.count, count: songCount)
        let types = UInt32(Tag.allCases.count)
        let isValid = unsafe tags.buffer.allSatisfy {
            $0 >> ImageLayout.valueBits < types && $0 & ImageLayout.valueMask < values
        }
        guard isValid else { throw .damaged("tags") }
    }

    private func validateIndexes() throws(LibraryError) {
        let rows = words(.indexTable).count / ImageLayout.indexWords
        try length(.indexTable, 4, rows * ImageLayout.indexWords)
        try length(.tagIndexes, 4, Tag.allCases.count)
        try ids(.tagIndexes, below: rows, orNone: true)
        try ids(.indexValues, below: words(.valueOffsets).count - 1)
        try ids(.indexPostings, below: songCount)
        try ids(.indexMissing, below: songCount)
        for row in 0..<rows {
            guard let index = TagIndex(image: self, row: row) else { throw .damaged("index \(row)") }
            try offsets(index.postingOffsets, end: index.postings.count, count: index.values.count)
            // A separator stands before, between and after the folded texts, so offsets start at 1.
            let folded = index.foldedOffsets
            guard folded.count == index.values.count + 1, folded[0] == 1, ascends(folded),
                Int(folded[folded.count - 1]) == index.folded.count
            else { throw .damaged("folded texts of index \(row)") }
            for place in 0..<index.values.count where folded[place + 1] == folded[place] {
                throw .damaged("folded text of index \(row)")
            }
        }
    }

    private func validateDirectories() throws(LibraryError) {
        let count = words(.directoryParents).count
        guard count > 0 else { throw .damaged("no root") }
        try offsets(.directoryPathOffsets, in: .directoryPaths, count: count)
        for section in [
            Section.directorySongs, .directorySongEnds, .directoryTreeSongEnds, .directoryEnds, .directoryTimes,
        ] {
            try length(section, 4, count)
        }
        let parents = words(.directoryParents)
        let songs = words(.directorySongs)
        let songEnds = words(.directorySongEnds)
        let treeEnds = words(.directoryTreeSongEnds)
        let ends = words(.directoryEnds)
        for directory in 0..<count {
            guard parents[directory] < max(directory, 1), songs[directory] <= songEnds[directory],
                songEnds[directory] <= treeEnds[directory], treeEnds[directory] <= songCount,
                ends[directory] > directory, ends[directory] <= count
            else { throw .damaged("directory \(directory)") }
        }
        try length(.songDirectories, 4, songCount)
        try ids(.songDirectories, below: count)
        let aliases = words(.aliasSongs).count
        try offsets(.aliasOffsets, in: .aliases, count: aliases)
        try ids(.aliasSongs, below: songCount)
    }

    private func validateTables() throws(LibraryError) {
        let counts = [
            Section.uriTable: songCount, .idTable: songCount, .pathTable: words(.directoryParents).count,
        ]
        for (table, count) in counts {
            let slots = words(table)
            guard slots.count > 0, slots.count & (slots.count - 1) == 0 else { throw .damaged("\(table)") }
            try ids(table, below: count + 1)
        }
    }

    // MARK: The kinds of checks

    private func length(_ section: Section, _ width: Int, _ count: Int) throws(LibraryError) {
        guard bytes(section).count == width * count else { throw .damaged("length of \(section)") }
    }

    private func ids(_ section: Section, below bound: Int, orNone: Bool = false) throws(LibraryError) {
        let bound = UInt32(clamping: bound)
        // With "none" as the highest number: adding one makes it the lowest.
        let isValid =
            orNone
            ? unsafe words(section).buffer.allSatisfy { $0 &+ 1 <= bound }
            : unsafe words(section).buffer.allSatisfy { $0 < bound }
        guard isValid else { throw .damaged("ids in \(section)") }
    }

    private func offsets(_ section: Section, in arena: Section, count: Int) throws(LibraryError) {
        try offsets(section, end: bytes(arena).count, count: count)
    }

    private func offsets(_ section: Section, end: Int, count: Int) throws(LibraryError) {
        do { try offsets(words(section), end: end, count: count) } catch { throw .damaged("offsets in \(section)") }
    }

    private func offsets(_ offsets: ImageArray<UInt32>, end: Int, count: Int) throws(LibraryError) {
        guard count >= 0, offsets.count == count + 1, offsets[0] == 0, Int(offsets[count]) == end, ascends(offsets)
        else { throw .damaged("offsets") }
    }

    private func ascends(_ offsets: ImageArray<UInt32>) -> Bool {
        let buffer = unsafe offsets.buffer
        var last: UInt32 = 0
        var isAscending = true
        for index in buffer.indices {
            let offset = unsafe buffer[index]
            isAscending = isAscending && offset >= last
            last = offset
        }
        return isAscending
    }
}
