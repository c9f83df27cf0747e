import SubsonicKit

/// `shelvmpd server add`, `edit` and `remove`: changes the blocks of servers in the configuration.
///
/// Whatever asks or waits comes first; then the file is read, changed and written while no other of these commands does so.
struct ServerEditing {
    let call: CommandCall

    init(_ call: CommandCall) { self.call = call }

    func add(_ name: String?) async throws -> ExitStatus {
        let path = try path()
        let taken = try call.configuration().servers.map(\.name)
        var call = call
        if let name { call.invocation.values["--name"] = [name] }
        let transport = try CurlTransport()
        defer { transport.shutdown() }
        guard let answers = try await ServerDialogue(call: call, transport: transport).run(taken: taken) else {
            call.console.write("Nothing was changed.\n")
            return .failure
        }
        let configuration = try Files.alone(beside: path) {
            // Another one may have been added meanwhile; else a file with a password would be left over.
            guard try !call.configuration().servers.contains(where: { $0.name == answers.name }) else {
                throw CommandFailure("there is a server \(answers.name) already")
            }
            var draft = answers.draft
            // Tried before a password is written to a file.
            var editor = try ConfigEditor(path: path)
            try SecretFile.keep(answers, beside: path, in: &draft, call.console)
            editor.append(draft)
            return try write(editor, "Added \(answers.name)")
        }
        return reload(configuration)
    }

