/// Why a call brought no payload.
public enum SubsonicError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No complete answer came. Worth another try, unless it was cancelled.
    case transport(TransportError)
    /// An answer without a Subsonic body: a proxy's error page, a switched-off endpoint. `retryAfter` is what the server
    /// asked for (429, 503).
    case http(status: Int, retryAfter: Duration?)
    /// The server refused.
    case server(ServerFailure)
    /// The body is not what was asked for; the text says how. Treated like a broken transport.
    case decoding(String)

    public var description: String {
        switch self {
        case .transport(let error): error.message
        case .http(let status, _): "HTTP status \(status)"
        case .server(let failure): "\(failure.message) (Subsonic error \(failure.code))"
        case .decoding(let message): message
        }
    }

    /// The server's error code, or nil for other causes.
    public var serverCode: Int? {
        guard case .server(let failure) = self else { return nil }
        return failure.code
    }

    /// Whether the task was cancelled, which is no failure.
    public var isCancellation: Bool {
        guard case .transport(let error) = self else { return false }
        return error.step == .cancelled
    }

    /// Whether the server refuses whatever is asked: who asks is not let in, or may not.
    public var isRefusal: Bool {
        if isAuthentication { return true }
        return switch self {
        case .server(let failure): [50, 60].contains(failure.code)
        case .http(let status, _): [403, 407].contains(status)
        default: false
        }
    }

    /// Whether the server does not accept who asks: wrong or expired credentials (40, 41, 42, 44). Asking again may lock
    /// the account.
    public var isAuthentication: Bool {
        switch self {
        case .server(let failure): [40, 41, 42, 43, 44].contains(failure.code)
        case .http(let status, _): status == 401
        default: false
        }
    }
}
