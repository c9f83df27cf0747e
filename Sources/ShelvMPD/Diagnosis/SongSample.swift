import SubsonicKit
import Synchronization

/// Fetches the beginning of a song, only to see that it comes.
enum SongSample {
    /// Returns whether what came is the part that was asked for.
    @discardableResult
    static func fetch(_ request: HTTPRequest, from transport: CurlTransport) async throws(SubsonicError) -> Bool {
        let taster = Taster()
        let result = await withCheckedContinuation { continuation in
            taster.wait(continuation)
            _ = transport.stream(request, to: taster)
        }
        let (head, bytes) = try result.get()
        if let error = SubsonicAnswer.mediaError(head, start: bytes) { throw error }
        if bytes.isEmpty { throw .decoding("the answer is empty") }
        return head.status == 206
    }

    private typealias Taste = Result<(HTTPHead, [UInt8]), SubsonicError>

    private final class Taster: HTTPReceiver {
        private struct State {
            var head: HTTPHead?
            var bytes: [UInt8] = []
            var continuation: CheckedContinuation<Taste, Never>?
        }

        private let state = Mutex(State())

        func wait(_ continuation: CheckedContinuation<Taste, Never>) {
            state.withLock { $0.continuation = continuation }
        }

        func transferDidReceive(_ head: HTTPHead) -> Bool {
            state.withLock { $0.head = head }
            return true
        }

        func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
            state.withLock { state in
                unsafe state.bytes.append(contentsOf: bytes)
                return state.bytes.count < SubsonicAnswer.bytesForMediaError
            }
        }

        func transferDidFinish(_ error: TransportError?) {
            let (continuation, taste) = state.withLock { state -> (CheckedContinuation<Taste, Never>?, Taste) in
                defer { state.continuation = nil }
                if let head = state.head, error == nil || error?.step == .cancelled {
                    return (state.continuation, .success((head, state.bytes)))
                }
                return (state.continuation, .failure(.transport(error ?? TransportError(.receive, "no answer"))))
            }
            continuation?.resume(returning: taste)
        }
    }
}
