/// Playlists with tags: XSPF, which is XML, and ASX, which looks like it and often is not well-formed.
enum PlaylistMarkup {
    static func xspf(_ text: String) -> [RemotePlaylist.RawRow] {
        var rows: [RemotePlaylist.RawRow] = []
        var row: RemotePlaylist.RawRow?
        for piece in pieces(of: text) {
            switch piece.tag {
            case "track": row = RemotePlaylist.RawRow(uri: "")
            case "location" where row?.uri.isEmpty == true: row?.uri = piece.text ?? ""
            case "title": row?.title = piece.text
            // In milliseconds.
            case "duration":
                row?.duration = piece.text.flatMap { Int64($0) }.flatMap { $0 > 0 ? .milliseconds($0) : nil }
            case "/track":
                if let row, !row.uri.isEmpty { rows.append(row) }
                row = nil
            default: break
            }
        }
        return rows
    }

    static func asx(_ text: String) -> [RemotePlaylist.RawRow] {
        var rows: [RemotePlaylist.RawRow] = []
        var title: String?
        var isInEntry = false
        for piece in pieces(of: text) {
            switch piece.tag {
            case "entry":
                isInEntry = true
                title = nil
            case "/entry": isInEntry = false
            // The title may stand before the reference or behind it.
            case "title" where isInEntry:
                title = piece.text
            case "ref":
                if let uri = piece.attributes["href"] { rows.append(RemotePlaylist.RawRow(uri: uri, title: title)) }
            default: break
            }
        }
        return rows
    }

    /// A tag, in lower case and with its slash, and the text behind it.
    private struct Piece {
        var tag: String
        var attributes: [String: String]
        var text: String?
    }

    private static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            rest = rest[start...].dropFirst()
            if rest.hasPrefix("![CDATA[") {
                rest = rest.dropFirst("![CDATA[".count)
                let end = rest.firstRange(of: "]]>")
                if let last = pieces.indices.last {
                    pieces[last].text = M3U.trimmed(rest[..<(end?.lowerBound ?? rest.endIndex)])
                }
                rest = rest[(end?.upperBound ?? rest.endIndex)...]
                continue
            }
            guard let end = rest.firstIndex(of: ">") else { break }
            let head = rest[..<end]
            rest = rest[end...].dropFirst()
            let name = head.prefix { !$0.isWhitespace }.lowercased()
            pieces.append(
                Piece(
                    tag: name.count > 1 && name.hasSuffix("/") ? String(name.dropLast()) : name,
                    attributes: attributes(of: head.drop { !$0.isWhitespace }),
                    text: M3U.trimmed(rest.prefix { $0 != "<" }).map(unescaped)
                )
            )
        }
        return pieces
    }

    private static func attributes(of text: Substring) -> [String: String] {
        var attributes: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = M3U.trimmed(rest[..<equals])?.split { $0.isWhitespace }.last?.lowercased() ?? ""
            rest = rest[rest.index(after: equals)...].drop { $0.isWhitespace }
            guard let quote = rest.first, quote == "\"" || quote == "'" else {
                let value = rest.prefix { !$0.isWhitespace && $0 != "/" }
                attributes[name] = unescaped(String(value))
                rest = rest.dropFirst(value.count)
                continue
            }
            let value = rest.dropFirst().prefix { $0 != quote }
            attributes[name] = unescaped(String(value))
            rest = rest[value.endIndex...].dropFirst()
        }
        return attributes
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(12).firstIndex(of: ";"),
                let character = entity(rest[rest.index(after: rest.startIndex)..<end])
            else {
                result.append(rest.removeFirst())
                continue
            }
            result.unicodeScalars.append(character)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func entity(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": "&"
        case "lt": "<"
        case "gt": ">"
        case "quot": "\""
        case "apos": "'"
        default:
            if name.hasPrefix("#x") || name.hasPrefix("#X") {
                UInt32(name.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
            } else if name.hasPrefix("#") {
                UInt32(name.dropFirst()).flatMap { Unicode.Scalar($0) }
            } else {
                nil
            }
        }
    }
}
