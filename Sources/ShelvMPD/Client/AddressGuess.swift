/// Addresses that may be meant by what a user typed, best first.
struct AddressGuess: Sendable, Equatable {
    /// Absolute, without `/rest`.
    var addresses: [String]
    /// What stood before an `@`: a user's name and a password belong into options of their own.
    var user: String?
    var password: String?

    /// Ports of Navidrome, gonic, Airsonic and Subsonic, LMS, supysonic; and what is often used in front of them.
    private static let ports = ["4533", "4747", "4040", "5082", "5722", "8080", "8443"]
    /// Where servers are below a host.
    static let paths = [
        "/navidrome", "/music", "/airsonic", "/subsonic", "/ampache", "/api/subsonic", "/index.php/apps/music/subsonic",
        "/nextcloud/index.php/apps/music/subsonic",
    ]

    /// Nil for what has no host.
    init?(_ text: String) {
        var rest = Substring(text.trimmingBlanks())
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }
        var scheme: String?
        if let range = rest.firstRange(of: "://") {
            scheme = rest[..<range.lowerBound].lowercased()
            rest = rest[range.upperBound...]
        }
        guard scheme == nil || scheme == "http" || scheme == "https" else { return nil }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = Self.decoded(parts[0])
            if parts.count == 2 { password = Self.decoded(parts[1]) }
            authority = authority[authority.index(after: at)...]
        }
        var path = String(rest[slash...])
        while path.hasSuffix("/") { path.removeLast() }
        if path.lowercased().hasSuffix("/rest") { path.removeLast(5) }
        while path.hasSuffix("/") { path.removeLast() }
        // An IPv6 address that was written without its brackets.
        if authority.first != "[", authority.count(where: { $0 == ":" }) > 1 { authority = "[\(authority)]" }
        guard !authority.isEmpty, !authority.contains(where: { $0.isWhitespace }) else { return nil }
        let port = Self.port(of: authority)
        let host = port.map { authority.dropLast($0.utf8.count + 1) } ?? authority
        guard !host.isEmpty else { return nil }

        var places: [String] = []
        let schemes = scheme == "http" ? ["http", "https"] : ["https", "http"]
        for scheme in schemes { places.append("\(scheme)://\(authority)") }
        // A port that was written is meant.
        if port == nil {
            for port in Self.ports { for scheme in schemes { places.append("\(scheme)://\(host):\(port)") } }
        }
        addresses = places.map { $0 + path }
    }

    private static func port(of authority: Substring) -> Substring? {
        guard let colon = authority.lastIndex(of: ":"), authority.last != "]" else { return nil }
        // An IPv6 address without brackets has no port.
        if authority.first != "[", authority.firstIndex(of: ":") != colon { return nil }
        let digits = authority[authority.index(after: colon)...]
        return digits.isEmpty ? nil : digits
    }

    /// `%40` as `@`.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
