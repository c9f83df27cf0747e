/// What the words of the command line ask for.
struct CommandLineOptions: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Serve until a signal comes.
        case serve
        /// Read the configuration, say what is wrong with it, end.
        case checkConfig
        case showHelp
        case showVersion
        /// Write a document that the program makes from its own tables.
        case print(Document)
        /// Do something with a server that runs.
        case run(Subcommand)
    }

    /// Words that stand before the options.
    enum Subcommand: String, Sendable, CaseIterable {
        /// Show the queue with its tiers.
        case queue
        /// Update the library, and show how far it is.
        case sync
        /// Show how much the cache takes, or empty it.
        case cache
    }

    /// What `cache --clear` removes.
    enum Clearing: String, Sendable, CaseIterable { case songs, covers, all }

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
    /// For `cache`: what is to be removed.
    var clearing: Clearing?

    /// Parses the arguments, without the program's own name.
    /// - Throws: `UsageError` with a sentence for standard error.
    static func parse(_ arguments: [String]) throws(UsageError) -> CommandLineOptions {
        var options = CommandLineOptions()
        var rest = arguments[...]
        if let word = rest.first, !word.hasPrefix("-") {
            guard let subcommand = Subcommand(rawValue: word) else { throw unknown(word) }
            options.action = .run(subcommand)
            rest.removeFirst()
        }
        while let argument = rest.popFirst() {
            let (name, attached) = split(argument)
            switch name {
            case "--config", "-c": options.configPath = try value(of: name, attached, &rest)
            case "--print":
                let word = try value(of: name, attached, &rest)
                guard let document = Document(rawValue: word) else {
                    let known = SettingContext.list(Document.allCases.map(\.rawValue))
                    throw UsageError("--print knows \(known), not \"\(word)\"")
                }
                try options.choose(.print(document), name)
            case "--clear":
                guard options.action == .run(.cache) else { throw UsageError("--clear belongs to cache") }
                let word = try value(of: name, attached, &rest)
                guard let clearing = Clearing(rawValue: word) else {
                    let known = SettingContext.list(Clearing.allCases.map(\.rawValue))
                    throw UsageError("--clear knows \(known), not \"\(word)\"")
                }
                options.clearing = clearing
            case "--check-config": try options.choose(.checkConfig, name)
            case "--help", "-h": options.action = .showHelp
            case "--version", "-V": options.action = .showVersion
            default:
                if !argument.hasPrefix("-") { throw unknown(argument, isFirst: false) }
                let known = ["--config", "--check-config", "--print", "--help", "--version"]
                let hint = NearestName.of(name, among: known).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("there is no option \(name)\(hint)")
            }
            if attached != nil && name != "--config" && name != "--print" && name != "--clear" {
                throw UsageError("\(name) takes no value")
            }
        }
        return options
    }

    /// A subcommand leaves no room for another thing to do; help and version are shown in any case.
    private mutating func choose(_ action: Action, _ name: String) throws(UsageError) {
        if case .run(let subcommand) = self.action {
            throw UsageError("\(name) cannot be used with \(subcommand.rawValue)")
        }
        self.action = action
    }

    /// A word that is neither an option nor, as the first one, a subcommand.
    private static func unknown(_ word: String, isFirst: Bool = true) -> UsageError {
        let known = Subcommand.allCases.map(\.rawValue)
        if known.contains(word) { return UsageError("\(word) must be the first word") }
        let hint = isFirst ? NearestName.of(word, among: known) : nil
        let advice = hint.map { "did you mean \($0)?" } ?? "a configuration file is named by --config"
        return UsageError("\"\(word)\" is \(isFirst ? "no command and " : "")no option; \(advice)")
    }

    /// `--name=value` as two.
    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    private static func value(
        of name: String,
        _ attached: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else { throw UsageError("\(name) needs a value") }
        return value
    }

    /// The text of `--help`.
    static var help: String {
        """
        Usage: shelvmpd [--config FILE] [--check-config]
               shelvmpd queue|sync [--config FILE]
               shelvmpd cache [--config FILE] [--clear \(Clearing.allCases.map(\.rawValue).joined(separator: "|"))]
               shelvmpd --print \(Document.allCases.map(\.rawValue).joined(separator: "|"))
               shelvmpd --help | --version

        A music server for MPD clients that plays from Subsonic servers.

          queue                   show the queue of the server that runs by the configuration:
                                  history, current song, Play Next, album queue, user queue
          sync                    let that server update its library, and show how far it is
          cache                   show how much songs and covers take in cache_directory
              --clear KIND        remove them first

          -c, --config FILE       use this configuration instead of
                                  ~/.config/shelvmpd/shelvmpd.conf or /etc/shelvmpd.conf
              --check-config      say whether the configuration is right, and end
              --print example     write a commented example configuration
              --print configuration  write the documentation of all options
              --print manual      write the manual page shelvmpd.conf(5)
              --print commands    write the documentation of all commands
          -h, --help              write this
          -V, --version           write the version

        Exit status: 0 for success, 1 when something failed, 2 for a wrong command line.

        Options of the configuration file:

        """ + SettingsText.summary()
    }
}

/// A command line that cannot be understood; the text is a sentence without its full stop.
struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
