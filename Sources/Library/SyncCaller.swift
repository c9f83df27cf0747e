import SubsonicKit

/// Calls a server for a sync: repeats what may pass, as often as a sync can wait.
struct SyncCaller: Sendable {
    let server: any SubsonicCalling
    let environment: SyncEnvironment

    /// Growing, because a server that restarts needs a few seconds and nobody waits for a click here.
    private static let policy = RetryPolicy(delays: [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])

    /// What `ask` gives, after up to four repetitions of a passing failure and one of an error without meaning (0).
    ///
    /// - Throws: The last failure; a transport error of step `cancelled` when the task is cancelled.
    func callAsFunction<Value: Sendable>(
        _ ask: @Sendable (any SubsonicCalling) async throws(SubsonicError) -> Value
    ) async throws(SubsonicError) -> Value {
        try await attempt(ask, repeatsErrorZero: true)
    }

    private func attempt<Value: Sendable>(
        _ ask: @Sendable (any SubsonicCalling) async throws(SubsonicError) -> Value,
        repeatsErrorZero: Bool
    ) async throws(SubsonicError) -> Value {
        var repetitions = 0
        while true {
            do {
                return try await ask(server)
            } catch {
                if Task.isCancelled || error.isCancellation { throw Self.cancelled }
                let delay: Duration
                if error.serverCode == 0 && repeatsErrorZero && repetitions == 0 {
                    delay = .milliseconds(500)
                } else if let next = Self.policy.delay(before: repetitions, after: error, chance: environment.chance())
                {
                    delay = next
                } else {
                    throw error
                }
                repetitions += 1
                do { try await environment.sleep(delay) } catch { throw Self.cancelled }
            }
        }
    }

    /// The answer, or nil where the server does not know the call or does not allow it.
    func ifSupported<Value: Sendable>(
        _ ask: @Sendable (any SubsonicCalling) async throws(SubsonicError) -> Value
    ) async throws(SubsonicError) -> Value? {
        do {
            // Error 0 is also how a server says that it does not know a call.
            return try await attempt(ask, repeatsErrorZero: false)
        } catch {
            switch error {
            case .server where !error.isAuthentication: return nil
            case .http(let status, _) where [404, 405, 410, 500, 501].contains(status): return nil
            case .decoding: return nil
            default: throw error
            }
        }
    }

    static let cancelled = SubsonicError.transport(TransportError(.cancelled, "cancelled"))
}
