import Testing

@testable import QueueEngine

/// `nextsong` in every combination of the options, and that a natural end leads there.
@Suite struct NextEntryTests {
    private static let modes: [OneShotMode] = [.off, .on, .oneShot]

    @Test func nextsongIsWhatANaturalEndLeadsTo() throws {
        for line in ["a [b] | x | c | u", "a [b] | | c |", "a [b] | | |", "[b] | | |", "[b] | x | |"] {
            for (single, consume) in Self.modes.flatMap({ single in Self.modes.map { (single, $0) } }) {
                for flags in 0..<4 {
                    var queue = Sketch.queue(line)
                    _ = queue.setSingle(single)
                    _ = queue.setConsume(consume)
                    _ = queue.setRepeat(flags & 1 != 0)
                    _ = queue.setRandom(flags & 2 != 0)
                    let promised = queue.nextEntry
                    let current = queue.currentID ?? EntryID(0)
                    _ = queue.trackEnded(current)
                    #expect(queue.currentID == promised?.id, "\(line) \(single) \(consume) \(flags)")
                    #expect(queue.state == (promised == nil ? .stopped : promised?.isHeld == true ? .paused : .playing))
                }
            }
        }
    }

    @Test func threeTiers() throws {
        let rows: [(String, String, String)] = [
            ("a [b] | x | c | u", "", "x"),
            ("a [b] | | c | u", "", "c"),
            ("a [b] | | | u", "", "u"),
            ("a [b] | | |", "", "-"),
            ("a [b] | | |", "repeat 1", "a"),
            ("a [b] | | c |", "single 1", "c"),
            ("a [b] | | c |", "single 1, repeat 1", "b"),
            ("a [b] | x | c |", "single 1, repeat 1", "x"),
            ("a [b] | | c |", "single oneshot, repeat 1", "b"),
            ("a [b] | | c |", "single 1, repeat 1, consume 1", "c"),
            ("a [b] | | |", "repeat 1, consume 1", "a"),
            ("[b] | | |", "repeat 1, consume 1", "-"),
            ("a [b] | | c |", "stop", "c"),
            ("| x | c |", "", "-"),
        ]
        for (line, commands, next) in rows {
            var queue = Sketch.queue(line)
            try Commands.run(commands, on: &queue)
            #expect(Sketch.next(queue) == next, "\(line) -- \(commands)")
        }
    }

    /// As recorded from mpd 0.23.12: its status leaves `consume` out of account.
    @Test func mpdShowsNextsongWithoutRegardToConsume() throws {
        let rows: [(String, String, String)] = [
            ("abc", "play 1", "c"),
            ("abc", "play 2", "-"),
            ("abc", "play 2, repeat 1", "a"),
            ("abc", "play 1, single 1", "c"),
            ("abc", "play 1, single 1, repeat 1", "b"),
            ("abc", "play 1, single oneshot, repeat 1", "b"),
            ("abc", "play 1, single 1, repeat 1, consume 1", "b"),
            ("a", "play 0, repeat 1, consume 1", "a"),
            ("a", "play 0, consume 1", "-"),
            ("abc", "play 1, stop", "c"),
        ]
        for (letters, commands, next) in rows {
            var queue = try mpdQueue(letters)
            try Commands.run(commands, on: &queue)
            #expect(Sketch.next(queue) == next, "\(letters) -- \(commands)")
        }
    }

    @Test func upcomingIsWhatFollowsTheNextOne() throws {
        let rows: [(String, String, String)] = [
            ("a [b] | x y | c | u v", "", "y c u"),
            ("a [b] | x | c |", "", "c"),
            ("a [b] | | |", "", ""),
            ("| x | c |", "", ""),
            ("a [b] | x | c | u", "single 1", ""),
            ("a [b] | | |", "repeat 1", ""),
        ]
        for (line, commands, names) in rows {
            var queue = Sketch.queue(line)
            try Commands.run(commands, on: &queue)
            let upcoming = names.split(separator: " ").map { Sketch.id(Character(String($0)), in: queue) }
            #expect(queue.upcoming(3) == upcoming, "\(line) -- \(commands)")
        }
    }
}
