internal import Synchronization

/// What other threads want of the transport's thread.
enum CurlOrder {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
}

/// Carries orders to the transport's thread, in order.
final class CurlMailbox: Sendable {
    private struct State {
        var orders: [CurlOrder] = []
        var isStopping = false
        /// Nil once the thread takes no more orders; the multi handle lives at least as long as this is set.
        var waker: CurlWaker?
    }

    private let state = Mutex(State())

    /// Opens the mailbox; called once, before the thread starts.
    func open(_ waker: CurlWaker) {
        state.withLock { $0.waker = waker }
    }

    /// False when the transport is shut down; the order is then dropped.
    func post(_ order: CurlOrder) -> Bool {
        state.withLock { state in
            guard let waker = state.waker, !state.isStopping else { return false }
            state.orders.append(order)
            waker.wake()
            return true
        }
    }

    /// Asks the thread to end.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.waker?.wake()
        }
    }

    /// The orders since the last call, and whether the thread shall end.
    func take() -> (orders: [CurlOrder], isStopping: Bool) {
        state.withLock { state in
            let orders = state.orders
            state.orders = []
            return (orders, state.isStopping)
        }
    }

    /// No waking from now on; the thread calls this before its multi handle goes.
    func close() {
        state.withLock { $0.waker = nil }
    }
}
