import Testing

@testable import QueueEngine

/// Rows of “before, commands, after” in the three-tier mode.
@Suite struct TierRuleTests {
    /// One row of a table.
    struct Row {
        let before: String
        let commands: String
        let after: String
        let state: PlayState

        init(_ before: String, _ commands: String, _ after: String, _ state: PlayState = .playing) {
            self.before = before
            self.commands = commands
            self.after = after
            self.state = state
        }
    }

    private func check(_ rows: [Row], from state: PlayState = .playing, jump: JumpMode = .move) throws {
        for row in rows {
            var queue = Sketch.queue(row.before, state: state, configuration: QueueConfiguration(jump: jump))
            try Commands.run(row.commands, on: &queue)
            #expect(
                Sketch.line(queue) == Sketch.normalized(row.after),
                "\(row.before) -- \(row.commands)"
            )
            #expect(queue.state == row.state, "\(row.before) -- \(row.commands)")
            #expect(queue.checkInvariants())
        }
    }

    @Test func theExamplesOfTheContract() throws {
        try check([
            Row("a [b] | x y | c d e | u v", "next", "a b [x] | y | c d e | u v"),
            Row("a [b] | x y | c d e | u v", "play e", "a b [e] | x y | c d | u v"),
            Row("a [b] | x y | c d e | u v", "play y", "a b [y] | x | c d e | u v"),
            Row("a [b] | x y | c d e | u v", "play v", "a b [v] | x y | c d e | u"),
            Row("a b [c] | x | d | u", "previous", "a [b] | x | c d | u"),
            Row("a b c [d] | | | u v", "next", "a b c d [u] | | | v"),
            Row("a [b] | x | c d | u", "add M N O, playid M", "a b [M] | x | N O c d | u"),
        ])
    }

    @Test func adding() throws {
        try check([
            Row("a [b] | x | c | u", "add M N", "a [b] | x | c | u M N"),
            Row("a [b] | x | c | u", "add 0 M", "M a [b] | x | c | u"),
            Row("a [b] | x | c | u", "add 1 M", "a M [b] | x | c | u"),
            Row("a [b] | x | c | u", "add -0 M", "a M [b] | x | c | u"),
            Row("a [b] | x | c | u", "add +0 M", "a [b] | M x | c | u"),
            Row("a [b] | x:5 | c | u", "add +0 M N", "a [b] | M:5 N:5 x:5 | c | u"),
            Row("a [b] | x:5 y:3 | c | u", "add +1 M", "a [b] | x:5 M:3 y:3 | c | u"),
            Row("a [b] | x:5 | c | u", "add +1 M", "a [b] | x:5 M | c | u"),
            Row("a [b] | | c d | u", "add +0 M", "a [b] | M | c d | u"),
            Row("a [b] | | c d | u", "add +1 M", "a [b] | | c M d | u"),
            Row("a [b] | | c d | u", "add +2 M", "a [b] | | c d M | u"),
            Row("a [b] | | c d | u v", "add +3 M", "a [b] | | c d | u M v"),
            Row("a [b] | | c d | u v", "add +4 M", "a [b] | | c d | u v M"),
            Row("a [b] | | c d | ", "add +2 M", "a [b] | | c d | M"),
            Row("a [b] | | | u v", "add +0 M", "a [b] | M | | u v"),
            Row("a [b] | x | | u v", "add +1 M", "a [b] | x M | | u v"),
            Row("a [b] | | | ", "add +0 M", "a [b] | M | | "),
        ])
    }

    @Test func addingWithoutCurrentEntry() throws {
        try check([
            Row("| | | ", "add a b, add c", " | | a b c | ", .stopped),
            Row("| | a b | ", "add 0 M", " | | M a b | ", .stopped),
            Row("| | a b | ", "add 2 M", " | | a b M | ", .stopped),
            Row("| x | a b | ", "add 0 M", " | M x | a b | ", .stopped),
            Row("| x | a b | ", "add 1 M", " | x M | a b | ", .stopped),
            Row("| | | u", "add 0 M", " | | M | u", .stopped),
        ])
        // After something has been started, also when it has ended.
        try check([
            Row("a [b] | | |", "next, add c", " | | a b | c", .stopped),
            Row("[a] | | |", "next, add 1 c", " | | a | c", .stopped),
            Row("[a] | | |", "delete 0, add c d", " | | c d |", .stopped),
            Row("[a] | | |", "clear, add c d", " | | c d |", .stopped),
        ])
    }

    @Test func priorities() throws {
        try check([
            Row("a [b] | x:5 y:2 | c d e | u", "prio 3 c e", "a [b] | x:5 c:3 e:3 y:2 | d | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 5 e d", "a [b] | x:5 d:5 e:5 y:2 | c | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 1 u u c", "a [b] | x:5 y:2 c u | d e |"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 9 y", "a [b] | y:9 x:5 | c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 1 x", "a [b] | y:2 x | c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 7 a", "[b] | a:7 x:5 y:2 | c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 7 b", "a [b] | x:5 y:2 | c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 0 x", "a [b] | y:2 | x c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 0 0:", "a [b] | | x y c d e | u"),
            Row("a [b] | x:5 y:2 | c d e | u", "prio 0 c", "a [b] | x:5 y:2 | c d e | u"),
            Row("| x:5 | c d | u", "prio 8 d", "| d:8 x:5 | c | u", .stopped),
        ])
    }

    @Test func playing() throws {
        try check([
            // Without a current entry.
            Row("| | a b | u", "play", "[a] | | b | u"),
            Row("| x y | a b | u", "play", "[x] | y | a b | u"),
            Row("| x y | a b c | u v", "play b", "a [b] | x y | c | u v"),
            Row("| x y | a b c | u v", "play v", "a b c u [v] | x y | |"),
            Row("| x y | a b c | u v", "play y", "[y] | x | a b c | u v"),
            // On the current entry, and in history.
            Row("a [b] | x | c | u", "play b", "a [b] | x | c | u"),
            Row("a b c [d] | x y | e | u", "play b", "a [b] | x y | c d e | u"),
            Row("a b c [d] | x y | e | u", "seek a 5", "[a] | x y | b c d e | u"),
            // Jumps.
            Row("a [b] | x | c d | u v", "seek u 3", "a b [u] | x | c d | v"),
            Row("a [b] | | c d | u v", "play c", "a b [c] | | d | u v"),
            Row("a [b] | | c d | ", "pause 1, seek d 3", "a b [d] | | c | ", .paused),
            Row("a [b] | | c d | ", "pause 1, play", "a [b] | | c d | "),
            Row("a [b] | | c d | ", "stop, play", "a [b] | | c d | "),
            Row("a [b] | x | c d | ", "stop, play d", "a b [d] | x | c | "),
            Row("a [b] | x | c d | ", "stop, seek d 4", "a b [d] | x | c | "),
        ])
    }

    @Test func appendRuns() throws {
        try check([
            Row("a [b] | x | c | u", "add M N, add O, play N", "a b [N] | x | O c | u M"),
            Row("a [b] | x | c | u", "add M, add +0 Q, add N O, play N", "a b [N] | Q x | O c | u M"),
            Row("a [b] | x | c | u", "add M N O, delete c, play M", "a b [M] | x | | u N O"),
            Row("a [b] | x | c | u", "add M N O, next, play M", "a b x [M] | | N O c | u"),
            Row("a [b] | | | ", "add M N O, next, play O", "a b M [O] | | | N"),
            Row("a [b] | | c | u", "add M N O, play M, play O", "a b M [O] | | N c | u"),
            Row("| | | ", "add a b c d, play b, play d", "a b [d] | | c |"),
            Row("| | | ", "add a b, play, add c d e, play d", "a [d] | | e b | c"),
        ])
    }

    @Test func jumpsWithThePointer() throws {
        try check(
            [
                Row("a [b] | | c d e | u v", "play e", "a b c d [e] | | | u v"),
                Row("a [b] | x y | c d | u v", "play d", "a b x y c [d] | | | u v"),
                Row("a [b] | x y | c d | u v", "play y", "a b x [y] | | c d | u v"),
                Row("a b [c] | x | d | u", "play a", "[a] | x | b c d | u"),
                Row("a [b] | | | u v w", "play v", "a b u [v] | | | w"),
            ],
            jump: .pointer
        )
    }

    @Test func advancing() throws {
        for command in ["next", "end"] {
            try check([
                Row("a [b] | x | c | u", command, "a b [x] | | c | u"),
                Row("a [b] | | c | u", command, "a b [c] | | | u"),
                Row("a [b] | | | u v", command, "a b [u] | | | v"),
                Row("a [b] | | | ", command, " | | a b | ", .stopped),
                Row("a [b] | | | ", "repeat 1, \(command)", "[a] | | b |"),
                Row("[a] | | | ", "repeat 1, \(command)", "[a] | | |"),
                Row("a [b] | | c |", "consume 1, \(command)", "a [c] | | |"),
                Row("a [b] | | |", "consume 1, \(command)", " | | a |", .stopped),
                Row("a [b] | | |", "consume 1, repeat 1, \(command)", "[a] | | |"),
                Row("[b] | | |", "consume 1, repeat 1, \(command)", " | | |", .stopped),
                Row("a [b] | | c d |", "consume oneshot, \(command), \(command)", "a c [d] | | |"),
            ])
        }
    }

    @Test func single() throws {
        try check([
            Row("a [b] | x | c | u", "single 1, end", "a b [x] | | c | u", .paused),
            Row("a [b] | | c | u", "single oneshot, end, play, end", "a b c [u] | | |"),
            Row("a [b] | | |", "single 1, end", " | | a b |", .stopped),
            Row("a [b] | x | c |", "single 1, next", "a b [x] | | c |"),
            Row("a [b] | | c |", "single 1, repeat 1, end", "a [b] | | c |"),
            Row("a [b] | | c |", "single oneshot, repeat 1, end, end", "a [b] | | c |"),
            Row("a [b] | | c |", "single 1, repeat 1, next", "a b [c] | | |"),
            Row("a [b] | | |", "single 1, repeat 1, next", "[a] | | b |"),
            // Play Next goes first, and is repeated then.
            Row("a [b] | x y | c |", "single 1, repeat 1, end", "a b [x] | y | c |"),
            Row("a [b] | x | c |", "single 1, repeat 1, end, end", "a b [x] | | c |"),
            // Repeat-one and consume contradict each other: consume wins, and nothing is held, as in MPD.
            Row("a [b] | | c |", "single 1, repeat 1, consume 1, end", "a [c] | | |"),
            Row("a [b] | | c |", "single 1, consume 1, end", "a [c] | | |", .paused),
        ])
    }

    @Test func goingBack() throws {
        try check([
            Row("a b [c] | | d | u", "previous", "a [b] | | c d | u"),
            Row("[a] | x | b | u", "previous", "[a] | x | b | u"),
            Row("[a] | | b | u", "repeat 1, previous", "[a] | | b | u"),
            Row("a [b] | x | c |", "consume 1, previous", "[a] | x | b c |"),
            Row("a [b] | x | c |", "pause 1, previous", "[a] | x | b c |"),
        ])
    }

    @Test func deletingTheCurrentEntry() throws {
        try check([
            Row("a [b] | x | c | u", "delete b", "a [x] | | c | u"),
            Row("a [b] | | c | u", "delete b", "a [c] | | | u"),
            Row("a [b] | | c d | u", "delete 1:3", "a [d] | | | u"),
            Row("a [b] | | c d |", "delete 1:", "| | a |", .stopped),
            Row("a [b] | | c d |", "repeat 1, delete 1:", "[a] | | |"),
            Row("a [b] | | c d |", "repeat 1, delete 0:", "| | |", .stopped),
            Row("a [b] | | c |", "single 1, repeat 1, delete b", "| | a c |", .stopped),
            Row("a [b] | x | c |", "single 1, repeat 1, delete b", "a [x] | | c |"),
            Row("a [b] | | c |", "consume 1, delete b", "a [c] | | |"),
            Row("a [b] | x | c | u", "pause 1, delete b", "a [x] | | c | u", .stopped),
            Row("a [b] | x y | c | u", "stop, delete b", "| x y | a c | u", .stopped),
            Row("a [b] | x y | c | u", "pause 1, delete b, play y", "a x [y] | | c | u"),
        ])
    }

    @Test func movingIntoAndOutOfTiers() throws {
        try check([
            Row("a [b] | x | c d | u v", "move v +0", "a [b] | v x | c d | u"),
            Row("a [b] | x:4 | c d | u v", "move d +0", "a [b] | d:4 x:4 | c | u v"),
            Row("a [b] | x y | c d | u v", "move x 4", "a [b] | y | c x d | u v"),
            Row("a [b] | x y | c d | u v", "move x 7", "a [b] | y | c d | u v x"),
            Row("a [b] | x y | c d | u v", "move x 0", "x a [b] | y | c d | u v"),
            Row("a [b] | x y | c d | u v", "move a 7", "[b] | x y | c d | u v a"),
            Row("a [b] | x y | c d | u v", "move a 2", "[b] | x a y | c d | u v"),
            Row("a [b] | x | c d | u v", "move c:u +0", "a [b] | c d x | | u v"),
            Row("a [b] | | c d | u v", "move u 3", "a [b] | | c u d | v"),
            Row("a [b] | | c d | u v", "move v 4", "a [b] | | c d v | u"),
            // The end of the album queue belongs to it only with a user queue behind it.
            Row("a [b] | | c d |", "move c 3", "a [b] | | d | c"),
        ])
    }

    @Test func movingTheCurrentEntry() throws {
        try check([
            Row("a [b] | x:3 | c d | u", "move b 0", "[b] | a:3 x:3 | c d | u"),
            Row("a [b] | | c d | u", "move b 0", "[b] | | a c d | u"),
            Row("a [b] | x y | c d | u", "move b 3", "a x y [b] | | c d | u"),
            Row("a [b] | x y | c d | u", "move b 2", "a x [b] | y | c d | u"),
            Row("a [b] | | c d | u v", "move b 4", "a c d u [b] | | | v"),
            Row("a b [c] | x | d e |", "move 1:3 0", "b [c] | a x | d e |"),
        ])
    }

    @Test func swapsLeaveTiersInPlace() throws {
        try check([
            Row("a [b] | x:5 | c | u", "swap x u", "a [b] | u:5 | c | x"),
            Row("a [b] | x:5 | c | u", "swap a x", "x [b] | a:5 | c | u"),
            Row("a [b] | | c d | u", "swap b d", "a d c [b] | | | u"),
            Row("a [b] | | c d | u", "swap b a", "[b] | | a c d | u"),
            Row("a [b] | x y | c | u", "swap b y", "a y x [b] | | c | u"),
        ])
    }

    @Test func shufflingPositionsWhilePlaying() throws {
        var queue = Sketch.queue("a b [c] | x y:1 | d e f | u v")
        try Commands.run("shuffle", on: &queue)
        #expect(queue.currentPosition == 0)
        #expect(Sketch.current(queue) == "c")
        #expect(queue.albumQueueBlock == 1..<10)

        queue = Sketch.queue("a b [c] | x y | d e f | u v")
        try Commands.run("shuffle 6:", on: &queue)
        #expect(Sketch.line(queue).hasPrefix("a b [c] | x y | d "))
        #expect(queue.userQueueBlock == 8..<10)

        queue = Sketch.queue("a b [c] | x y | d e f | u v", state: .stopped)
        try Commands.run("shuffle", on: &queue)
        #expect(queue.currentPosition == nil)
    }

    @Test func failures() throws {
        try check([
            Row("a [b] | x | c | u", "fail", "a b [x] | | c | u"),
            Row("a [b] | | c |", "consume 1, fail", "a b [c] | | |"),
            Row("a [b] | | c |", "single 1, repeat 1, fail", "a b [c] | | |"),
            Row("a [b] | | |", "repeat 1, fail", "[a] | | b |"),
            Row("[b] | | |", "repeat 1, fail", "| | b |", .stopped),
            Row("a [b] | | |", "fail", "| | a b |", .stopped),
            Row("[a] | | b c d e f g |", "fail, fail, fail, fail, fail", "a b c d [e] | | f g |", .stopped),
            Row("[a] | | b c d e f g |", "fail, fail, fail, fail, play, fail", "a b c d [e] | | f g |", .stopped),
            Row("a [b] | | c |", "pause 1, fail", "a b [c] | | |", .paused),
        ])
        var queue = Sketch.queue("[a] | | b c d e f g |")
        try Commands.run("fail, fail, fail, fail", on: &queue)
        queue.started(Sketch.id("e", in: queue))
        try Commands.run("fail, fail, fail, fail", on: &queue)
        #expect(queue.currentPosition == nil || queue.state == .playing || Sketch.current(queue) == "-")
    }
}
