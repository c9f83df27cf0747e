/// Which way of authentication is in use with one server, and where that server is after redirects.
///
/// A value without input and output: `SubsonicClient` holds it behind a lock.
struct AuthenticationState {
    /// The ways that can be tried, in order; one only unless the mode is `auto`.
    let methods: [AuthenticationMethod]
    private(set) var current: Int
    /// Whether the server has accepted the current way.
    private(set) var isConfirmed = false

    /// - Parameter remembered: what worked before, as far as `methods` has it.
    init(methods: [AuthenticationMethod], remembered: AuthenticationMethod?) {
        self.methods = methods
        current = remembered.flatMap { methods.firstIndex(of: $0) } ?? 0
    }

    /// The way to use now; nil when the credentials allow none.
    var method: AuthenticationMethod? { methods.indices.contains(current) ? methods[current] : nil }

    /// What to try after the server refused a request that was sent with `used`, or nil when the refusal is about something
    /// else or there is nothing left.
    ///
    /// Codes: 41 and 42 say that the way is not supported; so does 10 (parameter missing) on servers that do not know it
    /// at all, as supysonic, and is a mistake in the request where the way has worked before.
    func next(after code: Int, used: AuthenticationMethod) -> AuthenticationMethod? {
        guard let index = methods.firstIndex(of: used), index + 1 < methods.count else { return nil }
        switch code {
        case 41, 42: return methods[index + 1]
        case 10: return isConfirmed && used == method ? nil : methods[index + 1]
        default: return nil
        }
    }

    /// Takes note that the server understood `used`: it gave an answer, or refused for another reason.
    ///
    /// - Returns: whether this changes the way in use.
    mutating func accept(_ used: AuthenticationMethod, confirmed: Bool) -> Bool {
        guard let index = methods.firstIndex(of: used) else { return false }
        let isNew = index != current
        current = index
        isConfirmed = confirmed || (isConfirmed && !isNew)
        return isNew
    }
}
