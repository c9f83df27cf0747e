internal import Glibc

/// Where a server is, as its user wrote it and as requests need it.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
    /// Absolute, encoded, without user name, query, `/rest` and final slash: `https://host:4533/music`.
    public let base: String
    /// Whether the scheme was not written but chosen: `http` for this machine and local networks, else `https`.
    public let isSchemeGuessed: Bool
    /// `Basic …` for a user name and password in the URL, which are meant for a proxy in front of the server.
    let authorization: String?

    /// The address without secrets.
    public var description: String { base }

    /// Why a text is no address of a server; `description` never shows its query or password.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// Accepts a missing scheme, final slashes, `/rest` at the end, a user name with password, and IPv6 in brackets.
    ///
    /// - Throws: `Problem`, with a sentence for the user.
    public init(_ text: String) throws(Problem) {
        var rest = Substring(text)
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }

        var scheme: String?
        if let range = Self.schemeEnd(rest) {
            scheme = rest[..<range.lowerBound].lowercased()
            rest = rest[range.upperBound...]
        }
        if let scheme, scheme != "http", scheme != "https" {
            throw Problem(description: "The address starts with \"\(scheme)://\"; it must be http:// or https://")
        }

        if Self.looksLikeCutPassword(rest) {
            throw Problem(description: "In an address with user name and password, a / in the password is written %2F")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash]
        authorization = authority.lastIndex(of: "@").map { Self.basic(authority[..<$0]) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        let place = try Self.checked(authority)

        var path = rest[slash...]
        Self.dropSlashes(&path)
        if path.hasSuffix("/rest") {
            path.removeLast(5)
            Self.dropSlashes(&path)
        }

        isSchemeGuessed = scheme == nil
        let chosen = scheme ?? (Self.isLocal(place.host) ? "http" : "https")
        base = "\(chosen)://\(place.text)\(PercentEncoding.encodePath(path))"
    }

    /// Whether passwords that are meant for here may go there: the same host, and never from https to http.
    public func mayLead(to other: ServerURL) -> Bool {
        guard let here = HTTPOrigin(base), let there = HTTPOrigin(other.base) else { return false }
        return here.allowsRedirect(to: there)
    }

    /// The URL of a method, without parameters.
    static func endpoint(_ method: String, at base: String) -> String {
        "\(base)/rest/\(PercentEncoding.encode(method)).view"
    }

    /// The base of the address at which `method` was answered after redirects, or nil when it is no such address.
    static func base(ofAnswer url: String, method: String) -> String? {
        let suffix = endpoint(method, at: "")
        return url.hasSuffix(suffix) ? String(url.dropLast(suffix.count)) : nil
    }

    // MARK: Inner

    private static func schemeEnd(_ text: Substring) -> Range<Substring.Index>? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "-") })
        else { return nil }
        return colon..<text.index(colon, offsetBy: 3)
    }

    /// Whether a slash in a password has cut `user:pass/word@host` in the middle; no message may show what stands there.
    private static func looksLikeCutPassword(_ text: Substring) -> Bool {
        guard let slash = text.firstIndex(of: "/"), text[slash...].contains("@"), !text[..<slash].contains("@"),
            let colon = text[..<slash].lastIndex(of: ":")
        else { return false }
        return !text[text.index(after: colon)..<slash].allSatisfy { $0.isASCII && $0.isNumber || $0 == "]" }
    }

    private static func basic(_ userInfo: Substring) -> String {
        "Basic " + Base64.encode(Array(PercentEncoding.decode(userInfo).utf8))
    }

    private static func dropSlashes(_ path: inout Substring) {
        while path.last == "/" { path.removeLast() }
    }

    /// Checks host and port.
    private static func checked(_ authority: Substring) throws(Problem) -> (text: String, host: String) {
        guard !authority.isEmpty else { throw Problem(description: "The address has no host name") }
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }) else {
            throw Problem(description: "The host name holds a character that no host name has")
        }
        if authority.first != "[", authority.count(where: { $0 == ":" }) > 1 {
            throw Problem(description: "An IPv6 address is written in brackets: http://[::1]:4533")
        }
        guard let origin = HTTPOrigin("http://\(authority)/") else {
            throw Problem(description: "\"\(authority)\" is no host name with a port from 0 to 65535")
        }
        if authority.first == "[" {
            var address = in6_addr()
            let literal = origin.host.prefix { $0 != "%" }
            guard unsafe inet_pton(AF_INET6, String(literal), &address) == 1 else {
                throw Problem(description: "\"[\(origin.host)]\" is no IPv6 address")
            }
        }
        return (String(authority), origin.host)
    }

    /// Whether a host is likely to be this machine or one nearby, which seldom have certificates.
    private static func isLocal(_ host: String) -> Bool {
        if host.contains(":") {
            return host == "::1" || host.hasPrefix("fe80:") || host.hasPrefix("fc") || host.hasPrefix("fd")
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 1 { return true }
        let numbers = parts.compactMap { UInt8($0) }
        if parts.count == 4, numbers.count == 4 {
            switch (numbers[0], numbers[1]) {
            case (127, _), (10, _), (192, 168), (172, 16...31), (169, 254): return true
            default: return false
            }
        }
        return ["local", "lan", "home", "internal", "localhost"].contains(parts[parts.count - 1])
            || host.hasSuffix(".home.arpa")
    }
}
