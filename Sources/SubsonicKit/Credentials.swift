/// How the configuration wants to be known to a server.
public enum AuthenticationMode: String, Sendable, CaseIterable {
    /// The API key if there is one, else the token, and what comes next when the server says that it cannot do that.
    case auto
    case token
    case apikey
    case password
}

/// How a request says who sends it. The raw values may be stored.
public enum AuthenticationMethod: String, Sendable, CaseIterable {
    /// OpenSubsonic's `apiKey`, without a user name.
    case apikey
    /// `t` and `s`: the MD5 of password and salt.
    case token
    /// `p`: the password in hexadecimal, which protects nothing.
    case password
}

/// A user's name and secrets. Never shows the secrets in text.
public struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public let user: String
    let password: String?
    let apiKey: String?

    public init(user: String, password: String?, apiKey: String? = nil) {
        self.user = user
        self.password = password
        self.apiKey = apiKey
    }

    public var description: String { user.isEmpty ? "***" : "\(user), ***" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Text from a server with our secrets taken out, as one line of bearable length: some servers quote the request.
    func scrubbed(_ text: String) -> String {
        var result = Redaction.text(String(text.prefix(500).map { $0.isNewline ? " " : $0 }))
        for secret in [password, apiKey].compactMap({ $0 }) where !secret.isEmpty {
            for form in [Hex.encode(secret.utf8), PercentEncoding.encode(secret), secret] {
                // A secret of few letters is part of ordinary words.
                if form.count >= 4 {
                    result = result.split(separator: form, omittingEmptySubsequences: false).joined(separator: "***")
                }
            }
        }
        return result
    }

    /// The methods to try, in order, with these secrets.
    ///
    /// A password without a user name is taken for an API key, because that is how several servers call theirs.
    func methods(for mode: AuthenticationMode) -> [AuthenticationMethod] {
        let hasKey = apiKey != nil || (password != nil && user.isEmpty)
        let hasPassword = password != nil && !user.isEmpty
        switch mode {
        case .auto: return (hasKey ? [.apikey] : []) + (hasPassword ? [.token, .password] : [])
        case .apikey: return hasKey || password != nil ? [.apikey] : []
        case .token: return hasPassword ? [.token] : []
        case .password: return hasPassword ? [.password] : []
        }
    }

    /// The parameters that say who we are.
    ///
    /// - Parameter salt: fresh for each request; used by the token only.
    func parameters(
        _ method: AuthenticationMethod,
        salt: @autoclosure () -> String
    ) -> [(name: String, value: String)] {
        switch method {
        case .apikey:
            return [("apiKey", apiKey ?? password ?? "")]
        case .token:
            let salt = salt()
            // Without MD5 the server will say that the token is wrong; `SubsonicClient` has told the log why.
            let token = MD5.hexDigest(of: Array(((password ?? "") + salt).utf8)) ?? ""
            return [("u", user), ("t", token), ("s", salt)]
        case .password:
            return [("u", user), ("p", "enc:" + Hex.encode((password ?? "").utf8))]
        }
    }
}

/// A Subsonic server as the configuration describes it.
public struct SubsonicServer: Sendable, CustomStringConvertible {
    /// Made once, kept when the server is renamed.
    public var id: String
    /// What users call it.
    public var name: String
    public var url: ServerURL
    public var credentials: Credentials
    public var mode: AuthenticationMode
    /// Whether a password in clear may be sent without TLS to other machines.
    public var allowsPlainPassword: Bool
    /// Further addresses of the same server, to be tried in this order when `url` does not answer.
    public var alternatives: [ServerURL] = []
    /// What the way there needs.
    public var connection = ConnectionSettings()

    public init(
        id: String,
        name: String,
        url: ServerURL,
        credentials: Credentials,
        mode: AuthenticationMode = .auto,
        allowsPlainPassword: Bool = false
    ) {
        self.id = id
        self.name = name
        self.url = url
        self.credentials = credentials
        self.mode = mode
        self.allowsPlainPassword = allowsPlainPassword
    }

    public var description: String { "\(name) (\(url))" }
}
