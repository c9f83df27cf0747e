import Testing

@testable import QueueEngine

/// What is refused, and with which error, as mpd 0.23.12 refuses it; nothing changes then.
@Suite struct EditErrorTests {
    private func refusal(_ commands: String, on line: String, mode: QueueMode = .threeTier) throws -> QueueError? {
        var queue = Sketch.queue(line, configuration: QueueConfiguration(mode: mode))
        var words = commands.split(separator: ",")
        let last = String(words.removeLast())
        for word in words {
            try Commands.run(String(word), on: &queue)
        }
        let before = queue.archive()
        do {
            try Commands.run(last, on: &queue)
            return nil
        } catch let error as QueueError {
            #expect(queue.archive() == before)
            return error
        }
    }

    @Test func positionsAndRanges() throws {
        let rows: [(String, QueueError?)] = [
            ("play 5", .badSongIndex), ("seek 5 1", .badSongIndex), ("swap 5 0", .badSongIndex),
            ("swap 0 5", .badSongIndex),
            ("delete 5", nil), ("delete 6", .badSongIndex), ("delete 3:9", nil), ("delete 5:6", nil),
            ("delete 6:", .badSongIndex),
            ("shuffle 5", nil), ("shuffle 6", .badSongIndex), ("shuffle 2:2", nil),
            ("prio 5 6", .badSongIndex), ("prio 5 5", nil),
            ("playid z", .noSuchSong(EntryID(0))), ("deleteid z", .noSuchSong(EntryID(0))),
            ("moveid z 0", .noSuchSong(EntryID(0))),
            ("move 10 0", .badSongIndex), ("move 5 0", .badSongIndex), ("move 10:12 0", .badSongIndex),
            ("move 3 10", .numberTooLarge(10)), ("move 10 10", .numberTooLarge(10)), ("move 2:9 0", .badSongIndex),
            ("move 2:9 9", .badSongIndex), ("move 2:2 0", .badSongIndex), ("move 0:0 1", .badSongIndex),
            ("move 5:5 1", .badSongIndex), ("move 2:2 5", nil), ("move 2:2 6", .numberTooLarge(6)),
            ("move 0:5 0", nil), ("move 0:5 1", .numberTooLarge(1)), ("move 1: 0", .openRangeNotSupported),
            ("move 0:6 0", .badSongIndex),
            ("move 0 +3", .badSongIndex), ("move 0 +4", .numberTooLarge(4)), ("move 0 +2", nil),
            ("move 4 -3", .numberTooLarge(3)), ("move 4 -2", nil), ("move 10 +0", .badSongIndex),
            ("move 1:9 +0", .cannotMoveRelativeToItself), ("move 4:19 +0", .badSongIndex),
            ("move 2 +0", .cannotMoveRelativeToItself), ("move 1:3 -0", .cannotMoveRelativeToItself),
            ("add 6 X", .numberTooLarge(6)), ("add 5 X", nil), ("add +3 X", .numberTooLarge(3)), ("add +2 X", nil),
            ("add -3 X", .numberTooLarge(3)), ("add -2 X", nil),
        ]
        for mode in QueueMode.allCases {
            for (command, error) in rows {
                #expect(try refusal(command, on: "a b [c] | | d e |", mode: mode) == error, "\(command) \(mode)")
            }
        }
    }

    /// MPD takes the entries behind the current one for the limit of a distance before it.
    @Test func distancesBeforeTheCurrentEntry() throws {
        let rows: [(String, String, QueueError?, QueueError?)] = [
            ("a [b] | | c d e |", "move 4 -1", nil, nil),
            ("a [b] | | c d e |", "move 4 -2", .badSongIndex, .numberTooLarge(2)),
            ("a [b] | | c d e |", "move 4 -3", .badSongIndex, .numberTooLarge(3)),
            ("a [b] | | c d e |", "move 4 -4", .numberTooLarge(4), .numberTooLarge(4)),
            ("a [b] | | c d e |", "move 0 -1", .badSongIndex, .numberTooLarge(1)),
            ("a b c [d] | | e |", "move 0 -2", nil, nil),
            ("a b c [d] | | e |", "move 0:2 -1", nil, nil),
            ("a b c [d] | | e |", "move 4 -1", nil, nil),
            ("a b c [d] | | e |", "move 4 -2", .numberTooLarge(2), nil),
        ]
        for (queue, command, mpd, threeTier) in rows {
            #expect(try refusal(command, on: queue, mode: .mpd) == mpd, "\(command) on \(queue)")
            #expect(try refusal(command, on: queue, mode: .threeTier) == threeTier, "\(command) on \(queue)")
        }
    }

