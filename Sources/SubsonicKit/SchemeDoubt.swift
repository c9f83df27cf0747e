extension TransportError {
    /// Whether the other end may speak TLS where we do not, or the other way round; as likely as not.
    ///
    /// - Parameter url: where the request went: `https://…` or `http://…`.
    public func mayWantOtherScheme(at url: String) -> Bool {
        let signs: [String]
        switch step {
        case .tls where url.hasPrefix("https:"):
            signs = [
                "wrong version number", "packet length too long", "record layer failure", "http request",
                "SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset by peer",
            ]
        case .receive where url.hasPrefix("http:"), .send where url.hasPrefix("http:"):
            signs = ["Connection reset by peer", "Empty reply", "HTTP/0.9"]
        default: return false
        }
        return signs.contains { message.contains($0) }
    }
}

extension TransportError {
    /// Whether the other end spoke TLS with us before it failed: it has shown a certificate, or told why it refuses. A
    /// connection that was cut says nothing.
    public var showsTLS: Bool {
        step == .tls && ["certificate", "alert", "subject name"].contains { message.contains($0) }
    }
}

extension ServerURL {
    /// The same place by `http` instead of `https`, or the other way round; without user name and password.
    public var withOtherScheme: ServerURL? {
        try? ServerURL(base.hasPrefix("https:") ? "http" + base.dropFirst(5) : "https" + base.dropFirst(4))
    }
}
