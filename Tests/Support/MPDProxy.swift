import Glibc
import Synchronization

/// Stands between real clients and a server, and writes down what clients ask and what is refused.
public final class MPDProxy: Sendable {
    private struct State {
        var requests: [String] = []
        var refusals: [String] = []
        var sockets: [Int32] = []
        var threads: [TestThread] = []
        var isStopped = false
    }

    /// Where clients connect to, on 127.0.0.1.
    public let port: Int
    private let listener: Int32
    private let state = Mutex(State())
    private let acceptor = Mutex<TestThread?>(nil)

    /// Passes everything on to a port of 127.0.0.1; nil when there is no socket left.
    public init?(to server: Int) {
        guard let (descriptor, port) = LoopbackSocket.listen(on: "127.0.0.1", backlog: 32) else { return nil }
        listener = descriptor
        self.port = port
        let thread = TestThread { [weak self] in
            while let client = self?.accept(descriptor) { self?.connect(client, server) }
        }
        acceptor.withLock { $0 = thread }
    }

    deinit { stop() }

    /// The lines that clients have sent, in order.
    public var requests: [String] { state.withLock { $0.requests } }

    /// The lines that began with `ACK`, in order.
    public var refusals: [String] { state.withLock { $0.refusals } }

    /// Ends all connections.
    public func stop() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        if wasStopped { return }
        shutdown(listener, Int32(SHUT_RDWR))
        acceptor.withLock { $0 }?.join()
        close(listener)
        let (sockets, threads) = state.withLock { ($0.sockets, $0.threads) }
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        for thread in threads { thread.join() }
        for socket in sockets { close(socket) }
    }

    private func accept(_ descriptor: Int32) -> Int32? {
        let client = Glibc.accept(descriptor, nil, nil)
        return client >= 0 ? client : nil
    }

    private func connect(_ client: Int32, _ server: Int) {
        guard let upstream = LoopbackSocket.openConnection(to: server) else {
            close(client)
            return
        }
        for socket in [client, upstream] { LoopbackSocket.sendAtOnce(socket) }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.sockets += [client, upstream] }
            return state.isStopped
        }
        if isStopped {
            for socket in [client, upstream] { close(socket) }
            return
        }
        let threads = [
            TestThread { [self] in
                MPDProxy.pass(from: client, to: upstream) { line in state.withLock { $0.requests.append(line) } }
            },
            TestThread { [self] in
                MPDProxy.pass(from: upstream, to: client) { line in
                    if line.hasPrefix("ACK ") { state.withLock { $0.refusals.append(line) } }
                }
            },
        ]
        state.withLock { $0.threads += threads.compactMap(\.self) }
    }

    /// Copies bytes until one side ends, telling each line.
    private static func pass(from source: Int32, to sink: Int32, _ tell: (String) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        var line: [UInt8] = []
        while true {
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    tell(String(decoding: line, as: UTF8.self))
                    line.removeAll(keepingCapacity: true)
                } else if line.count < 4096 {
                    line.append(byte)
                }
            }
            var sent = 0
            while sent < count {
                let part = unsafe buffer[sent..<count].withUnsafeBytes {
                    unsafe send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard part > 0 else { break }
                sent += part
            }
            if sent < count { break }
        }
        shutdown(sink, Int32(SHUT_WR))
    }
}
