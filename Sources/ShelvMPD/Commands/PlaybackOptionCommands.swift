import MPDProtocol
import QueueEngine

/// “Playback options” of MPD's protocol document.
enum PlaybackOptionCommands {
    static let rows: [Command] = [
        Command("consume", .player, args: 1...1, "Removes each entry when it has been played.", .core(consume)),
        Command(
            "crossfade",
            .player,
            args: 1...1,
            "Sets the seconds of crossfade.",
            .core(crossfade),
            difference: "Follows without an overlap to and from URLs, and on devices that play one stream at a time."
        ),
        Command("getvol", .read, args: 0...0, "Shows the volume.", .core(getVolume)),
        Command("mixrampdb", .player, args: 1...1, "Sets the level at which MixRamp joins songs.", .core(mixRampLevel)),
        Command("mixrampdelay", .player, args: 1...1, "Sets the delay of MixRamp, in seconds.", .core(mixRampDelay)),
        Command(
            "random",
            .player,
            args: 1...1,
            "Shuffles what comes.",
            .core(random),
            difference:
                "In three tiers the list itself is shuffled, and unshuffled again: the list always shows what comes."
        ),
        Command("repeat", .player, args: 1...1, "Begins again at the end of the queue.", .core(`repeat`)),
        Command(
            "replay_gain_mode",
            .player,
            args: 1...1,
            "Sets which gain the next songs are played with.",
            .core(replayGainMode)
        ),
        Command("replay_gain_status", .read, args: 0...0, "Shows the replay gain mode.", .core(replayGainStatus)),
        Command("setvol", .player, args: 1...1, "Sets the volume.", .core(setVolume)),
        Command("single", .player, args: 1...1, "Pauses after each song, or repeats it.", .core(single)),
        Command("volume", .player, args: 1...1, "Changes the volume by a distance.", .core(changeVolume)),
    ]

    private static func consume(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let mode = try OneShotMode(arguments.consumeMode(0))
        try context.partition.edit { queue throws(QueueError) in queue.setConsume(mode) }
    }

    private static func single(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let mode = try OneShotMode(arguments.singleMode(0))
        try context.partition.edit { queue throws(QueueError) in queue.setSingle(mode) }
    }

    private static func random(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let isOn = try arguments.boolean(0)
        try context.partition.edit { queue throws(QueueError) in queue.setRandom(isOn) }
    }

    private static func `repeat`(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let isOn = try arguments.boolean(0)
        try context.partition.edit { queue throws(QueueError) in queue.setRepeat(isOn) }
    }

    private static func crossfade(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let seconds = UInt32(clamping: try arguments.unsigned(0))
        context.partition.setSound { $0.crossfade = seconds }
    }

    private static func mixRampLevel(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let level = Float(try arguments.float(0))
        context.partition.setSound { $0.mixRampThreshold = level }
    }

    private static func mixRampDelay(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let delay = Float(try arguments.float(0))
        context.partition.setSound { $0.mixRampDelay = delay }
    }

    private static func replayGainMode(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let mode = try arguments.replayGainMode(0)
        context.partition.setSound { $0.replayGain = mode }
    }

    private static func replayGainStatus(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        reply.pair("replay_gain_mode", context.partition.sound.replayGain.name)
    }

    private static func getVolume(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        if let volume = context.partition.shownVolume { reply.pair("volume", volume) }
    }

    private static func setVolume(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let volume = try arguments.unsigned(0, maximum: 100)
        guard context.partition.shownVolume != nil else {
            throw ACK(.unknown, context.partition.hasMixer ? "All outputs are disabled" : "No mixer")
        }
        context.partition.setVolume(volume)
        context.partition.raise(.mixer)
    }

    private static func changeVolume(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let distance = try arguments.integer(0, in: -100...100)
        guard let present = context.partition.shownVolume else { throw ACK(.system, "No mixer") }
        let volume = min(max(present + distance, 0), 100)
        guard volume != present else { return }
        context.partition.setVolume(volume)
        context.partition.raise(.mixer)
    }
}

extension OneShotMode {
    /// The protocol's word for it.
    init(_ state: TriState) {
        switch state {
        case .off: self = .off
        case .on: self = .on
        case .oneshot: self = .oneShot
        }
    }
}
