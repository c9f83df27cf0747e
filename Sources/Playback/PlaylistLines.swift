/// M3U: an address on each line, and comments of which some say something.
enum M3U {
    /// Whether it is an HLS playlist.
    static func isSegmented(_ text: String) -> Bool {
        lines(of: text).contains { line in
            ["#EXT-X-TARGETDURATION", "#EXT-X-STREAM-INF", "#EXT-X-MEDIA-SEQUENCE"].contains { line.hasPrefix($0) }
        }
    }

    static func rows(of text: String) -> [RemotePlaylist.RawRow] {
        var rows: [RemotePlaylist.RawRow] = []
        var title: String?
        var duration: Duration?
        for line in lines(of: text) {
            if line.hasPrefix("#EXTINF:") {
                let parts = line.dropFirst("#EXTINF:".count).split(
                    separator: ",",
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                // Between the number and the comma there may be attributes.
                duration = parts.first?.split(separator: " ").first.flatMap { seconds($0) }
                title = parts.count > 1 ? trimmed(parts[1]) : nil
            } else if line.hasPrefix("#EXTVLCOPT") || line.hasPrefix("#") {
                continue
            } else {
                rows.append(RemotePlaylist.RawRow(uri: line, title: title, duration: duration))
                title = nil
                duration = nil
            }
        }
        return rows
    }

    /// Lines without the spaces around them; empty ones are left out.
    static func lines(of text: String) -> some Sequence<String> {
        text.split { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }.lazy.compactMap { trimmed($0) }
    }

    /// A text without the spaces around it; nil when nothing is left.
    static func trimmed(_ text: some StringProtocol) -> String? {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(start[...last])
    }

    /// A length in seconds; nil for none, and for -1, which means that there is no end.
    static func seconds(_ text: some StringProtocol) -> Duration? {
        guard let seconds = Double(String(text)), seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }
}

/// PLS, and the similar form of ASX: `File1=…`, `Title1=…`, numbered in any order.
enum PLS {
    /// - Parameter keys: what stands before the numbers, in lower case; an empty one is not looked for.
    static func rows(
        of text: String,
        keys: (uri: String, title: String, length: String)
    ) -> [RemotePlaylist.RawRow] {
        var rows: [Int: RemotePlaylist.RawRow] = [:]
        for line in M3U.lines(of: text) {
            guard let equals = line.firstIndex(of: "="), let value = M3U.trimmed(line[line.index(after: equals)...])
            else { continue }
            let key = line[..<equals].lowercased().filter { $0 != " " }
            if let number = number(in: key, after: keys.uri) {
                rows[number, default: RemotePlaylist.RawRow(uri: "")].uri = value
            } else if let number = number(in: key, after: keys.title) {
                rows[number, default: RemotePlaylist.RawRow(uri: "")].title = value
            } else if let number = number(in: key, after: keys.length) {
                rows[number, default: RemotePlaylist.RawRow(uri: "")].duration = M3U.seconds(value)
            }
        }
        return rows.sorted { $0.key < $1.key }.map(\.value).filter { !$0.uri.isEmpty }
    }

    private static func number(in key: String, after prefix: String) -> Int? {
        guard !prefix.isEmpty, key.hasPrefix(prefix) else { return nil }
        return Int(key.dropFirst(prefix.count))
    }
}
