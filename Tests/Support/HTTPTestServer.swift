import CLinux
import Glibc
import Synchronization

/// A real HTTP/1.1 server on loopback that answers what a closure says; a thread for each connection, keep-alive.
///
/// The closure runs on the connection's thread and may block it, best on a gate of `makeGate()`, which `stop` opens.
public final class HTTPTestServer: Sendable {
    public typealias Handler = @Sendable (HTTPTestRequest) -> HTTPTestResponse

    private struct State {
        var requests: [HTTPTestRequest] = []
        var connections: [Int32: Int] = [:]
        var connectionCount = 0
        var threads: [TestThread] = []
        var gates: [TestGate] = []
        var isStopping = false
    }

    public let port: Int
    /// `http://address:port`
    public let url: String
    private let listener: Int32
    private let handler: Handler
    private let state = Mutex(State())

    /// Listens on a free port of `address` ("127.0.0.1" or "::1"); nil when that cannot be.
    public init?(address: String = "127.0.0.1", _ handler: @escaping Handler) {
        guard let (descriptor, port) = LoopbackSocket.listen(on: address, backlog: 64) else { return nil }
        listener = descriptor
        self.port = port
        url = address.contains(":") ? "http://[\(address)]:\(port)" : "http://\(address):\(port)"
        self.handler = handler
        if let thread = TestThread({ [self] in acceptAll() }) { state.withLock { $0.threads.append(thread) } }
    }

    /// The requests so far.
    public var requests: [HTTPTestRequest] { state.withLock { $0.requests } }
    /// Connections accepted so far.
    public var connectionCount: Int { state.withLock { $0.connectionCount } }
    /// Connections that are open now.
    public var openConnections: Int { state.withLock { $0.connections.count } }

    /// A gate that is opened by `stop` at the latest.
    public func makeGate() -> TestGate {
        let gate = TestGate()
        state.withLock { state in
            state.gates.append(gate)
            if state.isStopping { gate.open() }
        }
        return gate
    }

    /// Ends all connections and threads. Call it in the test's `defer`.
    public func stop() {
        let threads = state.withLock { state -> [TestThread]? in
            // Only once: after that the listener's number may be somebody else's.
            if state.isStopping { return nil }
            defer { state.threads = [] }
            state.isStopping = true
            for gate in state.gates { gate.open() }
            for descriptor in state.connections.keys { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return state.threads
        }
        guard let threads else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        // The accepting thread first: it may still add one.
        for thread in threads { thread.join() }
        let late = state.withLock { state in
            defer { state.threads = [] }
            return state.threads
        }
        for thread in late { thread.join() }
        close(listener)
    }

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            LoopbackSocket.sendAtOnce(descriptor)
            let number = state.withLock { state -> Int? in
                guard !state.isStopping else { return nil }
                state.connectionCount += 1
                state.connections[descriptor] = state.connectionCount
                return state.connectionCount
            }
            guard let number else {
                close(descriptor)
                return
            }
            if let thread = TestThread({ [self] in serve(descriptor, number) }) {
                state.withLock { $0.threads.append(thread) }
            }
        }
    }

    private func serve(_ descriptor: Int32, _ connection: Int) {
        var reader = HTTPTestReader(descriptor: descriptor)
        while var request = reader.next() {
            request.connection = connection
            let number = state.withLock { state in
                request.number = state.requests.count + 1
                state.requests.append(request)
                return request.number
            }
            request.number = number
            if !HTTPTestWriter(descriptor: descriptor).send(handler(request), isHead: request.method == "HEAD") {
                break
            }
            if request.value(of: "connection")?.lowercased() == "close" { break }
        }
        // Out of the table first, so that `stop` cannot shut down a descriptor that someone else has got meanwhile.
        state.withLock { _ = $0.connections.removeValue(forKey: descriptor) }
        close(descriptor)
    }
}

/// Listens on loopback and never accepts, with its queue full: connecting to it hangs.
public final class DeafListener: Sendable {
    public let port: Int
    private let descriptors: [Int32]

    public init?() {
        guard let (listener, port) = LoopbackSocket.listen(on: "127.0.0.1", backlog: 0) else { return nil }
        self.port = port
        // One connection fits into the queue; the others make sure of it.
        descriptors = [listener] + (0..<3).compactMap { _ in LoopbackSocket.beginConnecting(to: port) }
    }

    public var url: String { "http://127.0.0.1:\(port)" }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
