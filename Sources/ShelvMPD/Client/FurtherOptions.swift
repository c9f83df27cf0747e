import MPDProtocol

/// Options of a block that the command line tells besides those with names of their own.
enum FurtherOptions {
    static let commandOptions: [CommandOption] = [
        CommandOption(
            name: "--set",
            value: "OPTION=VALUE",
            isRepeatable: true,
            summary: "a further option of the block, such as ca_file=/etc/ca.pem"
        ),
        CommandOption(
            name: "--set-file",
            value: "OPTION=FILE",
            isRepeatable: true,
            summary:
                "the same, with the first line of a file as the value, such as a header that is secret; - reads standard input"
        ),
    ]

    /// Names and values in the order of the command line, those of files last.
    /// - Throws: `CommandFailure` for a word that names no option, for a secret that everybody on the machine can see among the
    ///   running commands, and for a file that cannot be read.
    static func read(_ call: CommandCall) throws(CommandFailure) -> [(name: String, value: String)] {
        var options: [(name: String, value: String)] = []
        for text in call.invocation.values["--set"] ?? [] {
            let (name, value) = try split(text, "--set", "VALUE")
            guard !isSecret(name, value) else {
                throw CommandFailure(
                    "whoever is on this machine can see what stands behind --set, and \(name) holds a secret; "
                        + "--set-file \(name)=FILE reads it from a file, --set-file \(name)=- from standard input"
                )
            }
            options.append((name, value))
        }
        for text in call.invocation.values["--set-file"] ?? [] {
            let (name, path) = try split(text, "--set-file", "FILE")
            options.append((name, try value(of: name, path, call)))
        }
        return options
    }

    /// An address of a proxy is secret only where it holds a password.
    private static func isSecret(_ name: String, _ value: String) -> Bool {
        guard Settings.server.contains(where: { $0.name == name && $0.isSecret }) else { return false }
        return name != "proxy" || value.contains("@")
    }

    private static func value(of name: String, _ path: String, _ call: CommandCall) throws(CommandFailure) -> String {
        let console = call.console
        if path == "-" {
            guard let line = console.hasKeyboard ? console.askSecret(name) : console.read(), !line.isEmpty else {
                throw CommandFailure("standard input has no line for \(name)")
            }
            return line
        }
        // Shells leave a ~ in the middle of a word alone.
        let isAtHome = path.hasPrefix("~/")
        let home = isAtHome ? call.environment["HOME"] ?? "" : ""
        do {
            return try SecretSource.file(home + (isAtHome ? String(path.dropFirst()) : path)).read().revealed
        } catch {
            throw CommandFailure("--set-file \(name): \(error.description.replacing("no password: ", with: ""))")
        }
    }

    /// `name=value`.
    private static func split(
        _ text: String,
        _ option: String,
        _ placeholder: String
    ) throws(CommandFailure) -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Settings.server.contains(where: { $0.name == parts[0] }) else {
            let near =
                NearestName.of(parts.first ?? "", among: Settings.server.map(\.name)).map { "; did you mean \($0)?" }
                ?? ""
            throw CommandFailure(
                "\(option) takes OPTION=\(placeholder) with an option of \(Settings.serverBlock)\(near)"
            )
        }
        return (parts[0], parts[1])
    }
}
