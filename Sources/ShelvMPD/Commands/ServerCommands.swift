import Library
import MPDProtocol

/// What MPD does not have: which Subsonic servers are configured, and which of them clients see.
enum ServerCommands {
    static let rows: [Command] = [
        Command(
            "shelv_server",
            .admin,
            args: 1...2,
            """
            Shows the configured Subsonic servers (list), shows the library of another one (use NAME), reads their \
            blocks in the configuration again (reload), or tells which file that is (file); not a command of MPD.
            """,
            .background(server)
        )
    ]

    private static func server(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let words = (0..<arguments.count).map { String(decoding: arguments[$0], as: UTF8.self) }
        switch (words[0], words.count) {
        case ("list", 1): return LibraryPlan(cost: 0) { .edit { context, reply in list(context.server, &reply) } }
        case ("file", 1):
            return LibraryPlan(cost: 0) {
                .edit { context, reply in reply.pair("file", untrusted: context.server.configuration.file) }
            }
        case ("use", 2): return LibraryPlan(cost: 0) { .serverChange(.use(words[1])) }
        case ("reload", 1): return LibraryPlan(cost: 0) { .serverChange(.reload) }
        default: throw ACK(.argument, "shelv_server knows list, use NAME, reload and file")
        }
    }

    /// One record for each server, in the order of the configuration.
    private static func list(_ server: Server, _ reply: inout Reply) {
        for music in server.musicServers {
            let report = music.syncReport
            reply.pair("server", untrusted: music.name)
            reply.pair("url", untrusted: music.url)
            reply.pair("active", music.isActive ? 1 : 0)
            if let mount = server.mounts.first(where: { $0.music === music }) {
                reply.pair("mounted", untrusted: mount.path)
            }
            reply.pair("songs", music.library.songCount)
            reply.pair("state", report.state.rawValue)
            if let message = report.message { reply.pair("message", untrusted: message) }
            reply.pair("db_update", music.library.info.lastSync)
        }
    }
}
