/// A word of the command line with options of its own: what it takes, what its help says, and what it does.
///
/// Each stands in a file of its own; `Subcommand.all` is the only list of them.
struct Subcommand: Sendable {
    var name: String
    /// What may follow the name, one line for each form.
    var usage: [String]
    /// For the list of all: no capital, no full stop.
    var summary: String
    /// What its help says besides; may be empty.
    var details = ""
    /// Words that are no options.
    var words: ClosedRange<Int> = 0...0
    /// Words that may come first, for completion and for good advice; empty where any may.
    var verbs: [String] = []
    var options: [CommandOption] = []
    var run: @Sendable (CommandCall) async throws -> ExitStatus

    static let all: [Subcommand] = [
        .queue, .sync, .cache, .setup, .doctor, .server, .importing,
    ]

    static func named(_ name: String) -> Subcommand? { all.first { $0.name == name } }

    /// Its own and those that every subcommand has.
    var allOptions: [CommandOption] { options + [.config, .help] }
}

/// An option of the command line.
struct CommandOption: Sendable, Equatable {
    /// With both dashes.
    var name: String
    /// One dash and one letter, or nil.
    var short: String?
    /// What the value is called; nil for an option without one.
    var value: String?
    /// The values that may be given; empty for any.
    var choices: [String] = []
    var isRepeatable = false
    /// For the help: no full stop.
    var summary: String

    static let config = CommandOption(
        name: "--config",
        short: "-c",
        value: "FILE",
        summary: "use this configuration instead of ~/.config/shelvmpd/shelvmpd.conf or /etc/shelvmpd.conf"
    )
    static let help = CommandOption(name: "--help", short: "-h", summary: "write this")
}

/// What was written behind a subcommand.
struct Invocation: Sendable, Equatable {
    var subcommand: String
    var words: [String] = []
    /// Values by the option's name; an option without one has an empty value.
    var values: [String: [String]] = [:]

    subscript(option: String) -> String? { values[option]?.last }

    func has(_ option: String) -> Bool { values[option] != nil }

    var configPath: String? { self["--config"] }

    /// Understands the words behind the subcommand.
    /// - Throws: `UsageError`.
    static func parse(_ arguments: ArraySlice<String>, of subcommand: Subcommand) throws(UsageError) -> Invocation {
        var result = Invocation(subcommand: subcommand.name)
        var rest = arguments
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                result.words.append(argument)
                continue
            }
            let (name, attached) = CommandLineOptions.split(argument)
            guard let option = subcommand.allOptions.first(where: { $0.name == name || $0.short == name }) else {
                throw unknown(name, subcommand)
            }
            guard let placeholder = option.value else {
                if attached != nil { throw UsageError("\(name) takes no value") }
                result.values[option.name] = [""]
                continue
            }
            guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                throw UsageError("\(name) needs a value: \(placeholder)")
            }
            guard option.choices.isEmpty || option.choices.contains(value) else {
                throw UsageError("\(name) knows \(SettingContext.list(option.choices)), not \"\(value)\"")
            }
            if option.isRepeatable {
                result.values[option.name, default: []].append(value)
            } else {
                result.values[option.name] = [value]
            }
        }
        guard !result.has("--help") else { return result }
        try result.checkWords(of: subcommand)
        return result
    }

    private func checkWords(of subcommand: Subcommand) throws(UsageError) {
        if let first = words.first, !subcommand.verbs.isEmpty, !subcommand.verbs.contains(first) {
            let hint = NearestName.of(first, among: subcommand.verbs).map { "; did you mean \($0)?" } ?? ""
            let known = SettingContext.list(subcommand.verbs)
            throw UsageError("\(subcommand.name) knows \(known), not \"\(first)\"\(hint)")
        }
        if words.count > subcommand.words.upperBound {
            throw UsageError("\"\(words[subcommand.words.upperBound])\" is one word too many for \(subcommand.name)")
        }
        if words.count < subcommand.words.lowerBound {
            let known = subcommand.verbs.isEmpty ? "" : ": \(SettingContext.list(subcommand.verbs))"
            throw UsageError("\(subcommand.name) needs a word more\(known)")
        }
    }

    private static func unknown(_ name: String, _ subcommand: Subcommand) -> UsageError {
        let known = subcommand.allOptions.map(\.name)
        if let near = NearestName.of(name, among: known) {
            return UsageError("\(subcommand.name) has no option \(name); did you mean \(near)?")
        }
        let owners = Subcommand.all.filter { $0.options.contains { $0.name == name } }.map(\.name)
        if !owners.isEmpty { return UsageError("\(name) belongs to \(SettingContext.list(owners))") }
        if MainOption.all.contains(where: { $0.name == name }) {
            return UsageError("\(name) cannot be used with \(subcommand.name)")
        }
        return UsageError("\(subcommand.name) has no option \(name)")
    }
}

/// What a subcommand works with: what was written, the environment, and the terminal.
struct CommandCall: Sendable {
    var invocation: Invocation
    var environment: Environment
    var console: Console

    /// Where the configuration is, or nil where there is none yet.
    var configurationPath: String? {
        invocation.configPath ?? Directories(environment).configurations.first { Files.exists($0) }
    }

    /// Reads the configuration.
    /// - Throws: `CommandFailure` or `ConfigurationError`, with all that is wrong.
    func configuration() throws -> Configuration {
        guard let path = configurationPath else {
            throw CommandFailure(
                "there is no configuration at \(SettingContext.list(Directories(environment).configurations)); "
                    + "shelvmpd setup makes one"
            )
        }
        return try ConfigurationReader.load(path, environment: environment).configuration
    }
}

/// Why a subcommand failed; a sentence without its full stop.
struct CommandFailure: Error, Sendable, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
