import MPDProtocol

/// Turns what a builder has collected into an image.
///
/// Sections are made and written one after another, and what the builder holds is let go as soon as it is not needed any
/// more: with a million songs each part of it is a tenth of a gigabyte. The sections of tags take as long as all others; a
/// caller that has time for it lets them be made beside the others.
struct ImageAssembly: Sendable {
    private var builder: LibraryBuilder

    init(_ builder: LibraryBuilder) { self.builder = builder }

    /// Writes all of the image; whoever calls opens it when the builder is gone.
    mutating func write(info: LibraryInfo, file: String?) throws(LibraryError) -> ImageWriter {
        let songs = try sortedSongs()
        let values = builder.sortedValues
        let songTags = SongTags(builder, songs.order, values)
        builder.dropTags()
        var writer = try ImageWriter(path: file)
        try writeSongs(songs, &writer)
        try writeDirectories(songs, &writer)
        try writeTables(songs.tree, songs.order, &writer)
        try finish(songs.order, TagSections(songTags, values), info, &writer)
        return writer
    }

    /// The same on two threads.
    @concurrent
    mutating func writeInParallel(info: LibraryInfo, file: String?) async throws -> ImageWriter {
        let (songs, values) = try await sorted()
        let order = songs.order
        let songTags = SongTags(builder, order, values)
        builder.dropTags()
        async let tags = TagSections(songTags, values)
        var writer = try ImageWriter(path: file)
        try writeSongs(songs, &writer)
        try writeDirectories(songs, &writer)
        try writeTables(songs.tree, order, &writer)
        try finish(order, await tags, info, &writer)
        return writer
    }

    /// Songs and values, sorted beside each other. A function of its own, since what a task beside holds lasts as long as
    /// the function that began it.
    private func sorted() async throws -> (SortedSongs, SortedTexts) {
        let builder = builder
        async let values = builder.sortedValues
        let songs = try sortedSongs()
        return (songs, await values)
    }

    private func finish(
        _ order: [UInt32],
        _ tags: TagSections,
        _ info: LibraryInfo,
        _ writer: inout ImageWriter
    ) throws(LibraryError) {
        try tags.write(&writer)
        try writeAliases(SongNumbers(order: order, rowCount: builder.rows.count), &writer)
        let counts = (artists: tags.distinctValues(of: .artist), albums: tags.distinctValues(of: .album))
        try writeInfo(info, counts: counts, order, &writer)
        try writer.finish(songs: order.count)
    }

    /// Songs and directories in database order.
    private struct SortedSongs {
        /// Rows of the builder.
        var order: [UInt32]
        var tree: DirectoryTree
        /// For each row the place of its directory.
        var directories: [UInt32]
    }

    private func sortedSongs() throws(LibraryError) -> SortedSongs {
        let collation = Collation()
        var tree = DirectoryTree()
        var directories = try insertDirectories(&tree)
        tree.sort(collation)
        for row in directories.indices { directories[row] = tree.places[Int(directories[row])] }
        let order = SongOrder.rows(of: builder, directories: directories, collation: collation)
        return SortedSongs(order: order, tree: tree, directories: directories)
    }

    private func insertDirectories(_ tree: inout DirectoryTree) throws(LibraryError) -> [UInt32] {
        var directories = [UInt32](repeating: 0, count: builder.rows.count)
        var hasRoom = true
        builder.uris.arena.withView { uris in
            for (row, song) in builder.rows.enumerated() where song.uri != ImageLayout.none {
                if let directory = tree.insertDirectory(of: builder.uris.view(uris, song.uri)) {
                    directories[row] = directory
                } else {
                    hasRoom = false
                }
            }
        }
        if !hasRoom { throw .tooLarge }
        return directories
    }

    // MARK: Songs

    private mutating func writeSongs(_ songs: SortedSongs, _ writer: inout ImageWriter) throws(LibraryError) {
        let order = songs.order
        let names = texts(order, of: builder.uris) { arena, row in
            let uri = builder.uris.view(arena, builder.rows[row].uri)
            return uri.slice(uri.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0, uri.count)
        }
        try writer.add(.songNameOffsets, names.offsets)
        try writer.add(.songNames, names.arena)
        try writer.add(.songDirectories, order.map { songs.directories[Int($0)] })
        let ids = texts(order, of: builder.songIDs) { builder.songIDs.view($0, UInt32($1)) }
        try writer.add(.songIDOffsets, ids.offsets)
        try writer.add(.songIDs, ids.arena)
        try writer.add(.durations, column(order) { $0.duration })
        try writer.add(.lastModified, column(order) { $0.lastModified })
        try writer.add(.added, column(order) { $0.added })
        try writer.add(.sizes, column(order) { $0.size })
        try writer.add(.kinds, column(order) { $0.kind })
        try writer.add(.bitRates, column(order) { $0.bitRate })
        try writer.add(.marks, column(order) { $0.marks })
        try writer.add(.playCounts, column(order) { $0.playCount })
        try writer.add(.played, column(order) { $0.played })
        try writer.add(.coverArts, column(order) { $0.coverArt })
        try writer.add(.albumIDs, column(order) { $0.albumID })
        try writer.add(.artistIDs, column(order) { $0.artistID })
        try writer.add(.gains, column(order) { $0.gain })
        try writer.add(
            .kindTable,
            builder.kindList.flatMap { kind -> [UInt32] in
                let format = kind.format.map { UInt32($0.sampleFormat.rawValue) | UInt32($0.channels) << 8 } ?? 0
                return [kind.format?.sampleRate ?? 0, format, kind.suffix, kind.contentType]
            }
        )
        try writer.add(
            .gainTable,
            builder.gains.flatMap { gain -> [Float] in
                [
                    gain.trackGain, gain.albumGain, gain.trackPeak, gain.albumPeak, gain.baseGain, gain.fallbackGain,
                ].map { $0 ?? .nan }
            }
        )
        try writer.add(.textOffsets, builder.texts.offsets)
        try writer.add(.texts, builder.texts.arena)
        builder.dropTexts()
    }

