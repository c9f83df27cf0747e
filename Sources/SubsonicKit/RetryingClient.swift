internal import Logging

/// A client whose calls are repeated when they fail for a reason that may pass. Made by `SubsonicClient.retrying`.
public struct RetryingClient: SubsonicCalling {
    let client: SubsonicClient
    let policy: RetryPolicy
    let isRepeatable: Bool
    let environment: ClientEnvironment
    let log: Log

    @concurrent
    public func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        try await call(method, parameters, post: false)
    }

    /// - Parameter post: sends the parameters as a form; for long lists.
    @concurrent
    public func call(
        _ method: String,
        _ parameters: [(String, String)],
        post: Bool
    ) async throws(SubsonicError) -> Envelope {
        var repetitions = 0
        while true {
            do {
                return try await client.call(method, parameters, post: post)
            } catch {
                guard
                    let delay = policy.delay(
                        before: repetitions,
                        after: error,
                        isRepeatable: isRepeatable,
                        chance: environment.chance
                    )
                else { throw error }
                repetitions += 1
                log.debug("\(client.server.name): \(method) again in \(delay) after: \(error)")
                await environment.sleep(delay)
                if Task.isCancelled { throw SubsonicClient.cancelled }
            }
        }
    }
}
