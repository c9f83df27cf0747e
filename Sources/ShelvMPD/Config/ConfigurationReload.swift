/// Where a configuration came from, so that it can be read again.
struct ConfigurationSource: Sendable, Equatable {
    var path: String
    var environment: Environment
    /// What is in use of the file: all of it, until it is read again and some of it has to wait for a restart.
    var file: ConfigFile
}

/// What reading the configuration again brings.
struct ConfigurationReload: Sendable, Equatable {
    /// What holds from now on.
    var configuration: Configuration
    /// The same as a file, with the old text of what has to wait.
    var source: ConfigurationSource
    /// What its author should know about it.
    var notices: [String]
    /// Options that have changed.
    var changed: [String] = []
    /// Options and blocks that have changed and take effect after a restart.
    var waiting: [String] = []
    /// Whether another server was added, or one has changed.
    var changesServers = false

    /// Reads the file again. Blocks, so not for the core.
    /// - Throws: `ConfigurationError` with all mistakes; nothing shall change then.
    static func read(_ source: ConfigurationSource) throws(ConfigurationError) -> ConfigurationReload {
        let fresh = try ConfigurationReader.load(source.path, environment: source.environment)
        return try merge(source, fresh)
    }

    /// What can change at once is taken from the new file, the rest from the old one.
    static func merge(
        _ source: ConfigurationSource,
        _ fresh: ConfigurationReader.Result
    ) throws(ConfigurationError) -> ConfigurationReload {
        let atOnce = Set(Settings.global.filter { $0.isAtOnce }.map(\.name)).union([Settings.serverBlock])
        var file = ConfigFile()
        file.isThere = true
        file.statements =
            source.file.statements.filter { !atOnce.contains($0.name) }
            + fresh.file.statements.filter { atOnce.contains($0.name) }
        let (old, new) = (contents(source.file), contents(fresh.file))
        let differing = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] && !MPDOptions.isUnused($0) }
        var merged = source
        merged.file = file
        var configuration = try ConfigurationReader.read(file, path: source.path, environment: source.environment)
            .configuration
        configuration.file = Files.absolute(source.path)
        return ConfigurationReload(
            configuration: configuration,
            source: merged,
            notices: fresh.notices.map(\.description),
            changed: differing.filter { atOnce.contains($0) && $0 != Settings.serverBlock }.sorted(),
            waiting: differing.filter { !atOnce.contains($0) }.sorted(),
            changesServers: differing.contains(Settings.serverBlock)
        )
    }

    /// The values by name, without their places.
    private static func contents(_ file: ConfigFile) -> [String: [[String]]] {
        file.statements.reduce(into: [:]) { contents, statement in
            switch statement {
            case .option(let option): contents[option.name, default: []].append([option.value])
            case .block(let name, let options, _):
                contents[name, default: []].append(options.flatMap { [$0.name, $0.value] })
            }
        }
    }
}

extension ConfigFile.Statement {
    /// The option's, or the block's.
    var name: String {
        switch self {
        case .option(let option): option.name
        case .block(let name, _, _): name
        }
    }
}

extension MPDOptions {
    /// Whether an option or a block outside of others has no meaning here.
    static func isUnused(_ name: String) -> Bool { global[name] != nil || blocks[name] != nil }
}
