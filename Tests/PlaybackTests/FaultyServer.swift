import Glibc
import Support
import Synchronization

/// What can befall one request for a song.
enum ServerFault: String, CaseIterable, CustomStringConvertible {
    case cut, early, stall, dead, restart, redirect
    case status500 = "500"
    case status503 = "503"
    case status429 = "429"
    case status403 = "403"
    case status404 = "404"
    case errorJSON = "JSON", errorXML = "XML", errorHTML = "HTML", empty
    case noRanges = "no ranges"
    case refused = "416"
    case truncated = "416 with a shorter length"
    case longer, shorter

    var description: String { rawValue }

    /// Whether the bytes before its place come; else it befalls the whole answer.
    var isInBody: Bool { [.cut, .early, .stall, .dead, .restart, .longer].contains(self) }
}

/// A server of songs, behind a line, that does to each song's requests what is planned for them, one after another;
/// later requests are served well.
final class FaultyServer: Sendable {
    /// What befalls a request: a fault at a byte of the file.
    struct Step {
        var fault: ServerFault
        var place: Int
    }

    private struct State {
        var plans: [String: [Step]]
        /// How often the server was started: its tags of files change with it, their dates do not.
        var life = 1
        var gate: TestGate?
    }

    let proxy: CuttingProxy
    /// Where the songs are as well.
    private let elsewhere: HTTPTestServer
    private let files: [String: [UInt8]]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - files: bytes by path, as `/a`.
    ///   - server: it must answer with `answer`.
    init(files: [String: [UInt8]], plans: [String: [Step]], server: HTTPTestServer) throws {
        guard let proxy = CuttingProxy(to: server.port),
            let elsewhere = HTTPTestServer({ Self.file(files[$0.path] ?? [], for: $0, tag: "other") })
        else { throw TestFailure(description: "no port") }
        self.proxy = proxy
        self.elsewhere = elsewhere
        self.files = files
        state = Mutex(State(plans: plans))
    }

    var url: String { proxy.url }

    func stop() {
        proxy.stop()
        elsewhere.stop()
    }

    /// Has the first answer of a song wait at a byte until `gate` opens, and only then suffer what is planned.
    func hold(_ path: String, at place: Int, _ gate: TestGate) {
        state.withLock { state in
            state.gate = gate
            state.plans[path, default: []].insert(Step(fault: .stall, place: place), at: 0)
        }
    }

    func answer(_ request: HTTPTestRequest) -> HTTPTestResponse {
        let bytes = files[request.path] ?? []
        let (next, life, gate) = state.withLock { state -> (Step?, Int, TestGate?) in
            defer { state.gate = nil }
            guard let first = state.plans[request.path]?.first else { return (nil, state.life, nil) }
            state.plans[request.path]?.removeFirst()
            return (first, state.life, state.gate)
        }
        let whole = Self.file(bytes, for: request, tag: "\(life)")
        guard let next else { return whole }
        let start = request.rangeStart ?? 0
        let place = min(max(0, next.place - start), max(0, bytes.count - start))
        if let gate { return whole.interrupted(after: place, by: .wait(gate)) }
        return befall(next.fault, whole, place, bytes, request)
    }

    private static func file(_ bytes: [UInt8], for request: HTTPTestRequest, tag: String) -> HTTPTestResponse {
        var whole = HTTPTestResponse.file(bytes, for: request, type: "audio/wav")
        whole.headers.removeAll { $0.name == "ETag" }
        whole.headers += [("ETag", "\"\(tag)\""), ("Last-Modified", "Mon, 30 Nov 2026 15:00:00 GMT")]
        return whole
    }

    private func befall(
        _ fault: ServerFault,
        _ whole: HTTPTestResponse,
        _ place: Int,
        _ bytes: [UInt8],
        _ request: HTTPTestRequest
    ) -> HTTPTestResponse {
        switch fault {
        case .cut: return whole.interrupted(after: place, by: .reset)
        case .early: return whole.interrupted(after: place, by: .close)
        case .stall:
            let gate = TestGate()
            return whole.interrupted(after: place, by: .act { gate.wait(timeout: 400) })
        case .dead, .restart:
            return whole.interrupted(
                after: place,
                by: .act { [self] in
                    proxy.die()
                    if fault == .restart { state.withLock { $0.life += 1 } }
                    let gate = TestGate()
                    gate.wait(timeout: 200)
                    proxy.revive()
                }
            )
        case .redirect: return .redirect(to: "\(elsewhere.url)\(request.path)")
        case .status500: return HTTPTestResponse(status: 500)
        case .status503: return HTTPTestResponse(status: 503, headers: [("Retry-After", "0")])
        case .status429: return HTTPTestResponse(status: 429)
        case .status403: return HTTPTestResponse(status: 403)
        case .status404: return HTTPTestResponse(status: 404)
        case .errorJSON:
            return .json(#"{"subsonic-response":{"status":"failed","error":{"code":0,"message":"busy"}}}"#)
        case .errorXML:
            let text = #"<subsonic-response status="failed"><error code="0" message="busy"/></subsonic-response>"#
            return HTTPTestResponse(headers: [("Content-Type", "text/xml")], body: Array(text.utf8))
        case .errorHTML: return .html("<!DOCTYPE html><html><title>Log in</title></html>")
        case .empty: return HTTPTestResponse(headers: [("Content-Type", "audio/wav")])
        case .noRanges: return HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: bytes)
        case .refused: return HTTPTestResponse(status: 416)
        case .truncated:
            // Never the same twice: that would be the truth.
            let length = max(1, (request.rangeStart ?? 0) / 2 - request.number)
            return HTTPTestResponse(status: 416, headers: [("Content-Range", "bytes */\(length)")])
        case .longer:
            var answer = whole
            answer.contentLength = bytes.count - (request.rangeStart ?? 0) + 1000
            if request.rangeStart != nil { answer.headers.removeAll { $0.name == "Content-Range" } }
            answer.steps.append(.close)
            return answer
        case .shorter:
            var answer = whole
            let length = max(1, bytes.count - (request.rangeStart ?? 0) - 1000)
            answer.contentLength = length
            answer.steps = [.bytes(Array(bytes[(request.rangeStart ?? 0)...].prefix(length))), .close]
            return answer
        }
    }
}
