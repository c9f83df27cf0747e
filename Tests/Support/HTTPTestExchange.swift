/// A request as `HTTPTestServer` received it.
public struct HTTPTestRequest: Sendable {
    public var method: String
    /// Without the query.
    public var path: String
    /// As sent, without the question mark.
    public var query: String
    /// Lower-case names.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Number of the connection, from 1.
    public var connection: Int
    /// Number of the request, from 1.
    public var number: Int

    public func value(of header: String) -> String? { headers.first { $0.name == header }?.value }

    /// The decoded parameters of the query and of a form, in order.
    public var parameters: [(name: String, value: String)] {
        var text = query
        if value(of: "content-type")?.hasPrefix("application/x-www-form-urlencoded") == true {
            text += (text.isEmpty ? "" : "&") + String(decoding: body, as: UTF8.self)
        }
        return text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decode(pair[0]), pair.count > 1 ? Self.decode(pair[1]) : "")
        }
    }

    public func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The start of `Range: bytes=N-`, or nil.
    public var rangeStart: Int? {
        guard let range = value(of: "range"), range.hasPrefix("bytes=") else { return nil }
        return range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).first.flatMap { Int($0) }
    }

    private static func decode(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What `HTTPTestServer` answers.
public struct HTTPTestResponse: Sendable {
    /// How the length of the body is told.
    public enum Framing: Sendable { case length, chunked, untilClose }

    /// One thing that is done while sending the body.
    public enum Step: Sendable {
        case bytes([UInt8])
        /// Sends nothing until the gate opens.
        case wait(TestGate)
        /// Does something else, on the connection's thread.
        case act(@Sendable () -> Void)
        /// Ends the connection with a TCP reset.
        case reset
        /// Ends the connection in order, whatever was promised.
        case close
    }

    public var status: Int
    public var headers: [(name: String, value: String)]
    public var framing: Framing = .length
    public var steps: [Step]
    /// Steps before the status line: a `wait` here is a slow first byte, a `reset` an answer that never comes.
    public var stepsBefore: [Step] = []
    /// Told instead of the true length.
    public var contentLength: Int?

    public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        steps = [.bytes(body)]
    }

    public static func json(_ text: String, status: Int = 200) -> HTTPTestResponse {
        HTTPTestResponse(status: status, headers: [("Content-Type", "application/json")], body: Array(text.utf8))
    }

    public static func html(_ text: String, status: Int = 200) -> HTTPTestResponse {
        HTTPTestResponse(status: status, headers: [("Content-Type", "text/html")], body: Array(text.utf8))
    }

    public static func redirect(to location: String, status: Int = 302) -> HTTPTestResponse {
        HTTPTestResponse(status: status, headers: [("Location", location)], body: Array("elsewhere".utf8))
    }

    /// `bytes` as a static file: 206 for `Range: bytes=N-`, 416 beyond the end.
    public static func file(
        _ bytes: [UInt8],
        for request: HTTPTestRequest,
        type: String = "audio/flac"
    ) -> HTTPTestResponse {
        var headers = [("Content-Type", type), ("Accept-Ranges", "bytes"), ("ETag", "\"fixed\"")]
        guard let start = request.rangeStart else { return HTTPTestResponse(headers: headers, body: bytes) }
        guard start >= 0, start < bytes.count else {
            headers = [("Content-Range", "bytes */\(bytes.count)")]
            return HTTPTestResponse(status: 416, headers: headers)
        }
        headers.append(("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"))
        return HTTPTestResponse(status: 206, headers: headers, body: Array(bytes[start...]))
    }

    /// The same answer, with `step` carried out after the first `count` bytes of the body.
    public func interrupted(after count: Int, by step: Step) -> HTTPTestResponse {
        var copy = self
        copy.contentLength = contentLength ?? length
        var left = count
        var result: [Step] = []
        var isDone = false
        for old in steps {
            guard !isDone, case .bytes(let bytes) = old else {
                result.append(old)
                continue
            }
            if bytes.count < left {
                left -= bytes.count
                result.append(old)
            } else {
                result += [.bytes(Array(bytes[..<left])), step, .bytes(Array(bytes[left...]))]
                isDone = true
            }
        }
        copy.steps = result
        return copy
    }

    /// Bytes in all steps.
    var length: Int {
        steps.reduce(0) { sum, step in
            if case .bytes(let bytes) = step { sum + bytes.count } else { sum }
        }
    }
}
