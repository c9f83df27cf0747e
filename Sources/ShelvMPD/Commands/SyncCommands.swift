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
            "Shows how fetching the library from the server stands; not a command of MPD.",
            .core(sync)
        )
    ]

    private static func sync(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let server = context.server
        let report = server.syncReport
        reply.pair("server", untrusted: server.library.info.serverName)
        reply.pair("state", report.state.rawValue)
        if let job = server.updates.running { reply.pair("updating_db", job) }
        reply.pair("songs", server.library.songCount)
        if report.state == .syncing {
            reply.pair("fetched", report.fetched)
            if let expected = report.expected { reply.pair("expected", expected) }
        }
        if let message = report.message { reply.pair("message", untrusted: message) }
        reply.pair("db_update", server.library.info.lastSync)
    }
}
