internal import Synchronization

/// Wakes one waiting task; who rings never waits. A ring that nobody waits for is kept for the next wait.
final class Doorbell: Sendable {
    private struct State {
        /// Nil when nobody rang since the last wait.
        var request: UpdateRequest?
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// What was asked for; several requests become the strongest of them.
    struct UpdateRequest: Sendable, Hashable {
        /// Fetch everything again, whatever the server says of changes.
        var isRescan: Bool
    }

    /// Any thread.
    func ring(_ request: UpdateRequest) {
        let waiter = state.withLock { state in
            state.request = UpdateRequest(isRescan: request.isRescan || state.request?.isRescan == true)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Takes the request that is there, if any.
    func take() -> UpdateRequest? {
        state.withLock { state in
            defer { state.request = nil }
            return state.request
        }
    }

    /// Returns when somebody rings, has rung, or when the task is cancelled. One task at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.request != nil || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
