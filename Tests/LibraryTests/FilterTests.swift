import MPDProtocol
import Support
import Testing

@testable import Library

private func match(
    _ kind: TextMatch.Operator,
    _ text: String,
    folds: Bool = false,
    not: Bool = false
) -> TextMatch {
    TextMatch(kind, Array(text.utf8), foldsCase: folds, isNegated: not)
}

@Suite("Filters")
struct FilterTests {
    let library: LibrarySnapshot

    init() throws { library = try LibraryFixture.snapshot() }

    /// Without diacritics, as `stringnormalization` switches them off.
    @Test(arguments: [
        ("e for é", TextMatch.Operator.contains, "CAFE", true, ["cu2"]),
        ("é for e", .contains, "lóve", true, ["ff2", "va2", "vb1"]),
        ("case still matters", .contains, "cafe", false, []),
        ("case as it is", .contains, "Cafe", false, ["cu2"]),
        ("whole value", .equals, "grosse", true, ["cu1"]),
        ("sharp s is no mark", .equals, "grösse", true, ["cu1"]),
        ("Greek", .equals, "σισυφος", true, ["cu3"]),
        ("start", .startsWith, "gro", true, ["cu1"]),
        ("punctuation", .contains, "\"noir\"", true, ["cu2"]),
        ("regular expressions do not look at it", .regex, "Cafe ", false, []),
    ])
    func withoutDiacritics(
        _ name: String,
        _ kind: TextMatch.Operator,
        _ text: String,
        _ folds: Bool,
        _ ids: [String]
    ) throws {
        let filter = Filter.tag(.title, match(kind, text, folds: folds))
        #expect(try library.ids(filter.strippingDiacritics()) == ids, "\(name)")
        // Looked up and looked at, alone and as one of several terms.
        #expect(try library.ids(.and([.base([]), filter]).strippingDiacritics()) == ids, "\(name)")
        #expect(try NaiveLibrary(library).select(filter.strippingDiacritics()) == ids, "\(name)")
    }

    @Test func uriWithoutDiacritics() throws {
        let filter = Filter.uri(match(.equals, "Cas/Unicode/01.opus")).strippingDiacritics()
        #expect(try library.ids(filter) == ["cu1"])
        #expect(try library.ids(.not(.uri(match(.contains, "unicode", folds: true)).strippingDiacritics())).count == 14)
    }

    @Test("of several directories only the first must exist")
    func firstBase() throws {
        let known = Filter.base(Array("Various".utf8))
        let unknown = Filter.base(Array("nowhere".utf8))
        #expect(try library.ids(.and([known, unknown])) == [])
        #expect(throws: FilterError.noSuchDirectory) { try library.ids(.and([unknown, known])) }
    }

    @Test("sorting has fallbacks of its own")
    func sortFallbacks() throws {
        // MPD does not look at ArtistSort where AlbumArtistSort is missing.
        #expect(Tag.albumArtistSort.sortFallbacks == [.albumArtist, .artist])
        #expect(Tag.musicBrainzAlbumArtistID.sortFallbacks == [.musicBrainzArtistID])
        #expect(Tag.composerSort.sortFallbacks == [.composer])
        var builder = LibraryBuilder()
        builder.add(SongRecord(songID: "b", uri: "1", tags: [TagValue(.artist, "B"), TagValue(.artistSort, "A")]))
        builder.add(SongRecord(songID: "a", uri: "2", tags: [TagValue(.artist, "AA")]))
        let library = try builder.build(info: LibraryFixture.info, file: nil)
        #expect(try library.ids(.base([]), sort: SortOrder(.tag(.albumArtistSort))) == ["a", "b"])
        #expect(try library.ids(.base([]), sort: SortOrder(.tag(.artistSort))) == ["b", "a"])
    }

