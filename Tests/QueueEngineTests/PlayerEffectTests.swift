import Testing

@testable import QueueEngine

/// What the player is told: by each command, while gapless, and in the commit window.
@Suite struct PlayerEffectTests {
    /// One row: a queue, commands, and the effects of the last of them, with letters instead of ids.
    struct Row {
        let before: String
        let commands: String
        let effects: String

        init(_ before: String, _ commands: String, _ effects: String) {
            self.before = before
            self.commands = commands
            self.effects = effects
        }
    }

    private func describe(_ effects: [PlayerEffect], _ queue: Queue, _ gone: Queue) -> String {
        func letter(_ id: EntryID?) -> String {
            guard let id else { return "-" }
            let entry = queue.entry(id: id) ?? gone.entry(id: id)
            return entry.flatMap { Unicode.Scalar($0.key.rawValue) }.map(String.init) ?? "?"
        }
        return effects.map { effect in
            switch effect {
            case .load(let id, let time, let paused):
                let place = time == .zero ? "" : "@\(time.components.seconds)"
                return "load \(letter(id))\(place)\(paused ? " paused" : "")"
            case .preload(let id): return "preload \(letter(id))"
            case .pause: return "pause"
            case .resume: return "resume"
            case .seek(let time): return "seek \(time.components.seconds)"
            case .stop: return "stop"
            }
        }.joined(separator: ", ")
    }

    private func check(_ rows: [Row]) throws {
        for row in rows {
            var queue = Sketch.queue(row.before)
            var words = row.commands.split(separator: ",")
            let last = String(words.removeLast())
            for word in words {
                try Commands.run(String(word), on: &queue)
            }
            let before = queue
            let outcome = try Commands.run(last, on: &queue)
            #expect(describe(outcome.effects, queue, before) == row.effects, "\(row.before) -- \(row.commands)")
        }
    }

    @Test func commands() throws {
        try check([
            Row("a [b] | | c d |", "play d", "load d, preload c"),
            Row("a [b] | | c d |", "play b", "load b, preload c"),
            Row("a [b] | | c d |", "play", ""),
            Row("a [b] | | c d |", "pause", "pause"),
            Row("a [b] | | c d |", "pause 0", ""),
            Row("a [b] | | c d |", "pause 1, pause 1", ""),
            Row("a [b] | | c d |", "pause 1, pause", "resume"),
            Row("a [b] | | c d |", "pause 1, play", "resume"),
            Row("a [b] | | c d |", "stop", "stop"),
            Row("a [b] | | c d |", "stop, stop", ""),
            Row("a [b] | | c d |", "stop, pause", ""),
            Row("a [b] | | c d |", "stop, play", "load b, preload c"),
            Row("a [b] | | c d |", "next", "load c, preload d"),
            Row("a [b] | | c |", "next", "load c"),
            Row("a [b] | | |", "next", "stop"),
            Row("a [b] | | c d |", "previous", "load a, preload b"),
            Row("a [b] | | c d |", "seek b 7", "seek 7"),
            Row("a [b] | | c d |", "seek d 7", "load d@7, preload c"),
            Row("a [b] | | c d |", "pause 1, seek d 7", "load d@7 paused, preload c"),
            Row("a [b] | | c d |", "stop, seek b 7", "load b@7, preload c"),
            Row("a [b] | | c d |", "clear", "stop"),
        ])
    }

    @Test func preloadFollowsEveryEdit() throws {
        try check([
            Row("a [b] | | c |", "add +0 x", "preload x"),
            Row("a [b] | | c |", "add x", ""),
            Row("a [b] | | |", "add x", "preload x"),
            Row("a [b] | | c d |", "delete c", "preload d"),
            Row("a [b] | | c |", "delete c", "preload -"),
            Row("a [b] | | c d |", "move d +0", "preload d"),
            Row("a [b] | | c d |", "swap c d", "preload d"),
            Row("a [b] | | c d |", "prio 1 d", "preload d"),
            Row("a [b] | | c |", "single 1", "preload -"),
            Row("a [b] | | c |", "single 1, repeat 1", "preload b"),
            Row("a [b] | | |", "repeat 1", "preload a"),
            Row("a [b] | | |", "repeat 1, repeat 0", "preload -"),
            Row("[b] | | |", "repeat 1", "preload b"),
            Row("[b] | | |", "repeat 1, consume 1", "preload -"),
            Row("a [b] | | c |", "stop, add +0 x", ""),
            Row("a [b] | | c |", "pause 1, add +0 x", "preload x"),
        ])
    }

