import MPDProtocol

/// The albums of a snapshot: their folder names on the shelves, and their songs.
///
/// An album is what the server calls one; songs without an album id are grouped by album artist and album. Albums are
/// numbered in the order of their folder names. Some 20 bytes a song and 60 an album; made when a shelf is first asked
/// for, in about 0.2 µs a song.
struct AlbumTable: Sendable {
    /// Songs by album, in database order within each.
    private let songs: [UInt32]
    /// Where the songs of an album begin in `songs`; one more at the end.
    private let starts: [UInt32]
    /// By song; `ImageLayout.none` for one without an album.
    let albumOfSong: [UInt32]
    private let names: [UInt8]
    private let nameOffsets: [UInt32]
    /// Albums by the hash of their names.
    private let byHash: [(hash: UInt64, album: UInt32)]
    /// The first year of the decade; 0 if it is not known.
    let decades: [UInt16]

    var count: Int { starts.count - 1 }

    /// The songs of an album, in database order.
    func songs(of album: UInt32) -> ArraySlice<UInt32> {
        songs[Int(starts[Int(album)])..<Int(starts[Int(album) + 1])]
    }

    /// What the album's folder is called.
    func name(of album: UInt32) -> ArraySlice<UInt8> {
        names[Int(nameOffsets[Int(album)])..<Int(nameOffsets[Int(album) + 1])]
    }

    /// The album whose folder is called so.
    func album(named name: ArraySlice<UInt8>) -> UInt32? {
        let hash = Array(name).withView { $0.hash }
        var low = 0
        var high = byHash.count
        while low < high {
            let middle = (low + high) / 2
            if byHash[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        while low < byHash.count, byHash[low].hash == hash {
            if self.name(of: byHash[low].album) == name { return byHash[low].album }
            low += 1
        }
        return nil
    }

    init(_ library: LibrarySnapshot) {
        var groups = AlbumGroups(library)
        let names = groups.folderNames(library)
        let order = Self.order(names)
        var ranks = [UInt32](repeating: 0, count: order.count)
        for (rank, group) in order.enumerated() { ranks[group] = UInt32(rank) }

        var starts = [UInt32](repeating: 0, count: order.count + 1)
        for group in groups.ofSong where group != ImageLayout.none { starts[Int(ranks[Int(group)]) + 1] += 1 }
        for album in 0..<order.count { starts[album + 1] += starts[album] }
        var next = starts
        var songs = [UInt32](repeating: 0, count: Int(starts.last ?? 0))
        for (song, group) in groups.ofSong.enumerated() where group != ImageLayout.none {
            let album = ranks[Int(group)]
            groups.ofSong[song] = album
            songs[Int(next[Int(album)])] = UInt32(song)
            next[Int(album)] += 1
        }
        var arena: [UInt8] = []
        var offsets: [UInt32] = [0]
        for group in order {
            arena += names[group].utf8
            offsets.append(UInt32(clamping: arena.count))
        }
        self.songs = songs
        self.starts = starts
        albumOfSong = groups.ofSong
        self.names = arena
        nameOffsets = offsets
        byHash = order.enumerated().map { rank, group in (names[group].withView { $0.hash }, UInt32(rank)) }
            .sorted { $0.hash < $1.hash }
        decades = (0..<order.count).map { album in Self.decade(of: Int(songs[Int(starts[album])]), library) }
    }

    /// As MPD orders directories; equal ones by their bytes.
    private static func order(_ names: [String]) -> [Int] {
        let collation = Collation()
        var keys = CollationKeys()
        for name in names { name.withView { keys.add($0, collation) } }
        return names.indices.sorted { a, b in
            let order = keys.compare(a, b)
            return order == 0 ? names[a].utf8.lexicographicallyPrecedes(names[b].utf8) : order < 0
        }
    }

    private static func decade(of song: Int, _ library: LibrarySnapshot) -> UInt16 {
        guard let date = library.firstValue(song, [.originalDate, .date]) else { return 0 }
        let year = library.values[Int(date)].leadingInteger
        return (1000...9999).contains(year) ? UInt16(year / 10 * 10) : 0
    }
}

/// Songs put together to albums, numbered as they come.
private struct AlbumGroups {
    var ofSong: [UInt32]
    private var firstSongs: [UInt32] = []

    init(_ library: LibrarySnapshot) {
        ofSong = [UInt32](repeating: ImageLayout.none, count: library.songCount)
        var groups: [UInt64: UInt32] = [:]
        var last: (key: UInt64, group: UInt32)?
        for song in 0..<library.songCount {
            guard let key = Self.key(of: song, library) else { continue }
            // Songs of an album mostly stand together.
            if let last, last.key == key {
                ofSong[song] = last.group
                continue
            }
            let group = groups[key] ?? UInt32(firstSongs.count)
            if group == firstSongs.count {
                groups[key] = group
                firstSongs.append(UInt32(song))
            }
            ofSong[song] = group
            last = (key, group)
        }
    }

    private static func key(of song: Int, _ library: LibrarySnapshot) -> UInt64? {
        let id = library.songs.albumIDs[song]
        if id != ImageLayout.none { return UInt64(id) }
        guard let album = library.firstValue(song, [.album]) else { return nil }
        let artist = library.firstValue(song, [.albumArtist, .artist]).map { $0 + 1 } ?? 0
        return 1 << 63 | UInt64(album) << 32 | UInt64(artist)
    }

    /// `Album artist - Album`; where several albums would be called so, all but one bear their ids.
    func folderNames(_ library: LibrarySnapshot) -> [String] {
        var names: [String] = []
        var holders: [String: Int] = [:]
        for (group, first) in firstSongs.enumerated() {
            let song = Int(first)
            let artist = library.firstValue(song, [.albumArtist, .artist]).map { library.values[Int($0)].string }
            let album = library.firstValue(song, [.album]).map { library.values[Int($0)].string } ?? "Unknown Album"
            let name = PathSegment.safe(artist.map { "\($0) - \(album)" } ?? album) ?? "_"
            names.append(name)
            guard let holder = holders[name] else {
                holders[name] = group
                continue
            }
            // The order in which albums come plays no part.
            let (own, other) = (mark(group, library), mark(holder, library))
            if URIAssigner.hash(own) < URIAssigner.hash(other) {
                names[holder] = PathSegment.marked(name[...], with: " [\(other)]")
                holders[name] = group
            } else {
                names[group] = PathSegment.marked(name[...], with: " [\(own)]")
            }
        }
        return names
    }

    private func mark(_ group: Int, _ library: LibrarySnapshot) -> String {
        let song = SongIndex(rawValue: firstSongs[group])
        if let id = library.albumID(song), let safe = PathSegment.safe(id), safe.utf8.count <= 100 { return safe }
        return String(URIAssigner.hash(library.albumID(song) ?? library.songID(song)), radix: 16)
    }
}