    /// Ids of what matches, of a filter and of what it stands for.
    static let table: [(name: String, filter: Filter, ids: [String])] = [
        ("whole value", .tag(.title, match(.equals, "Love")), ["ff2", "va2"]),
        ("not a part", .tag(.title, match(.equals, "Lov")), []),
        ("case matters", .tag(.title, match(.equals, "love")), []),
        ("case folded", .tag(.title, match(.equals, "LOVE", folds: true)), ["ff2", "va2"]),
        ("part", .tag(.title, match(.contains, "ove")), ["ff2", "va2", "vb1"]),
        ("part, case matters", .tag(.title, match(.contains, "Love")), ["ff2", "va2"]),
        ("part, folded", .tag(.title, match(.contains, "LOVE", folds: true)), ["ff2", "va2", "vb1"]),
        ("start", .tag(.title, match(.startsWith, "T")), ["bx2", "bx3", "bx4"]),
        ("start, folded", .tag(.title, match(.startsWith, "t", folds: true)), ["bx2", "bx3", "bx4"]),
        ("start is no part", .tag(.title, match(.startsWith, "ove", folds: true)), []),
        ("regex", .tag(.title, match(.regex, "^T(wo|en)$")), ["bx2", "bx3"]),
        ("regex, unanchored", .tag(.title, match(.regex, "v.")), ["ff2", "va2", "vb1"]),
        ("regex, folded", .tag(.title, match(.regex, "größe", folds: false)), []),
        ("regex, case", .tag(.title, match(.regex, "^l", folds: true)), ["ff2", "va2", "vb1"]),
        ("regex, one character", .tag(.album, match(.regex, "^.n.c.d.$")), ["cu1", "cu2", "cu3"]),
        ("sharp s", .tag(.title, match(.contains, "grösse", folds: true)), ["cu1"]),
        ("Greek", .tag(.title, match(.equals, "σίσυφος", folds: true)), ["cu3"]),
        ("composed and decomposed", .tag(.title, match(.contains, "café", folds: true)), ["cu2"]),
        ("only when folded", .tag(.title, match(.contains, "Café")), []),
        ("accents stay", .tag(.title, match(.contains, "cafe ", folds: true)), []),
        ("typographic quotes", .tag(.title, match(.contains, "\"noir\" - it's", folds: true)), ["cu2"]),
        ("two values", .tag(.artist, match(.equals, "Epsilon")), ["va2", "va3"]),
        ("no value", .tag(.artist, match(.equals, "")), ["root"]),
        ("some value", .tag(.genre, match(.equals, "", not: true)), ["ff1", "ff2", "ff3", "cu3", "va1", "va2", "va3"]),
        ("no value, fallback", .tag(.albumArtist, match(.equals, "")), ["root"]),
        ("nobody has it", .tag(.mood, match(.equals, "x")), []),
        ("negated", .tag(.title, match(.equals, "Love", not: true)), without(["ff2", "va2"])),
        ("negated, several values", .tag(.artist, match(.equals, "Delta", not: true)), without(["va1", "va3", "vb1"])),
        (
            "negated part", .tag(.title, match(.contains, "O", folds: true, not: true)),
            ["root", "bx0", "bx3", "bx4", "cu1", "cu3", "va1", "vr1"]
        ),
        ("fallback", .tag(.albumArtist, match(.equals, "alpha")), ["ff1", "ff2", "ff3"]),
        ("no fallback where there is one", .tag(.albumArtist, match(.equals, "Delta")), ["vb1"]),
        ("sort name", .tag(.artistSort, match(.equals, "Delta, The")), ["va1", "va3"]),
        ("sort name of others", .tag(.artistSort, match(.equals, "Delta")), ["vb1"]),
        (
            "sort name of album artist", .tag(.albumArtistSort, match(.equals, "Various Artists")),
            ["va1", "va2", "va3"]
        ),
        ("empty part", .tag(.artist, match(.contains, "", folds: true)), LibraryFixture.records.map(\.songID)),
        ("empty start", .tag(.mood, match(.startsWith, "")), LibraryFixture.records.map(\.songID)),
        ("any", .anyTag(match(.equals, "Rest")), ["vr1"]),
        ("any part", .anyTag(match(.contains, "jazz", folds: true)), ["ff3", "cu3"]),
        ("any is not the URI", .anyTag(match(.contains, "mp3")), []),
        ("any, empty", .anyTag(match(.equals, "")), []),
        ("any regex", .anyTag(match(.regex, "^1999")), ["va1", "va2", "va3"]),
        ("URI", .uri(match(.equals, "Alpha/Box/1-01.mp3")), ["bx1"]),
        ("former URI", .uri(match(.equals, "old/place.flac")), []),
        ("URI folded", .uri(match(.equals, "alpha/box/1-01.MP3", folds: true)), ["bx1"]),
        ("URI part", .uri(match(.contains, "Box/1")), ["bx1", "bx2", "bx3"]),
        ("URI part folded", .uri(match(.contains, "čAS/ÜN", folds: true)), ["cu1", "cu2", "cu3"]),
        ("URI start", .uri(match(.startsWith, "Various ")), ["vr1"]),
        ("URI regex", .uri(match(.regex, #"^[^/]+$"#)), ["root"]),
        ("base", .base(Array("Various".utf8)), ["va1", "va2", "va3", "vb1"]),
        ("base of a song", .base(Array("loose.mp3".utf8)), ["root"]),
        ("base of all", .base([]), LibraryFixture.records.map(\.songID)),
        ("not below", .not(.base(Array("Various/Summer Hits".utf8))), without(["va1", "va2", "va3", "vb1"])),
        ("not below nothing", .not(.base(Array("none".utf8))), LibraryFixture.records.map(\.songID)),
        ("base of a slash", .base(Array("/".utf8)), []),
        ("not below a slash", .not(.base(Array("/".utf8))), LibraryFixture.records.map(\.songID)),
        (
            "not below, with a slash", .not(.base(Array("Various/Summer Hits/".utf8))),
            without(["va1", "va2", "va3", "vb1"])
        ),
        ("not below, with two", .not(.base(Array("Various/Summer Hits//".utf8))), LibraryFixture.records.map(\.songID)),
        ("not below a song", .not(.base(Array("loose.mp3/".utf8))), LibraryFixture.records.map(\.songID)),
        ("modified", .modifiedSince(1_700_000_002), ["va3"]),
        ("modified ever", .modifiedSince(0), LibraryFixture.records.map(\.songID)),
        ("added", .addedSince(1_600_000_001), []),
        (
            "format", .audioFormat(AudioFormatMask(sampleRate: nil, sampleFormat: .dsd, channels: nil)),
            ["va1", "va2", "va3"]
        ),
        (
            "any format", .audioFormat(AudioFormatMask(sampleRate: nil, sampleFormat: nil, channels: nil)),
            without(["root"])
        ),
        ("priority", .priority(atLeast: 1), []),
        ("any priority", .priority(atLeast: 0), LibraryFixture.records.map(\.songID)),
        ("no priority", .not(.priority(atLeast: 0)), []),
        ("nothing asked", .and([]), LibraryFixture.records.map(\.songID)),
        ("both", .and([.tag(.artist, match(.equals, "Delta")), .tag(.genre, match(.equals, "Pop"))]), ["va1", "va3"]),
        (
            "both, nested",
            .and([.and([.base(Array("Various".utf8))]), .not(.tag(.artist, match(.equals, "Delta")))]), ["va2"]
        ),
        ("neither", .and([.tag(.artist, match(.equals, "x")), .tag(.title, match(.equals, "Love"))]), []),
    ]

    private static func without(_ ids: [String]) -> [String] {
        LibraryFixture.records.map(\.songID).filter { !ids.contains($0) }
    }

    @Test("each kind of filter")
    func tableOfFilters() throws {
        let naive = NaiveLibrary(library)
        for row in Self.table {
            #expect(try library.ids(row.filter) == row.ids, "\(row.name)")
            #expect(try naive.select(row.filter) == row.ids, "\(row.name), looking at each song")
            let compiled = try library.compile(row.filter)
            #expect(library.songs(below: .root).filter { compiled.matches($0) }.map { library.songID($0) } == row.ids)
            #expect(try library.count(row.filter).songs == row.ids.count)
            #expect(library.estimatedCost(row.filter) >= 0)
        }
    }

    @Test("a base that must match has to exist", arguments: ["none", "Various/", "//", "loose.mp3/", "/Various"])
    func unknownBase(path: String) throws {
        let base = Filter.base(Array(path.utf8))
        #expect(throws: FilterError.noSuchDirectory) { try library.select(base) }
        #expect(throws: FilterError.noSuchDirectory) { try library.select(.and([.and([base])])) }
        #expect(throws: FilterError.noSuchDirectory) { try library.list(.artist, matching: base) }
    }

    /// An expression that many values exhaust, and one that no value does: both end at the next value once nobody waits.
    @Test func anEvaluationEndsWhenNobodyWaits() throws {
        let sign = StopSign()
        let filter = Filter.tag(.title, match(.regex, "."))
        let compiled = try StopSign.$current.withValue(sign) { try library.compile(filter) }
        let songs = (0..<library.songCount).map { SongIndex(rawValue: UInt32($0)) }
        #expect(songs.contains { compiled.matches($0) })
        try compiled.checkExpense()
        sign.set()
        #expect(!songs.contains { compiled.matches($0) })
        #expect(throws: FilterError.tooExpensive) { try compiled.checkExpense() }
        for filter in [filter, .not(filter), .and([filter, .uri(match(.contains, "a"))])] {
            #expect(throws: FilterError.tooExpensive) {
                try StopSign.$current.withValue(sign) { _ = try library.select(filter) }
            }
            #expect(try library.select(filter).count > 0 || filter == .not(filter))
        }
    }

    @Test("a regular expression that is none")
    func badRegex() {
        let filter = Filter.tag(.title, match(.regex, "a(b"))
        #expect(throws: FilterError.regex(offset: 3, message: "missing closing parenthesis")) {
            try library.select(filter)
        }
        #expect(library.estimatedCost(filter) == 0)
        // PCRE2 wants UTF-8.
        let bytes = Filter.tag(.title, TextMatch(.regex, [0x61, 0xFF], foldsCase: false))
        #expect(throws: FilterError.self) { try library.select(bytes) }
    }

    @Test("texts that are no UTF-8 match nothing, and do no harm")
    func invalidText() throws {
        for kind in [TextMatch.Operator.equals, .contains, .startsWith] {
            for folds in [false, true] {
                let match = TextMatch(kind, [0x4C, 0xFF, 0x00, 0xC3], foldsCase: folds)
                #expect(try library.ids(.tag(.title, match)) == [])
                #expect(try library.ids(.anyTag(match)) == [])
                #expect(try library.ids(.uri(match)) == [])
            }
        }
        #expect(library.song(uri: [0xFF, 0x2F, 0xC3]) == nil)
    }

    @Test("an endless regular expression is given up")
    func expensiveRegex() throws {
        var builder = LibraryBuilder()
        for number in 0..<200 {
            let title = String(repeating: "a", count: 40) + "\(number)!"
            builder.add(SongRecord(songID: "\(number)", uri: "\(number)", tags: [TagValue(.title, title)]))
        }
        let library = try builder.build(info: LibraryFixture.info, file: nil)
        #expect(throws: FilterError.tooExpensive) { try library.select(.tag(.title, match(.regex, "^(a+)+$"))) }
    }

    @Test("priorities count in the queue only")
    func priority() throws {
        let filter = try library.compile(.priority(atLeast: 10))
        #expect(!filter.matches(SongIndex(rawValue: 0)))
        #expect(!filter.matches(SongIndex(rawValue: 0), priority: 9))
        #expect(filter.matches(SongIndex(rawValue: 0), priority: 10))
    }

    @Test("sorting: numbers, bytes, times, both ways, ties in database order")
    func sorting() throws {
        let box = Filter.base(Array("Alpha/Box".utf8))
        #expect(try library.ids(box, sort: SortOrder(.tag(.track))) == ["bx0", "bx1", "bx4", "bx2", "bx3"])
        #expect(
            try library.ids(box, sort: SortOrder(.tag(.track), isDescending: true))
                == ["bx3", "bx2", "bx1", "bx4", "bx0"]
        )
        #expect(try library.ids(box, sort: SortOrder(.tag(.title))) == ["bx0", "bx1", "bx3", "bx4", "bx2"])
        #expect(try library.ids(box, sort: SortOrder(.tag(.mood))) == ["bx0", "bx1", "bx2", "bx3", "bx4"])
        let various = Filter.base(Array("Various/Summer Hits".utf8))
        #expect(try library.ids(various, sort: SortOrder(.lastModified)) == ["vb1", "va1", "va2", "va3"])
        #expect(try library.ids(various, sort: SortOrder(.added)) == ["va1", "va2", "va3", "vb1"])
        #expect(try library.ids(.and([]), sort: SortOrder(.tag(.artist)), window: 0..<3) == ["root", "bx0", "bx1"])
        #expect(try library.ids(.and([]), sort: SortOrder(.priority), window: 1..<2) == ["ff1"])
    }

