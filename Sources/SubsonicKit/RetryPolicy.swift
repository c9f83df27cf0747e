/// How often and when a request is made again after a failure that may pass.
public struct RetryPolicy: Sendable, Equatable {
    /// The waits between attempts; their number is the number of repetitions.
    public var delays: [Duration]
    /// Each wait is changed by chance by up to this part of itself, so that clients do not come back all at once.
    public var jitter: Double
    /// A server's `Retry-After` counts up to this.
    public var longestRetryAfter: Duration

    public init(delays: [Duration], jitter: Double = 0.3, longestRetryAfter: Duration = .seconds(60)) {
        self.delays = delays
        self.jitter = jitter
        self.longestRetryAfter = longestRetryAfter
    }

    /// Four repetitions after 0.5, 1, 1.5 and 2 seconds.
    public static let linear = RetryPolicy(delays: (1...4).map { .milliseconds(500 * $0) })
    /// One attempt only.
    public static let none = RetryPolicy(delays: [])

    /// The wait before repetition `index` (from 0) of a request that failed with `error`; nil when it is not to be repeated.
    ///
    /// - Parameters:
    ///   - isRepeatable: false for what must not be done twice; it is then repeated only when it was certainly not begun.
    ///   - chance: from 0 to 1.
    public func delay(
        before index: Int,
        after error: SubsonicError,
        isRepeatable: Bool = true,
        chance: Double
    ) -> Duration? {
        guard error.isTransient, isRepeatable || error.isBeforeSending, delays.indices.contains(index) else {
            return nil
        }
        let own = delays[index] * (1 + jitter * (2 * chance - 1))
        guard case .http(_, let wish?) = error else { return own }
        return max(own, min(wish, longestRetryAfter))
    }
}

extension SubsonicError {
    /// Whether the same request may succeed a little later.
    public var isTransient: Bool {
        switch self {
        case .transport(let error):
            switch error.step {
            case .resolve, .connect, .send, .receive: true
            // A certificate does not get better by waiting.
            case .tls, .local, .cancelled: false
            }
        case .http(let status, _): Self.isTransient(status: status)
        case .decoding: true
        case .server: false
        }
    }

    /// Whether an HTTP status speaks of a trouble that may pass.
    static func isTransient(status: Int) -> Bool { [408, 429, 500, 502, 503, 504].contains(status) }

    /// Whether it is certain that the server has not begun to carry the request out.
    public var isBeforeSending: Bool {
        switch self {
        case .transport(let error): error.step == .resolve || error.step == .connect
        case .http(let status, _): status == 429
        case .server, .decoding: false
        }
    }
}

/// Time and chance for a `SubsonicClient`, so that tests can have their own.
public struct ClientEnvironment: Sendable {
    public var now: @Sendable () -> ContinuousClock.Instant
    /// Returns early, without an error, when the task is cancelled.
    public var sleep: @Sendable (Duration) async -> Void
    /// Evenly distributed and hard to guess: salts are made of it.
    public var random: @Sendable () -> UInt64

    public init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async -> Void,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock, and its generator (getrandom).
    public static let system = ClientEnvironment(
        now: { .now },
        sleep: { try? await Task.sleep(for: $0) },
        random: { UInt64.random(in: .min ... .max) }
    )

    /// From 0 to 1.
    var chance: Double { Double(random() >> 11) / Double(1 << 53) }
}
