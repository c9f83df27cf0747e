/// What the words of the command line ask for.
struct CommandLineOptions: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Serve until a signal comes.
        case serve
        /// Read the configuration, say what is wrong with it, end.
        case checkConfig
        case showHelp
        /// The help of a subcommand.
        case showHelpOf(String)
        case showVersion
        /// Write a document that the program makes from its own tables.
        case print(Document)
        /// Do what a subcommand does.
        case run(Invocation)
    }

    /// Documents that `--print` writes.
    enum Document: String, Sendable, CaseIterable {
        /// A commented example configuration.
        case example
        /// Docs/configuration.md
        case configuration
        /// The manual page shelvmpd.conf(5).
        case manual
        /// Docs/commands.md
        case commands
    }

    var action = Action.serve
    /// The configuration file, or nil to look in the usual places.
    var configPath: String?

    /// Parses the arguments, without the program's own name.
    /// - Throws: `UsageError` with a sentence for standard error.
    static func parse(_ arguments: [String]) throws(UsageError) -> CommandLineOptions {
        var options = CommandLineOptions()
        var rest = arguments[...]
        if let word = rest.first, !word.hasPrefix("-") {
            guard let subcommand = Subcommand.named(word) else { throw unknown(word) }
            let invocation = try Invocation.parse(rest.dropFirst(), of: subcommand)
            options.action = invocation.has("--help") ? .showHelpOf(word) : .run(invocation)
            options.configPath = invocation.configPath
            return options
        }
        while let argument = rest.popFirst() {
            let (name, attached) = split(argument)
            guard let option = MainOption.all.first(where: { $0.name == name || $0.short == name }) else {
                if !argument.hasPrefix("-") { throw unknown(argument, isFirst: false) }
                throw unknownOption(name)
            }
            var value = ""
            if option.value != nil {
                guard let given = attached ?? rest.popFirst(), !given.isEmpty else {
                    throw UsageError("\(name) needs a value")
                }
                value = given
            } else if attached != nil {
                throw UsageError("\(name) takes no value")
            }
            guard option.choices.isEmpty || option.choices.contains(value) else {
                throw UsageError("\(name) knows \(SettingContext.list(option.choices)), not \"\(value)\"")
            }
            switch option.name {
            case "--config": options.configPath = value
            case "--print": options.action = Document(rawValue: value).map(Action.print) ?? options.action
            case "--check-config": options.action = .checkConfig
            case "--help": options.action = .showHelp
            default: options.action = .showVersion
            }
        }
        return options
    }

    private static func unknownOption(_ name: String) -> UsageError {
        let owners = Subcommand.all.filter { $0.options.contains { $0.name == name } }.map(\.name)
        if !owners.isEmpty { return UsageError("\(name) belongs to \(SettingContext.list(owners))") }
        let hint = NearestName.of(name, among: MainOption.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        return UsageError("there is no option \(name)\(hint)")
    }

    /// A word that is neither an option nor, as the first one, a subcommand.
    private static func unknown(_ word: String, isFirst: Bool = true) -> UsageError {
        let known = Subcommand.all.map(\.name)
        if known.contains(word) { return UsageError("\(word) must be the first word") }
        let hint = isFirst ? NearestName.of(word, among: known) : nil
        let advice = hint.map { "did you mean \($0)?" } ?? "a configuration file is named by --config"
        return UsageError("\"\(word)\" is \(isFirst ? "no command and " : "")no option; \(advice)")
    }

    /// `--name=value` as two.
    static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }
}

/// Options of the program itself.
enum MainOption {
    static let all: [CommandOption] = [
        .config,
        CommandOption(name: "--check-config", summary: "say whether the configuration is right, and end"),
        CommandOption(
            name: "--print",
            value: "DOCUMENT",
            choices: CommandLineOptions.Document.allCases.map(\.rawValue),
            summary:
                "write a commented example configuration, the documentation of all its options, the same as the manual page "
                + "shelvmpd.conf(5), or the documentation of the protocol's commands"
        ),
        CommandOption(name: "--help", short: "-h", summary: "write this"),
        CommandOption(name: "--version", short: "-V", summary: "write the version"),
    ]
}

/// A command line that cannot be understood; the text is a sentence without its full stop.
struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
