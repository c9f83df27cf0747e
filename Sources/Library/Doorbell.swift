internal import Synchronization

/// Wakes one waiting task; who rings never waits. A ring that nobody waits for is kept for the next wait.
final class Doorbell: Sendable {
    private struct State {
        /// How often it was rung.
        var rings: UInt64 = 0
        /// Nil when nobody rang since the last one was taken.
        var request: UpdateRequest?
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// What was asked for; several requests become the strongest of them.
    struct UpdateRequest: Sendable, Hashable {
        /// Fetch everything again, whatever the server says of changes.
        var isRescan: Bool
        /// The last one of those that it stands for, counted from 1.
        var number: UInt64 = 0
    }

    /// Any thread.
    /// - Returns: the number of this request.
    @discardableResult
    func ring(isRescan: Bool) -> UInt64 {
        let (number, waiter) = state.withLock { state in
            state.rings += 1
            let rescans = isRescan || state.request?.isRescan == true
            state.request = UpdateRequest(isRescan: rescans, number: state.rings)
            defer { state.waiter = nil }
            return (state.rings, state.waiter)
        }
        waiter?.resume()
        return number
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
