import MPDProtocol

/// A filter made ready for one snapshot: texts folded, regular expressions compiled, directories found.
///
/// For one thread at a time, and as long as the snapshot lives.
public final class CompiledFilter {
    indirect enum Term {
        case tag(Tag, chain: [Tag], TextTest)
        case anyTag(TextTest)
        case uri(TextTest)
        /// Songs of the database in this range: those below a path, or the song there.
        case range(Range<Int>, base: [UInt8])
        /// Songs on a shelf.
        case songs(SongBits)
        case modifiedSince(Int64)
        case addedSince(Int64)
        case format(AudioFormatMask)
        case priority(UInt8)
        case not(Term)
        case and([Term])
    }

    let snapshot: LibrarySnapshot
    let term: Term
    private(set) var regexes: [Regex] = []
    /// Where there is one, evaluations look at it before each term, and for each value with a regular expression.
    private let stopSign = StopSign.current

    init(
        _ filter: Filter,
        snapshot: LibrarySnapshot,
        checksBase: Bool,
        shelves: ShelfCatalog? = nil
    ) throws(FilterError) {
        self.snapshot = snapshot
        var compiler = Compiler(snapshot: snapshot, shelves: shelves)
        term = try compiler.term(filter, checksBase: checksBase)
        regexes = compiler.regexes
    }

    /// Whether one song matches.
    /// - Parameter priority: That of the queue entry; nil outside the queue, which counts as 0.
    public func matches(_ song: SongIndex, priority: UInt8? = nil) -> Bool {
        matches(term, song.place, priority)
    }

    /// - Throws: `FilterError.tooExpensive` if an evaluation gave up; to be asked at the end.
    public func checkExpense() throws(FilterError) {
        if isAbandoned || regexes.contains(where: \.isTooExpensive) { throw .tooExpensive }
    }

    /// Whether nobody waits for what an evaluation finds.
    var isAbandoned: Bool { stopSign?.isSet == true }

    func matches(_ term: Term, _ song: Int, _ priority: UInt8?) -> Bool {
        switch term {
        case .tag(_, let chain, let test): return tagMatches(song, chain, test)
        case .anyTag(let test):
            return snapshot.songs.tagRange(song).contains { entryMatches(snapshot.songs.tags[$0], test) }
        case .uri(let test):
            let uri = snapshot.uri(SongIndex(song))
            return (test.wantsFolded ? TextFolding.folded(uri) : uri).withView(test.matches)
        case .range(let range, _): return range.contains(song)
        case .songs(let songs): return songs.contains(song)
        case .modifiedSince(let time): return Self.isSince(time, snapshot.songs.lastModified[song])
        case .addedSince(let time): return Self.isSince(time, snapshot.songs.added[song])
        case .format(let mask): return formatMatches(song, mask)
        case .priority(let least): return (priority ?? 0) >= least
        case .not(let term): return !matches(term, song, priority)
        case .and(let terms): return terms.allSatisfy { matches($0, song, priority) }
        }
    }

    private func tagMatches(_ song: Int, _ chain: [Tag], _ test: TextTest) -> Bool {
        let range = snapshot.songs.tagRange(song)
        for tag in chain {
            var hasValue = false
            for index in range {
                let entry = snapshot.songs.tags[index]
                guard entry >> ImageLayout.valueBits == UInt32(tag.rawValue) else { continue }
                hasValue = true
                if entryMatches(entry, test) { return true }
            }
            if hasValue { return false }
        }
        return test.isEmpty
    }

    /// Whether the value of an entry of `Section.tags` matches.
    private func entryMatches(_ entry: UInt32, _ test: TextTest) -> Bool {
        let value = entry & ImageLayout.valueMask
        let text = snapshot.values[Int(value)]
        guard test.wantsFolded else { return test.matches(text) }
        let index = snapshot.indexes[Int(entry >> ImageLayout.valueBits)]
        if let index, let place = index.place(of: value) { return test.matches(index.foldedText(at: place)) }
        return TextFolding.folded(text.array).withView(test.matches)
    }

    private func formatMatches(_ song: Int, _ mask: AudioFormatMask) -> Bool {
        guard let format = snapshot.format(SongIndex(song)) else { return false }
        return (mask.sampleRate ?? format.sampleRate) == format.sampleRate
            && (mask.sampleFormat ?? format.sampleFormat) == format.sampleFormat
            && (mask.channels ?? format.channels) == format.channels
    }

    static func isSince(_ time: Int64, _ seconds: UInt32) -> Bool { seconds != 0 && Int64(seconds) >= time }
}

/// Translates a filter's syntax tree.
private struct Compiler {
    let snapshot: LibrarySnapshot
    let shelves: ShelfCatalog?
    var regexes: [Regex] = []

    /// - Parameter checksBase: An unknown directory is an error; only for terms that must match.
    mutating func term(_ filter: Filter, checksBase: Bool) throws(FilterError) -> CompiledFilter.Term {
        switch filter {
        case .tag(let tag, let match):
            let test = try test(match)
            return negated(.tag(tag, chain: [tag] + tag.fallbacks, test), match)
        case .anyTag(let match): return negated(.anyTag(try test(match)), match)
        case .uri(let match): return negated(.uri(try test(match)), match)
        case .base(let path):
            if let shelves, shelves.library === snapshot, let node = shelves.node(path: path) {
                var songs = SongBits(count: snapshot.songCount)
                for song in shelves.songs(below: node) { songs.insert(song.place) }
                return .songs(songs)
            }
            if let directory = snapshot.directory(path: path) {
                return .range(snapshot.subtree(directory.place), base: path)
            }
            if let song = snapshot.song(uri: path) { return .range(song.place..<song.place + 1, base: path) }
            let slash = UInt8(ascii: "/")
            // MPD knows `/` as the root, below which no path begins with a slash.
            if checksBase, path != [slash] { throw .noSuchDirectory }
            // Where nothing is looked up, texts are compared, and one slash at the end does no harm.
            if path.count > 1, path.last == slash, let directory = snapshot.directory(path: Array(path.dropLast())) {
                return .range(snapshot.subtree(directory.place), base: path)
            }
            return .range(0..<0, base: path)
        case .modifiedSince(let time): return .modifiedSince(time)
        case .addedSince(let time): return .addedSince(time)
        case .audioFormat(let mask): return .format(mask)
        case .priority(let least): return .priority(least)
        case .not(let filter): return .not(try term(filter, checksBase: false))
        case .and(let filters):
            var terms: [CompiledFilter.Term] = []
            var checksBase = checksBase
            for filter in filters {
                let term = try term(filter, checksBase: checksBase)
                // The first one says where MPD looks; others are tests like any other.
                if case .base = filter { checksBase = false }
                if case .and(let inner) = term { terms += inner } else { terms.append(term) }
            }
            return .and(terms)
        }
    }

    private func negated(_ term: CompiledFilter.Term, _ match: TextMatch) -> CompiledFilter.Term {
        match.isNegated ? .not(term) : term
    }

    private mutating func test(_ match: TextMatch) throws(FilterError) -> TextTest {
        let test = try TextTest(match)
        if let regex = test.regex { regexes.append(regex) }
        return test
    }
}