    @Test func naturalChanges() throws {
        try check([
            Row("a [b] | | c d |", "flow", "preload d"),
            Row("a [b] | | c d |", "end", "load c, preload d"),
            Row("a [b] | | c |", "flow, end", "stop"),
            Row("a [b] | | c |", "single 1, repeat 1, flow", "preload b"),
            Row("[b] | | |", "repeat 1, flow", "preload b"),
            Row("a [b] | | c d |", "single 1, end", "load c paused"),
            Row("a [b] | | c d |", "consume 1, flow", "preload d"),
        ])
    }

    @Test func commitWindow() throws {
        try check([
            // No double skip: the committed entry becomes current and goes on sounding.
            Row("a [b] | | c d |", "commit, next", ""),
            Row("a [b] | | c d |", "commit, next, next", "load d"),
            Row("a [b] | | c d |", "commit, delete b", ""),
            // What the listener would hear does not follow any more: reload.
            Row("a [b] | | c d |", "commit, delete c", "load d"),
            Row("a [b] | | c |", "commit, delete c", "stop"),
            Row("a [b] | | c d |", "commit, add +0 x", "load x, preload c"),
            Row("a [b] | | c d |", "commit, single 1", "load c paused"),
            Row("a [b] | | c d |", "commit, single 1, play", "resume"),
            // What does not touch it, does not.
            Row("a [b] | | c d |", "commit, add x", ""),
            Row("a [b] | | c d |", "commit, delete d", ""),
            Row("a [b] | | c d |", "commit, delete a", ""),
            Row("a [b] | | c d |", "commit, repeat 1", ""),
            Row("a [b] | | c d |", "commit, flow", "preload d"),
            Row("a [b] | | c d e f g |", "commit, random 1", ""),
            Row("a b c d [e] | | |", "random 1, repeat 1, commit, delete 0", ""),
            Row("a [b] | | c d |", "commit, seek b 3", "seek 3"),
            Row("a [b] | | c d |", "commit, seek b 3, next", "load c, preload d"),
            Row("a [b] | | c d |", "commit, previous", "load a, preload b"),
            // With repeat-one the committed entry is the same one again: `next` shall leave it.
            Row("a [b] | | c d |", "single 1, repeat 1, commit, next", "load c, preload c"),
        ])
    }

