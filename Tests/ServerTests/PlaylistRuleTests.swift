import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// Rules of stored playlists that need no server.
@Suite struct PlaylistRuleTests {
    // MARK: Names

    private func names(_ titles: [(title: String, owner: String?)], reserved: [String] = []) -> [String] {
        let candidates = titles.enumerated().map { index, item in
            PlaylistNames.Candidate(
                key: PlaylistKey(rawValue: Int64(index)),
                title: item.title,
                otherOwner: item.owner,
                name: nil
            )
        }
        let names = PlaylistNames.assign(candidates, reserved: reserved)
        return candidates.map { names[$0.key] ?? "" }
    }

    @Test func namesCanBeCarried() {
        let titles = ["a/b", "", ".", "..", "x\ny", "Mix", "mix", "  ", "日本", "tab\there"]
        let expected = ["a_b", "Untitled", "_", "__", "x y", "Mix", "mix", "  ", "日本", "tab here"]
        #expect(names(titles.map { ($0, nil) }) == expected)
        let long = String(repeating: "ü", count: 200)
        #expect(PlaylistNames.safe(long) == String(repeating: "ü", count: 120))
        for name in names(titles.map { ($0, nil) }) { #expect(PlaylistNames.isValid(Array(name.utf8))) }
    }

    @Test func doublesGetSuffixes() {
        #expect(names([("Mix", nil), ("Mix", nil), ("Mix", nil)]) == ["Mix", "Mix (2)", "Mix (3)"])
        #expect(names([("a/b", nil), ("a_b", nil)]) == ["a_b", "a_b (2)"])
        // Ours keeps the bare name, whichever came first.
        #expect(names([("Mix", "anna"), ("Mix", nil)]) == ["Mix (anna)", "Mix"])
        #expect(names([("Mix", "anna"), ("Mix", "anna"), ("Mix", nil)]) == ["Mix (anna)", "Mix (anna 2)", "Mix"])
        #expect(names([("Mix", "anna")]) == ["Mix"])
        // A suffix never takes a name that is somebody's title.
        #expect(names([("Mix", nil), ("Mix", nil), ("Mix (2)", nil)]) == ["Mix", "Mix (3)", "Mix (2)"])
        #expect(names([("Favorites", nil)], reserved: ["Favorites"]) == ["Favorites (2)"])
    }

    @Test func aNameIsKept() {
        let first = PlaylistKey(rawValue: 1)
        let second = PlaylistKey(rawValue: 2)
        var candidates = [
            PlaylistNames.Candidate(key: first, title: "Mix", otherOwner: nil, name: "Mix (2)"),
            PlaylistNames.Candidate(key: second, title: "Mix", otherOwner: nil, name: "Mix"),
        ]
        #expect(PlaylistNames.assign(candidates) == [first: "Mix (2)", second: "Mix"])
        // It does not outlive the title that it was made of.
        candidates[0].title = "Other"
        #expect(PlaylistNames.assign(candidates) == [first: "Other", second: "Mix"])
    }

    // MARK: Merging

    private func merge(_ base: String, _ mine: String, _ theirs: String) -> String {
        String(PlaylistMerge.merge(base: Array(base), mine: Array(mine), theirs: Array(theirs)))
    }

    @Test func bothChangesAreKept() {
        #expect(merge("abc", "abcx", "abc") == "abcx")
        #expect(merge("abc", "abc", "abcy") == "abcy")
        #expect(merge("abc", "abcx", "abcy") == "abcyx")
        #expect(merge("abc", "ac", "abcy") == "acy")
        #expect(merge("abc", "xabc", "yabc") == "yxabc")
        #expect(merge("abc", "axbc", "bc") == "xbc")
        #expect(merge("abc", "", "abcy") == "y")
        #expect(merge("abc", "ab", "bc") == "b")
        #expect(merge("", "x", "y") == "yx")
        // Moved here, something else moved there.
        #expect(merge("abcd", "bcda", "abdc") == "bdac")
        // Moved by both: where they put it, once.
        #expect(merge("abcd", "bcda", "bcad") == "bcad")
        // Moved here, removed there: gone.
        #expect(merge("abcd", "bcda", "bcd") == "bcd")
        // Repetitions are songs of their own.
        #expect(merge("aaa", "aa", "aaaa") == "aaa")
    }

    @Test func mergingLosesAndDoublesNothing() {
        var random = SeededRandom(seed: SeededNumbers.seed(usually: 7))
        func edited(_ list: [Int], fresh: Range<Int>) -> [Int] {
            var list = list
            for song in fresh {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: list.insert(song, at: Int.random(in: 0...list.count, using: &random))
                case 1 where !list.isEmpty: list.remove(at: Int.random(in: 0..<list.count, using: &random))
                case 2 where !list.isEmpty:
                    let moved = list.remove(at: Int.random(in: 0..<list.count, using: &random))
                    list.insert(moved, at: Int.random(in: 0...list.count, using: &random))
                default: break
                }
            }
            return list
        }
        for _ in 0..<2_000 {
            let base = Array(0..<Int.random(in: 0...12, using: &random))
            let mine = edited(base, fresh: 100..<100 + Int.random(in: 0...5, using: &random))
            let theirs = edited(base, fresh: 200..<200 + Int.random(in: 0...5, using: &random))
            let merged = PlaylistMerge.merge(base: base, mine: mine, theirs: theirs)
            // Each song is there once or not at all; what either added is, what either removed is not.
            let kept = Set(base).intersection(mine).intersection(theirs)
            let added = Set(mine).union(theirs).subtracting(base)
            #expect(Set(merged) == kept.union(added), "\(base) \(mine) \(theirs) \(merged)")
            #expect(merged.count == kept.count + added.count, "\(base) \(mine) \(theirs) \(merged)")
            #expect(PlaylistMerge.merge(base: base, mine: mine, theirs: base) == mine)
            #expect(PlaylistMerge.merge(base: base, mine: base, theirs: theirs) == theirs)
            #expect(PlaylistMerge.merge(base: base, mine: mine, theirs: mine) == mine)
        }
    }

