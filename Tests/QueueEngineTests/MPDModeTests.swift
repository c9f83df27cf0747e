import Testing

@testable import QueueEngine

/// The mode `mpd`, as mpd 0.23.12 does it.
@Suite struct MPDModeTests {
    /// Letters with the current one in brackets.
    private func line(_ queue: Queue) -> String {
        queue.entries.enumerated().map { position, entry in
            let letter = Unicode.Scalar(entry.key.rawValue).map(String.init) ?? "?"
            return position == queue.currentPosition ? "[\(letter)]" : letter
        }.joined()
    }

    @Test func sequentialRules() throws {
        let rows: [(String, String, String, PlayState)] = [
            // Adding: no tiers, appends go to the end.
            ("abc", "play 1, add X", "a[b]cX", .playing),
            ("abc", "play 1, add +0 X", "a[b]Xc", .playing),
            ("abc", "play 1, add -0 X", "aX[b]c", .playing),
            ("abc", "play 1, add 0 X", "Xa[b]c", .playing),
            // Playing: the pointer moves, nothing else.
            ("abcd", "play", "[a]bcd", .playing),
            ("abcd", "play 0, play 2", "ab[c]d", .playing),
            ("abcd", "play 2, play 0", "[a]bcd", .playing),
            ("abcd", "play 2, stop, play", "ab[c]d", .playing),
            ("abcd", "seek c 3", "ab[c]d", .playing),
            ("abcd", "play 0, pause 1, seek c 3", "ab[c]d", .paused),
            ("abcd", "play 1, previous", "[a]bcd", .playing),
            ("abcd", "play 0, previous", "[a]bcd", .playing),
            ("abcd", "play 0, repeat 1, previous", "abc[d]", .playing),
            ("abcd", "play 2, single 1, repeat 1, previous", "a[b]cd", .playing),
            // Advancing.
            ("abc", "play 1, next", "ab[c]", .playing),
            ("abc", "play 1, pause 1, next", "ab[c]", .playing),
            ("abc", "play 2, next", "abc", .stopped),
            ("abc", "play 2, repeat 1, next", "[a]bc", .playing),
            ("abc", "play 1, single 1, repeat 1, next", "ab[c]", .playing),
            ("abc", "play 1, single 1, next", "ab[c]", .playing),
            ("abc", "play 1, end", "ab[c]", .playing),
            ("abc", "play 1, single 1, end", "ab[c]", .paused),
            ("abc", "play 2, single 1, end", "abc", .stopped),
            ("abc", "play 1, single 1, repeat 1, end", "a[b]c", .playing),
            ("abc", "play 1, consume 1, next", "a[c]", .playing),
            ("abc", "play 1, consume 1, end", "a[c]", .playing),
            ("abc", "play 2, consume 1, end", "ab", .stopped),
            ("abc", "play 2, consume 1, repeat 1, end", "[a]b", .playing),
            ("a", "play, consume 1, repeat 1, end", "", .stopped),
            ("abc", "play 0, single 1, repeat 1, consume 1, end", "[b]c", .playing),
            ("abc", "play 0, single 1, consume 1, end", "[b]c", .paused),
            ("abc", "play 1, consume oneshot, end, end", "a c", .stopped),
            // Deleting the current entry.
            ("abcd", "play 1, delete 1", "a[c]d", .playing),
            ("abcd", "play 1, pause 1, delete 1", "a[c]d", .stopped),
            ("abcd", "play 1, stop, delete 1", "acd", .stopped),
            ("abcd", "play 3, delete 3", "abc", .stopped),
            ("abcd", "play 3, repeat 1, delete 3", "[a]bc", .playing),
            ("abcd", "play 3, repeat 1, delete 2:4", "[a]b", .playing),
            ("abcd", "play 3, repeat 1, consume 1, delete 3", "[a]bc", .playing),
            ("abcd", "play 2, single 1, repeat 1, delete 2", "abd", .stopped),
            ("abcd", "play 2, repeat 1, delete 0:", "", .stopped),
            // Moving and shuffling.
            ("abcd", "play 1, move 1 3", "acd[b]", .playing),
            ("abcd", "play 1, move 0 3", "[b]cda", .playing),
            ("abcd", "play 1, move 2:4 0", "cda[b]", .playing),
            ("abcd", "play 1, swap 1 3", "adc[b]", .playing),
            // Unlike MPD, which would make `d` the current one here without playing it.
            ("abcdefgh", "play 5, move 0:4 2", "e[f]abcdgh", .playing),
            // Failures: MPD goes on like `next`.
            ("abcd", "play 1, fail", "ab[c]d", .playing),
            ("abcd", "play 1, consume 1, fail", "a[c]d", .playing),
            ("abcd", "seek b 3, fail", "a[b]cd", .stopped),
            ("ab", "repeat 1, play 0, fail, fail", "a[b]", .stopped),
        ]
        for (letters, commands, after, state) in rows {
            var queue = try mpdQueue(letters)
            try Commands.run(commands, on: &queue)
            #expect(line(queue) == after.filter { $0 != " " }, "\(letters) -- \(commands)")
            #expect(queue.state == state, "\(letters) -- \(commands)")
        }
    }

    @Test func prioritiesAreKeptWithoutRandomAndResetAtTheStart() throws {
        var queue = try mpdQueue("abcd")
        try Commands.run("prio 5 1:4", on: &queue)
        #expect(queue.entries.map(\.priority) == [0, 5, 5, 5])
        #expect(try Commands.run("play 1", on: &queue).changes == [.player, .entries])
        #expect(queue.entries.map(\.priority) == [0, 0, 5, 5])
        // A seek does not reset it.
        #expect(try Commands.run("seek 3 1", on: &queue).changes == .player)
        #expect(queue.entries.map(\.priority) == [0, 0, 5, 5])
    }

