internal import Synchronization

/// Where one server can be reached: its addresses in the order of preference, and the one that is in use.
///
/// Requests begin at the one in use. When that does not answer, the transport tries the others, and tells here which one
/// did, so that later requests begin there.
final class ServerAddresses: Sendable {
    /// Another address is in use from now on.
    struct Change: Sendable, Equatable {
        /// The one that did not answer.
        var former: String
        var new: String
        /// What went wrong at `former`; empty where nothing did, because a preferred one answers again.
        var reason: String
    }

    private struct Place {
        let configured: String
        /// Where it redirected to.
        var base: String

        func has(_ address: String) -> Bool { base == address || configured == address }
    }

    private struct State {
        var places: [Place]
        var current = 0
        var observer: (@Sendable (Change) -> Void)?
    }

    private let state: Mutex<State>

    init(_ first: ServerURL, _ others: [ServerURL] = []) {
        state = Mutex(State(places: ([first] + others).map { Place(configured: $0.base, base: $0.base) }))
    }

    /// Has changes told to `observer`, on any thread. Called once, before the first request.
    func observe(_ observer: @escaping @Sendable (Change) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Where requests begin.
    var current: String { state.withLock { $0.places[$0.current].base } }

    /// Those that are preferred to the one in use; none while the first is.
    var preferred: [String] { state.withLock { $0.places[..<$0.current].map(\.base) } }

    /// Where to try after `tried`, the first of which was the one in use; nil when none is left.
    func next(after tried: [String]) -> String? {
        state.withLock { state in
            guard let first = tried.first, let start = state.places.firstIndex(where: { $0.has(first) }) else {
                return nil
            }
            let order = [state.places[start]] + state.places[..<start] + state.places[(start + 1)...]
            return order.lazy.flatMap { [$0.base, $0.configured] }.first { !tried.contains($0) }
        }
    }

    /// `base` has answered after `former` had not.
    func didAnswer(_ base: String, insteadOf former: String, because reason: String) {
        change { state in
            guard let new = state.places.firstIndex(where: { $0.has(base) }) else { return nil }
            // It may have redirected before, to where nobody is any more.
            state.places[new].base = base
            // Others may have found out meanwhile.
            guard state.places[state.current].has(former), new != state.current else { return nil }
            state.current = new
            return Change(former: former, new: base, reason: reason)
        }
    }

    /// A request got to `base` and no answer came: the next one begins elsewhere.
    func didFail(_ base: String, because reason: String) {
        change { state in
            guard state.places.count > 1, state.places[state.current].has(base) else { return nil }
            state.current = (state.current + 1) % state.places.count
            return Change(former: base, new: state.places[state.current].base, reason: reason)
        }
    }

    /// A preferred one answers again.
    func comeBack(to base: String) {
        change { state in
            guard let new = state.places[..<state.current].firstIndex(where: { $0.has(base) }) else { return nil }
            let former = state.places[state.current].base
            state.current = new
            return Change(former: former, new: base, reason: "")
        }
    }

    /// An answer came from `base`. Returns the address that has led there by a redirect, if that is news.
    func learn(_ base: String) -> String? {
        state.withLock { state in
            guard !state.places.contains(where: { $0.has(base) }) else { return nil }
            state.places[state.current].base = base
            return state.places[state.current].configured
        }
    }

    /// Forgets where the one in use has redirected to.
    func forgetRedirect() {
        state.withLock { $0.places[$0.current].base = $0.places[$0.current].configured }
    }

    private func change(_ body: (inout State) -> Change?) {
        let (change, observer) = state.withLock { state in (body(&state), state.observer) }
        if let change { observer?(change) }
    }
}

/// Which of a server's addresses a request is written for, and who knows the others.
struct ServerRoute: Sendable {
    let addresses: ServerAddresses
    /// What the request's URL begins with.
    let base: String
}
