public import Logging
public import SubsonicKit

/// Keeps the library of one server: fetches it the first time, shows what is stored meanwhile, and fetches it again when the
/// server says that something changed. What does not succeed changes nothing.
public actor LibrarySync {
    private let configuration: LibrarySyncConfiguration
    private let call: SyncCaller
    private let environment: SyncEnvironment
    private let handlers: LibrarySyncHandlers
    private let log: Log
    private let bell = Doorbell()

    /// The library as shown; incomplete only during the first sync.
    private var shown: LibrarySnapshot?
    /// The server's state when `shown` was fetched.
    private var stamp = SyncStamp()
    private var lastFull: Int64 = 0
    private var profile: ServerProfile?
    private var failures = 0
    /// What a pass brought that could not be believed; when the next one brings the same, it is the truth.
    private var unbelieved: (songs: Int, missing: Int)?

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
            stamp = SyncStamp(info.syncState)
            lastFull = info.syncState["lastFull"].flatMap { Int64($0) } ?? 0
        }
    }

    /// Asks for an update as soon as may be: the server is asked to scan its files, then to tell what it has.
    ///
    /// Any thread; returns at once. `.started` and `.finished` or `.failed` follow.
    /// - Parameter rescan: Fetch everything again, whatever the server says of changes.
    public nonisolated func requestUpdate(rescan: Bool = false) {
        bell.ring(.init(isRescan: rescan))
    }

    /// Works until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            let request = bell.take()
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
        let message = Self.message(error)
        let seconds = pause.components.seconds
        let line = "Cannot fetch the library of \(configuration.serverName): \(message); again in \(seconds) s"
        // Once is news; after that it is the same news.
        if failures == 1 { log.notice(line) } else { log.info(line) }
        handlers.event(.failed(message: message, retryAfter: pause))
    }

    private static func message(_ error: any Error) -> String {
        switch error {
        case let error as SubsonicError: error.description
        case let error as SyncProblem: error.description
        case let error as LibraryError: "\(error)"
        default: "\(error)"
        }
    }

    // MARK: Updates

    /// One round: asks whether anything changed, and fetches the library if so.
    private func update(_ request: Doorbell.UpdateRequest?) async throws {
        if request != nil {
            handlers.event(.started)
            try await scan()
        }
        let profile = try await currentProfile()
        let isFirst = shown?.info.isComplete != true
        let now = try await call.stamp(kind: profile.kind, former: isFirst ? nil : stamp)
        guard let now else {
            // The first library is shown as far as it goes; the next check sees that the stamp moved.
            if isFirst { return try await fetch(profile, stamp: SyncStamp(), request) }
            throw SyncProblem.scanning
        }
        let age = environment.wallClock() - lastFull
        let isOld = age < 0 || age >= configuration.fullInterval.components.seconds
        if !isFirst, request?.isRescan != true, !isOld, now.matches(stamp) {
            await tellRefreshed(request, profile, didChange: false)
            if request != nil { handlers.event(.finished(didChange: false)) }
            return
        }
        if request == nil { handlers.event(.started) }
        try await fetch(profile, stamp: now, request)
    }

    /// Lets the server look for changed files, and waits until it has. Not being allowed to is no failure.
    private func scan() async throws {
        let started = try await call.ifSupported { (server) async throws(SubsonicError) in try await server.startScan()
        }
        guard started != nil else {
            log.info("\(configuration.serverName) does not let us start a scan")
            return
        }
        var pause = Duration.milliseconds(250)
        let end = environment.uptime() + .seconds(3600)
        while environment.uptime() < end {
            let status = try await call.ifSupported { (server) async throws(SubsonicError) in
                try await server.scanStatus()
            }
            guard status?.isScanning == true else { return }
            try await environment.sleep(pause)
            pause = min(pause * 2, .seconds(5))
        }
    }

    private func currentProfile() async throws -> ServerProfile {
        let server = try await call { (server) async throws(SubsonicError) in try await server.ping() }
        if let profile, profile.server == server { return profile }
        let log = log
        let name = configuration.serverName
        let probe = ServerProbe(call: call, wantedFolders: configuration.musicFolders) { log.notice("\(name): \($0)") }
        let found = try await probe.profile()
        profile = found
        log.info(
            "\(name) is \(found.server.type ?? "a Subsonic server") \(found.server.serverVersion ?? found.server.version)"
        )
        return found
    }

    // MARK: Fetching

    private func fetch(
        _ profile: ServerProfile,
        stamp: SyncStamp,
        _ request: Doorbell.UpdateRequest?
    ) async throws {
        let begin = environment.uptime()
        let former = shown?.info.isComplete == true ? shown : nil
        if former == nil { await preview(profile) }
        var pass = fullPass(profile, showsParts: former == nil)
        var outcome = try await pass.run(stamp: stamp)
        var stamp = stamp
        // A scan in between may have moved pages under our hands: once more, and then take what there is.
        for _ in 0..<2 {
            guard let later = try await call.stamp(kind: profile.kind, former: stamp), !later.matches(stamp) else {
                break
            }
            log.info("\(configuration.serverName) changed while it was read; reading it again")
            stamp = later
            outcome.spool.remove()
            outcome = try await pass.run(stamp: stamp)
        }
        let isVerified = outcome.missing == 0 && !outcome.isDoubtful && (outcome.spool.songCount > 0 || former == nil)
        if !isVerified { try believe(outcome, former: former) }

        let assembly = LibraryAssembly(
            former: former,
            folderNames: profile.roots.map(\.name),
            kept: configuration.formerURIs
        )
        lastFull = environment.wallClock()
        let info = info(isComplete: true, stamp: stamp)
        let result = try await assembly.build(outcome.spool.view, info: info, file: configuration.imageFile)
        outcome.spool.remove()
        if result.lost > 0 { log.error("\(result.lost) songs of \(configuration.serverName) have no usable URI") }
        self.stamp = stamp
        unbelieved = nil
        let formerDigest = former.flatMap { SyncDigest($0.info.syncState) }
        if formerDigest != result.digest {
            shown = result.snapshot
            await handlers.publish(result.snapshot)
        }
        let seconds = (environment.uptime() - begin).components.seconds
        log.info("\(configuration.serverName): \(result.digest.songs) songs in \(seconds) s")
        let didChange = formerDigest?.songs != result.digest.songs || formerDigest?.content != result.digest.content
        await tellRefreshed(request, profile, didChange: didChange)
        handlers.event(.finished(didChange: didChange))
    }

    /// Gives others the time to fetch what belongs to the library.
    private func tellRefreshed(
        _ request: Doorbell.UpdateRequest?,
        _ profile: ServerProfile,
        didChange: Bool
    ) async {
        guard let shown else { return }
        let cause: LibraryRefresh.Cause = request.map { $0.isRescan ? .rescan : .update } ?? .check
        await handlers.refreshed(
            LibraryRefresh(cause: cause, kind: profile.kind, library: shown, didChange: didChange, starred: nil)
        )
    }

    /// Accepts a result that does not add up when there is nothing better, or when a second pass says the same.
    private func believe(_ outcome: FullPass.Outcome, former: LibrarySnapshot?) throws {
        let songs = outcome.spool.songCount
        if former == nil || unbelieved.map({ $0 == (songs, outcome.missing) }) == true {
            if outcome.missing > 0 {
                log.notice(
                    "\(configuration.serverName) has \(songs) songs, though its albums promise \(outcome.missing) more"
                )
            }
            return
        }
        unbelieved = (songs, outcome.missing)
        outcome.spool.remove()
        throw SyncProblem.incomplete(songs: songs, missing: outcome.missing)
    }

    /// What decides how a library looks beside the server: the number of the mapping, to be raised when Docs/mapping.md
    /// changes, and the music folders that are wanted.
    private static func rules(_ configuration: LibrarySyncConfiguration) -> String {
        (["1"] + configuration.musicFolders.sorted()).joined(separator: "\n")
    }

    private func info(isComplete: Bool, stamp: SyncStamp) -> LibraryInfo {
        var state = stamp.encoded
        state["lastFull"] = String(lastFull)
        state["rules"] = Self.rules(configuration)
        return LibraryInfo(
            serverID: configuration.serverID,
            serverName: configuration.serverName,
            lastSync: environment.wallClock(),
            isComplete: isComplete,
            syncState: state
        )
    }

    // MARK: Showing parts

    /// How many songs the last part shown held, and when it was shown.
    private struct Parts {
        var songs = 0
        var time = Duration.zero
    }

    private func fullPass(_ profile: ServerProfile, showsParts: Bool) -> FullPass {
        let log = log
        let name = configuration.serverName
        let handlers = handlers
        var parts = Parts(songs: 500, time: environment.uptime())
        let uptime = environment.uptime
        let info = info(isComplete: false, stamp: SyncStamp())
        let folderNames = profile.roots.map(\.name)
        return FullPass(
            call: call,
            profile: profile,
            directory: configuration.directory,
            serverID: configuration.serverID,
            log: { log.info("\(name): \($0)") },
            progress: { handlers.event(.progress(songs: $0, expected: $1)) },
            beside: { spool, expected in
                // Each part is at least four times the last one, so all of them cost a third of the whole; and not before
                // two seconds, because a fast server will be done by then.
                guard showsParts, spool.songCount >= 4 * parts.songs, uptime() - parts.time >= .seconds(2),
                    expected.map({ spool.songCount < $0 / 2 }) ?? true
                else { return nil }
                parts = Parts(songs: spool.songCount, time: uptime())
                let view = spool.view
                return {
                    let assembly = LibraryAssembly(former: nil, folderNames: folderNames)
                    // A part that cannot be built is no loss: the whole comes later.
                    guard let part = try? await assembly.build(view, info: info, file: nil) else { return }
                    await handlers.publish(part.snapshot)
                }
            }
        )
    }

    /// Shows the first page at once, without what albums and artists would add.
    private func preview(_ profile: ServerProfile) async {
        guard case .search(let query) = profile.plan, let root = profile.roots.first else { return }
        let page = SearchPage(query: query, songs: 0..<profile.pageSize, musicFolder: root.id)
        let path = "\(configuration.directory)/sync-\(configuration.serverID).preview"
        do {
            let songs = try await call { (server) async throws(SubsonicError) in try await server.search3(page).songs }
            guard !songs.isEmpty else { return }
            var spool = try SongSpool(path: path, purpose: "preview \(environment.wallClock())")
            defer { spool.remove() }
            let block = SongMapping(kind: profile.kind).block(key: "", songs: songs, folder: 0, facts: LibraryFacts())
            try spool.append(block)
            let assembly = LibraryAssembly(former: nil, folderNames: profile.roots.map(\.name))
            let info = info(isComplete: false, stamp: SyncStamp())
            let part = try await assembly.build(spool.view, info: info, file: nil)
            shown = part.snapshot
            await handlers.publish(part.snapshot)
        } catch {
            // The pass that follows meets the same failure and reports it.
            log.debug("No first page: \(Self.message(error))")
        }
    }
}
