import SubsonicKit
import Synchronization

/// Notes what a streamed transfer brings, and ends it where told.
final class RecordingReceiver: HTTPReceiver {
    private struct State {
        var heads: [HTTPHead] = []
        var body: [UInt8] = []
        var finishes: [TransportError?] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var waitingForBytes: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())
    private let stopsAtHead: Bool
    private let stopsAfter: Int
    private let onFinish: @Sendable () -> Void

    /// - Parameter stopsAfter: ends the transfer once there are so many bytes.
    init(
        stopsAtHead: Bool = false,
        stopsAfter: Int = .max,
        onFinish: @escaping @Sendable () -> Void = {}
    ) {
        self.stopsAtHead = stopsAtHead
        self.stopsAfter = stopsAfter
        self.onFinish = onFinish
    }

    var heads: [HTTPHead] { state.withLock { $0.heads } }
    var body: [UInt8] { state.withLock { $0.body } }
    var finishes: [TransportError?] { state.withLock { $0.finishes } }

    /// Returns when the transfer is over, with its error.
    func finish() async -> TransportError? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.finishes.isEmpty { state.waiting.append(continuation) }
                return !state.finishes.isEmpty
            }
            if isOver { continuation.resume() }
        }
        return state.withLock { $0.finishes.first ?? nil }
    }

    /// Returns when at least so many bytes have come.
    func bytes(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.body.count < count { state.waitingForBytes = (count, continuation) }
                return state.body.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func transferDidReceive(_ head: HTTPHead) -> Bool {
        state.withLock { $0.heads.append(head) }
        return !stopsAtHead
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (count, continuation) = state.withLock { state in
            unsafe state.body.append(contentsOf: bytes)
            var continuation: CheckedContinuation<Void, Never>?
            if let waiting = state.waitingForBytes, waiting.count <= state.body.count {
                continuation = waiting.continuation
                state.waitingForBytes = nil
            }
            return (state.body.count, continuation)
        }
        continuation?.resume()
        return count < stopsAfter
    }

    func transferDidFinish(_ error: TransportError?) {
        let waiting = state.withLock { state in
            state.finishes.append(error)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
        onFinish()
    }
}
