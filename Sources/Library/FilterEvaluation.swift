public import MPDProtocol

/// What evaluating a term takes and gives, in songs: one is about what it takes to print one, some 0.3 µs.
private struct Estimate {
    var work: Int
    var results: Int

    var total: Int { work + results }
}

extension LibrarySnapshot {
    /// About how many songs an evaluation touches; up to a few thousand it may run on the core.
    ///
    /// Takes some microseconds. A filter that cannot be evaluated costs nothing.
    public func estimatedCost(_ filter: Filter) -> Int {
        if filter.namesShelf { return max(songCount, 1) }
        guard let compiled = try? CompiledFilter(filter, snapshot: self, checksBase: true) else { return 0 }
        return compiled.estimate(compiled.term).total
    }

    /// Makes a filter ready to be asked about single songs.
    /// - Parameter checksBase: Whether `base` must name something, as it must for the database but not for the queue.
    public func compile(_ filter: Filter, checksBase: Bool = false) throws(FilterError) -> CompiledFilter {
        try CompiledFilter(filter, snapshot: self, checksBase: checksBase)
    }

    /// The songs that match, sorted (else in database order), and of these the window.
    public func select(
        _ filter: Filter,
        sort: SortOrder? = nil,
        window: Range<Int>? = nil,
        shelves: ShelfCatalog? = nil
    ) throws(FilterError) -> SongSelection {
        let set = try evaluate(filter, shelves: shelves)
        let selection = sort.map { sorted(set, by: $0) } ?? set.selection
        return window.map { selection.window($0) } ?? selection
    }

    /// The songs that match.
    /// - Parameter shelves: Where paths in the folder of the shelves lead; nil if there are none.
    func evaluate(_ filter: Filter, shelves: ShelfCatalog? = nil) throws(FilterError) -> SongSet {
        let compiled = try CompiledFilter(filter, snapshot: self, checksBase: true, shelves: shelves)
        let set = compiled.evaluate(compiled.term)
        try compiled.checkExpense()
        return set
    }
}

extension Filter {
    /// Whether a directory in it lies in the folder of the shelves.
    fileprivate var namesShelf: Bool {
        switch self {
        case .base(let path): Shelf.contains(path: path)
        case .not(let filter): filter.namesShelf
        case .and(let filters): filters.contains { $0.namesShelf }
        case .tag, .anyTag, .uri, .modifiedSince, .addedSince, .audioFormat, .priority: false
        }
    }
}

extension CompiledFilter {
    /// The songs that match; any, if nobody waits for them: see `checkExpense`.
    func evaluate(_ term: Term) -> SongSet {
        if isAbandoned { return .none }
        switch term {
        case .tag(let tag, _, let test):
            guard let index = snapshot.indexes[Int(tag.rawValue)] else {
                return test.isEmpty ? .range(0..<snapshot.songCount) : .none
            }
            return evaluate([index], test, withMissing: test.isEmpty)
        case .anyTag(let test): return evaluate(snapshot.distinctIndexes, test, withMissing: false)
        case .uri(let test): return evaluateURI(test)
        case .range(let range, _): return .range(range)
        case .songs(let songs): return .bits(songs)
        case .not(let term): return evaluate(term).complement(count: snapshot.songCount)
        case .and(let terms): return evaluateAll(terms)
        case .priority(let least): return least == 0 ? .range(0..<snapshot.songCount) : .none
        case .modifiedSince, .addedSince, .format:
            return SongSet.range(0..<snapshot.songCount).filter { matches(term, $0, nil) }
        }
    }

    /// The songs of all values that match in any of the indexes.
    private func evaluate(_ indexes: [TagIndex], _ test: TextTest, withMissing: Bool) -> SongSet {
        var first: ImageArray<UInt32>?
        var bits: SongBits?
        func add(_ songs: ImageArray<UInt32>) {
            guard let already = first else {
                first = songs
                return
            }
            if bits == nil {
                bits = SongBits(count: snapshot.songCount)
                for song in already { bits?.insert(Int(song)) }
            }
            for song in songs { bits?.insert(Int(song)) }
        }
        for index in indexes {
            if withMissing { add(index.missing) }
            test.forEachPlace(in: index, of: snapshot.values) { add(index.songs(at: $0)) }
        }
        if let bits { return .bits(bits) }
        return .list(first.map { Array($0) } ?? [])
    }

