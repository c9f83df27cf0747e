/// Scheme, host and port of an absolute URL: what decides where a redirect may lead and which connections are shared.
struct HTTPOrigin: Hashable {
    /// `http` or `https`.
    var scheme: String
    /// Lower case; an IPv6 literal without its brackets.
    var host: String
    var port: Int

    /// Nil for anything but an absolute http or https URL.
    init?(_ url: String) {
        let bytes = Array(url.utf8)
        let lower = bytes.prefix(8).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        let start: Int
        if lower.starts(with: "https://".utf8) {
            (scheme, port, start) = ("https", 443, 8)
        } else if lower.starts(with: "http://".utf8) {
            (scheme, port, start) = ("http", 80, 7)
        } else {
            return nil
        }
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        var authority = bytes[start..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        var name: ArraySlice<UInt8>
        var rest: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            name = authority[(authority.startIndex + 1)..<bracket]
            rest = authority[(bracket + 1)...]
        } else {
            let colon = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            name = authority[..<colon]
            rest = authority[colon...]
        }
        if rest.first == UInt8(ascii: ":") {
            rest.removeFirst()
            if !rest.isEmpty {
                guard rest.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
                    let number = UInt16(String(decoding: rest, as: UTF8.self))
                else { return nil }
                port = Int(number)
            }
        } else if !rest.isEmpty {
            return nil
        }
        guard !name.isEmpty else { return nil }
        host = String(decoding: name.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether the host's name itself says that the peer is this machine.
    var isLoopbackName: Bool { host == "localhost" || Self.isLoopbackAddress(host) }

    /// Whether a request with credentials may be sent on to `other`: the same host, never from https to http.
    func allowsRedirect(to other: HTTPOrigin) -> Bool {
        host == other.host && (scheme == other.scheme || other.scheme == "https")
    }

    /// Whether a numeric address is a loopback one: 127.0.0.0/8, ::1, and the former mapped into IPv6.
    static func isLoopbackAddress(_ address: String) -> Bool {
        let parts = address.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4 {
            let first = parts[0].hasPrefix("::ffff:") ? parts[0].dropFirst(7) : parts[0]
            return first == "127" && parts[1...].allSatisfy { UInt8($0) != nil }
        }
        return address == "::1"
    }
}

extension HTTPOrigin: CustomStringConvertible {
    var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let standard = scheme == "https" ? 443 : 80
        return port == standard ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
