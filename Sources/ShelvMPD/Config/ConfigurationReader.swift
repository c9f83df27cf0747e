import Glibc
import MPDProtocol
import Playback

/// Turns the statements of a file into a `Configuration` by the rows of `Settings`.
///
/// Goes on after a mistake, so that all of them are told at once.
struct ConfigurationReader {
    /// A configuration that may be used, and what its author should know about it.
    struct Result: Sendable, Equatable {
        var configuration: Configuration
        var notices: [ConfigProblem]
        /// What it was made of.
        var file: ConfigFile
    }

    private var configuration = Configuration()
    private var problems: [ConfigProblem] = []
    private var notices: [ConfigProblem] = []
    private let environment: Environment

    private init(_ environment: Environment) { self.environment = environment }

    /// Reads a file from disk, with all that it includes.
    static func load(_ path: String, environment: Environment) throws(ConfigurationError) -> Result {
        let file = ConfigFile.parse(path, reading: contents)
        var result = try read(file, path: path, environment: environment)
        result.configuration.file = Files.absolute(path)
        let holdsSecret =
            !result.configuration.passwords.isEmpty || result.configuration.servers.contains(where: \.holdsSecret)
        if holdsSecret && Files.isReadableByOthers(path) {
            let message = "the file holds a password and every user of this machine can read it; chmod 600 helps"
            result.notices.append(ConfigProblem(place: Place(file: path), message: message))
        }
        for server in result.configuration.servers {
            for file in server.secretFiles where Files.isReadableByOthers(file) {
                let message = "every user of this machine can read \(file); chmod 600 helps"
                result.notices.append(ConfigProblem(place: server.place, message: message))
            }
        }
        return result
    }

