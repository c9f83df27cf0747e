public import Logging
internal import Synchronization

/// Speaks with one Subsonic server: builds and signs requests, finds the way of authentication that the server takes, and
/// limits how much is asked at once. Repetitions are `retrying`'s. Any thread.
public final class SubsonicClient: SubsonicCalling {
    /// The protocol version we say: the lowest with tokens, because Airsonic and Ampache refuse higher ones than their own.
    static let protocolVersion = "1.13.0"
    /// Requests at once by `call`, unless told otherwise.
    public static let slots = 4
    /// Constant, because servers keep players and settings under it.
    static let clientName = "ShelvMPD"

    public let server: SubsonicServer
    private let transport: any HTTPTransport
    private let log: Log
    private let environment: ClientEnvironment
    private let limiter: RequestLimiter
    private let state: Mutex<State>

    private struct State {
        var authentication: AuthenticationState
        /// Looks whether a preferred address answers again.
        var lookout: Task<Void, Never>?
    }

    private let addresses: ServerAddresses

    /// - Parameters:
    ///   - remembered: what `workingAuthentication` was the last time, for mode `auto`.
    ///   - slots: requests at once by `call`; media has its own connections.
    public init(
        _ server: SubsonicServer,
        transport: any HTTPTransport,
        remembered: AuthenticationMethod? = nil,
        log: Log = .silent,
        slots: Int = SubsonicClient.slots,
        environment: ClientEnvironment = .system
    ) {
        self.server = server
        self.transport = transport
        self.log = log
        self.environment = environment
        limiter = RequestLimiter(slots: slots, now: environment.now)
        let methods = server.credentials.methods(for: server.mode)
        state = Mutex(State(authentication: AuthenticationState(methods: methods, remembered: remembered)))
        addresses = ServerAddresses(server.url, server.alternatives)
        addresses.observe { [weak self] in self?.didChange($0) }
        if methods.contains(.token), MD5.hexDigest(of: []) == nil {
            log.error(
                "This system's libcrypto has no MD5, so \(server.name) can only be used with a password or API key"
            )
        }
        if server.url.isSchemeGuessed {
            log.notice("The address of \(server.name) has no http:// or https://; using \(server.url)")
        }
    }

    /// The way of authentication that the server has accepted, to be stored; nil before the first success.
    public var workingAuthentication: AuthenticationMethod? {
        state.withLock { $0.authentication.isConfirmed ? $0.authentication.method : nil }
    }

    // MARK: Calls

