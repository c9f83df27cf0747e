/// Finds the songs of our library that songs of an mpd are.
struct SongMatcher {
    /// How a song was found, the surest first.
    enum Way: String, Sendable, CaseIterable {
        case path = "same path"
        case tail = "end of the path"
        case tags = "album, artist, title and track"
        case title = "artist and title"
        case file = "name of the file"
    }

    struct Match: Sendable, Equatable {
        var uri: String
        var way: Way
    }

    private let songs: [OldSong]
    private var paths: [String: Int] = [:]
    private var names: [String: [Int]] = [:]
    private var tags: [String: [Int]] = [:]
    private var titles: [String: [Int]] = [:]

    /// - Parameter songs: those of our library.
    init(_ songs: [OldSong]) {
        self.songs = songs
        for (index, song) in songs.enumerated() {
            paths[song.uri] = index
            names[Self.fileName(song.uri), default: []].append(index)
            for key in Self.tagKeys(song) { tags[key, default: []].append(index) }
            for key in Self.titleKeys(song) { titles[key, default: []].append(index) }
        }
    }

    /// The song that is surely meant, or nil: where several could be, none is taken.
    func match(_ old: OldSong) -> Match? {
        if let index = paths[old.uri] { return Match(uri: songs[index].uri, way: .path) }
        // What is called alike but is another song by its tags is not meant.
        let alike = (names[Self.fileName(old.uri)] ?? []).filter { !Self.contradict(old, songs[$0]) }
        if let index = best(of: alike, for: old.uri) { return Match(uri: songs[index].uri, way: .tail) }
        for key in Self.tagKeys(old) {
            if let index = only(tags[key] ?? [], old) { return Match(uri: songs[index].uri, way: .tags) }
        }
        for key in Self.titleKeys(old) {
            if let index = only(titles[key] ?? [], old) { return Match(uri: songs[index].uri, way: .title) }
        }
        // "01.flac" is called as its neighbours in other folders are; a long name says more.
        let name = Self.fileName(old.uri)
        if old.title.isEmpty, alike.count == 1, name.count(where: \.isLetter) >= 4 {
            return Match(uri: songs[alike[0]].uri, way: .file)
        }
        return nil
    }

    /// Whether tags that both have name different songs: neither title, or no artist, is part of the other.
    private static func contradict(_ a: OldSong, _ b: OldSong) -> Bool {
        let titles = (letters(a.title), letters(b.title))
        if !isAlike(titles.0, titles.1) { return true }
        let (left, right) = (artists(a).map(letters), artists(b).map(letters))
        if left.isEmpty || right.isEmpty { return false }
        return !left.contains { one in right.contains { isAlike(one, $0) } }
    }

    /// Whether one is part of the other; what says nothing is part of all.
    private static func isAlike(_ a: String, _ b: String) -> Bool {
        a.isEmpty || b.isEmpty || a.contains(b) || b.contains(a)
    }

    /// Without blanks and signs, which taggers write differently.
    private static func letters(_ text: String) -> String {
        folded(text).filter { $0.isLetter || $0.isNumber }
    }

    /// Whether a folder is called as those of one disc are everywhere: `CD 1`, `Disc 2`.
    private static func isDisc(_ folder: String) -> Bool {
        let word = folder.prefix(while: \.isLetter)
        return ["cd", "disc", "disk"].contains(word) && !folder.dropFirst(word.count).contains(where: \.isLetter)
    }

    /// The candidate whose last folders are the same for the longest stretch, at least one that says something; nil for a
    /// draw.
    private func best(of candidates: [Int], for uri: String) -> Int? {
        let wanted = Self.folders(uri)
        let least = wanted.last.map(Self.isDisc) == true ? 2 : 1
        var best: (index: Int, count: Int, isDraw: Bool)?
        for index in candidates {
            let count = zip(wanted.reversed(), Self.folders(songs[index].uri).reversed()).prefix { $0 == $1 }.count
            guard count >= best?.count ?? least else { continue }
            best = (index, count, count == best?.count)
        }
        return best.flatMap { $0.isDraw ? nil : $0.index }
    }

    /// The only candidate, or the only one that is as long.
    private func only(_ candidates: [Int], _ old: OldSong) -> Int? {
        if candidates.count <= 1 { return candidates.first }
        guard let wanted = old.seconds else { return nil }
        let alike = candidates.filter { index in songs[index].seconds.map { abs($0 - wanted) <= 2 } ?? false }
        return alike.count == 1 ? alike[0] : nil
    }

    // MARK: Keys

    /// Texts are compared by their characters, so that it does not matter how accents are written.
    private static func folded(_ text: String) -> String { text.lowercased() }

    private static func fileName(_ uri: String) -> String {
        let name = uri.split(separator: "/").last ?? ""
        let stem = name.lastIndex(of: ".").map { $0 > name.startIndex ? name[..<$0] : name } ?? name
        return folded(String(stem))
    }

    private static func folders(_ uri: String) -> [String] {
        uri.split(separator: "/").dropLast().map { folded(String($0)) }
    }

    private static func key(_ parts: String...) -> String { parts.map(folded).joined(separator: "\u{0}") }

    private static func artists(_ song: OldSong) -> [String] {
        let both = [song.artist, song.albumArtist].filter { !$0.isEmpty }
        return both.count == 2 && folded(both[0]) == folded(both[1]) ? [both[0]] : both
    }

    private static func tagKeys(_ song: OldSong) -> [String] {
        guard !song.album.isEmpty, !song.title.isEmpty else { return [] }
        let track = String(song.track.prefix { $0 != "/" }.drop { $0 == "0" })
        return artists(song).map { key($0, song.album, song.title, track) }
    }

    private static func titleKeys(_ song: OldSong) -> [String] {
        song.title.isEmpty ? [] : artists(song).map { key($0, song.title) }
    }
}
