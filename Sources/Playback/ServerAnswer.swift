import SubsonicKit

/// What the head of an answer to a request for audio means.
indirect enum ServerAnswer: Equatable, Sendable {
    /// Audio from `offset` on; `total` is the length of the whole file where the head tells it.
    case audio(offset: Int64, total: Int64?)
    /// The media type says text: the first byte decides between an error document and audio.
    case doubtful(offset: Int64, total: Int64?)
    /// The server does not send the range; `total` is the file's length if it said so.
    case rangeRefused(total: Int64?)
    /// May pass: try again, not before `after`.
    case retry(String, after: Duration?)
    /// The server fails, at this song or at all: may pass, unless it is well otherwise.
    case broken(String)
    /// The server does not give this song, or lets nobody in: may pass, unless it is well otherwise, or says so to all. The
    /// failure is what it means where nobody can tell.
    case denied(PlaybackFailure)
    /// A document comes that may say more than its status, which means this.
    case explained(ServerAnswer)
    /// Final for this song.
    case failed(PlaybackFailure)

    /// What a server says that is there but fails; the others of this kind say that it is away or busy.
    private static let ownFailures = [500, 501, 505, 506, 507, 508, 510, 511]

    /// - Parameter rangeStart: as in the request; nil when it asked for the whole file.
    init(_ head: HTTPHead, rangeStart: Int64?) {
        let type = (head.value(of: "content-type") ?? "").lowercased()
        let isDoubtful =
            type.hasPrefix("text/") || type.hasPrefix("application/json") || type.hasPrefix("application/xml")
            || type.contains("+json") || type.contains("+xml")
        switch head.status {
        case 200:
            // With a coded body the length is that of the code, so it says nothing.
            let isCoded = (head.value(of: "content-encoding") ?? "identity") != "identity"
            let length = isCoded ? nil : head.value(of: "content-length").flatMap { Self.length($0[...]) }
            if length == 0 {
                self = .broken(Self.emptiness)
            } else {
                self = isDoubtful ? .doubtful(offset: 0, total: length) : .audio(offset: 0, total: length)
            }
        case 206:
            let (start, total) = Self.contentRange(head.value(of: "content-range") ?? "")
            guard let start = start ?? rangeStart, start <= rangeStart ?? 0 else {
                self = .rangeRefused(total: nil)
                return
            }
            self = isDoubtful ? .doubtful(offset: start, total: total) : .audio(offset: start, total: total)
        case 400 where rangeStart != nil, 416:
            self = .rangeRefused(total: Self.contentRange(head.value(of: "content-range") ?? "").total)
        case 401, 407:
            self = Self.refusal(.failed(.transport("the server refuses access (HTTP \(head.status))")), isDoubtful)
        case 403, 451:
            self = Self.refusal(.denied(.transport("the server refuses access (HTTP \(head.status))")), isDoubtful)
        case 404, 410:
            let message = "the server does not have this song any more (HTTP \(head.status))"
            self = Self.refusal(.denied(.permanent(message)), isDoubtful)
        case 408, 425, 429, 500...599:
            let message = "the server answers with HTTP \(head.status)"
            let seconds = head.value(of: "retry-after").flatMap { Self.length($0[...]) }
            if seconds == nil, Self.ownFailures.contains(head.status) {
                self = .broken(message)
            } else {
                self = .retry(message, after: seconds.map { .seconds(min($0, 60)) })
            }
        default:
            let message = "the server answers with HTTP \(head.status)"
            self = Self.refusal(.denied(.permanent(message)), isDoubtful)
        }
    }

    /// A proxy whose server has gone says so, and a transcoder that cannot start.
    static let emptiness = "the server sends an empty file"

    private static func refusal(_ answer: ServerAnswer, _ hasDocument: Bool) -> ServerAnswer {
        hasDocument ? .explained(answer) : answer
    }

    /// `bytes 5-9/10`, `bytes */10`, `bytes 5-9/*`; nil for what isn't told.
    private static func contentRange(_ text: String) -> (start: Int64?, total: Int64?) {
        guard text.hasPrefix("bytes") else { return (nil, nil) }
        let parts = text.dropFirst(5).drop { $0 == " " || $0 == "=" }
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (nil, nil) }
        let start = parts[0].split(separator: "-", omittingEmptySubsequences: false).first.flatMap(length)
        return (start, length(parts[1]))
    }

    /// A plain decimal number that a file length can be.
    private static func length(_ text: Substring) -> Int64? {
        guard let value = Int64(text), 0...(1 << 50) ~= value else { return nil }
        return value
    }
}

/// Finds out what a document means that came instead of audio.
enum ErrorDocument {
    /// A document that begins with this byte is no audio; nil while only white space has come.
    static func isText(_ bytes: [UInt8]) -> Bool? {
        // A byte order mark may stand before either.
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let first = body.first(where: { $0 != 0x20 && !(0x09...0x0D ~= $0) }) else { return nil }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "<")
    }

    /// A Subsonic error in JSON or XML, or some other page.
    /// - Parameter status: what the status means; then only what is certainly Subsonic's says more.
    static func judge(_ bytes: [UInt8], status: ServerAnswer? = nil) -> ServerAnswer {
        if let status, !holds("subsonic-response", bytes) { return status }
        guard let code = number(after: "code", in: bytes) else {
            return status ?? .broken("the server sends a page instead of audio")
        }
        let said = text(after: "message", in: bytes).map { ": \($0)" } ?? ""
        switch code {
        case 40...44, 50, 60:
            return .failed(.transport("the server refuses access (error \(code)\(said))"))
        case 70:
            return .failed(.permanent("the server does not have this song any more (error 70\(said))"))
        default:
            // Most say nothing of the song: 0 is said of a busy database, too, and 30 of a server that is too old.
            return .broken("the server answers with error \(code)\(said)")
        }
    }

    private static func holds(_ word: String, _ bytes: [UInt8]) -> Bool {
        let word = Array(word.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: word) }
    }

    /// The number behind `"name": ` or `name="`.
    private static func number(after name: String, in bytes: [UInt8]) -> Int? {
        guard let value = value(after: name, in: bytes) else { return nil }
        let digits = value.prefix { 0x30...0x39 ~= $0 }.prefix(6)
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The quoted text behind a name, printable and cut to a line's length.
    private static func text(after name: String, in bytes: [UInt8]) -> String? {
        guard let value = value(after: name, in: bytes) else { return nil }
        let raw = String(decoding: value.prefix { $0 != 0x22 && $0 != 0x5C }.prefix(200), as: UTF8.self)
        let clean = String(raw.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.map(Character.init))
        return clean.isEmpty ? nil : clean
    }

    private static func value(after name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let name = Array(name.utf8)
        var position = bytes.startIndex
        while position + name.count < bytes.endIndex {
            defer { position += 1 }
            guard bytes[position...].starts(with: name) else { continue }
            // `"code": 70`, `"code":"70"`, `code="70"`: up to here only punctuation.
            let rest = bytes[(position + name.count)...]
            let value = rest.drop { $0 == 0x22 || $0 == 0x20 || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }
            if value.startIndex > rest.startIndex, !value.isEmpty { return value }
        }
        return nil
    }
}
