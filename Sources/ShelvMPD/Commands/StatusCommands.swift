import Library
import MPDProtocol
import Playback
import QueueEngine

/// “Querying MPD's status” of MPD's protocol document.
enum StatusCommands {
    static let rows: [Command] = [
        Command("clearerror", .player, args: 0...0, "Clears the error of `status`.", .core(clearError)),
        Command("currentsong", .read, args: 0...0, "Shows the current song.", .core(currentSong)),
        Command(
            "stats",
            .read,
            args: 0...0,
            "Counts what the library holds.",
            .core(stats),
            difference:
                "`db_update` moves only when something has changed: clients fetch everything again when it moves."
        ),
        Command(
            "status",
            .read,
            args: 0...0,
            "Shows what plays, and how.",
            .core(status),
            difference: "`audio` tells what libmpv decodes to: `f` for lossy songs."
        ),
    ]

    private static func clearError(_ context: CommandContext, _: Arguments, _: inout Reply) {
        context.partition.clearErrors()
    }

    private static func currentSong(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        guard let position = context.partition.queue.currentPosition else { return }
        var rows = QueueReply(context.partition, .range(position..<position + 1), mask: context.session.tagMask)
        while rows.appendNext(to: &reply.bytes, limit: .max) {}
    }

    /// The order of MPD's `handle_status`.
    private static func status(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let partition = context.partition
        let queue = partition.queue
        if let volume = partition.shownVolume { reply.pair("volume", volume) }
        reply.pair("repeat", flag: queue.options.repeat)
        reply.pair("random", flag: queue.options.random)
        reply.pair("single", queue.options.single.word)
        reply.pair("consume", queue.options.consume.word)
        reply.pair("partition", partition.name)
        reply.pair("playlist", queue.version)
        reply.pair("playlistlength", queue.count)
        reply.pair("mixrampdb", shortest: partition.sound.mixRampThreshold)
        reply.pair("state", queue.state.word)
        reply.pair("lastloadedplaylist", untrusted: partition.lastLoadedPlaylist)
        if partition.sound.crossfade > 0 { reply.pair("xfade", partition.sound.crossfade) }
        // MPD reads a short number and keeps a long one.
        if partition.sound.mixRampDelay > 0 {
            reply.pair("mixrampdelay", shortest: Double(partition.sound.mixRampDelay))
        }
        if let position = queue.currentPosition, let id = queue.currentID {
            reply.pair("song", position)
            reply.pair("songid", id.rawValue)
        }
        if queue.state != .stopped {
            let elapsed = (partition.elapsed ?? .zero).milliseconds
            let duration = partition.duration?.milliseconds
            reply.pair("time", "\((elapsed + 500) / 1000):\(((duration ?? 0) + 500) / 1000)")
            reply.pair("elapsed", milliseconds: elapsed)
            reply.pair("bitrate", partition.bitRate)
            if let duration { reply.pair("duration", milliseconds: duration) }
            if let format = partition.format {
                reply.pair("audio", format.description)
            }
        }
        if let job = context.server.updates.running { reply.pair("updating_db", job) }
        if let error = partition.error { reply.pair("error", untrusted: error) }
        if let next = queue.nextEntry {
            reply.pair("nextsong", next.position)
            reply.pair("nextsongid", next.id.rawValue)
        }
    }

    /// Cantata takes a server whose `uptime` is 0 for Mopidy, so the first second counts as one.
    private static func stats(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let library = context.server.library
        let statistics = library.statistics
        let uptime = context.server.started.duration(to: .now).components.seconds
        reply.pair("uptime", max(1, uptime))
        reply.pair("playtime", context.partition.playtime.components.seconds)
        reply.pair("artists", statistics.artists)
        reply.pair("albums", statistics.albums)
        reply.pair("songs", statistics.songs)
        reply.pair("db_playtime", (statistics.playtime + lostFractions(library)) / 1000)
        reply.pair("db_update", library.info.lastSync)
    }
}

extension StatusCommands {
    /// Servers cut a song's length to whole seconds: half a second each, on average, which a sum must not lose.
    private static func lostFractions(_ library: LibrarySnapshot) -> UInt64 {
        UInt64(library.songCount) * 500
    }
}

extension OneShotMode {
    /// As `status` writes it.
    var word: String {
        switch self {
        case .off: "0"
        case .on: "1"
        case .oneShot: "oneshot"
        }
    }
}

extension PlayState {
    /// As `status` writes it.
    var word: String {
        switch self {
        case .stopped: "stop"
        case .playing: "play"
        case .paused: "pause"
        }
    }
}
