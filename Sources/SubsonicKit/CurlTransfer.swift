internal import Synchronization

/// A transfer as its owner sees it; the transport's thread keeps the rest (`CurlActiveTransfer`).
final class CurlTransfer: HTTPTransfer {
    let request: HTTPRequest
    /// Nil when the request's address is none that can be asked.
    let origin: HTTPOrigin?
    let receiver: any HTTPReceiver
    /// Whether the body may come compressed and is capped: false for media, whose bytes have positions.
    let isWhole: Bool
    private let mailbox: CurlMailbox
    private let cancelled = Atomic(false)

    init(_ request: HTTPRequest, receiver: any HTTPReceiver, isWhole: Bool, mailbox: CurlMailbox) {
        self.request = request
        origin = HTTPOrigin(request.url)
        self.receiver = receiver
        self.isWhole = isWhole
        self.mailbox = mailbox
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        // An unstarted transfer is not known to the thread yet; it looks at the flag when it starts.
        guard !cancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = mailbox.post(.cancel(self))
    }

    /// Hands the transfer to the transport's thread. False when the transport is shut down.
    func start() -> Bool { mailbox.post(.start(self)) }
}

/// Collects one whole answer for `CurlTransport.send`.
final class CurlCollector: HTTPReceiver {
    private struct State {
        var head: HTTPHead?
        var body: [UInt8] = []
        var continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>?
    }

    private let state = Mutex(State())

    /// Who waits for the answer; set once, before the transfer starts.
    func setContinuation(_ continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    func transferDidReceive(_ head: HTTPHead) -> Bool {
        // Room for an uncompressed body of honest length; a wrong length costs nothing but growing.
        let length = head.value(of: "content-length").flatMap { Int($0) } ?? 0
        state.withLock { state in
            state.head = head
            state.body.reserveCapacity(min(max(length, 0), 1 << 20))
        }
        return true
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            unsafe state.body.append(contentsOf: bytes)
        }
        return true
    }

    func transferDidFinish(_ error: TransportError?) {
        let (continuation, result) = state.withLock { state in
            let continuation = state.continuation
            state.continuation = nil
            let result: Result<HTTPResponse, TransportError>
            if let error {
                result = .failure(error)
            } else if let head = state.head {
                result = .success(HTTPResponse(head: head, body: state.body))
            } else {
                result = .failure(TransportError(.receive, "no answer"))
            }
            state.body = []
            return (continuation, result)
        }
        continuation?.resume(returning: result)
    }
}
