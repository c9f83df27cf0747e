import MPDProtocol

/// Finds the songs of a former library in a new one when the server gave them other ids, as after it has read its files
/// into a new database.
///
/// A song is found by its path, else by its recording in MusicBrainz, else by artist, album, disc, track, title and a
/// length that differs by two seconds at most; each only if just one song on either side has it. Ids that still exist
/// count, unless most of them lead to songs of another path and title: then the server has given them out anew.
struct SongMatching: Sendable {
    let former: LibrarySnapshot
    /// Whether the server has given its ids to other songs.
    private(set) var isReassigned = false
    /// Former songs by the hash of the id that the new song has.
    private var formers: [UInt64: SongIndex] = [:]
    /// For former songs that have another id now, that id.
    private(set) var successors: [SongIndex: String] = [:]

    /// Compares a former library with the songs of a spool.
    init(_ former: LibrarySnapshot, _ spool: SongSpool.View, rule: PathRule) throws(LibraryError) {
        self.former = former
        var seen = [Bool](repeating: false, count: former.songCount)
        var common = 0
        var odd = 0
        var hasNew = false
        try spool.forEach { (song) throws(LibraryError) in
            guard let index = former.song(id: song.songID) else {
                hasNew = true
                return
            }
            seen[index.place] = true
            common += 1
            if !Self.hasSamePath(song, index, former, rule), !Self.hasSameTitle(song, index, former) { odd += 1 }
        }
        if odd >= 4, odd * 2 > common {
            isReassigned = true
            hasNew = true
            for place in seen.indices { seen[place] = false }
        }
        guard hasNew, seen.contains(false) else { return }
        try match(spool, rule, &seen)
    }

    /// The song as it was, or nil for a new one.
    func former(of songID: String) -> SongIndex? {
        if !isReassigned, let song = former.song(id: songID) { return song }
        return formers[URIAssigner.hash(songID)]
    }

    /// The id that a song of the former library has now, if it may still be there.
    func songID(of song: SongIndex) -> String? {
        if let successor = successors[song] { return successor }
        return isReassigned ? nil : former.songID(song)
    }

    private static func hasSamePath(
        _ song: SpoolReader.Song,
        _ index: SongIndex,
        _ former: LibrarySnapshot,
        _ rule: PathRule
    ) -> Bool {
        guard let uri = rule.uri(path: song.path, folder: song.folder) else { return false }
        return former.bearer(of: uri) == index
    }

    private static func hasSameTitle(
        _ song: SpoolReader.Song,
        _ index: SongIndex,
        _ former: LibrarySnapshot
    ) -> Bool {
        let title = former.tags(index).first { $0.tag == .title }?.value
        return song.record()?.tags.first { $0.tag == .title }?.value == title
    }

    // MARK: Songs with other ids

    /// A song that is only on one side, by what it can be found by; 0 for what it has not.
    private struct Loose {
        var duration: UInt32?
        /// The recording with its album, the recording alone, all tags; in the order in which they are tried.
        var keys: [UInt64]
    }

    private mutating func match(
        _ spool: SongSpool.View,
        _ rule: PathRule,
        _ seen: inout [Bool]
    ) throws(LibraryError) {
        // Two new songs of one path are told apart by nothing here.
        var atPath: [SongIndex: Int] = [:]
        try spool.forEach { (song) throws(LibraryError) in
            guard isNew(song.songID), let index = bearer(of: song, rule), !seen[index.place] else { return }
            atPath[index, default: 0] += 1
        }
        var loose: [(songID: String, song: Loose)] = []
        try spool.forEach { (song) throws(LibraryError) in
            guard isNew(song.songID) else { return }
            if let index = bearer(of: song, rule), atPath[index] == 1 {
                pair(index, song.songID)
                seen[index.place] = true
            } else if let record = song.record() {
                loose.append((song.songID, Loose(duration: record.duration, keys: Self.keys(record.tags))))
            }
        }
        var lost: [(index: SongIndex, song: Loose)] = []
        for place in seen.indices where !seen[place] {
            let index = SongIndex(place)
            lost.append((index, Loose(duration: former.duration(index), keys: Self.keys(former.tags(index)))))
        }
        for key in 0..<3 { join(&lost, &loose, key) }
    }

    private func isNew(_ songID: String) -> Bool { isReassigned || former.song(id: songID) == nil }

    private func bearer(of song: SpoolReader.Song, _ rule: PathRule) -> SongIndex? {
        rule.uri(path: song.path, folder: song.folder).flatMap { former.bearer(of: $0) }
    }

    private mutating func pair(_ song: SongIndex, _ songID: String) {
        formers[URIAssigner.hash(songID)] = song
        successors[song] = songID
    }

    /// Pairs the songs whose key occurs once on either side.
    private mutating func join(
        _ lost: inout [(index: SongIndex, song: Loose)],
        _ loose: inout [(songID: String, song: Loose)],
        _ key: Int
    ) {
        func places(_ songs: [Loose]) -> [UInt64: Int?] {
            var places: [UInt64: Int?] = [:]
            for (place, song) in songs.enumerated() where song.keys[key] != 0 {
                places.updateValue(places.keys.contains(song.keys[key]) ? nil : place, forKey: song.keys[key])
            }
            return places
        }
        let former = places(lost.map(\.song))
        let new = places(loose.map(\.song))
        var foundLost: Set<Int> = []
        var foundLoose: Set<Int> = []
        for (value, place) in former {
            guard let place, let other = new[value] ?? nil else { continue }
            let isTags = key == 2
            guard !isTags || Self.isAbout(lost[place].song.duration, loose[other].song.duration) else { continue }
            pair(lost[place].index, loose[other].songID)
            foundLost.insert(place)
            foundLoose.insert(other)
        }
        lost = lost.enumerated().filter { !foundLost.contains($0.offset) }.map(\.element)
        loose = loose.enumerated().filter { !foundLoose.contains($0.offset) }.map(\.element)
    }

    private static func isAbout(_ a: UInt32?, _ b: UInt32?) -> Bool {
        guard let a, let b else { return false }
        return max(a, b) - min(a, b) <= 2000
    }

    private static func keys(_ tags: [TagValue]) -> [UInt64] {
        func first(_ tag: Tag) -> String { tags.first { $0.tag == tag }?.value ?? "" }
        let recording = first(.musicBrainzTrackID)
        let album = first(.album)
        let title = first(.title)
        let all = [first(.artist), album, first(.disc), first(.track), title].joined(separator: "\n")
        return [
            recording.isEmpty || album.isEmpty ? 0 : URIAssigner.hash("\(recording)\n\(album)"),
            recording.isEmpty ? 0 : URIAssigner.hash(recording),
            title.isEmpty ? 0 : URIAssigner.hash(all),
        ]
    }
}
