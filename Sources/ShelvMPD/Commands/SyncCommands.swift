import Library
import MPDProtocol

/// What MPD does not have: how the library's comparison with the server stands. `update` and `rescan` are in
/// `DatabaseCommands.swift`.
enum SyncCommands {
    static let rows: [Command] = [
        Command(
            "shelv_sync",
            .read,
            args: 0...0,
            "Shows how fetching the libraries from the servers stands, the active one's first; not a command of MPD.",
            .core(sync)
        )
    ]

    private static func sync(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let server = context.server
        show(server.active, job: server.updates.running, mounted: nil, &reply)
        for mount in server.mounts { show(mount.music, job: nil, mounted: mount.path, &reply) }
    }

    /// - Parameters:
    ///   - job: the update job under way, which is one for all servers.
    ///   - mounted: the folder of a server beside the active one.
    private static func show(_ music: MusicServer, job: UInt32?, mounted: String?, _ reply: inout Reply) {
        let report = music.syncReport
        reply.pair("server", untrusted: music.name)
        if let mounted { reply.pair("mounted", untrusted: mounted) }
        reply.pair("state", report.state.rawValue)
        if let job { reply.pair("updating_db", job) }
        reply.pair("songs", music.library.songCount)
        if report.state == .syncing {
            reply.pair("fetched", report.fetched)
            if let expected = report.expected { reply.pair("expected", expected) }
        }
        if let message = report.message { reply.pair("message", untrusted: message) }
        reply.pair("db_update", music.library.info.lastSync)
    }
}
