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
        /// Songs that could not be taken in: URIs that no one can bear.
        var lost: Int
        /// The ids that songs have now, by those that they had; only where they differ.
        var successors: [String: String] = [:]
    }

    /// Reads the spool again for what depends on the library as a whole, and keeps only numbers of each song in between.
    ///
    /// - Parameters:
    ///   - spool: Where the songs stand.
    ///   - draft: What has been made of them.
    ///   - info: What the library will say of itself; the rule is added to its `syncState`.
    ///   - file: Where the image goes; nil for one in memory.
    /// - Throws: `LibraryError`; `CancellationError` when the task is cancelled.
    @concurrent
    func build(
        _ spool: SongSpool.View,
        draft: consuming sending LibraryDraft,
        info: LibraryInfo,
        file: String?
    ) async throws -> Result {
        let rule = draft.survey.rule(previous: former.flatMap { PathRule($0.info.syncState) }, folderNames: folderNames)
        try Task.checkCancellation()
        let matching = try former.map { (former) throws(LibraryError) in try SongMatching(former, spool, rule: rule) }
        try Task.checkCancellation()

        var builder = draft.finish()
        let (renamed, lost) = try place(spool, in: &builder, rule: rule, matching: matching)
        try Task.checkCancellation()

        for entry in aliases(matching, renamed).entries { builder.addAlias(uri: entry.uri, songID: entry.songID) }
        var info = info
        info.syncState.merge(rule.encoded) { $1 }
        info.syncState["ids"] = idGeneration(matching)
        let snapshot = try await (consume builder).buildInParallel(info: info, file: file)
        var result = Result(snapshot: snapshot, lost: lost)
        for (song, successor) in matching?.successors ?? [:] {
            if let former { result.successors[former.songID(song)] = successor }
        }
        return result
    }

    /// Gives all songs their URIs, and tells those that some had before, and how many can bear none.
    private func place(
        _ spool: SongSpool.View,
        in builder: inout LibraryBuilder,
        rule: PathRule,
        matching: SongMatching?
    ) throws -> (renamed: AliasTable, lost: Int) {
        var assigner = URIAssigner(
            rule: rule,
            former: matching.map { matching in
                { songID in
                    matching.former(of: songID).map { String(decoding: matching.former.uri($0), as: UTF8.self) }
                }
            }
        )
        try spool.forEach { (song) throws(LibraryError) in
            assigner.present(songID: song.idView, path: song.pathView, folder: song.folder)
        }
        try Task.checkCancellation()

        var lost = 0
        var row = 0
        try spool.forEach { (song) throws(LibraryError) in
            assigner.assign(songID: song.idView, path: song.pathView, folder: song.folder) { uri in
                if !builder.place(row, at: uri) { lost += 1 }
            }
            row += 1
        }
        return (assigner.aliases, lost)
    }

    /// All URIs that songs had before, with the ids that the songs have now.
    private func aliases(_ matching: SongMatching?, _ renamed: AliasTable) -> AliasTable {
        var aliases = AliasTable()
        for (uri, songID) in kept {
            guard let matching else {
                aliases.add(uri: uri, songID: songID)
                continue
            }
            // What was kept may be older than the former library, so a song that it does not have may come back.
            let song = matching.former.song(id: songID)
            let now = song.map { matching.songID(of: $0) } ?? (matching.isReassigned ? nil : songID)
            if let now { aliases.add(uri: uri, songID: now) }
        }
        guard let matching else { return adding(renamed, to: aliases) }
        for (uri, song) in matching.former.formerURIs {
            if let songID = matching.songID(of: song) { aliases.add(uri: uri, songID: songID) }
        }
        return adding(renamed, to: aliases)
    }

    private func adding(_ renamed: AliasTable, to aliases: AliasTable) -> AliasTable {
        var aliases = aliases
        for entry in renamed.entries { aliases.add(uri: entry.uri, songID: entry.songID) }
        return aliases
    }

    /// Changes when the server gives its ids to other songs: then songs of both libraries are not the same because of them.
    private func idGeneration(_ matching: SongMatching?) -> String? {
        let generation = former?.info.syncState["ids"]
        guard matching?.isReassigned == true else { return generation }
        return String((generation.flatMap { Int($0) } ?? 0) &+ 1)
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