    @Test func longListsAreMergedSoon() {
        let base = Array(0..<20_000)
        let mine = Array(base.reversed()) + [30_000]
        let theirs = base.filter { $0 % 3 != 0 } + [40_000]
        let clock = ContinuousClock()
        var merged: [Int] = []
        let time = clock.measure { merged = PlaylistMerge.merge(base: base, mine: mine, theirs: theirs) }
        #expect(Set(merged) == Set(theirs).union([30_000]))
        #expect(time < .seconds(5))
    }

    // MARK: What was sent without an answer

    /// What a list comes from, as `base theirs`; letters are songs. `start` is the list that was sent to.
    private func origin(
        _ base: String,
        start: String? = nil,
        sent: String?,
        present: String,
        isNew: Bool = false,
        isPiecewise: Bool = false
    ) -> String {
        func list(_ text: String) -> [String] { text.map { String($0) } }
        func entries(_ text: String) -> [PlaylistEntry] { list(text).map { .song($0) } }
        var attempt = sent.map { PlaylistAttempt(title: "x", knownIDs: [], entries: entries($0)) }
        if !isNew {
            let start = entries(start ?? base)
            attempt?.start = .init(present: start, theirs: start, isPiecewise: isPiecewise)
        }
        let origin = PlaylistOrigin(base: list(base), attempt: attempt, present: list(present), isNew: isNew)
        return "\(origin.base.joined()) \(origin.theirs.joined())"
    }

