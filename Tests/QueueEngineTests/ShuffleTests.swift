import Testing

@testable import QueueEngine

/// `random` in the three-tier mode.
@Suite struct ShuffleTests {
    private static let seeds: Range<UInt64> = 1..<30

    @Test func switchingOnMergesAllTiersBehindTheCurrentEntry() throws {
        var orders: Set<String> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("a b [c] | x:4 y | d e f | u v", seed: seed)
            let before = queue.version
            let outcome = try Commands.run("random 1", on: &queue)
            #expect(outcome.changes == [.options, .entries])
            #expect(queue.version == before + 1)
            #expect(Sketch.letters(queue).hasPrefix("abc"))
            #expect(Sketch.current(queue) == "c")
            #expect(queue.albumQueueBlock == 3..<10)
            #expect(queue.entries.allSatisfy { $0.priority == 0 })
            orders.insert(Sketch.letters(queue))
        }
        #expect(orders.count > 20)
    }

    @Test func offRestoresTheExactList() throws {
        for line in ["a b [c] | x:4 y | d e f | u v", "[a] | | b c d e |", "a [b] | | |", "| x | a b c | u"] {
            for seed in Self.seeds {
                var queue = Sketch.queue(line, seed: seed)
                try Commands.run("random 1, random 0", on: &queue)
                #expect(Sketch.line(queue) == Sketch.normalized(line))
            }
        }
    }

    @Test func offKeepsOnlyWhatHasNotBeenPlayed() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("a [b] | x:4 | c d e | u v", seed: seed)
            try Commands.run("random 1, next, end, next", on: &queue)
            let heard = Sketch.letters(queue).prefix(5)
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.letters(queue).prefix(5) == heard)
            #expect(queue.currentPosition == 4)
            let rest = "xcdeuv".filter { !heard.contains($0) }
            #expect(Sketch.letters(queue).dropFirst(5) == rest)
            #expect(queue.playNextBlock.count == (rest.contains("x") ? 1 : 0))
            #expect(queue.userQueueBlock.count == rest.filter { "uv".contains($0) }.count)
        }
    }

    @Test func aRestoredEntryThatWasPlayedAndSteppedBackOverIsAlbumQueue() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | x | | ", seed: seed)
            try Commands.run("random 1, next, previous, random 0", on: &queue)
            #expect(Sketch.line(queue) == "[a] |  | x | ")
        }
    }

    @Test func stoppedItForgetsTheCurrentEntryAndShufflesAll() throws {
        var orders: Set<String> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("a b [c] | x | d | u", state: .stopped, seed: seed)
            try Commands.run("random 1", on: &queue)
            #expect(queue.currentPosition == nil)
            orders.insert(Sketch.letters(queue))
        }
        #expect(orders.count > 20)
        #expect(Set(orders.compactMap(\.first)).count > 2)
    }

    @Test func appendsWaitLooseUntilTheNextSongStarts() throws {
        var places: Set<Int> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d e f |", seed: seed)
            try Commands.run("random 1, add M N", on: &queue)
            #expect(Sketch.letters(queue).hasSuffix("MN"))
            #expect(queue.userQueueBlock == 6..<8)
            #expect(queue.entries.filter(\.isLoose).count == 2)
            let following = queue.nextEntry?.id
            let others = Sketch.letters(queue).filter { !"MN".contains($0) }
            try Commands.run("end", on: &queue)
            #expect(queue.currentID == following)
            #expect(queue.entries.allSatisfy { !$0.isLoose })
            #expect(queue.userQueueBlock.isEmpty)
            // The others keep their order.
            #expect(Sketch.letters(queue).filter { !"MN".contains($0) } == others)
            places.insert(Sketch.position("M", in: queue))
            // Without random they are at the end, in their order.
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.letters(queue).hasSuffix("MN"))
            #expect(queue.userQueueBlock.count == 2)
        }
        #expect(places == [2, 3, 4, 5, 6, 7])
    }

    /// All places are equally likely: 4 places, 4,000 draws, each within five standard deviations.
    @Test func looseEntriesAreDealtUniformly() throws {
        var counts = [Int](repeating: 0, count: 4)
        for seed in 1...4_000 as ClosedRange<UInt64> {
            var queue = Sketch.queue("[a] | | b c d e |", seed: seed)
            try Commands.run("random 1, add M, next", on: &queue)
            counts[Sketch.position("M", in: queue) - 2] += 1
        }
        #expect(counts.allSatisfy { abs($0 - 1_000) < 137 }, "\(counts)")
    }

    @Test func aLooseEntryIsDealtBehindPlayNext() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d e |", seed: seed)
            try Commands.run("random 1, add +0 x y z, add M, next", on: &queue)
            #expect(Sketch.letters(queue).hasPrefix("axyz"))
            #expect(queue.playNextBlock == 2..<4)
        }
    }

    @Test func whatWasPutAtTheVeryEndByPositionStaysThere() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d |", seed: seed)
            try Commands.run("random 1, add M, add 5 X, add N O, move N 5, next", on: &queue)
            #expect(queue.userQueueBlock == 6..<8)
            #expect(Sketch.letters(queue).hasSuffix("NX"))
        }
    }

    @Test func addThenPlayWhatWasAddedWorksForEveryClient() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("a [b] | x | c d e | u", seed: seed)
            try Commands.run("random 1, add +0 Q, add M N O, play M", on: &queue)
            #expect(Sketch.line(queue).hasPrefix("a b [M] | Q | N O "))
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.line(queue) == "a b [M] | Q x | N O c d e | u")
        }
    }

    @Test func whatEntersPlayNextIsPlayNextInTheSnapshotToo() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d | u v", seed: seed)
            try Commands.run("random 1, add +0 M N, prio 3 u", on: &queue)
            #expect(Sketch.line(queue).hasPrefix("[a] | u:3 M N | "))
            var other = queue
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.line(queue) == "[a] | u:3 M N | b c d | v")
            try Commands.run("prio 0 u, random 0", on: &other)
            #expect(Sketch.line(other) == "[a] | M N | b c d u | v")
        }
    }

    @Test func aPositionedAddStandsBehindItsPredecessorInTheSnapshot() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("a [b] | | c d e f |", seed: seed)
            try Commands.run("random 1", on: &queue)
            let predecessor = Sketch.letters(queue).dropFirst(3).first ?? "?"
            try Commands.run("add 4 M, random 0", on: &queue)
            #expect(Sketch.letters(queue).contains("\(predecessor)M"))
            queue = Sketch.queue("a [b] | | c d |", seed: seed)
            try Commands.run("random 1, add 0 M, random 0", on: &queue)
            #expect(Sketch.line(queue) == "M a [b] |  | c d | ")
        }
    }

    @Test func otherMovesChangeOnlyTheVisibleOrder() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d e f |", seed: seed)
            try Commands.run("random 1, move 1 5, move 2:4 4, swap 2 3, random 0", on: &queue)
            #expect(Sketch.line(queue) == "[a] |  | b c d e f | ")
            try Commands.run("random 1, delete c, random 0", on: &queue)
            #expect(Sketch.line(queue) == "[a] |  | b d e f | ")
        }
    }

    @Test func playOutOfNothing() throws {
        var first: Set<String> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("| | a b c d e f |", seed: seed)
            try Commands.run("random 1, play", on: &queue)
            #expect(queue.currentPosition == 0)
            first.insert(Sketch.current(queue))
            queue = Sketch.queue("| x y | a b c d e f | u", seed: seed)
            try Commands.run("random 1, add M, play e", on: &queue)
            #expect(queue.currentPosition == 0)
            #expect(Sketch.current(queue) == "e")
            #expect(queue.entries.allSatisfy { !$0.isLoose })
            queue = Sketch.queue("| | a b c d |", seed: seed)
            try Commands.run("random 1, add 0 M N, prio 2 M, play b", on: &queue)
            #expect(Sketch.letters(queue).hasPrefix("bM"))
        }
        #expect(first.count > 3)
    }

    @Test func eachRoundHasItsOwnOrder() throws {
        var orders: Set<String> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d e |", seed: seed)
            try Commands.run("random 1, repeat 1", on: &queue)
            for _ in 0..<4 {
                for _ in 0..<4 {
                    try Commands.run("end", on: &queue)
                }
                #expect(queue.currentPosition == 4)
                let last = Sketch.current(queue)
                let promised = queue.nextEntry?.id
                #expect(queue.preloaded == promised)
                try Commands.run(seed % 2 == 0 ? "end" : "next", on: &queue)
                #expect(queue.currentID == promised)
                #expect(Sketch.current(queue) != last)
                #expect(queue.currentPosition == 0)
                #expect(String(Sketch.letters(queue).sorted()) == "abcde")
                orders.insert(Sketch.letters(queue))
            }
            // The order to go back to is still the first one.
            let current = Sketch.current(queue)
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.letters(queue) == current + "abcde".filter { String($0) != current })
        }
        #expect(orders.count > 50)
    }

    @Test func theNextRoundIsDrawnAnewWhenTheQueueChanges() throws {
        var following: Set<String> = []
        for seed in Self.seeds {
            var queue = Sketch.queue("a b c d [e] | | |", seed: seed)
            try Commands.run("random 1, repeat 1", on: &queue)
            let promised = try #require(queue.nextEntry)
            try Commands.run("delete \(promised.position)", on: &queue)
            #expect(queue.nextEntry != nil)
            following.insert(Sketch.next(queue))
            #expect(queue.preloaded == queue.nextEntry?.id)
        }
        #expect(following.count > 1)
    }

    @Test func repeatShuffledWithConsumePlaysEachOnce() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | | b c d |", seed: seed)
            try Commands.run("random 1, repeat 1, consume 1", on: &queue)
            var heard = ""
            while queue.state == .playing {
                heard += Sketch.current(queue)
                try Commands.run("end", on: &queue)
            }
            #expect(String(heard.sorted()) == "abcd")
            #expect(queue.isEmpty)
        }
    }

    @Test func deletingTheLastEntryWrapsIntoTheNextRound() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("a b c [d] | | |", seed: seed)
            try Commands.run("random 1, repeat 1", on: &queue)
            let promised = queue.nextEntry?.id
            try Commands.run("delete d", on: &queue)
            #expect(queue.state == .playing)
            #expect(queue.currentPosition == 0)
            #expect(promised != nil && queue.count == 3)
        }
    }

    @Test func aShuffledStartIsTheOrderToGoBackTo() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("| | a b c d e f |", seed: seed)
            try Commands.run("random 1, shuffle", on: &queue)
            let order = Sketch.letters(queue)
            try Commands.run("random 0", on: &queue)
            #expect(Sketch.letters(queue) == order)
        }
    }

    @Test func clearDropsTheSnapshot() throws {
        var queue = Sketch.queue("[a] | | b c d |")
        try Commands.run("random 1, clear, add e f g h", on: &queue)
        #expect(queue.entries.allSatisfy { $0.isLoose })
        #expect(queue.albumQueueBlock == 0..<4)
        try Commands.run("random 0", on: &queue)
        #expect(Sketch.line(queue) == " |  | e f g h | ")
        #expect(queue.snapshot == nil)
    }

    @Test func theSnapshotForgetsWhatIsGone() throws {
        var queue = Sketch.queue("[a] | | b c d |")
        try Commands.run("random 1, consume 1", on: &queue)
        for _ in 0..<500 {
            try Commands.run("add M, next", on: &queue)
        }
        #expect((queue.snapshot?.rows.count ?? 0) < 100)
    }

    @Test func theCurrentEntryMovedUnderRandomKeepsTheSnapshotRight() throws {
        for seed in Self.seeds {
            var queue = Sketch.queue("[a] | x | b c d |", seed: seed)
            try Commands.run("random 1, add +0 M, move 0 2", on: &queue)
            #expect(queue.currentPosition == 2)
            #expect(Sketch.letters(queue).hasPrefix("M"))
            try Commands.run("random 0", on: &queue)
            #expect(!queue.entries[2...].contains { $0.key == SongKey(77) })
        }
    }
}
