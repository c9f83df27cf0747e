/// The URL of a remote stream that the player may open, as a client or a playlist names it.
///
/// Only addresses of the network get through: nothing here can lead to a local file or to one of libmpv's own schemes.
public struct StreamAddress: Sendable, Hashable, CustomStringConvertible {
    /// What can be played, in the order of `urlhandlers`. MMS and others that FFmpeg knows are left out: no server that
    /// speaks them was there to try.
    public static let schemes = ["http", "https", "rtmp", "rtsp"]

    /// As it was given.
    public let text: [UInt8]

    /// Nil where the scheme is none of `schemes`, in any case of letters.
    public init?(_ text: some Collection<UInt8>) {
        let text = Array(text)
        guard Self.schemes.contains(where: { Self.has(text, scheme: $0) }) else { return nil }
        self.text = text
    }

    /// Whether it can be asked by HTTP.
    public var isHTTP: Bool { ["http", "https"].contains { Self.has(text, scheme: $0) } }

    /// What FFmpeg may use to open it, by its names of protocols. The file system is in none of these lists.
    var protocols: String {
        if isHTTP { return "http,https,tcp,tls,httpproxy,crypto,hls" }
        return Self.has(text, scheme: "rtsp") ? "rtsp,rtp,udp,tcp" : "rtmp,tcp"
    }

    private static func has(_ text: [UInt8], scheme: String) -> Bool {
        let prefix = Array("\(scheme)://".utf8)
        return text.count >= prefix.count && zip(prefix, text).allSatisfy { $0 == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    /// In the form in which it is sent: the scheme in lower case; what may not stand in a URL, percent-encoded; without a
    /// fragment.
    public var url: String {
        var escaped: [UInt8] = []
        var isInScheme = true
        for byte in text.prefix(while: { $0 != UInt8(ascii: "#") }) {
            if byte == UInt8(ascii: ":") { isInScheme = false }
            if byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{|}".utf8.contains(byte) {
                escaped.append(UInt8(ascii: "%"))
                escaped.append(Self.digit(byte >> 4))
                escaped.append(Self.digit(byte & 15))
            } else {
                escaped.append(isInScheme ? Self.lowercased(byte) : byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    /// Bytes of the host's name, with user, password and port, if it has them.
    private static func authority(of text: [UInt8]) -> Range<Int>? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = colon + 3
        let end = text[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        return start..<end
    }

    /// A URL without user and password. What is no URL stays as it is.
    ///
    /// The last `@` of the authority counts: of a password with a bare `@` no half may be shown.
    public static func withoutCredentials(_ text: [UInt8]) -> [UInt8] {
        guard let authority = authority(of: text), let at = text[authority].lastIndex(of: UInt8(ascii: "@")) else {
            return text
        }
        return Array(text[..<authority.lowerBound] + text[(at + 1)...])
    }

    /// A line of text in which no address shows its user, password or query.
    static func withoutSecrets(_ line: String) -> String {
        guard line.contains("://") else { return line }
        return line.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.contains("://") else { return String(word) }
            let text = withoutCredentials(Array(word.utf8)).prefix { $0 != UInt8(ascii: "?") }
            return String(decoding: text, as: UTF8.self)
        }.joined(separator: " ")
    }

    /// For messages: without user and password, and without the query, where tokens stand.
    public var description: String {
        let shown = Self.withoutCredentials(text).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return String(decoding: shown.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self)
    }
}