    @Test func whatArrivedIsRecognized() {
        #expect(origin("abc", sent: nil, present: "abcy") == "abc abcy")
        // It did not arrive.
        #expect(origin("abc", sent: "abcx", present: "abc") == "abc abc")
        #expect(origin("abc", start: "abcy", sent: "bcy", present: "abcy") == "abc abcy")
        // It did.
        #expect(origin("abc", sent: "abcx", present: "abcx") == "abcx abcx")
        // It did, and somebody added something since.
        #expect(origin("abc", sent: "abcx", present: "abcxy") == "abcx abcxy")
        // It did not, and somebody added something.
        #expect(origin("abc", sent: "bca", present: "abcy") == "abc abcy")
        // A new list is there in part.
        #expect(origin("", sent: "abcdef", present: "abc", isNew: true) == "abc abc")
        #expect(origin("", sent: "abcdef", present: "abcdefy", isNew: true) == "abcdef abcdefy")
        // Songs went off the end one by one, then others came.
        #expect(origin("abcd", sent: "axy", present: "ab", isPiecewise: true) == "abcd abcd")
        #expect(origin("abcd", start: "abcde", sent: "axye", present: "ab", isPiecewise: true) == "abcd abcde")
        #expect(origin("abcd", sent: "axy", present: "ax", isPiecewise: true) == "abcd abcd")
        // A list was to be emptied, of which only the lowest position was taken, and then those at its end.
        #expect(origin("abcde", sent: "", present: "bc", isPiecewise: true) == "abcde abcde")
        #expect(origin("abcde", sent: "a", present: "acd", isPiecewise: true) == "abcde abcde")
        // The same by somebody else.
        #expect(origin("abcde", sent: "abcdex", present: "bc") == "abcde bc")
    }

    @Test func longListsArriveInParts() {
        let songs = (0..<450).map { "\($0)" }
        func entries(_ songs: ArraySlice<String>) -> [PlaylistEntry] { songs.map { .song($0) } }
        func isOnTheWay(_ start: ArraySlice<String>, _ sent: ArraySlice<String>, _ present: ArraySlice<String>) -> Bool
        {
            var attempt = PlaylistAttempt(title: "x", knownIDs: [], entries: entries(sent), base: entries(start))
            attempt.start = .init(present: entries(start), theirs: [.song("theirs")])
            let origin = PlaylistOrigin(base: [], attempt: attempt, present: Array(present), isNew: false)
            return origin.base == Array(start) && origin.theirs == ["theirs"]
        }
        // Added to 30.
        #expect(isOnTheWay(songs[..<30], songs[...], songs[..<130]))
        #expect(isOnTheWay(songs[..<30], songs[...], songs[..<330]))
        #expect(!isOnTheWay(songs[..<30], songs[...], songs[..<135]))
        // Another list in its place.
        #expect(isOnTheWay(songs[50..<70], songs[...], songs[..<100]))
        #expect(!isOnTheWay(songs[50..<70], songs[...], songs[..<120]))
        #expect(!isOnTheWay(songs[50..<70], songs[...], songs[..<0]))
    }

    // MARK: The store

    @Test func editsSurviveTheStore() throws {
        let entries: [PlaylistEntry] = [
            .song("so-1"), .foreign(SongIdentity(serverID: "other", songID: "9")),
            .stream(StreamSong(uri: Array("http://x/y".utf8))), .song(""), .song(String(repeating: "ü", count: 300)),
        ]
        let edits: [PlaylistEdit] = [
            .create("Mix", entries), .insert(entries, at: nil), .insert(entries, at: 1_000_000), .remove(3..<300),
            .move(0..<1, to: 200), .replace([]), .rename("日本"), .delete,
        ]
        for edit in edits { #expect(try PlaylistCoding.edit(PlaylistCoding.encode(edit)) == edit) }
        #expect(try PlaylistCoding.entries(PlaylistCoding.encode(entries)) == entries)
        let attempt = PlaylistAttempt(title: "x", knownIDs: ["1", "2"], entries: entries)
        #expect(try PlaylistCoding.attempt(PlaylistCoding.encode(attempt)) == attempt)
        var begun = attempt
        begun.base = [.song("a")]
        begun.remoteID = "7"
        begun.start = .init(present: entries, theirs: [.song("b")], isPiecewise: true)
        #expect(try PlaylistCoding.attempt(PlaylistCoding.encode(begun)) == begun)
        // Cut or changed bytes are refused or read as something else; they never end the program.
        var random = SeededRandom(seed: SeededNumbers.seed(usually: 3))
        for edit in edits {
            let bytes = PlaylistCoding.encode(edit)
            for end in bytes.indices { _ = try? PlaylistCoding.edit(Array(bytes[..<end])) }
            for _ in 0..<200 {
                var damaged = bytes
                damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: .min ... .max, using: &random)
                _ = try? PlaylistCoding.edit(damaged)
                _ = try? PlaylistCoding.entries(damaged)
                _ = try? PlaylistCoding.attempt(damaged)
            }
        }
    }
}
