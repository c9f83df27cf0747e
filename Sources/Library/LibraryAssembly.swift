import MPDProtocol

/// Builds a library of the songs in a spool: learns how paths become URIs, gives each song its own, and adds them up.
struct LibraryAssembly: Sendable {
    /// The library whose URIs and aliases hold on; nil when there is none that was complete.
    var former: LibrarySnapshot?
    /// Names of the music folders by number.
    var folderNames: [String]
    /// Song ids by URIs that songs once had, kept outside the image.
    var kept: [String: String] = [:]

    /// What came out.
    struct Result: Sendable {
        var snapshot: LibrarySnapshot
        var digest: SyncDigest
        /// Songs that could not be taken in: URIs that no one can bear.
        var lost: Int
    }

    /// Reads the spool three times, and keeps only numbers of each song in between.
    ///
    /// - Parameters:
    ///   - info: What the library will say of itself; the rule and the digest are added to its `syncState`.
    ///   - file: Where the image goes; nil for one in memory.
    /// - Throws: `LibraryError`; `CancellationError` when the task is cancelled.
    @concurrent
    func build(_ spool: SongSpool.View, info: LibraryInfo, file: String?) async throws -> Result {
        let formerState = former?.info.syncState ?? [:]
        let survey = try survey(spool)
        let rule = survey.rule(previous: PathRule(formerState), folderNames: folderNames)
        try Task.checkCancellation()

        var assigner = URIAssigner(rule: rule) { [former] songID in
            guard let former, let song = former.song(id: songID) else { return nil }
            return String(decoding: former.uri(song), as: UTF8.self)
        }
        try spool.forEach { (song) throws(LibraryError) in
            assigner.present(songID: song.songID, path: song.path, folder: song.folder)
        }
        try Task.checkCancellation()

        var builder = LibraryBuilder()
        var digest = SyncDigest()
        var lost = 0
        try spool.forEach { (song) throws(LibraryError) in
            guard var record = song.record() else { return }
            record.uri = assigner.assign(songID: song.songID, path: song.path, folder: song.folder)
            digest.add(song, uri: record.uri)
            if !builder.add(record) { lost += 1 }
        }
        try Task.checkCancellation()

        var aliases = AliasTable()
        for (uri, songID) in kept { aliases.add(uri: uri, songID: songID) }
        for (uri, song) in former?.formerURIs ?? [] {
            if let former { aliases.add(uri: uri, songID: former.songID(song)) }
        }
        for entry in assigner.aliases.entries { aliases.add(uri: entry.uri, songID: entry.songID) }
        for entry in aliases.entries { builder.addAlias(uri: entry.uri, songID: entry.songID) }
        var info = info
        info.syncState.merge(rule.encoded) { $1 }
        info.syncState.merge(digest.encoded) { $1 }
        let snapshot = try builder.build(info: info, file: file)
        return Result(snapshot: snapshot, digest: digest, lost: lost)
    }

    private func survey(_ spool: SongSpool.View) throws(LibraryError) -> PathSurvey {
        var survey = PathSurvey()
        var needsNames = true
        try spool.forEach { (song) throws(LibraryError) in
            // Names only matter for the first absolute path, and reading them means reading the whole song.
            var names: [String] = []
            if needsNames, song.path.hasPrefix("/") {
                names = (song.record()?.tags ?? []).filter { [.artist, .albumArtist, .album].contains($0.tag) }.map(
                    \.value
                )
                needsNames = false
            }
            survey.note(path: song.path, folder: song.folder, names: names)
        }
        return survey
    }
}

/// Tells whether two libraries are the same, whatever the order of their songs.
struct SyncDigest: Sendable, Hashable {
    private(set) var songs = 0
    /// What the songs are.
    private(set) var content: UInt64 = 0
    /// What the user did to them: stars, ratings, plays.
    private(set) var annotation: UInt64 = 0

    init() {}

    /// Reads what `encoded` made; nil if it is not there.
    init?(_ state: [String: String]) {
        guard let words = state["digest"]?.split(separator: " "), words.count == 3, let songs = Int(words[0]),
            let content = UInt64(words[1], radix: 16), let annotation = UInt64(words[2], radix: 16)
        else { return nil }
        self.songs = songs
        self.content = content
        self.annotation = annotation
    }

    /// For `LibraryInfo.syncState`.
    var encoded: [String: String] {
        ["digest": "\(songs) \(String(content, radix: 16)) \(String(annotation, radix: 16))"]
    }

    mutating func add(_ song: SpoolReader.Song, uri: String) {
        songs += 1
        let id = URIAssigner.hash(song.songID)
        var hash = id ^ (URIAssigner.hash(uri) &* 0x9E37_79B9_7F4A_7C15)
        for byte in song.facts { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        content &+= hash
        let marks = UInt64(song.userRating) << 40 | UInt64(song.isStarred ? 1 : 0) << 48 | UInt64(song.playCount)
        annotation &+= (id ^ marks) &* 0x100_0000_01B3
    }
}

extension PathRule {
    /// Reads what `encoded` made; nil if it is not there.
    init?(_ state: [String: String]) {
        guard let count = state["rule.folders"].flatMap({ Int($0) }), (0...10_000).contains(count) else { return nil }
        self.init(
            prefixes: (0..<count).map { state["rule.prefix.\($0)"] ?? "" },
            tops: (0..<count).map { state["rule.top.\($0)"] },
            isBackslashed: state["rule.backslashes"] != nil
        )
    }

    /// For `LibraryInfo.syncState`.
    var encoded: [String: String] {
        var state = ["rule.folders": String(prefixes.count)]
        for (number, prefix) in prefixes.enumerated() where !prefix.isEmpty { state["rule.prefix.\(number)"] = prefix }
        for (number, top) in tops.enumerated() { state["rule.top.\(number)"] = top }
        if isBackslashed { state["rule.backslashes"] = "yes" }
        return state
    }
}