    /// The bytes of a configuration file, or nil where there is none, which is right for some.
    static func contents(of path: String) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try Files.read(path, limit: 4 << 20)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// The configuration that a parsed file means.
    /// - Parameter path: Names the file in messages about what it lacks.
    static func read(_ file: ConfigFile, path: String, environment: Environment) throws(ConfigurationError) -> Result {
        // What it lacks is no news then.
        guard file.isThere else { throw ConfigurationError(problems: file.problems) }
        var reader = ConfigurationReader(environment)
        reader.problems = file.problems
        reader.readGlobal(file.statements)
        for case .block(let name, let options, let place) in file.statements {
            reader.readBlock(name, options, place)
        }
        reader.complete(path)
        guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems.inOrderOfFile()) }
        return Result(configuration: reader.configuration, notices: reader.notices.inOrderOfFile(), file: file)
    }

    // MARK: Options

    private mutating func readGlobal(_ statements: [ConfigFile.Statement]) {
        let options = statements.compactMap { statement -> ConfigFile.Option? in
            if case .option(let option) = statement { option } else { nil }
        }
        let blocks = [Settings.serverBlock, Settings.outputBlock] + MPDOptions.blocks.keys
        var target = configuration
        apply(options, Settings.global, to: &target, ignoring: MPDOptions.global, where: "", isStrict: false) { name in
            blocks.contains(name) ? "\(name) begins a block; write \(name) { and its options on the lines below" : nil
        }
        configuration = target
    }

    private mutating func readBlock(_ name: String, _ options: [ConfigFile.Option], _ place: Place) {
        switch name {
        case Settings.serverBlock: readServer(options, place)
        case Settings.outputBlock: readOutput(options, place)
        default:
            if let reason = MPDOptions.blocks[name] {
                notices.append(ConfigProblem(place: place, message: "the block \(name) is not used: \(reason)"))
            } else if Settings.global.contains(where: { $0.name == name }) {
                report(place, "\(name) is an option and no block; write \(name) \"…\"")
            } else {
                let known = [Settings.serverBlock, Settings.outputBlock]
                let hint = NearestName.of(name, among: known + MPDOptions.blocks.keys.sorted())
                report(
                    place,
                    "there is no block \(name)" + (hint.map { "; did you mean \($0)?" } ?? "")
                        + "; there are \(known.joined(separator: " and "))"
                )
            }
        }
    }

    private mutating func readServer(_ options: [ConfigFile.Option], _ place: Place) {
        var server = ServerConfiguration()
        server.place = place
        let before = problems.count
        apply(options, Settings.server, to: &server, ignoring: [:], where: " in \(Settings.serverBlock)")
        // Follow-up errors of options that were refused would only confuse.
        guard problems.count == before else { return }
        if server.url.isEmpty {
            report(place, "the block \(Settings.serverBlock) needs a url")
        }
        if server.name.isEmpty {
            server.name = server.hostName
        }
        if server.clientCertificate == nil, server.clientKey != nil || server.clientKeyPassword != nil {
            report(place, "the block \(Settings.serverBlock) has a client_key and needs a client_certificate")
        }
        if let lack = server.lackOfCredentials {
            report(place, "the block \(Settings.serverBlock) \(lack)")
        }
        if let other = configuration.servers.first(where: { $0.name == server.name }) {
            report(
                place,
                "there is another \(Settings.serverBlock) with the name \"\(server.name)\" (\(other.place)); give them different names"
            )
        }
        configuration.servers.append(server)
    }

    private mutating func readOutput(_ options: [ConfigFile.Option], _ place: Place) {
        var output = OutputDraft()
        let before = problems.count
        let renamed = options.map { option in
            var option = option
            option.name = MPDOptions.outputAliases[option.name] ?? option.name
            return option
        }
        apply(renamed, Settings.output, to: &output, ignoring: MPDOptions.output, where: " in \(Settings.outputBlock)")
        guard problems.count == before else { return }
        do throws(SettingRefusal) {
            let finished = try output.finish()
            if configuration.outputs.contains(where: { $0.name == finished.name }) {
                throw SettingRefusal(
                    "there is another \(Settings.outputBlock) with the name \"\(finished.name)\"; give them different names"
                )
            }
            configuration.outputs.append(finished)
            if !output.isTimed { configuration.isTimed = false }
        } catch {
            report(place, error.message ?? "the block \(Settings.outputBlock) is not complete")
        }
    }

    /// Takes options over into `target`.
    /// - Parameters:
    ///   - ignored: Names that are accepted with a notice, with the reason.
    ///   - scope: Ends messages about unknown names, as in " in audio_output".
    ///   - isStrict: Whether an option that comes twice is an error; else the later one wins, as in MPD, so that a file
    ///     can change what an included one says.
    ///   - explain: A better message for an unknown name, or nil.
    private mutating func apply<Target>(
        _ options: [ConfigFile.Option],
        _ settings: [Setting<Target>],
        to target: inout Target,
        ignoring ignored: [String: String],
        where scope: String,
        isStrict: Bool = true,
        explaining explain: (String) -> String? = { _ in nil }
    ) {
        var seen: [String: Place] = [:]
        for option in options {
            guard let setting = settings.first(where: { $0.name == option.name }) else {
                if let reason = ignored[option.name] {
                    notices.append(
                        ConfigProblem(place: option.place, message: "\(option.name) is not used\(scope): \(reason)")
                    )
                } else {
                    report(
                        option.place,
                        explain(option.name) ?? unknown(option.name, settings.map(\.name), ignored, scope)
                    )
                }
                continue
            }
            if !setting.isRepeatable, let first = seen.updateValue(option.place, forKey: option.name) {
                let message = "\(option.name)\(scope) replaces that of \(first)"
                if isStrict {
                    report(option.place, "\(option.name)\(scope) has been given already (\(first))")
                    continue
                }
                notices.append(ConfigProblem(place: option.place, message: message))
            }
            do throws(SettingRefusal) {
                let context = SettingContext(environment: environment, place: option.place)
                try setting.apply(&target, option.value, context)
            } catch {
                let shown = setting.isSecret || error.hidesValue ? "the value" : "\"\(option.value)\""
                let detail = error.message.map { ": \($0)" } ?? ""
                report(
                    option.place,
                    "\(option.name)\(scope) cannot be \(shown)\(detail); allowed is \(setting.allowed)"
                )
            }
        }
    }

    private func unknown(_ name: String, _ names: [String], _ ignored: [String: String], _ scope: String) -> String {
        let near = NearestName.of(name, among: names) ?? NearestName.of(name, among: ignored.keys.sorted())
        let hint = near.map { "; did you mean \($0)?" } ?? "; allowed are \(SettingContext.list(names))"
        return "there is no option \(name)\(scope)\(hint)"
    }

    // MARK: Defaults

    /// Fills in what the file left open, and looks at the whole.
    private mutating func complete(_ path: String) {
        let whole = Place(file: path)
        let directories = Directories(environment)
        if configuration.stateDirectory.isEmpty {
            if let folder = directories.state {
                configuration.stateDirectory = folder
            } else {
                report(whole, "there is no home directory to keep the state in; set state_directory")
            }
        }
        if configuration.cacheDirectory.isEmpty {
            if let folder = directories.cache {
                configuration.cacheDirectory = folder
            } else {
                report(whole, "there is no home directory for the cache; set cache_directory")
            }
        }
        if configuration.stateFile.isEmpty {
            configuration.stateFile = configuration.stateDirectory + "/store.sqlite"
        }
        if configuration.addresses.isEmpty {
            let port = configuration.port
            configuration.addresses = [.host("127.0.0.1", port: port), .host("::1", port: port)]
            if let socket = directories.socket {
                configuration.addresses.append(.unix(path: socket))
            }
        } else {
            configuration.usesDefaultAddresses = false
            configuration.addresses = configuration.addresses.map { $0.withDefaultPort(configuration.port) }
        }
        if configuration.outputs.isEmpty {
            configuration.outputs = [OutputConfiguration(name: "default", kind: .device(driver: nil, device: nil))]
        }
        // One device plays at a time; clients turn on another one.
        let devices = configuration.outputs.indices.filter { index in
            if case .device = configuration.outputs[index].kind { configuration.outputs[index].enabled } else { false }
        }
        for index in devices.dropFirst() { configuration.outputs[index].enabled = false }
        if configuration.servers.isEmpty && !problems.contains(where: { $0.message.contains(Settings.serverBlock) }) {
            report(whole, "there is no \(Settings.serverBlock) block, so there would be no music")
        }
    }

    private mutating func report(_ place: Place, _ message: String) {
        problems.append(ConfigProblem(place: place, message: message))
    }
}