    /// MPD counts the reset of a priority and the removal of a consumed entry as two modifications.
    @Test func versionsGrowAsInMPD() throws {
        var queue = try mpdQueue("abcde")
        let start = queue.version
        try Commands.run("consume 1, prio 5 1:4, play 1", on: &queue)
        #expect(queue.version == start + 2)
        try Commands.run("next", on: &queue)
        #expect(queue.version == start + 4)
        try Commands.run("add 0 X", on: &queue)
        #expect(queue.version == start + 6)
        try Commands.run("prio 1 0 1 2", on: &queue)
        #expect(queue.version == start + 9)
    }

    @Test func randomKeepsPositionsAndPlaysEachOnce() throws {
        for seed in 1..<20 as Range<UInt64> {
            var queue = try mpdQueue("abcdefgh", seed: seed)
            try Commands.run("random 1, play 3", on: &queue)
            let version = queue.version
            var heard: [String] = []
            while queue.state == .playing {
                heard.append(Sketch.current(queue))
                try Commands.run(seed % 2 == 0 ? "next" : "end", on: &queue)
            }
            #expect(heard.first == "d")
            #expect(heard.sorted() == ["a", "b", "c", "d", "e", "f", "g", "h"])
            #expect(Sketch.letters(queue) == "abcdefgh")
            #expect(queue.version == version)
        }
    }

    @Test func aChosenEntryIsPlayedBehindTheCurrentOne() throws {
        for seed in 1..<20 as Range<UInt64> {
            for command in ["play 6", "seek 6 1"] {
                var queue = try mpdQueue("abcdefgh", seed: seed)
                try Commands.run("random 1, play 3, \(command), previous", on: &queue)
                #expect(Sketch.current(queue) == "d")
            }
            // While stopped before it, so that the old current one still comes.
            var queue = try mpdQueue("abcdefgh", seed: seed)
            try Commands.run("random 1, play 3, stop, play 5, next", on: &queue)
            #expect(Sketch.current(queue) == "d")
        }
    }

    @Test func prioritiesUnderRandom() throws {
        for seed in 1..<20 as Range<UInt64> {
            var queue = try mpdQueue("abcdefgh", seed: seed)
            try Commands.run("random 1, play 3, prio 5 b, prio 9 c, next", on: &queue)
            #expect(Sketch.current(queue) == "c")
            try Commands.run("next", on: &queue)
            #expect(Sketch.current(queue) == "b")
            // Played ones come again when their priority is raised above the current one's.
            try Commands.run("prio 4 c, next", on: &queue)
            #expect(Sketch.current(queue) == "c")

            queue = try mpdQueue("abcdefgh", seed: seed)
            try Commands.run("prio 5 b c, random 1, play", on: &queue)
            #expect(["b", "c"].contains(Sketch.current(queue)))
            // The reset at the start does not change the order.
            try Commands.run("next", on: &queue)
            #expect(["b", "c"].contains(Sketch.current(queue)))
        }
    }

    @Test func randomOnAndOff() throws {
        for seed in 1..<20 as Range<UInt64> {
            var queue = try mpdQueue("abcdefgh", seed: seed)
            try Commands.run("play 3, random 1", on: &queue)
            #expect(queue.currentPosition == 3)
            try Commands.run("next", on: &queue)
            let position = queue.currentPosition ?? 0
            try Commands.run("random 0", on: &queue)
            #expect(queue.currentPosition == position)
            #expect(queue.nextEntry?.position == (position + 1 < 8 ? position + 1 : nil))
            try Commands.run("stop, random 1", on: &queue)
            #expect(queue.currentPosition == nil)
        }
    }

    @Test func addedEntriesAreShuffledBehindWhatFollows() throws {
        var first: Set<String> = []
        for seed in 1..<60 as Range<UInt64> {
            var queue = try mpdQueue("abcd", seed: seed)
            try Commands.run("random 1, play 0, next", on: &queue)
            let following = queue.nextEntry?.id
            try Commands.run("add X Y", on: &queue)
            #expect(queue.nextEntry?.id == following)
            try Commands.run("next, next", on: &queue)
            first.insert(Sketch.current(queue))
        }
        #expect(first.isSuperset(of: ["X", "Y"]))
        #expect(first.count > 3)
    }

    @Test func aRoundDrawnForOneLastEntryIsNotThatOfAnother() throws {
        for seed in 1..<40 as Range<UInt64> {
            var queue = try mpdQueue("abcd", seed: seed)
            try Commands.run("random 1, repeat 1, play 0, next, next, next", on: &queue)
            // The chosen entry takes its place behind the last one and is the last one then.
            let chosen = Sketch.next(queue)
            try Commands.run("play \(chosen)", on: &queue)
            #expect(Sketch.current(queue) == chosen)
            #expect(Sketch.next(queue) != chosen)
        }
    }

    @Test func repeatDrawsEachRoundAnew() throws {
        var orders: Set<String> = []
        for seed in 1..<10 as Range<UInt64> {
            var queue = try mpdQueue("abcdef", seed: seed)
            try Commands.run("random 1, repeat 1, play", on: &queue)
            var last = ""
            for _ in 0..<5 {
                var round = ""
                for _ in 0..<6 {
                    #expect(Sketch.current(queue) != last)
                    last = Sketch.current(queue)
                    round += last
                    let promised = queue.nextEntry?.id
                    try Commands.run("end", on: &queue)
                    #expect(queue.currentID == promised)
                }
                #expect(String(round.sorted()) == "abcdef")
                orders.insert(round)
            }
        }
        #expect(orders.count > 30)
    }
}