    func edit(_ name: String) throws -> ExitStatus {
        let path = try path()
        var changes = try changes()
        let unset = call.invocation.values["--unset"] ?? []
        for option in unset where !Settings.server.contains(where: { $0.name == option }) {
            let near = NearestName.of(option, among: Settings.server.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            throw CommandFailure("--unset takes an option of \(Settings.serverBlock), not \"\(option)\"\(near)")
        }
        guard !changes.isEmpty || !unset.isEmpty else {
            throw CommandFailure(
                "server edit needs something to change: --set OPTION=VALUE, --unset OPTION, --url, --user …"
            )
        }
        let configuration = try Files.alone(beside: path) { () -> Configuration? in
            let server = try ServerCommand.find(name, try call.configuration())
            try checkIdentity(of: server, changes)
            guard let line = server.place.line else { throw CommandFailure("the block of \(name) is not found") }
            var editor = try ConfigEditor(path: server.place.file)
            let before = editor.bytes
            // What is known about a server is kept under its name, which is that of its host where it has no other.
            let isNamed = editor.block(at: line)?.options.contains { $0.name == "name" } ?? true
            if !isNamed { changes.add("name", name) }
            for option in unset { editor.set(option, [], inBlockAt: line) }
            for (option, values) in changes.options {
                // One way to the secret takes the place of the other, and a password that of a key.
                for other in Settings.server.map(\.name) where other != option && Self.replaces(option, other) {
                    editor.set(other, [], inBlockAt: line)
                }
                editor.set(option, values, inBlockAt: line)
            }
            if editor.bytes == before {
                call.console.write("Nothing to change: \(name) is as it shall be in \(editor.path)\n")
                return nil
            }
            let written = try write(editor, "Changed \(name)")
            if let user = changes["user"]?.last, !server.user.isEmpty, user != server.user {
                call.console.write(
                    "\(user) is another account than \(server.user), with a queue, stickers and edits of its own; those of \(server.user) "
                        + "are there again when that is the user again\n"
                )
            }
            return written
        }
        return reload(configuration)
    }

    func remove(_ name: String) throws -> ExitStatus {
        let path = try path()
        let configuration = try call.configuration()
        let server = try ServerCommand.find(name, configuration)
        guard configuration.servers.count > 1 else {
            throw CommandFailure("\(name) is the only server; shelvmpd setup --replace makes a new configuration")
        }
        if !call.invocation.has("--yes") {
            guard call.console.confirm("Remove \(name), \(server.url)?", proposal: false) == true else {
                return .failure
            }
        }
        let changed = try Files.alone(beside: path) {
            let server = try ServerCommand.find(name, try call.configuration())
            var editor = try ConfigEditor(path: server.place.file)
            guard let line = server.place.line, let block = editor.block(at: line) else {
                throw CommandFailure("the block of \(name) is not found")
            }
            editor.remove(block)
            return try write(editor, "Removed \(name)")
        }
        return reload(changed)
    }

    // MARK: What to change

    /// Options with their new values, in the order in which they were named.
    private struct Changes {
        var options: [(name: String, values: [String])] = []

        var isEmpty: Bool { options.isEmpty }

        subscript(name: String) -> [String]? { options.first { $0.name == name }?.values }

        mutating func note(_ name: String, _ value: String) {
            if let index = options.firstIndex(where: { $0.name == name }) {
                options[index].values.append(value)
            } else {
                options.append((name, [value]))
            }
        }

        /// The same, unless something was noted.
        mutating func add(_ name: String, _ value: String) {
            if self[name] == nil { note(name, value) }
        }
    }

    /// What the command line says; standard input may be asked for it.
    private func changes() throws -> Changes {
        var changes = Changes()
        for option in ["--name", "--user", "--password-file", "--password-command", "--password-env", "--api-key-file"]
        {
            guard let value = call.invocation[option] else { continue }
            let name = String(option.dropFirst(2)).replacing("-", with: "_")
            changes.note(name, option.hasSuffix("-file") ? try ServerDialogue.absolute(value) : value)
        }
        for url in call.invocation.values["--url"] ?? [] { changes.note("url", try ServerDialogue.plain(url)) }
        for (name, value) in try FurtherOptions.read(call) { changes.note(name, value) }
        return changes
    }

    /// A server is known again by its user and its name, or its user and its address, one with an API key by its name; who changes
    /// what it is known by loses what is known about it.
    private func checkIdentity(of server: ServerConfiguration, _ changes: Changes) throws(CommandFailure) {
        guard let name = changes["name"]?.last, name != server.name else { return }
        if (changes["user"]?.last ?? server.user).isEmpty {
            throw CommandFailure(
                "by its API key alone nobody knows whose server \(server.name) is: with another name it would be another server, and the "
                    + "queue, stickers and all else would stay behind; say first whose the key is (--user), let the server run by it, and "
                    + "then change the name"
            )
        }
        guard let url = changes["url"]?.first, url != server.url else { return }
        throw CommandFailure(
            "with another name and another address \(server.name) would be another server, and the queue, stickers and all else "
                + "would stay behind; change one of them, let the server run by it, and then the other; or server add a new one"
        )
    }

    /// Whether an option makes another one meaningless.
    private static func replaces(_ new: String, _ old: String) -> Bool {
        func kind(_ name: String) -> String? {
            if name.hasPrefix("client_key_password") { return "key" }
            return name.hasPrefix("password") || name.hasPrefix("api_key") ? "account" : nil
        }
        return kind(new).map { $0 == kind(old) } ?? false
    }

    // MARK: The file

    private func path() throws(CommandFailure) -> String {
        guard let path = call.configurationPath else {
            throw CommandFailure("there is no configuration yet; shelvmpd setup makes one")
        }
        return path
    }

    /// Writes the file if the whole configuration still makes sense with it; returns what it means.
    private func write(_ editor: ConfigEditor, _ message: String) throws -> Configuration {
        let path = call.configurationPath ?? editor.path
        let file = ConfigFile.parse(path) { path throws(SystemError) in
            path == editor.path ? editor.bytes : try ConfigurationReader.contents(of: path)
        }
        let configuration = try ConfigurationReader.read(file, path: path, environment: call.environment).configuration
        try Files.replace(editor.path, with: editor.bytes)
        call.console.write("\(message) in \(editor.path)\n")
        return configuration
    }

    /// Tells the running server of what was written.
    private func reload(_ configuration: Configuration?) -> ExitStatus {
        if let configuration, let path = call.configurationPath {
            RunningServer.reload(configuration, at: path, call.console)
        }
        return .success
    }
}
