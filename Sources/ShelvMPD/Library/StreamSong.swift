import Library
import MPDProtocol
import Playback

/// What a queue entry plays that comes from no library: a URL, and what is known of its tags.
///
/// It is a value: with other tags it is another one, with a key of its own. So two entries of one URL have their own tags.
struct StreamSong: Hashable, Sendable {
    /// One tag. A tag may occur several times.
    struct Value: Hashable, Sendable {
        let tag: Tag
        let text: [UInt8]

        /// Nil for an empty value, which MPD passes over, too. Control characters become spaces.
        init?(_ tag: Tag, _ text: some Collection<UInt8>) {
            guard !text.isEmpty else { return nil }
            self.tag = tag
            var clean: [UInt8] = []
            // Through a text, because what is no UTF-8 must not reach a client.
            clean.appendSanitized(Array(String(decoding: text, as: UTF8.self).utf8), limit: Self.limit)
            self.text = clean
        }

        /// Such a value fits into a line of a reply with the name of any tag.
        private static let limit = 4_000
    }

    /// As the client has sent it, a password in it included.
    let uri: [UInt8]
    /// In the order in which they came.
    var tags: [Value] = []

    /// - Parameter uri: an address that `StreamAddress` takes.
    init(uri: [UInt8], tags: [Value] = []) {
        self.uri = uri
        self.tags = tags
    }

    /// What `add` is given, where that is a URL; nil where it has no scheme.
    /// - Throws: an ACK for what cannot be played.
    init?(argument: [UInt8]) throws(ACK) {
        guard Self.hasScheme(argument) else { return nil }
        guard let address = StreamAddress(argument) else { throw LibraryPath.refusal(ofURL: argument) }
        uri = address.text
    }

    /// Whether a text begins as a URL does.
    static func hasScheme(_ text: [UInt8]) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return text[colon...].starts(with: "://".utf8)
    }

    /// As replies show it: without user and password.
    var shownURI: [UInt8] { StreamAddress.withoutCredentials(uri) }
}

// MARK: Durable form

extension StreamSong {
    /// Stands where songs of a library have their server; no server's id looks like this.
    static let serverID = "url"

    /// All there is to know, as a text: the URI, then a line for each tag.
    var identity: SongIdentity {
        var text = String(decoding: uri, as: UTF8.self)
        for value in tags { text += "\n\(value.tag.name): \(String(decoding: value.text, as: UTF8.self))" }
        return SongIdentity(serverID: Self.serverID, songID: text)
    }

    /// What an identity says; nil if it is that of a library's song. Tags that cannot be read are left out.
    init?(_ identity: SongIdentity) {
        guard identity.serverID == Self.serverID else { return nil }
        let lines = Array(identity.songID.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        uri = Array(lines.first ?? [])
        tags = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let tag = Tag(name: line[..<colon]) else {
                return nil
            }
            return Value(tag, line[colon...].dropFirst(2))
        }
    }
}

// MARK: Replies

extension StreamSong {
    /// Appends the record as MPD prints it: `file:` to `duration:`, with the tags of the mask.
    ///
    /// The length of the whole is never known, but that of a part with both ends is.
    func appendRecord(mask: TagMask, part: SongPart, to output: inout [UInt8]) {
        output.append(contentsOf: "file: ".utf8)
        output.append(contentsOf: shownURI)
        output.append(UInt8(ascii: "\n"))
        if part != .whole {
            output.append(contentsOf: "Range: ".utf8)
            output.appendSeconds(milliseconds: Int64(part.start))
            output.append(UInt8(ascii: "-"))
            if part.end > 0 { output.appendSeconds(milliseconds: Int64(part.end)) }
            output.append(UInt8(ascii: "\n"))
        }
        for value in tags where mask.contains(value.tag) {
            output.append(contentsOf: value.tag.name.utf8)
            output.append(contentsOf: ": ".utf8)
            output.append(contentsOf: value.text)
            output.append(UInt8(ascii: "\n"))
        }
        if part.end > 0 {
            let duration = Int64(part.end) - Int64(min(part.start, part.end))
            output.append(contentsOf: "Time: ".utf8)
            output.appendDecimal((duration + 500) / 1000)
            output.append(contentsOf: "\nduration: ".utf8)
            output.appendSeconds(milliseconds: duration)
            output.append(UInt8(ascii: "\n"))
        }
    }
}
