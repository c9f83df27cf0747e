/// What may be shown of an address.
enum Redaction {
    /// `url` without its query, fragment, and user name with password.
    static func url(_ url: String) -> String {
        var bytes = Array(url.utf8)
        if let end = bytes.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
            bytes.removeSubrange(end...)
        }
        let start = authorityStart(of: bytes)
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        // The last "@" of the authority: a password with an unescaped "@" must not show half of itself.
        if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            bytes.removeSubrange(start...at)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Index after `scheme://`, or the start where there is no scheme.
    private static func authorityStart(of bytes: [UInt8]) -> Int {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") })
        else { return bytes.startIndex }
        return colon + 3
    }
}
