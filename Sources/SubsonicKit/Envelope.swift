/// What a server said about itself in an answer.
public struct ServerInfo: Sendable, Hashable {
    /// The protocol version it speaks, such as `1.16.1`; empty if it did not say.
    public var version = ""
    /// The program, such as `navidrome`; nil on servers without OpenSubsonic.
    public var type: String?
    public var serverVersion: String?
    public var isOpenSubsonic = false

    public init(
        version: String = "",
        type: String? = nil,
        serverVersion: String? = nil,
        isOpenSubsonic: Bool = false
    ) {
        self.version = version
        self.type = type
        self.serverVersion = serverVersion
        self.isOpenSubsonic = isOpenSubsonic
    }
}

/// A server's refusal: `status` is `failed`, or an error is there.
public struct ServerFailure: Error, Sendable, Hashable {
    /// 0, 10, 20, 30, 40–44, 50, 60, 70; see the API's error table. 0 if it is missing.
    public var code: Int
    /// Never empty.
    public var message: String

    /// - Parameter message: as the server says it; what it repeats of our request is left out.
    public init(code: Int, message: String) {
        self.code = code
        // More of it is shown nowhere, and a long one of odd bytes would take long.
        self.message = Redaction.text(String(message.prefix(2000)))
    }
}

/// The outermost layer of every answer.
public struct Envelope: Sendable {
    public var server: ServerInfo
    /// Why the server refused, or nil.
    public var failure: ServerFailure?
    /// The object with the payload; empty fields if the answer has none.
    public var content: JSON

    /// Parses an answer.
    ///
    /// - Throws: `JSONError` when the bytes are no JSON; `.syntax` also when they are, but no answer of a Subsonic server.
    public init(_ bytes: [UInt8]) throws(JSONError) {
        let root = try JSON.parse(bytes)
        // Examples in documents, and one or two proxies, leave the outer name away.
        let content = root[.subsonicResponse] ?? root
        var server = ServerInfo()
        var failure: ServerFailure?
        var status: String?
        for (field, value) in content.fields {
            switch field {
            case .status: status = value.text
            case .version: server.version = value.text ?? ""
            case .type: server.type = value.text.flatMap { $0.isEmpty ? nil : $0 }
            case .serverVersion: server.serverVersion = value.text.flatMap { $0.isEmpty ? nil : $0 }
            case .openSubsonic: server.isOpenSubsonic = value.boolean ?? false
            case .error: failure = Envelope.failure(value)
            default: break
            }
        }
        guard content.kind == .object, status != nil || failure != nil else { throw .syntax(position: 0) }
        if failure == nil, status == "failed" { failure = ServerFailure(code: 0, message: "The server gave no reason") }
        // Some servers keep `status` "ok" beside warnings; only a failed status makes an error count.
        self.failure = status == "ok" ? nil : failure
        self.server = server
        self.content = content
    }

    /// supysonic wraps several failures of one `star` into an array named `error` inside `error`.
    private static func failure(_ value: JSON) -> ServerFailure? {
        if let inner = value[.error] {
            for element in inner.elements { return failure(element) }
            return nil
        }
        guard value.kind == .object else { return nil }
        let code = value[.code]?.integer.flatMap { Int(exactly: $0) } ?? 0
        let message = value[.message]?.text ?? ""
        return ServerFailure(code: code, message: message.isEmpty ? "error \(code)" : message)
    }
}
