internal import Synchronization

/// Slots for requests to one server; who finds none waits its turn.
final class RequestLimiter: Sendable {
    private struct State {
        var used = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var nextID: UInt64 = 0
        /// Half of the slots are closed until then.
        var halvedUntil: ContinuousClock.Instant?
    }

    private let slots: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter slots: at least 1.
    init(slots: Int, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.slots = max(1, slots)
        self.now = now
    }

    /// Takes a slot. False when the task was cancelled first; there is then nothing to give back.
    func acquire() async -> Bool {
        let id = state.withLock { state -> UInt64? in
            if state.used < limit(state) && state.waiting.isEmpty {
                state.used += 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting.append((id, continuation)) }
                // A slot may have become free, or the task cancelled, before there was anything to find.
                if Task.isCancelled { giveUp(id) }
                admit()
            }
        } onCancel: {
            giveUp(id)
        }
    }

    /// Gives a slot back.
    func release() {
        state.withLock { $0.used -= 1 }
        admit()
    }

    /// Closes half of the slots until `end`: the server said that it is asked too much.
    func halve(until end: ContinuousClock.Instant) {
        state.withLock { $0.halvedUntil = end }
    }

    private func limit(_ state: borrowing State) -> Int {
        if let end = state.halvedUntil, now() < end { max(1, slots / 2) } else { slots }
    }

    private func admit() {
        let admitted = state.withLock { state in
            let count = min(max(0, limit(state) - state.used), state.waiting.count)
            state.used += count
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        }
        for (_, continuation) in admitted { continuation.resume(returning: true) }
    }

    private func giveUp(_ id: UInt64) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(returning: false)
    }
}