    @Test("windows are clipped", arguments: [0..<0, 2..<4, 15..<99, 17..<18, 99..<Int.max, 0..<Int.max])
    func windows(window: Range<Int>) throws {
        let all = LibraryFixture.records.map(\.songID)
        let expected = Array(all[window.clamped(to: 0..<all.count)])
        #expect(try library.ids(.and([]), window: window) == expected)
        #expect(try library.ids(.anyTag(match(.contains, "", not: false)), window: 1..<2) == ["ff2"])
    }
}

@Suite("Random filters on random libraries, against looking at each song")
struct RandomFilterTests {
    @Test("the same songs, in the same order", arguments: 1...8)
    func randomFilters(seed: Int) throws {
        var dice = SeededNumbers(seed: SeededNumbers.seed(usually: UInt64(seed)))
        let library = try randomLibrary(songs: [1, 7, 90, 300][seed % 4], &dice)
        let naive = NaiveLibrary(library)
        for _ in 0..<150 {
            let filter = randomFilter(depth: 2, &dice)
            let sort = dice.roll(3) == 0 ? SortOrder(randomKey(&dice), isDescending: dice.roll(2) == 0) : nil
            let start = dice.roll(20)
            let window = dice.roll(3) == 0 ? start..<(start + dice.roll(30)) : nil
            do {
                let found = try library.ids(filter, sort: sort, window: window)
                #expect(try found == naive.select(filter, sort: sort, window: window), "seed \(seed): \(filter)")
            } catch FilterError.noSuchDirectory {
                #expect(filter.requiredBase != nil || "\(filter)".contains("base"))
            }
        }
        for _ in 0..<40 {
            let filter = dice.roll(2) == 0 ? Filter.and([]) : randomTerm(&dice)
            let tag = randomTag(&dice)
            let groups = (0..<dice.roll(4)).map { _ in randomTag(&dice) }
            guard let listing = try? library.list(tag, matching: filter, groups: groups) else { continue }
            let expected = try naive.list(tag, filter, groups: groups)
            #expect(text(library.reply(listing), limit: 100) == expected, "seed \(seed): \(tag) \(groups) \(filter)")
        }
    }

