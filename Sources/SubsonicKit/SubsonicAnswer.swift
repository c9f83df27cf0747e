/// Tells Subsonic's errors from data, whatever format and status they come with.
public enum SubsonicAnswer {
    /// Enough of a body for `mediaError`.
    public static let bytesForMediaError = 4096

    /// What is wrong with the answer to a media request (`stream`, `download`, `getCoverArt`), or nil when it is media.
    ///
    /// Servers answer errors with status 200 and JSON, XML or a web page in place of the sound.
    /// - Parameter start: the body's first bytes, `bytesForMediaError` or all.
    public static func mediaError(_ head: HTTPHead, start: [UInt8]) -> SubsonicError? {
        if head.status == 200 || head.status == 206 {
            switch Form(start) {
            case .json: return failure(in: start) ?? .decoding("JSON came in place of data")
            case .xml: return failure(in: start) ?? .decoding("XML came in place of data")
            case .html: return .decoding("A web page came in place of data")
            case .other: break
            }
            let type = mediaType(head)
            if type == "application/json" || type == "text/json" || type == "text/html" || type == "text/xml"
                || type == "application/xml"
            {
                return .decoding("\(type) came in place of data")
            }
            return nil
        }
        return failure(in: start) ?? .http(status: head.status, retryAfter: retryAfter(head))
    }

    /// The answer to a method that returns an object.
    static func envelope(_ response: HTTPResponse) throws(SubsonicError) -> Envelope {
        let status = response.head.status
        let isWell = (200..<300).contains(status)
        let form = Form(response.body)
        let envelope: Envelope
        do {
            envelope = try Envelope(response.body)
        } catch {
            if let failure = xmlFailure(response.body, form) { throw failure }
            guard isWell else { throw .http(status: status, retryAfter: retryAfter(response.head)) }
            switch form {
            case .html:
                throw .decoding("A web page came in place of an answer; is this the address of a Subsonic server?")
            case .xml: throw .decoding("XML came in place of JSON")
            case .json, .other: throw .decoding(error.description)
            }
        }
        if let failure = envelope.failure {
            // Too much asked or broken behind: the status says more about what to do than the words in the body.
            guard SubsonicError.isTransient(status: status) else { throw .server(failure) }
            throw .http(status: status, retryAfter: retryAfter(response.head))
        }
        guard isWell else { throw .http(status: status, retryAfter: retryAfter(response.head)) }
        return envelope
    }

    // MARK: Inner

    /// What a body looks like.
    private enum Form {
        case json, xml, html, other

        init(_ bytes: [UInt8]) {
            var rest = bytes.prefix(SubsonicAnswer.bytesForMediaError)
            if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
            rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
            let start = String(decoding: rest.prefix(512), as: UTF8.self).lowercased()
            if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") {
                self = .html
            } else if start.hasPrefix("<subsonic-response")
                || (start.hasPrefix("<?xml") && start.contains("<subsonic-response"))
            {
                self = .xml
            } else if start.hasPrefix("{"), start.contains("\"subsonic-response\"") || start.contains("\"status\"") {
                self = .json
            } else {
                self = .other
            }
        }
    }

    /// How long the server wants to be left alone; only the form in seconds is read, the other is a date.
    private static func retryAfter(_ head: HTTPHead) -> Duration? {
        guard let seconds = head.value(of: "retry-after").flatMap({ UInt32($0) }) else { return nil }
        return .seconds(Int64(seconds))
    }

    /// The content type without parameters, in lower case.
    private static func mediaType(_ head: HTTPHead) -> String {
        let value = head.value(of: "content-type") ?? ""
        return String(value.prefix { $0 != ";" && $0 != " " }).lowercased()
    }

    private static func failure(in body: [UInt8]) -> SubsonicError? {
        if let failure = try? Envelope(body).failure { return .server(failure) }
        return xmlFailure(body, Form(body))
    }

    /// Reads `<error code="40" message="…"/>`: what comes from servers that see an error before they see `f=json`.
    private static func xmlFailure(_ body: [UInt8], _ form: Form) -> SubsonicError? {
        guard form == .xml else { return nil }
        let text = String(decoding: body.prefix(bytesForMediaError), as: UTF8.self)
        let pieces = text.split(separator: "<")
        guard pieces.contains(where: { $0.hasPrefix("subsonic-response") && $0.contains("\"failed\"") }),
            let error = pieces.first(where: { $0.hasPrefix("error") })
        else { return nil }
        let code = attribute("code", of: error).flatMap { Int($0) } ?? 0
        let message = attribute("message", of: error) ?? ""
        return .server(ServerFailure(code: code, message: message.isEmpty ? "error \(code)" : message))
    }

    private static func attribute(_ name: String, of element: Substring) -> String? {
        let parts = element.split(separator: "\"", omittingEmptySubsequences: false)
        // Names stand at even places, values at odd ones.
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let key = parts[index].split(whereSeparator: { $0.isWhitespace || $0 == "=" }).last
            if key.map(String.init) == name { return unescaped(parts[index + 1]) }
        }
        return nil
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let amp = rest.firstIndex(of: "&") {
            result += rest[..<amp]
            rest = rest[rest.index(after: amp)...]
            guard let end = rest.firstIndex(of: ";"), let character = entity(rest[..<end]) else {
                result += "&"
                continue
            }
            result.append(character)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func entity(_ name: Substring) -> Character? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return value.flatMap(Unicode.Scalar.init).map(Character.init)
        }
    }
}
