import SubsonicKit
import Synchronization

/// A transport that answers what a closure says and remembers what was asked.
final class ScriptedTransport: HTTPTransport {
    typealias Script = @Sendable (HTTPRequest, Int) throws(TransportError) -> HTTPResponse

    private let script: Script
    private let log = Mutex<[HTTPRequest]>([])

    /// - Parameter script: gets the request and its number, from 0.
    init(_ script: @escaping Script) { self.script = script }

    var requests: [HTTPRequest] { log.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let number = log.withLock { log in
            log.append(request)
            return log.count - 1
        }
        return try script(request, number)
    }

    func stream(_ request: HTTPRequest, to receiver: any HTTPReceiver) -> any HTTPTransfer {
        receiver.transferDidFinish(TransportError(.local, "no streams here"))
        return NoTransfer()
    }

    private final class NoTransfer: HTTPTransfer {
        func cancel() {}
    }
}

extension HTTPRequest {
    /// The parameters of query or form, still encoded.
    var encodedParameters: [String: String] {
        let query = form ?? String(url.split(separator: "?", maxSplits: 1).dropFirst().first ?? "")
        var result: [String: String] = [:]
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            result[String(pair[0])] = String(pair[1])
        }
        return result
    }

    /// Which way of authentication the request uses, as letters: `t`, `p`, `k`, or `-`.
    var way: String {
        let parameters = encodedParameters
        let ways = [("t", "t"), ("p", "p"), ("apiKey", "k")].filter { parameters[$0.0] != nil }.map(\.1)
        return ways.isEmpty ? "-" : ways.joined()
    }
}

extension HTTPResponse {
    static func json(_ text: String, status: Int = 200, headers: [(name: String, value: String)] = []) -> HTTPResponse {
        let all = [(name: "content-type", value: "application/json")] + headers
        return HTTPResponse(head: HTTPHead(status: status, headers: all), body: Array(text.utf8))
    }

    static let ok = json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)

    static func failed(_ code: Int, _ message: String = "no", status: Int = 200) -> HTTPResponse {
        json(
            #"{"subsonic-response":{"error":{"code":\#(code),"message":"\#(message)"},"status":"failed"}}"#,
            status: status
        )
    }
}

/// Time that stands still, waits that are noted, and chance that is always the same.
final class NotedEnvironment: Sendable {
    private let state = Mutex<[Duration]>([])
    var waits: [Duration] { state.withLock { $0 } }

    var environment: ClientEnvironment {
        let start = ContinuousClock.now
        let half: UInt64 = 1 << 63
        return ClientEnvironment(
            now: { start },
            sleep: { [self] wait in state.withLock { $0.append(wait) } },
            random: { half }
        )
    }
}