    private func evaluateURI(_ test: TextTest) -> SongSet {
        if test.kind == .equals, !test.foldsCase, !test.stripsDiacritics {
            guard let song = snapshot.song(uri: test.text) else { return .none }
            // A former URI leads to a song that does not bear it.
            return matches(.uri(test), song.place, nil) ? .list([song.rawValue]) : .none
        }
        var found: [UInt32] = []
        var path: [UInt8] = []
        var directory: UInt32?
        var uri: [UInt8] = []
        for song in 0..<snapshot.songCount {
            let own = snapshot.songs.directories[song]
            if own != directory {
                directory = own
                path = snapshot.directories.paths[Int(own)].array
                if !path.isEmpty { path.append(UInt8(ascii: "/")) }
                if test.wantsFolded { path = TextFolding.folded(path) }
            }
            uri.removeAll(keepingCapacity: true)
            uri += path
            if test.wantsFolded {
                TextFolding.append(snapshot.songs.names[song], to: &uri)
            } else {
                unsafe uri.append(contentsOf: snapshot.songs.names[song].buffer)
            }
            if uri.withView(test.matches) { found.append(UInt32(song)) }
        }
        return .list(found)
    }

    /// The cheapest term gives the candidates; each other one is looked up or asked about each of them, whichever is
    /// less.
    private func evaluateAll(_ terms: [Term]) -> SongSet {
        let costs = terms.map { estimate($0) }
        let order = terms.indices.sorted { costs[$0].total < costs[$1].total }
        guard let first = order.first else { return .range(0..<snapshot.songCount) }
        var set = evaluate(terms[first])
        for index in order.dropFirst() {
            let count = set.count
            if count == 0 { return .none }
            if costs[index].total > count {
                set = set.filter { matches(terms[index], $0, nil) }
            } else {
                set = set.intersection(evaluate(terms[index]), count: snapshot.songCount)
            }
        }
        return set
    }

    fileprivate func estimate(_ term: Term) -> Estimate {
        let all = snapshot.songCount
        switch term {
        case .tag(let tag, _, let test):
            guard let index = snapshot.indexes[Int(tag.rawValue)] else {
                return Estimate(work: 1, results: test.isEmpty ? all : 0)
            }
            return estimate([index], test)
        case .anyTag(let test): return estimate(snapshot.distinctIndexes, test)
        case .uri(let test):
            return test.kind == .equals && !test.foldsCase && !test.stripsDiacritics
                ? Estimate(work: 1, results: 1) : Estimate(work: all, results: all / 16)
        case .range(let range, _): return Estimate(work: 1, results: range.count)
        case .songs(let songs): return Estimate(work: 1, results: songs.count)
        case .modifiedSince, .addedSince, .format: return Estimate(work: all / 32 + 1, results: all / 2)
        case .priority(let least): return Estimate(work: 1, results: least == 0 ? all : 0)
        case .not(let term):
            let inner = estimate(term)
            return Estimate(work: inner.total, results: max(all - inner.results, 0))
        case .and(let terms):
            let costs = terms.map { estimate($0) }
            guard let least = costs.min(by: { $0.total < $1.total }) else { return Estimate(work: 1, results: all) }
            return Estimate(work: least.work + least.results * (terms.count - 1), results: least.results)
        }
    }

    private func estimate(_ indexes: [TagIndex], _ test: TextTest) -> Estimate {
        var estimate = Estimate(work: 1, results: 0)
        for index in indexes {
            let isLookup =
                !test.wantsFolded && !test.stripsDiacritics && (test.kind == .equals || test.kind == .startsWith)
            if test.isEmpty {
                estimate.results += test.kind == .equals ? index.missing.count : snapshot.songCount
            } else if isLookup {
                test.forEachPlace(in: index, of: snapshot.values) { estimate.results += index.songs(at: $0).count }
                estimate.work += 4
            } else {
                // Folded texts are searched in one go; others value by value.
                let share = test.regex != nil || test.stripsDiacritics ? 2 : test.foldsCase ? 64 : 8
                estimate.work += index.values.count / share + 1
                estimate.results += index.postings.count / (test.kind == .equals ? max(index.values.count, 1) : 16)
            }
        }
        return estimate
    }
}