    @Test func withoutCurrentEntryOrWhileStopped() throws {
        for mode in QueueMode.allCases {
            for command in ["add +0 X", "add -0 X", "move 0 +0", "move 0 -0"] {
                #expect(try refusal(command, on: "| | a b |", mode: mode) == .noCurrentSong)
            }
            for command in ["next", "previous"] {
                #expect(try refusal(command, on: "| | a b |", mode: mode) == .notPlaying)
                #expect(try refusal("stop, " + command, on: "a [b] | | c |", mode: mode) == .notPlaying)
            }
        }
        var queue = Sketch.queue("a [b] | | |", state: .stopped)
        #expect(throws: QueueError.notPlaying) { try queue.seekCurrent(to: .zero) }
        queue = Queue(seed: 1)
        #expect(queue.play().isEmpty)
        #expect(queue.pause(nil).isEmpty)
        #expect(queue.stop().isEmpty)
    }

    @Test func aFullQueueTakesWhatFits() throws {
        var queue = Queue(configuration: QueueConfiguration(maximumLength: 3), seed: 1)
        #expect(try queue.append(contentsOf: Sketch.keys("ab")).ids.count == 2)
        #expect(try queue.append(contentsOf: Sketch.keys("cde")).ids.count == 1)
        #expect(Sketch.letters(queue) == "abc")
        #expect(throws: QueueError.playlistFull) { try queue.append(contentsOf: Sketch.keys("f")) }
        #expect(throws: QueueError.playlistFull) { try queue.insert(contentsOf: Sketch.keys("f"), at: .absolute(0)) }
        #expect(try queue.append(contentsOf: []).outcome.isEmpty)
    }

    @Test func aWrongArgumentOfPrioKeepsWhatCameBefore() throws {
        var queue = try mpdQueue("abc")
        let edit = queue.setPriority(7, [PositionSpan(0), PositionSpan(9), PositionSpan(1)])
        #expect(edit.error == .badSongIndex)
        #expect(edit.outcome.changes == .entries)
        #expect(queue.entries.map(\.priority) == [7, 0, 0])
        let second = queue.setPriority(3, ids: [EntryID(2), EntryID(99), EntryID(3)])
        #expect(second.error == .noSuchSong(EntryID(99)))
        #expect(queue.entries.map(\.priority) == [7, 3, 0])
        #expect(queue.setPriority(3, [PositionSpan(9)]).outcome.isEmpty)
    }

    @Test func events() throws {
        let rows: [(String, Changes)] = [
            ("clear", [.entries, .player]), ("stop, clear", .entries), ("stop, clear, clear", .entries),
            ("move 1 1", []), ("move 3 4", .entries), ("swap 0 0", .entries), ("delete 5", []), ("delete 4", .entries),
            ("delete b", [.entries, .player]), ("stop, delete b", .entries), ("shuffle 1:2", []),
            ("shuffle 3:", .entries),
            ("stop, shuffle", .entries), ("prio 0 c", .entries), ("prio 0 5", []), ("add X", .entries),
            ("play", []), ("play b", .player), ("next", .player), ("consume 1, next", [.entries, .player]),
            ("pause", .player), ("pause 0", []), ("pause 1, pause 1", []), ("stop", .player), ("stop, stop", []),
            ("seek b 1", .player), ("repeat 1", .options), ("repeat 0", []), ("single 1", .options), ("single 0", []),
            ("consume oneshot", .options), ("consume 0", []), ("random 0", []),
            ("single oneshot, end", [.player, .options]), ("consume oneshot, end", [.player, .entries, .options]),
            ("flow", .player), ("end", .player), ("fail", .player), ("commit", []),
        ]
        for mode in QueueMode.allCases {
            for (commands, changes) in rows {
                var queue = Sketch.queue("a [b] | | c d e |", configuration: QueueConfiguration(mode: mode))
                #expect(try Commands.run(commands, on: &queue).changes == changes, "\(commands) \(mode)")
            }
        }
    }

    @Test func theStartOfAPlayNextEntryResetsItsPriority() throws {
        var queue = Sketch.queue("a [b] | x | c |")
        let version = queue.version
        #expect(try Commands.run("next", on: &queue).changes == [.player, .entries])
        #expect(queue.changes(since: version) == [2])
    }
}
