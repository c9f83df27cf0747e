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
        case "add": return try await add(call, name)
        case "edit": return try edit(call, try needed(name, "edit"))
        case "remove": return try remove(call, try needed(name, "remove"))
        case "use": return try use(call, try needed(name, "use"))
        default: return try await test(call, name)
        }
    }

    private static func needed(_ name: String?, _ verb: String) throws(CommandFailure) -> String {
        guard let name else { throw CommandFailure("server \(verb) needs the name of a server") }
        return name
    }

    private static func find(_ name: String, _ configuration: Configuration) throws(CommandFailure)
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

    // MARK: Changing

    private static func add(_ call: CommandCall, _ name: String?) async throws -> ExitStatus {
        guard let path = call.configurationPath else {
            throw CommandFailure("there is no configuration yet; shelvmpd setup makes one")
        }
        let taken = try call.configuration().servers.map(\.name)
        var call = call
        if let name { call.invocation.values["--name"] = [name] }
        let transport = try CurlTransport()
        defer { transport.shutdown() }
        guard let answers = try await ServerDialogue(call: call, transport: transport).run(taken: taken) else {
            call.console.write("Nothing was changed.\n")
            return .failure
        }
        var draft = answers.draft
        // Tried before a password is written to a file.
        var editor = try ConfigEditor(path: path)
        try SecretFile.keep(answers, beside: path, in: &draft, call.console)
        editor.append(draft)
        return try save(editor, call, "Added \(answers.name)")
    }

    private static func edit(_ call: CommandCall, _ name: String) throws -> ExitStatus {
        let server = try find(name, try call.configuration())
        guard let line = server.place.line else { throw CommandFailure("the block of \(name) is not found") }
        var editor = try ConfigEditor(path: server.place.file)
        var values: [(name: String, values: [String])] = []
        func note(_ name: String, _ value: String) {
            if let index = values.firstIndex(where: { $0.name == name }) {
                values[index].values.append(value)
            } else {
                values.append((name, [value]))
            }
        }
        for option in ["--name", "--user", "--password-file", "--password-command", "--password-env", "--api-key-file"]
        {
            guard let value = call.invocation[option] else { continue }
            note(String(option.dropFirst(2)).replacing("-", with: "_"), value)
        }
        for url in call.invocation.values["--url"] ?? [] { note("url", try ServerDialogue.plain(url)) }
        for (name, value) in try FurtherOptions.read(call) { note(name, value) }
        // What is known about a server is kept under its name, which is that of its host where it has no other.
        let isNamed = editor.block(at: line)?.options.contains { $0.name == "name" } ?? true
        if !isNamed, !values.contains(where: { $0.name == "name" }) { note("name", name) }
        let unset = call.invocation.values["--unset"] ?? []
        guard !call.invocation.values.keys.allSatisfy({ $0 == "--config" || $0 == "--yes" }) else {
            throw CommandFailure(
                "server edit needs something to change: --set OPTION=VALUE, --unset OPTION, --url, --user …"
            )
        }
        for name in unset { editor.set(name, [], inBlockAt: line) }
        for (name, values) in values {
            // One way to the secret takes the place of the other, and a password that of a key.
            for other in Settings.server.map(\.name) where other != name && replaces(name, other) {
                editor.set(other, [], inBlockAt: line)
            }
            editor.set(name, values, inBlockAt: line)
        }
        return try save(editor, call, "Changed \(name)")
    }

    /// Whether an option makes another one meaningless.
    private static func replaces(_ new: String, _ old: String) -> Bool {
        func kind(_ name: String) -> String? {
            if name.hasPrefix("client_key_password") { return "key" }
            return name.hasPrefix("password") || name.hasPrefix("api_key") ? "account" : nil
        }
        return kind(new).map { $0 == kind(old) } ?? false
    }

    private static func remove(_ call: CommandCall, _ name: String) throws -> ExitStatus {
        let configuration = try call.configuration()
        let server = try find(name, configuration)
        guard configuration.servers.count > 1 else {
            throw CommandFailure("\(name) is the only server; shelvmpd setup --replace makes a new configuration")
        }
        guard let line = server.place.line else { throw CommandFailure("the block of \(name) is not found") }
        var editor = try ConfigEditor(path: server.place.file)
        guard let block = editor.block(at: line) else { throw CommandFailure("the block of \(name) is not found") }
        if !call.invocation.has("--yes") {
            guard call.console.confirm("Remove \(name), \(server.url)?", proposal: false) == true else {
                return .failure
            }
        }
        editor.remove(block)
        return try save(editor, call, "Removed \(name)")
    }

    /// Writes the file if the whole configuration still makes sense with it, and tells the running server.
    private static func save(_ editor: ConfigEditor, _ call: CommandCall, _ message: String) throws -> ExitStatus {
        let path = call.configurationPath ?? editor.path
        let file = ConfigFile.parse(path) { path throws(SystemError) in
            path == editor.path ? editor.bytes : try Files.read(path, limit: 4 << 20)
        }
        let configuration = try ConfigurationReader.read(file, path: path, environment: call.environment).configuration
        try Files.replace(editor.path, with: editor.bytes)
        call.console.write("\(message) in \(editor.path)\n")
        RunningServer.reload(configuration, call.console)
        return .success
    }
}

/// What the server that runs by a configuration knows of its Subsonic servers.
enum RunningServer {
    struct Row: Sendable, Equatable {
        var name = ""
        var isActive = false
        var songs = 0
    }

    /// Nil when none runs, or it does not say.
    static func servers(of configuration: Configuration) -> [Row]? {
        guard let connection = try? ServerConnection(configuration, allowing: .admin),
            let reply = try? connection.ask("shelv_server list")
        else { return nil }
        var rows: [Row] = []
        for (key, value) in reply.compactMap(ServerConnection.pair) {
            if key == "server" { rows.append(Row(name: value)) }
            guard !rows.isEmpty else { continue }
            if key == "active" { rows[rows.count - 1].isActive = value == "1" }
            if key == "songs" { rows[rows.count - 1].songs = Int(value) ?? 0 }
        }
        return rows
    }

    /// Lets it read its blocks again; without one there is nobody to tell.
    static func reload(_ configuration: Configuration, _ console: Console) {
        guard let connection = try? ServerConnection(configuration, allowing: .admin) else { return }
        do throws(ServerConnectionError) {
            _ = try connection.ask("shelv_server reload")
            console.write("The running server has read it\n")
        } catch {
            console.write("The running server has not taken it over (\(error)); start it again\n")
        }
    }
}
