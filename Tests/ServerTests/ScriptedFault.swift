import SubsonicKit

/// What happens to a call of a scripted server instead of the usual.
enum ScriptedFault: Sendable {
    /// Nobody is there: it is not even sent.
    case unreachable
    /// It is sent, but does not arrive.
    case before
    /// It arrives, but its answer does not.
    case after
    /// It does not arrive, and is answered like this.
    case error(SubsonicError)

    /// Decides for each call, by its number from 1 and its method.
    typealias Rule = @Sendable (_ number: Int, _ method: String) -> ScriptedFault?
}

/// The calls of a scripted server: written down, and disturbed on request.
struct ScriptedCalls: Sendable {
    /// In order.
    private(set) var all: [String] = []
    var rule: ScriptedFault.Rule = { _, _ in nil }
    private var count = 0

    /// Writes a call down.
    /// - Parameter text: what is written; if not given, the method.
    /// - Returns: what happens to it.
    mutating func begin(_ method: String, noting text: String? = nil) -> ScriptedFault? {
        count += 1
        all.append(text ?? method)
        return rule(count, method)
    }

    mutating func forget() { all = [] }

    /// What the caller gets.
    /// - Parameter body: the answer of the server; nil where the connection breaks.
    static func deliver(_ body: String?, _ fault: ScriptedFault?) async throws(SubsonicError) -> Envelope {
        await Task.yield()
        let lost = SubsonicError.transport(TransportError(.receive, "lost"))
        switch fault {
        case .unreachable: throw .transport(TransportError(.connect, "refused"))
        case .before, .after: throw lost
        case .error(let error): throw error
        case nil: break
        }
        guard let body else { throw lost }
        return try Envelope(scripted: body)
    }
}

extension ScriptedFault? {
    /// Whether the call reaches the server.
    var arrives: Bool {
        switch self {
        case .after, nil: true
        case .unreachable, .before, .error: false
        }
    }
}