    @Test func theChangeAfterASkipInTheCommitWindowIsHeardOnce() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        let id = Sketch.id("c", in: queue)
        try Commands.run("commit, next", on: &queue)
        #expect(Sketch.line(queue) == "a b [c] |  | d | ")
        let outcome = queue.trackChanged(to: id)
        #expect(Sketch.line(queue) == "a b [c] |  | d | ")
        #expect(outcome == Outcome(effects: [.preload(Sketch.id("d", in: queue))], changes: .player))
    }

    @Test func aSeekWhileTheCommittedEntryIsAwaitedLoadsIt() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        try Commands.run("commit, next", on: &queue)
        let outcome = try queue.seekCurrent(to: .seconds(5))
        #expect(outcome.effects.first == .load(Sketch.id("c", in: queue), at: .seconds(5), paused: false))
    }

    @Test func theEndOfTheOldEntryWithoutAChangeLoadsTheAwaitedOne() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        let old = Sketch.id("b", in: queue)
        try Commands.run("commit, next", on: &queue)
        let outcome = queue.trackEnded(old)
        #expect(outcome.effects.first == .load(Sketch.id("c", in: queue), at: .zero, paused: false))
        #expect(Sketch.line(queue) == "a b [c] |  | d | ")
    }

    @Test func reportsThatAreOutOfDateDoNothing() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        let before = Sketch.line(queue)
        let other = Sketch.id("d", in: queue)
        #expect(queue.trackEnded(other).isEmpty)
        #expect(queue.permanentlyFailed(other).isEmpty)
        #expect(queue.transportFailed(other).isEmpty)
        queue.started(other)
        #expect(Sketch.line(queue) == before)
        _ = queue.stop()
        let current = Sketch.id("b", in: queue)
        #expect(queue.trackEnded(current).isEmpty)
        #expect(queue.trackChanged(to: other).isEmpty)
        #expect(queue.committed(other).isEmpty)
        #expect(queue.permanentlyFailed(current).isEmpty)
        #expect(queue.transportFailed(current).isEmpty)
    }

    @Test func aChangeToTheWrongEntryLoadsTheRightOne() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        let wrong = Sketch.id("c", in: queue)
        try Commands.run("add +0 x", on: &queue)
        let outcome = queue.trackChanged(to: wrong)
        #expect(Sketch.line(queue) == "a b [x] |  | c d | ")
        #expect(outcome.effects.first == .load(Sketch.id("x", in: queue), at: .zero, paused: false))
    }

    @Test func aTransportFailureEndsTheCommitWindow() throws {
        var queue = Sketch.queue("a [b] | | c d |")
        try Commands.run("commit", on: &queue)
        _ = queue.transportFailed(Sketch.id("b", in: queue))
        // Nothing sounds any more, so what was about to follow is not what it must go on with.
        try Commands.run("deleteid c", on: &queue)
        let outcome = queue.play()
        #expect(Sketch.line(queue) == "a [b] |  | d | ")
        #expect(outcome.effects == [.resume])
    }

    /// In both ways in which an entry is left, and mixed with entries that fail after they seemed to begin.
    @Test(arguments: ["ended", "changed", "failed"], [QueueMode.threeTier, .mpd])
    func songsThatAreSilentAreNotRepeatedForEver(way: String, mode: QueueMode) throws {
        var queue = Queue(configuration: QueueConfiguration(mode: mode), seed: 1)
        _ = try queue.append(contentsOf: (0..<5).map { SongKey($0) })
        _ = queue.setRepeat(true)
        _ = queue.play()
        for round in 1...4 {
            leave(way, &queue)
            #expect(queue.state == .playing, "\(round)")
        }
        // Somebody wants to hear one of them.
        _ = try queue.play(at: 0)
        for round in 1...5 {
            #expect(queue.state == .playing, "\(round)")
            leave(way, &queue)
        }
        #expect(queue.state == .stopped)
        #expect(queue.count == 5 && queue.currentID != nil)
        _ = queue.play()
        #expect(queue.state == .playing)
    }

    @Test func aSongThatIsHeardEndsTheCountOfSilentOnes() throws {
        var queue = Queue(configuration: QueueConfiguration(mode: .threeTier), seed: 1)
        _ = try queue.append(contentsOf: (0..<5).map { SongKey($0) })
        _ = queue.setRepeat(true)
        _ = queue.play()
        for _ in 0..<4 {
            for _ in 0..<4 { leave("ended", &queue) }
            _ = queue.trackEnded(queue.currentID ?? EntryID(0))
            #expect(queue.state == .playing)
        }
    }

    private func leave(_ way: String, _ queue: inout Queue) {
        let id = queue.currentID ?? EntryID(0)
        queue.started(id)
        switch way {
        case "changed": _ = queue.trackChanged(to: queue.followingID ?? EntryID(0), isSilent: true)
        case "failed": _ = queue.permanentlyFailed(id, isSilent: true)
        default: _ = queue.trackEnded(id, isSilent: true)
        }
    }

    @Test func transportFailureKeepsTheEntry() throws {
        var queue = Sketch.queue("a [b] | | c |")
        let outcome = queue.transportFailed(Sketch.id("b", in: queue))
        #expect(outcome == Outcome(effects: [.pause], changes: .player))
        #expect(Sketch.line(queue) == "a [b] |  | c | ")
        #expect(queue.state == .paused)
    }

    @Test func aRangeForThePreloadedEntryIsPreloadedAnew() throws {
        var queue = Sketch.queue("a [b] | | c |")
        let id = Sketch.id("c", in: queue)
        let outcome = try queue.setRange(PlaybackRange(start: 1_000, end: 2_000), id: id)
        #expect(outcome == Outcome(effects: [.preload(id)], changes: .entries))
        #expect(throws: QueueError.cannotEditCurrentSong) {
            try queue.setRange(.whole, id: Sketch.id("b", in: queue))
        }
    }
}