    @concurrent
    public func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        try await call(method, parameters, post: false)
    }

    /// Calls a method once and returns its answer, which is never one with an error.
    ///
    /// - Parameters:
    ///   - method: without `.view`.
    ///   - parameters: without those that every request has; names may repeat, for lists.
    ///   - post: sends them as a form; for long lists.
    @concurrent
    public func call(
        _ method: String,
        _ parameters: [(String, String)],
        post: Bool
    ) async throws(SubsonicError) -> Envelope {
        guard await limiter.acquire() else { throw Self.cancelled }
        defer { limiter.release() }
        do {
            return try await attempt(method, parameters, post: post)
        } catch {
            // Told to come back later: half as much at once for a while.
            switch error {
            case .http(status: 429, _), .http(status: 503, retryAfter: .some):
                limiter.halve(until: environment.now() + .seconds(60))
            default: break
            }
            throw error
        }
    }

    /// The same client with repetitions.
    ///
    /// - Parameter isRepeatable: false for what must not be done twice; it is then repeated only when it was certainly not
    ///   begun.
    public func retrying(_ policy: RetryPolicy = .linear, isRepeatable: Bool = true) -> RetryingClient {
        RetryingClient(client: self, policy: policy, isRepeatable: isRepeatable, environment: environment, log: log)
    }

    static let cancelled = SubsonicError.transport(TransportError(.cancelled, "cancelled"))

    /// One attempt, with as many requests as it takes to find the way of authentication.
    private func attempt(
        _ method: String,
        _ parameters: [(String, String)],
        post: Bool
    ) async throws(SubsonicError) -> Envelope {
        guard var way = state.withLock({ $0.authentication.method }) else { throw .transport(noCredentials) }
        // What the server said to the first way, when that made us try another.
        var refusal: SubsonicError?
        while true {
            let request = request(method, parameters, way: way, post: post)
            let start = environment.now()
            let response: HTTPResponse
            do {
                response = try await transport.send(request)
            } catch {
                log.debug("\(server.name): \(method) failed after \(environment.now() - start): \(error)")
                throw failure(error, after: refusal)
            }
            log.debug(
                "\(server.name): \(method) answered after \(environment.now() - start), status=\(response.head.status) "
                    + "bytes=\(response.body.count)"
            )
            follow(response.head, method: method, asked: request)
            do {
                let envelope = try SubsonicAnswer.envelope(response)
                // This one needs no credentials on some servers, so its success proves nothing.
                if method != "getOpenSubsonicExtensions" { accept(way, confirmed: true, after: refusal) }
                return envelope
            } catch .server(let failure) {
                let message = server.credentials.scrubbed(failure.message)
                let error = SubsonicError.server(ServerFailure(code: failure.code, message: message))
                if let next = state.withLock({ $0.authentication.next(after: failure.code, used: way) }) {
                    refusal = refusal ?? error
                    way = next
                } else if [10, 41, 42].contains(failure.code) {
                    // No way helped: the first one's answer is the one to tell.
                    throw refusal ?? error
                } else {
                    accept(way, confirmed: failure.code >= 50, after: refusal)
                    throw error
                }
            } catch {
                throw error
            }
        }
    }

    // MARK: Addresses

    deinit { state.withLock { $0.lookout }?.cancel() }

    private func didChange(_ change: ServerAddresses.Change) {
        if change.reason.isEmpty {
            log.notice("\(server.name) answers at \(change.new) again")
            return
        }
        log.notice("\(server.name) is used at \(change.new) for now: \(change.reason)")
        state.withLock { state in
            state.lookout?.cancel()
            state.lookout = Task { [weak self, environment] in
                // Seldom in the end: an address may be that of a network one has left.
                var wait = Duration.seconds(10)
                while !Task.isCancelled {
                    await environment.sleep(wait)
                    guard !Task.isCancelled, await self?.looksForPreferred() == true else { return }
                    wait = min(wait * 2, .seconds(600))
                }
            }
        }
    }

    /// Asks the addresses that are preferred to the one in use. Returns whether it is to be asked again later.
    private func looksForPreferred() async -> Bool {
        for base in addresses.preferred {
            guard let way = state.withLock({ $0.authentication.method }) else { return false }
            var request = request("ping", [], way: way, post: false, at: base)
            request.route = nil
            if let response = try? await transport.send(request) {
                do throws(SubsonicError) {
                    _ = try SubsonicAnswer.envelope(response)
                } catch {
                    // What a server refuses is an answer, too.
                    guard error.serverCode != nil else { continue }
                }
                addresses.comeBack(to: base)
                break
            }
        }
        return !addresses.preferred.isEmpty
    }

    // MARK: Media

    /// A signed request for `stream`, `download` or `getCoverArt`, with a fresh salt; good for one use.
    ///
    /// - Parameter rangeStart: first byte wanted, or nil for the whole body without asking for a range.
    public func mediaRequest(
        _ method: String,
        _ parameters: [(String, String)],
        rangeStart: Int64? = nil
    ) -> HTTPRequest {
        let way = state.withLock { $0.authentication.method } ?? .token
        var request = request(method, parameters, way: way, post: false)
        request.rangeStart = rangeStart
        return request
    }

    /// A signed request for a song's bytes: the file as it is, unless `transcoding` says otherwise.
    ///
    /// - Parameter timeOffset: whole seconds to leave out; for servers with the extension `transcodeOffset`.
    public func streamRequest(
        songID: String,
        rangeStart: Int64? = nil,
        transcoding: Transcoding? = nil,
        timeOffset: Int = 0
    ) -> HTTPRequest {
        var parameters = [("id", songID), ("format", transcoding.map { $0.format ?? "" } ?? "raw")]
        if parameters[1].1.isEmpty { parameters.removeLast() }
        if let rate = transcoding?.maximumBitRate { parameters.append(("maxBitRate", String(rate))) }
        if timeOffset > 0 { parameters.append(("timeOffset", String(timeOffset))) }
        return mediaRequest("stream", parameters, rangeStart: rangeStart)
    }

    /// Whether a media request that was refused with `error` shall be made again, by a new `mediaRequest`, because there is
    /// another way of authentication than that of `request`.
    public func triesOtherAuthentication(after error: SubsonicError, of request: HTTPRequest) -> Bool {
        guard let code = error.serverCode, let used = Self.way(of: request) else { return false }
        let (current, next) = state.withLock { state in
            (state.authentication.method, state.authentication.next(after: code, used: used))
        }
        guard let next else { return false }
        // Another request has found out meanwhile.
        if current != used { return true }
        accept(next, confirmed: false, after: error)
        return true
    }

    /// How a request of ours is signed: its first parameters say so.
    private static func way(of request: HTTPRequest) -> AuthenticationMethod? {
        let query = request.url.drop { $0 != "?" }.dropFirst()
        for parameter in query.split(separator: "&").prefix(2) {
            if parameter.hasPrefix("apiKey=") { return .apikey }
            if parameter.hasPrefix("t=") { return .token }
            if parameter.hasPrefix("p=") { return .password }
        }
        return nil
    }

    // MARK: Requests

    private func request(
        _ method: String,
        _ parameters: [(String, String)],
        way: AuthenticationMethod,
        post: Bool,
        at place: String? = nil
    ) -> HTTPRequest {
        var all = server.credentials.parameters(way, salt: salt())
        all += [("v", Self.protocolVersion), ("c", Self.clientName), ("f", "json")]
        all += parameters.map { (name: $0.0, value: $0.1) }
        let query = PercentEncoding.query(all)
        let base = place ?? addresses.current
        let endpoint = ServerURL.endpoint(method, at: base)
        // All in the body: Funkwhale reads the query or the form, not both.
        var request = post ? HTTPRequest(url: endpoint, form: query) : HTTPRequest(url: "\(endpoint)?\(query)")
        if let authorization = server.url.authorization { request.headers.append(("Authorization", authorization)) }
        request.headers += server.connection.headers
        request.connection = server.connection
        request.route = ServerRoute(addresses: addresses, base: base)
        let isClear = way == .password || server.url.authorization != nil
        request.isConfidential = isClear && !server.allowsPlainPassword
        return request
    }

    private func salt() -> String {
        let bytes = [environment.random(), environment.random()].flatMap { word in
            stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
        return Hex.encode(bytes)
    }

    private var noCredentials: TransportError {
        TransportError(
            .local,
            "\(server.name) has no \(server.mode == .apikey ? "API key" : "user and password") in the configuration"
        )
    }

    // MARK: What answers teach

    private func accept(_ way: AuthenticationMethod, confirmed: Bool, after refusal: SubsonicError?) {
        let isNew = state.withLock { $0.authentication.accept(way, confirmed: confirmed) }
        guard isNew, let refusal else { return }
        log.notice("\(server.name) does not take what was tried first (\(refusal)); using the \(way.words)")
    }

    /// Later requests go where this one was sent on to.
    private func follow(_ head: HTTPHead, method: String, asked request: HTTPRequest) {
        guard !head.effectiveURL.isEmpty, head.effectiveURL != request.description,
            let base = ServerURL.base(ofAnswer: head.effectiveURL, method: method)
        else { return }
        if let former = addresses.learn(base) { log.notice("\(server.name) has moved from \(former) to \(base)") }
    }

    private func failure(_ error: TransportError, after refusal: SubsonicError?) -> SubsonicError {
        if error.step == .resolve || error.step == .connect {
            // Where it redirected to is not there any more: begin again where the user said.
            addresses.forgetRedirect()
        }
        guard error.step == .local, let refusal else { return .transport(error) }
        return .transport(TransportError(.local, "\(refusal); \(error.message)"))
    }
}

extension AuthenticationMethod {
    /// For messages.
    fileprivate var words: String {
        switch self {
        case .apikey: "API key"
        case .token: "token"
        case .password: "password"
        }
    }
}
