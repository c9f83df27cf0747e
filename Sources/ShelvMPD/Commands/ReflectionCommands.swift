import MPDProtocol
import Playback

/// “Reflection” of MPD's protocol document.
enum ReflectionCommands {
    static let rows: [Command] = [
        Command("commands", [], args: 0...0, "Lists the commands that the client may use.", .core(commands)),
        Command(
            "config",
            .admin,
            args: 0...0,
            "Shows settings to local clients.",
            .core(config),
            difference: "Tells no directories: there are none that a client could read."
        ),
        Command(
            "decoders",
            .read,
            args: 0...0,
            "Lists what can be decoded.",
            .core(decoders),
            difference: "One plugin, `mpv`, with what libmpv decodes: it does not tell its decoders one by one."
        ),
        Command("notcommands", [], args: 0...0, "Lists the commands that permissions forbid.", .core(notCommands)),
        Command(
            "urlhandlers",
            .read,
            args: 0...0,
            "Lists the URL schemes that can be added.",
            .core(urlHandlers),
            difference: "What libmpv is known to play: `http`, `https`, `rtmp`, `rtsp`."
        ),
    ]

    private static func commands(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        for command in context.server.commands.rows
        where context.session.permissions.isSuperset(of: command.permission) && isAvailable(command, context) {
            reply.pair("command", command.name)
        }
    }

    /// Tells of permissions alone.
    private static func notCommands(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        for command in context.server.commands.rows
        where !context.session.permissions.isSuperset(of: command.permission) {
            reply.pair("command", command.name)
        }
    }

    /// Whether the configuration has what the command is for. It is known in any case, as in MPD.
    private static func isAvailable(_ command: Command, _ context: CommandContext) -> Bool {
        if MountCommands.isForSeveralServers(command.name) { return context.server.musicServers.count > 1 }
        return context.server.playlists.settings.isEnabled
            || !StoredPlaylistEditCommands.isForPlaylistsOnly(command.name)
    }

    private static func config(_ context: CommandContext, _: Arguments, _ reply: inout Reply) throws {
        guard context.session.isLocal else {
            throw ACK(.permission, "Command only permitted to local clients")
        }
        // There is no music directory here: clients that would read files from it must ask for them instead.
        reply.pair("pcre", flag: true)
    }

    private static func urlHandlers(_: CommandContext, _: Arguments, _ reply: inout Reply) {
        for scheme in StreamAddress.schemes { reply.pair("handler", "\(scheme)://") }
    }

    /// What libmpv decodes, as file endings and media types; ncmpcpp takes an empty list for a broken server.
    private static func decoders(_: CommandContext, _: Arguments, _ reply: inout Reply) {
        reply.pair("plugin", "mpv")
        for suffix in suffixes { reply.pair("suffix", suffix) }
        for type in mediaTypes { reply.pair("mime_type", type) }
    }

    private static let suffixes = [
        "aac", "ac3", "aif", "aifc", "aiff", "alac", "ape", "dff", "dsf", "flac", "m4a", "m4b", "mka", "mp2", "mp3",
        "mp4", "mpc", "oga", "ogg", "opus", "shn", "tak", "tta", "wav", "weba", "webm", "wma", "wv",
    ]

    private static let mediaTypes = [
        "audio/aac", "audio/ac3", "audio/aiff", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/opus",
        "audio/vorbis", "audio/wav", "audio/webm", "audio/x-aiff", "audio/x-ape", "audio/x-dsf", "audio/x-flac",
        "audio/x-m4a", "audio/x-matroska", "audio/x-mpc", "audio/x-ms-wma", "audio/x-wav", "audio/x-wavpack",
    ]
}
