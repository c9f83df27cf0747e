import MPDProtocol
import SubsonicKit

extension Subcommand {
    /// Shows and edits the configured servers.
    static let server = Subcommand(
        name: "server",
        usage: [
            "list [--config FILE]", "add [NAME] [--url ADDRESS …]",
            "edit NAME [--set OPTION=VALUE …] [--set-file OPTION=FILE …] [--unset OPTION …]",
            "remove NAME [--yes]", "use NAME", "test [NAME]",
        ],
        summary: "show, add, change, remove, choose or test the configured servers",
        details: """
            add, edit and remove change the blocks subsonic_server in the configuration and leave everything else in it as it is.
            A server that runs by that configuration is told. use lets it show another one of its servers; test takes the steps
            of setup.
            """,
        words: 1...2,
        verbs: ["list", "add", "edit", "remove", "use", "test"],
        options: ServerDialogue.options + [
            CommandOption(name: "--unset", value: "OPTION", isRepeatable: true, summary: "for edit: remove an option"),
            CommandOption(name: "--yes", short: "-y", summary: "do not ask"),
        ],
        run: ServerCommand.run
    )
}

/// What `shelvmpd server` does.
enum ServerCommand {
    static func run(_ call: CommandCall) async throws -> ExitStatus {
        let words = call.invocation.words
        let name = words.count > 1 ? words[1] : nil
        switch words[0] {
        case "list": return try list(call)
        case "add": return try await ServerEditing(call).add(name)
        case "edit": return try ServerEditing(call).edit(try needed(name, "edit"))
        case "remove": return try ServerEditing(call).remove(try needed(name, "remove"))
        case "use": return try use(call, try needed(name, "use"))
        default: return try await test(call, name)
        }
    }

    private static func needed(_ name: String?, _ verb: String) throws(CommandFailure) -> String {
        guard let name else { throw CommandFailure("server \(verb) needs the name of a server") }
        return name
    }

    /// The configured server with a name.
    /// - Throws: `CommandFailure`, with the names that there are.
    static func find(_ name: String, _ configuration: Configuration) throws(CommandFailure)
        -> ServerConfiguration
    {
        if let server = configuration.servers.first(where: { $0.name == name }) { return server }
        let names = configuration.servers.map(\.name)
        let hint =
            NearestName.of(name, among: names).map { "did you mean \($0)?" }
            ?? "there are \(SettingContext.list(names))"
        throw CommandFailure("there is no server \(name); \(hint)")
    }

    // MARK: Showing

    private static func list(_ call: CommandCall) throws -> ExitStatus {
        let configuration = try call.configuration()
        let daemon = RunningServer.servers(of: configuration)
        var rows: [[String]] = []
        for server in configuration.servers {
            let running = daemon?.first { $0.name == server.name }
            let songs = running.flatMap { $0.songs > 0 ? "\($0.songs) songs" : nil } ?? ""
            let user = server.user.isEmpty ? "API key" : server.user
            rows.append([running?.isActive == true ? "*" : " ", server.name, server.url, user, songs])
            for url in server.alternatives { rows.append([" ", "", url, "", ""]) }
        }
        call.console.write(columns(rows))
        if daemon == nil { call.console.write("No server runs by this configuration.\n") }
        return .success
    }

    private static func columns(_ rows: [[String]]) -> String {
        let count = rows.first?.count ?? 0
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(
                separator: "  "
            )
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private static func test(_ call: CommandCall, _ name: String?) async throws -> ExitStatus {
        let configuration = try call.configuration()
        let servers = try name.map { [try find($0, configuration)] } ?? configuration.servers
        let report = CheckReport(call.console.write)
        let transport = try CurlTransport()
        defer { transport.shutdown() }
        for server in servers { await check(server, transport, report) }
        return report.failures == 0 ? .success : .failure
    }

    /// The steps of setup on a configured server.
    static func check(_ server: ServerConfiguration, _ transport: CurlTransport, _ report: CheckReport) async {
        report.heading("Server \(server.name), \(server.url)")
        do {
            let server = try SubsonicServer(server, id: "")
            _ = await ServerCheck(server: server, transport: transport, report: report).run()
        } catch {
            report.add(.bad("\(error)", "Look at the options of the password in the block of \(server.name)"))
        }
    }

    // MARK: Choosing

    private static func use(_ call: CommandCall, _ name: String) throws -> ExitStatus {
        let configuration = try call.configuration()
        let server = try find(name, configuration)
        let connection = try ServerConnection(configuration, allowing: .admin)
        _ = try connection.ask("shelv_server use \(ServerConnection.quoted(server.name))")
        call.console.write("\(server.name) is used\n")
        return .success
    }
}
