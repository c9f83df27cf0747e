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

    /// A text from elsewhere, as a server or libcurl says it, without what it may repeat of ours: user and password of an
    /// address, and the parameters that make a request ours. A token with its salt is as good as the password.
    static func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if let end = userInfoEnd(in: bytes, at: index) {
                result += Array("://***".utf8)
                index = end
            } else if let value = secretValue(in: bytes, at: index) {
                result += bytes[index..<value.lowerBound] + Array("***".utf8)
                index = value.upperBound
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Where the `@` behind user and password stands, if `://` begins here. The last one before a blank: a password may
    /// hold some, and a slash.
    private static func userInfoEnd(in bytes: [UInt8], at index: Int) -> Int? {
        guard bytes[index...].starts(with: "://".utf8) else { return nil }
        let end = bytes[index...].firstIndex { $0 <= 0x20 } ?? bytes.endIndex
        return bytes[index..<end].lastIndex(of: UInt8(ascii: "@"))
    }

    /// Where the value is, if a parameter that is a secret begins here: in a query, also an encoded one, or in JSON.
    private static func secretValue(in bytes: [UInt8], at index: Int) -> Range<Int>? {
        if index > 0, isWord(bytes[index - 1]), !bytes[..<index].suffix(3).elementsEqual("%26".utf8) { return nil }
        let names = ["t", "s", "p", "apiKey", "apikey", "jwt", "token", "salt", "password"]
        for name in names where bytes[index...].starts(with: name.utf8) {
            var start = index + name.utf8.count
            let separators = ["=", "%3D", "%3d", "\":\"", "\": \""]
            guard let separator = separators.first(where: { bytes[start...].starts(with: $0.utf8) }) else { continue }
            start += separator.utf8.count
            var end = start
            while end < bytes.endIndex, !isEnd(bytes[end]), !bytes[end...].starts(with: "%26".utf8) { end += 1 }
            return end > start ? start..<end : nil
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }

    private static func isEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || "&\"'<>,;)}".utf8.contains(byte) }

    /// Index after `scheme://`, or the start where there is no scheme.
    private static func authorityStart(of bytes: [UInt8]) -> Int {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") })
        else { return bytes.startIndex }
        return colon + 3
    }
}
