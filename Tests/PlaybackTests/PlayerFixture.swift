import Glibc
import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

/// A real player that plays from a scripted server into a file, without a sound card.
final class PlayerFixture: Sendable {
    let folder: TemporaryFolder
    let server: HTTPTestServer
    let player: MPVPlayer
    let transport: CurlTransport
    let cache: AudioCache
    private let log: EventLog
    /// Whether another fixture ends what is shared.
    private let isGuest: Bool

    /// - Parameter isTimed: false plays as fast as songs decode.
    init(
        isTimed: Bool = false,
        outputs: [OutputConfiguration]? = nil,
        format: String = "44100:16:2",
        folder: TemporaryFolder? = nil,
        tapLibrary: String? = nil,
        cacheLimit: Int64 = .max,
        starvationLimit: Duration? = nil,
        patienceWhenFailing: Duration = .seconds(15),
        patienceAtEarlyEnds: Duration = .seconds(60),
        stopsWithoutDevice: Bool = false,
        findsDevices: Bool = false,
        logging: Log = .silent,
        _ handler: @escaping HTTPTestServer.Handler
    ) throws {
        // As the program does: libraries of sound systems write to servers that may have gone.
        signal(SIGPIPE, SIG_IGN)
        let folder = try #require(folder ?? TemporaryFolder())
        let server = try #require(HTTPTestServer(handler))
        let format = try #require(PCMFormat(format))
        let file = OutputConfiguration(name: "file", kind: .file(path: folder.path("out.pcm"), format: format))
        let log = EventLog()
        self.folder = folder
        self.server = server
        self.log = log
        isGuest = false
        transport = try CurlTransport()
        cache = try AudioCache(
            directory: folder.path("cache"),
            limit: cacheLimit,
            transport: transport,
            log: logging,
            patienceWhenFailing: patienceWhenFailing,
            patienceAtEarlyEnds: patienceAtEarlyEnds
        )
        player = try MPVPlayer(
            PlayerConfiguration(
                outputs: (outputs ?? [file]).map(Outlet.init),
                tapLibrary: try tapLibrary ?? Self.tapLibrary.get(),
                isTimed: isTimed,
                starvationLimit: starvationLimit,
                stopsWithoutDevice: stopsWithoutDevice,
                findsDevices: findsDevices
            ),
            cache: cache,
            log: logging
        ) { log.append($0) }
    }

    /// Another player beside one: they share cache and server.
    init(beside host: PlayerFixture, isTimed: Bool = false, outputs: [Outlet] = [], tapLibrary: String? = nil) throws {
        let log = EventLog()
        self.log = log
        isGuest = true
        (folder, server, transport, cache) = (host.folder, host.server, host.transport, host.cache)
        player = try MPVPlayer(
            PlayerConfiguration(
                outputs: outputs,
                takesSamples: true,
                tapLibrary: try tapLibrary ?? Self.tapLibrary.get(),
                isTimed: isTimed
            ),
            cache: cache,
            log: .silent,
            startsLater: true
        ) { log.append($0) }
    }

    /// Ends everything. Call it in the test's `defer`.
    func stop() {
        player.shutdown()
        _ = try? wait { $0 == .closed }
        if isGuest { return }
        cache.shutdown()
        server.stop()
        transport.shutdown()
    }

    /// A song at `path` of the server, or of another address of it; its size only where given.
    func source(
        _ path: String,
        size: Int? = nil,
        duration: Duration? = nil,
        gain: Float? = nil,
        stall: Duration = .seconds(10),
        at address: String? = nil
    ) -> AudioSource {
        let url = "\(address ?? server.url)/\(path)?secret=s3cret"
        return AudioSource(
            cacheKey: path,
            size: size.map { Int64($0) },
            duration: duration,
            gain: gain.map { SongGain(level: $0) }
        ) { start in
            HTTPRequest(url: url, rangeStart: start, stallTimeout: stall)
        }
    }

    var events: [PlayerEvent] { log.events }

    /// When the player told an event.
    func time(of event: PlayerEvent) throws -> UInt64 { try #require(log.time(of: event)) }

    /// The events that change what is heard.
    var story: [PlayerEvent] {
        storyWithCommits.filter { if case .committed = $0 { false } else { true } }
    }

    /// The events that are no mere position or bit rate.
    var storyWithCommits: [PlayerEvent] {
        log.events.filter { event in
            switch event {
            case .position, .bitRate, .format, .duration, .output, .devices: false
            default: true
            }
        }
    }

    /// Waits for an event, at most ten seconds; returns it.
    @discardableResult
    func wait(
        _ location: SourceLocation = #_sourceLocation,
        for seconds: Int = 10,
        _ isWanted: @escaping (PlayerEvent) -> Bool
    ) throws -> PlayerEvent {
        if let event = log.wait(for: .seconds(seconds), isWanted) { return event }
        throw TestFailure(description: "line \(location.line): no such event; there were \(log.events)")
    }

    /// What the file output holds.
    func output(_ name: String = "out.pcm") throws -> [UInt8] { try #require(contents(of: folder.path(name))) }

    /// The tap: the one named by `SHELV_TAP`, else built here.
    static let tapLibrary = Result<String, any Error> {
        if let path = unsafe getenv("SHELV_TAP") { return unsafe String(cString: path) }
        // Beside what the compiler keeps, under a name of this process until it is whole.
        let folder = PackageFolder.path(".build/tap-for-tests")
        _ = unsafe mkdir(folder, 0o755)
        let whole = "\(folder)/\(TapLibrary.fileName)"
        let target = "\(whole).\(getpid())"
        let flags = ["-std=c11", "-O2", "-shared", "-fPIC", "-Wl,--as-needed"]
        let source = PackageFolder.path("Sources/AudioTap/tap.c")
        let result = TestProcess.run(["cc"] + flags + [source, "-o", target])
        guard result?.end == .exited(0) else { throw TestFailure(description: "cc: \(result?.errors ?? "missing")") }
        guard unsafe rename(target, whole) == 0 else { throw TestFailure(description: "cannot make \(whole)") }
        return whole
    }
}

/// The events so far, to wait on.
final class EventLog: Sendable {
    private let monitor = Monitor<[(event: PlayerEvent, time: UInt64)]>([])

    func append(_ event: PlayerEvent) {
        let time = monotonicNow()
        monitor.update { $0.append((event, time)) }
    }

    var events: [PlayerEvent] { monitor.withLock { $0.map(\.event) } }

    /// When the player told an event, by `monotonicNow`; the test itself may look at it much later.
    func time(of event: PlayerEvent) -> UInt64? { monitor.withLock { $0.first { $0.event == event }?.time } }

    func wait(for timeout: Duration, _ isWanted: (PlayerEvent) -> Bool) -> PlayerEvent? {
        monitor.wait(until: monotonicNow().advanced(by: timeout)) { $0.first { isWanted($0.event) }?.event }
    }
}

/// Waits until something holds, at most ten seconds.
func poll(_ holds: () -> Bool) -> Bool {
    for _ in 0..<1000 {
        if holds() { return true }
        usleep(10_000)
    }
    return holds()
}

/// A transport for players that never get to ask.
struct UnusedTransport: HTTPTransport {
    private final class Nothing: HTTPTransfer {
        func cancel() {}
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.local, "unused")
    }

    func stream(_ request: HTTPRequest, to receiver: any HTTPReceiver) -> any HTTPTransfer { Nothing() }
}
