import MPDProtocol
import QueueEngine

/// “Controlling playback” of MPD's protocol document.
enum PlaybackCommands {
    static let rows: [Command] = [
        Command(
            "next",
            .player,
            args: 0...0,
            "Plays the next entry of the queue.",
            .core(next),
            difference: "A song that cannot be reached is waited for, not skipped: a network comes back."
        ),
        Command(
            "pause",
            .player,
            args: 0...1,
            "Pauses or resumes; without an argument, whichever it is not.",
            .core(pause)
        ),
        Command(
            "play",
            .player,
            args: 0...1,
            "Starts playback, at a position if one is given.",
            .core(play),
            difference: "In three tiers an entry further down moves up, so that nothing is skipped."
        ),
        Command(
            "playid",
            .player,
            args: 0...1,
            "Starts playback, at the entry with this id if one is given.",
            .core(playID),
            difference: "In three tiers an entry further down moves up, so that nothing is skipped."
        ),
        Command(
            "previous",
            .player,
            args: 0...0,
            "Plays the previous entry of the queue.",
            .core(previous),
            difference:
                "In three tiers the first song begins again, with `repeat` too: what stands before it in the list is what was before it."
        ),
        Command(
            "seek",
            .player,
            args: 2...2,
            "Goes to a time in the entry at a position.",
            .core(seek),
            difference: "In three tiers an entry further down moves up, so that nothing is skipped."
        ),
        Command(
            "seekcur",
            .player,
            args: 1...1,
            "Goes to a time in the current song, or by a distance.",
            .core(seekCurrent)
        ),
        Command(
            "seekid",
            .player,
            args: 2...2,
            "Goes to a time in the entry with an id.",
            .core(seekID),
            difference: "In three tiers an entry further down moves up, so that nothing is skipped."
        ),
        Command("stop", .player, args: 0...0, "Stops playback.", .core(stop)),
    ]

    private static func next(_ context: CommandContext, _: Arguments, _: inout Reply) throws {
        try context.partition.edit { queue throws(QueueError) in try queue.next() }
    }

    private static func previous(_ context: CommandContext, _: Arguments, _: inout Reply) throws {
        try context.partition.edit { queue throws(QueueError) in try queue.previous() }
    }

    private static func stop(_ context: CommandContext, _: Arguments, _: inout Reply) throws {
        try context.partition.edit { queue throws(QueueError) in queue.stop() }
    }

    private static func pause(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let isPaused: Bool? = arguments.isEmpty ? nil : try arguments.boolean(0)
        try context.partition.edit { queue throws(QueueError) in queue.pause(isPaused) }
    }

    /// `-1` is what older clients say for “no position”.
    private static func play(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let position = try arguments.isEmpty ? -1 : arguments.integer(0)
        context.partition.clearError()
        try context.partition.edit { queue throws(QueueError) in
            position == -1 ? queue.play() : try queue.play(at: position)
        }
    }

    private static func playID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.isEmpty ? -1 : arguments.integer(0)
        context.partition.clearError()
        try context.partition.edit { queue throws(QueueError) in
            id == -1 ? queue.play() : try queue.play(id: EntryID(UInt32(clamping: id)))
        }
    }

    private static func seek(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let position = try arguments.unsigned(0)
        let time = try Duration.milliseconds(arguments.songTime(1))
        if position == context.partition.queue.currentPosition { try context.partition.checkSeekable() }
        try context.partition.edit { queue throws(QueueError) in try queue.seek(at: position, to: time) }
    }

    private static func seekID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        let time = try Duration.milliseconds(arguments.songTime(1))
        if id == context.partition.queue.currentID { try context.partition.checkSeekable() }
        try context.partition.edit { queue throws(QueueError) in try queue.seek(id: id, to: time) }
    }

    private static func seekCurrent(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let target = try arguments.seekTarget(0)
        try context.partition.checkSeekable()
        let elapsed = context.partition.elapsed ?? .zero
        let time: Duration =
            switch target {
            case .absolute(let milliseconds): .milliseconds(milliseconds)
            case .relative(let milliseconds): max(.zero, elapsed + .milliseconds(milliseconds))
            }
        try context.partition.edit { queue throws(QueueError) in try queue.seekCurrent(to: time) }
    }
}