extension [ConfigProblem] {
    /// Sorted by line, where they are in one file; else as found.
    fileprivate func inOrderOfFile() -> [ConfigProblem] {
        let files = Dictionary(map(\.place.file).enumerated().map { ($1, $0) }, uniquingKeysWith: Swift.min)
        return enumerated().sorted { a, b in
            let (fileA, fileB) = (files[a.element.place.file] ?? 0, files[b.element.place.file] ?? 0)
            let (lineA, lineB) = (a.element.place.line ?? .max, b.element.place.line ?? .max)
            return (fileA, lineA, a.offset) < (fileB, lineB, b.offset)
        }.map(\.element)
    }
}

extension ServerConfiguration {
    /// Whether the configuration file itself holds a password or key.
    fileprivate var holdsSecret: Bool {
        for case .literal in [password, apiKey, clientKeyPassword].compactMap({ $0 }) { return true }
        return !headers.isEmpty || proxy?.revealed.contains("@") == true
    }

    /// The files that hold a secret of it.
    var secretFiles: [String] {
        let sources = [password, apiKey, clientKeyPassword].compactMap { source -> String? in
            if case .file(let path) = source { path } else { nil }
        }
        // A certificate's file often holds its key.
        return sources + [clientKey ?? clientCertificate].compactMap { $0 }
    }

    /// The host in `url`, with the port where there is one.
    fileprivate var hostName: String {
        let rest = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst()
        return rest.first.map(String.init) ?? ""
    }

    /// What is missing to log in, as the end of a sentence, or nil.
    fileprivate var lackOfCredentials: String? {
        let hasPassword = !user.isEmpty && password != nil
        switch authentication {
        case .apikey: return apiKey == nil ? "has auth \"apikey\" and needs an api_key" : nil
        case .token, .password:
            return hasPassword ? nil : "has auth \"\(authentication.rawValue)\" and needs a user and a password"
        case .auto:
            return hasPassword || apiKey != nil ? nil : "needs a user and a password, or an api_key"
        }
    }
}
