import Synchronization

/// Several writes that somebody waits for as for one: it is kept if all of them are.
struct KeptParts: Sendable {
    /// To be told what has become of each of them, in any order, on any thread.
    let part: Store.WhenDone

    /// - Parameters:
    ///   - count: how many there are, at least one.
    ///   - whenKept: told when the last one is done, of the first one that failed.
    init(_ count: Int, _ whenKept: @escaping Store.WhenDone) {
        let state = State(count)
        part = { result in
            if let outcome = state.outcome(after: result) { whenKept(outcome) }
        }
    }

    private final class State: Sendable {
        private let state: Mutex<(left: Int, outcome: Result<Void, StoreError>)>

        init(_ count: Int) { state = Mutex((count, .success(()))) }

        /// What has become of all of them, after the last one.
        func outcome(after result: Result<Void, StoreError>) -> Result<Void, StoreError>? {
            state.withLock { state in
                state.left -= 1
                if case .success = state.outcome { state.outcome = result }
                return state.left == 0 ? state.outcome : nil
            }
        }
    }
}
