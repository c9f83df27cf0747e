/// What the program does first, as a value: either it has only something to say, or it serves.
enum StartUp: Sendable, Equatable {
    /// Write these texts and end with this status.
    case end(ExitStatus, output: String = "", errors: String = "")
    /// Serve by this configuration, after telling the notices.
    case serve(Configuration, ConfigurationSource, notices: [String])
    /// Do what a subcommand does.
    case run(Invocation)

    /// Decides by the command line, without the program's name, and the environment. Reads the configuration.
    static func decide(_ arguments: [String], _ environment: Environment) -> StartUp {
        let options: CommandLineOptions
        do throws(UsageError) {
            options = try CommandLineOptions.parse(arguments)
        } catch {
            let word = arguments.first.flatMap(Subcommand.named).map { " \($0.name)" } ?? ""
            return .end(.usage, errors: "shelvmpd: \(error)\nshelvmpd\(word) --help tells more\n")
        }
        switch options.action {
        case .showHelp: return .end(.success, output: CommandHelp.text())
        case .showHelpOf(let name):
            return .end(.success, output: Subcommand.named(name).map { CommandHelp.text(of: $0) } ?? "")
        case .run(let invocation): return .run(invocation)
        case .showVersion: return .end(.success, output: Version.text)
        case .print(.example): return .end(.success, output: SettingsText.exampleFile())
        case .print(.configuration): return .end(.success, output: SettingsText.document())
        case .print(.manual): return .end(.success, output: ConfigurationManual.text())
        case .print(.commands): return .end(.success, output: CommandsDocument.text())
        case .serve, .checkConfig: break
        }

        let places = Directories(environment).configurations
        guard let path = options.configPath ?? places.first(where: { Files.exists($0) }) else {
            return .end(
                .failure,
                errors: """
                    shelvmpd: there is no configuration at \(SettingContext.list(places))
                    shelvmpd setup makes one

                    """
            )
        }
        do throws(ConfigurationError) {
            let result = try ConfigurationReader.load(path, environment: environment)
            let notices = result.notices.map(\.description)
            guard options.action == .checkConfig else {
                let source = ConfigurationSource(path: path, environment: environment, file: result.file)
                return .serve(result.configuration, source, notices: notices)
            }
            return .end(.success, output: "\(path): no mistakes\n", errors: notices.map { "\($0)\n" }.joined())
        } catch {
            return .end(.failure, errors: "\(error)\n")
        }
    }
}

/// Exit statuses of the program.
enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The configuration is wrong, or serving failed.
    case failure = 1
    /// The command line is wrong.
    case usage = 2
}
