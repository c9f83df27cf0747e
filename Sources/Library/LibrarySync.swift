public import Logging
import MPDProtocol
public import SubsonicKit

/// Keeps the library of one server: fetches it the first time, shows what is stored meanwhile, and brings it up to date when
/// the server says that something changed. What does not succeed changes nothing.
///
/// Here is the loop; what one round does is in `LibrarySync+Round.swift`, how a whole library is fetched in
/// `LibrarySync+FullPass.swift`.
public actor LibrarySync {
    let configuration: LibrarySyncConfiguration
    let call: SyncCaller
    let environment: SyncEnvironment
    let handlers: LibrarySyncHandlers
    let log: Log
    private let bell = Doorbell()

    /// The library as shown; incomplete only during the first sync.
    var shown: LibrarySnapshot?
    /// What is remembered about the server's state when `shown` was fetched.
    var memory = SyncMemory()
    /// What was played last, as this run knows it.
    var heard = HeardAlbums()
    /// When the present comparison began, by `uptime`.
    var roundBegan = Duration.zero
    private var profile: ServerProfile?
    private var failures = 0
    /// The last request that was taken from the bell: a round answers it, and all before it.
    private(set) var lastRequest: UInt64 = 0
    /// What a pass brought that could not be believed; when the next one brings the same, it is the truth.
    var unbelieved: (songs: Int, missing: Int)?
    /// How long the last full pass took.
    var lastPass = Duration.zero

    /// - Parameters:
    ///   - server: Answers each call once; repetitions are made here.
    ///   - stored: The library of an earlier run, which is being shown already.
    public init(
        _ configuration: LibrarySyncConfiguration,
        server: any SubsonicCalling,
        stored: LibrarySnapshot?,
        handlers: LibrarySyncHandlers,
        log: Log = .silent,
        environment: SyncEnvironment = .system
    ) {
        self.configuration = configuration
        self.environment = environment
        self.handlers = handlers
        self.log = log
        call = SyncCaller(server: server, environment: environment)
        shown = stored
        // A library that was made by other rules is shown, and fetched again.
        if let info = stored?.info, info.isComplete, info.syncState["rules"] == Self.rules(configuration) {
            memory = SyncMemory(info.syncState)
        }
    }

    /// Asks for an update as soon as may be: the server is asked to scan its files, then to tell what it has.
    ///
    /// Any thread; returns at once. `.started` and `.finished` or `.failed` follow.
    /// - Parameter rescan: Fetch everything again, whatever the server says of changes.
    /// - Returns: The number of this request, counted from 1: it is answered by the first `.finished` or `.failed` that is through it.
    @discardableResult
    public nonisolated func requestUpdate(rescan: Bool = false) -> UInt64 {
        bell.ring(isRescan: rescan)
    }

    /// Works until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            let request = bell.take()
            if let request { lastRequest = request.number }
            var pause = configuration.checkInterval
            do {
                try await update(request)
                failures = 0
            } catch {
                if Task.isCancelled || error is CancellationError || (error as? SubsonicError)?.isCancellation == true {
                    return
                }
                pause = retryDelay(error)
                failures += 1
                report(error, retryAfter: pause)
            }
            await rest(pause)
        }
    }

    /// Waits until the time has come or somebody wants an update.
    private func rest(_ pause: Duration) async {
        let bell = bell
        let sleep = environment.sleep
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await sleep(pause) }
            group.addTask { await bell.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Failures

    /// Five seconds, doubled up to five minutes; a minute up to an hour where the server does not accept us, because
    /// repeated attempts lock accounts.
    private func retryDelay(_ error: any Error) -> Duration {
        let isRefused = (error as? SubsonicError)?.isAuthentication == true
        let first: Int64 = isRefused ? 60 : 5
        let last: Int64 = isRefused ? 3600 : 300
        let seconds = min(last, first << Int64(min(failures, 10)))
        return .seconds(seconds) * (0.7 + 0.6 * environment.chance())
    }

    private func report(_ error: any Error, retryAfter pause: Duration) {
        let message = complaint(error)
        let seconds = pause.components.seconds
        let place = configuration.serverAddress.isEmpty ? "" : " (\(configuration.serverAddress))"
        let line = "Cannot fetch the library of \(configuration.serverName)\(place): \(message); again in \(seconds) s"
        // Once is news; after that it is the same news.
        if failures == 1 {
            log.notice(error is SubsonicError ? "\(line); shelvmpd doctor tells more" : line)
        } else {
            log.info(line)
        }
        handlers.event(.failed(message: message, retryAfter: pause, through: lastRequest))
    }

    /// What failed, and at which step. While there is no library yet, the configuration may be wrong.
    private func complaint(_ error: any Error) -> String {
        let address = configuration.serverAddress
        let isFirst = shown?.info.isComplete != true
        switch error {
        case let error as SubsonicError where error.isAuthentication: return "logging in failed: \(error)"
        case SubsonicError.http(status: 404, _) where isFirst: return "no Subsonic server answers there: \(error)"
        case SubsonicError.transport(let error) where isFirst && error.mayWantOtherScheme(at: address):
            return "\(error); perhaps it wants \(address.hasPrefix("https:") ? "http" : "https")://"
        default: return Self.message(error)
        }
    }

    static func message(_ error: any Error) -> String {
        switch error {
        case let error as SubsonicError: error.description
        case let error as SyncProblem: error.description
        case let error as LibraryError: "\(error)"
        default: "\(error)"
        }
    }

    // MARK: The server

    func currentProfile() async throws -> ServerProfile {
        let server = try await call { (server) async throws(SubsonicError) in try await server.ping() }
        if let profile, profile.server == server { return profile }
        let log = log
        let name = configuration.serverName
        let probe = ServerProbe(call: call, wantedFolders: configuration.musicFolders) { log.notice("\(name): \($0)") }
        var found = try await probe.profile()
        found.tags = configuration.tags
        profile = found
        log.info(
            "\(name) is \(found.server.type ?? "a Subsonic server") \(found.server.serverVersion ?? found.server.version)"
        )
        return found
    }

    /// What decides how a library looks beside the server: the number of the mapping, to be raised when Docs/mapping.md
    /// changes, the tags and the music folders that are wanted.
    static func rules(_ configuration: LibrarySyncConfiguration) -> String {
        (["2", String(configuration.tags.rawValue, radix: 16)] + configuration.musicFolders.sorted())
            .joined(separator: "\n")
    }
}