    private let words = [
        "", "a", "A", "b", "ab", "Ab", "É", "e\u{301}", "é", "ß", "SS", "x’y", "x'y", "1", "02", "z z",
    ]
    private let tags: [Tag] = [
        .artist, .albumArtist, .artistSort, .albumArtistSort, .album, .title, .titleSort, .track, .disc, .genre, .mood,
    ]

    private func randomTag(_ dice: inout SeededNumbers) -> Tag { dice.pick(tags) }

    private func randomLibrary(songs: Int, _ dice: inout SeededNumbers) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for number in 0..<songs {
            let directories = (0..<dice.roll(4)).map { _ in dice.pick(["a", "A", "b", "ab", "é", "z z"]) + "d" }
            let count = dice.roll(7)
            let values = (0..<count).map { _ in TagValue(dice.pick(tags), dice.pick(words)) }
            builder.add(
                SongRecord(
                    songID: "\(number)",
                    uri: (directories + ["\(dice.pick(words))\(number).mp3"]).joined(separator: "/"),
                    tags: values,
                    duration: dice.roll(5) == 0 ? nil : UInt32(dice.roll(100_000)),
                    lastModified: dice.roll(3) == 0 ? nil : Int64(1 + dice.roll(5)),
                    added: dice.roll(3) == 0 ? nil : Int64(1 + dice.roll(5)),
                    format: dice.roll(3) == 0
                        ? nil : AudioFormat(sampleRate: dice.pick([44100, 48000]), sampleFormat: .s16, channels: 2)
                )
            )
        }
        return try builder.build(info: LibraryFixture.info, file: nil)
    }

    private func randomMatch(_ dice: inout SeededNumbers) -> TextMatch {
        let kind = dice.pick([TextMatch.Operator.equals, .contains, .startsWith, .regex])
        let text = kind == .regex ? dice.pick(["^a", "b$", "[a-b]+", "", "É", ".{2}"]) : dice.pick(words)
        return TextMatch(kind, Array(text.utf8), foldsCase: dice.roll(2) == 0, isNegated: dice.roll(3) == 0)
    }

    private func randomTerm(_ dice: inout SeededNumbers) -> Filter {
        switch dice.roll(10) {
        case 0: .anyTag(randomMatch(&dice))
        case 1: .uri(randomMatch(&dice))
        case 2: .base(Array(dice.pick(["", "ad", "ad/ad", "Ad", "éd", "zd", "z zd/bd"]).utf8))
        case 3: .modifiedSince(Int64(dice.roll(6)))
        case 4: .addedSince(Int64(dice.roll(6)))
        case 5: .audioFormat(AudioFormatMask(sampleRate: dice.pick([nil, 44100]), sampleFormat: nil, channels: nil))
        default: .tag(randomTag(&dice), randomMatch(&dice))
        }
    }

    private func randomFilter(depth: Int, _ dice: inout SeededNumbers) -> Filter {
        if depth == 0 { return randomTerm(&dice) }
        switch dice.roll(5) {
        case 0: return .not(randomFilter(depth: depth - 1, &dice))
        case 1, 2: return .and((0..<dice.roll(4)).map { _ in randomFilter(depth: depth - 1, &dice) })
        default: return randomTerm(&dice)
        }
    }

    private func randomKey(_ dice: inout SeededNumbers) -> SortOrder.Key {
        switch dice.roll(5) {
        case 0: .lastModified
        case 1: .added
        default: .tag(randomTag(&dice))
        }
    }
}