    private func column<Element>(_ order: [UInt32], _ field: (borrowing SongRow) -> Element) -> [Element] {
        order.map { field(builder.rows[Int($0)]) }
    }

    private func texts(
        _ order: [UInt32],
        of table: TextTable,
        _ text: (ByteView, Int) -> ByteView
    ) -> (offsets: [UInt32], arena: [UInt8]) {
        var offsets: [UInt32] = [0]
        var arena: [UInt8] = []
        offsets.reserveCapacity(order.count + 1)
        table.arena.withView { all in
            for row in order {
                unsafe arena.append(contentsOf: text(all, Int(row)).buffer)
                // No longer than what a table holds, which fits.
                offsets.append(UInt32(arena.count))
            }
        }
        return (offsets, arena)
    }

    // MARK: Directories and tables

    private func writeDirectories(_ songs: SortedSongs, _ writer: inout ImageWriter) throws(LibraryError) {
        let tree = songs.tree
        let order = songs.order
        let songDirectories = order.map { songs.directories[Int($0)] }
        let count = tree.order.count
        let paths = texts(tree.order, of: tree.paths) { tree.paths.view($0, UInt32($1)) }
        try writer.add(.directoryPathOffsets, paths.offsets)
        try writer.add(.directoryPaths, paths.arena)
        try writer.add(.directoryParents, tree.order.map { tree.places[Int(tree.parents[Int($0)])] })

        // Songs are sorted by directory: counting gives the ranges.
        var starts = [UInt32](repeating: 0, count: count + 1)
        for directory in songDirectories { starts[Int(directory) + 1] += 1 }
        for directory in 0..<count { starts[directory + 1] += starts[directory] }
        try writer.add(.directorySongs, Array(starts.dropLast()))
        try writer.add(.directorySongEnds, Array(starts.dropFirst()))
        try writer.add(.directoryTreeSongEnds, tree.ends.map { starts[Int($0)] })
        try writer.add(.directoryEnds, tree.ends)

        var times = [UInt32](repeating: 0, count: count)
        for (song, directory) in songDirectories.enumerated() {
            let time = builder.rows[Int(order[song])].lastModified
            times[Int(directory)] = max(times[Int(directory)], time)
        }
        // Those below come later, so going backwards they are complete.
        for place in (1..<max(count, 1)).reversed() {
            let parent = Int(tree.places[Int(tree.parents[Int(tree.order[place])])])
            times[parent] = max(times[parent], times[place])
        }
        try writer.add(.directoryTimes, times)
    }

    private mutating func writeTables(
        _ tree: DirectoryTree,
        _ order: [UInt32],
        _ writer: inout ImageWriter
    ) throws(LibraryError) {
        let uris = HashTable.slots(count: order.count) { insert in
            builder.uris.arena.withView { arena in
                for row in order { insert(builder.uris.view(arena, builder.rows[Int(row)].uri).hash) }
            }
        }
        try writer.add(.uriTable, uris)
        builder.dropURIs()
        let ids = HashTable.slots(count: order.count) { insert in
            builder.songIDs.arena.withView { arena in
                for row in order { insert(builder.songIDs.view(arena, row).hash) }
            }
        }
        try writer.add(.idTable, ids)
        let paths = HashTable.slots(count: tree.order.count) { insert in
            tree.paths.arena.withView { arena in
                for directory in tree.order { insert(tree.paths.view(arena, directory).hash) }
            }
        }
        try writer.add(.pathTable, paths)
    }

    private func writeAliases(_ songs: SongNumbers, _ writer: inout ImageWriter) throws(LibraryError) {
        var known: [(uri: [UInt8], song: UInt32)] = []
        for alias in builder.aliases {
            guard let row = alias.songID.withView({ builder.songIDs.find($0) }), let song = songs.song(ofRow: row)
            else { continue }
            known.append((Array(alias.uri.utf8), song))
        }
        known.sort { $0.uri.lexicographicallyPrecedes($1.uri) }
        var offsets: [UInt32] = [0]
        var arena: [UInt8] = []
        for alias in known {
            arena += alias.uri
            guard let end = UInt32(exactly: arena.count) else { throw .tooLarge }
            offsets.append(end)
        }
        try writer.add(.aliasOffsets, offsets)
        try writer.add(.aliases, arena)
        try writer.add(.aliasSongs, known.map(\.song))
    }

    private func writeInfo(
        _ info: LibraryInfo,
        counts: (artists: Int, albums: Int),
        _ order: [UInt32],
        _ writer: inout ImageWriter
    ) throws(LibraryError) {
        var playtime: UInt64 = 0
        for row in order {
            let duration = builder.rows[Int(row)].duration
            if duration != ImageLayout.none { playtime += UInt64(duration) }
        }
        try writer.add(
            .numbers,
            [
                UInt64(counts.artists), UInt64(counts.albums), playtime,
                UInt64(bitPattern: info.lastSync), info.isComplete ? 1 : 0,
            ]
        )
        try writer.add(.info, InfoCoding.encode(info))
    }
}

/// Translates rows of the builder into songs of the image.
struct SongNumbers {
    private var songs: [UInt32]

    init(order: [UInt32], rowCount: Int) {
        songs = Array(repeating: ImageLayout.none, count: rowCount)
        for (song, row) in order.enumerated() { songs[Int(row)] = UInt32(song) }
    }

    func song(ofRow row: UInt32) -> UInt32? {
        let song = songs[Int(row)]
        return song == ImageLayout.none ? nil : song
    }
}
