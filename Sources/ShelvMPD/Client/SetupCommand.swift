import SubsonicKit

extension Subcommand {
    /// Asks for a server, tests it, and writes the configuration.
    static let setup = Subcommand(
        name: "setup",
        usage: [
            "[--config FILE]",
            "--url ADDRESS --user NAME --password-file FILE --yes",
        ],
        summary: "ask for a server, test it step by step, and write the configuration",
        details: """
            What the options tell is not asked for. The address may be a mere host name: https and http, the usual ports and
            folders are tried. Until a Subsonic server is found there, neither user nor password is sent.

            A password that is typed in goes into a file of its own beside the configuration. Both can be read by you alone. A
            configuration that is there already is left alone, unless you say otherwise; server add adds a server to it.
            """,
        options: ServerDialogue.options + [
            CommandOption(name: "--yes", short: "-y", summary: "write without asking, where nothing is there yet"),
            CommandOption(
                name: "--replace",
                summary: "put it in place of a configuration that is there, which is kept as FILE.old"
            ),
        ],
        run: SetupCommand.run
    )
}

/// What `shelvmpd setup` does.
enum SetupCommand {
    static func run(_ call: CommandCall) async throws -> ExitStatus {
        let console = call.console
        guard let path = call.invocation.configPath ?? Directories(call.environment).configurations.first else {
            throw CommandFailure("there is no home directory; name a file by --config")
        }
        if Files.exists(path), !call.invocation.has("--replace") {
            let advice = "shelvmpd server add adds a server to it, shelvmpd doctor looks what is wrong with it"
            guard console.hasKeyboard, !call.invocation.has("--yes") else {
                throw CommandFailure("there is a configuration at \(path) already; \(advice), --replace replaces it")
            }
            console.write("There is a configuration at \(path) already; \(advice).\n")
            guard console.confirm("Make a new one in its place? The old one is kept.", proposal: false) == true else {
                return .failure
            }
        }
        let transport = try CurlTransport()
        defer { transport.shutdown() }
        guard let answers = try await ServerDialogue(call: call, transport: transport).run(taken: []) else {
            console.write("Nothing was written.\n")
            return .failure
        }
        console.write("\n")
        guard call.invocation.has("--yes") || console.confirm("Write \(path)?", proposal: true) == true else {
            console.write("Nothing was written.\n")
            return .failure
        }
        try Files.makeDirectory(Files.folder(of: Files.absolute(path)))
        var draft = answers.draft
        try SecretFile.keep(answers, beside: path, in: &draft, console)
        if Files.exists(path) {
            let old = freeName("\(path).old")
            try Files.replace(old, with: try Files.read(path, limit: 4 << 20))
            console.write("The old one is kept as \(old)\n")
        }
        try Files.replace(path, with: Array(text(draft).utf8))
        console.write("Wrote \(path)\n\n")
        // In the file that the program finds by itself, its name need not be said.
        let isFound = Directories(call.environment).configurations.contains(path)
        console.write("Start it:        shelvmpd\(isFound ? "" : " --config \(path)")\n")
        if isFound { console.write("or for always:   systemctl --user enable --now shelvmpd\n") }
        console.write("then listen:     mpc update && mpc ls\n")
        return .success
    }

    /// The path, or the first with a number where something is.
    private static func freeName(_ path: String) -> String {
        var name = path
        var number = 2
        while Files.exists(name) {
            name = "\(path).\(number)"
            number += 1
        }
        return name
    }

    private static func text(_ draft: ServerDraft) -> String {
        """
        # Configuration of ShelvMPD, made by shelvmpd setup.
        # All options: man shelvmpd.conf, or shelvmpd --print example.

        \(draft.block)
        # Without an audio_output the sound goes to the default device. Clients are served on this machine only, at port 6600
        # and at the user's socket; bind_to_address "any" opens it to the network, which wants a password, too.

        """
    }
}

/// A file that holds a password or key and nothing else.
enum SecretFile {
    /// Writes what was typed in to a file beside the configuration, and names that in the draft.
    static func keep(
        _ answers: ServerDialogue.Answers,
        beside path: String,
        in draft: inout ServerDraft,
        _ console: Console
    ) throws(SystemError) {
        for (secret, option, word) in [
            (answers.password, "password_file", "password"), (answers.apiKey, "api_key_file", "key"),
        ] {
            guard let secret else { continue }
            let folder = Files.folder(of: path)
            let name = String(answers.name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
            let base = "\(folder == "." ? Files.realPath(".") ?? "." : folder)/\(name)"
            var file = "\(base).\(word)"
            var number = 2
            while Files.exists(file) {
                file = "\(base)-\(number).\(word)"
                number += 1
            }
            try Files.replace(file, with: Array("\(secret)\n".utf8))
            draft.set(option, file)
            console.write("Wrote \(file)\n")
        }
    }
}
