import Glibc
import Synchronization

/// A line to a server of this machine that can be cut, and be dead for a while; it passes bytes on as they come.
public final class CuttingProxy: Sendable {
    /// Both ends of one connection; the second of its two threads closes them.
    private struct Line {
        var client: Int32
        var server: Int32
        var threads = 2
    }

    private struct State {
        var listener: Int32?
        var lines: [Int: Line] = [:]
        var count = 0
        var threads: [TestThread] = []
    }

    public let port: Int
    public var url: String { "http://127.0.0.1:\(port)" }
    private let target: Int
    private let state = Mutex(State())

    /// Listens on a free port; nil when that cannot be.
    public init?(to target: Int) {
        guard let (listener, port) = LoopbackSocket.listen(on: "127.0.0.1", backlog: 64) else { return nil }
        self.target = target
        self.port = port
        accept(at: listener)
    }

    /// Ends all connections; new ones are taken.
    public func cut() {
        state.withLock { state in
            for line in state.lines.values {
                shutdown(line.client, Int32(SHUT_RDWR))
                shutdown(line.server, Int32(SHUT_RDWR))
            }
        }
    }

    /// Ends all connections, and refuses new ones until `revive`.
    public func die() {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        // The accepting thread closes it.
        if let listener { shutdown(listener, Int32(SHUT_RDWR)) }
        cut()
    }

    /// Takes connections again, at the same port; false when somebody else has it.
    @discardableResult
    public func revive() -> Bool {
        if state.withLock({ $0.listener != nil }) { return true }
        var found: Int32?
        // The thread that gives the port back may take a moment.
        _ = waitUntil(milliseconds: 5000) {
            found = LoopbackSocket.listen(on: "127.0.0.1", port: port, backlog: 64)?.descriptor
            return found != nil
        }
        guard let found else { return false }
        accept(at: found)
        return true
    }

    /// Ends everything. Call it in the test's `defer`.
    public func stop() {
        die()
        while let thread = state.withLock({ $0.threads.popLast() }) {
            thread.join()
            cut()
        }
    }

    private func accept(at listener: Int32) {
        state.withLock { $0.listener = listener }
        run { [self] in
            while true {
                let client = Glibc.accept(listener, nil, nil)
                if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard client >= 0, state.withLock({ $0.listener == listener }) else {
                    if client >= 0 { close(client) }
                    break
                }
                connect(client)
            }
            close(listener)
        }
    }

    private func connect(_ client: Int32) {
        guard let server = LoopbackSocket.openConnection(to: target) else {
            close(client)
            return
        }
        LoopbackSocket.sendAtOnce(client)
        LoopbackSocket.sendAtOnce(server)
        let number = state.withLock { state in
            state.count += 1
            state.lines[state.count] = Line(client: client, server: server)
            return state.count
        }
        run { [self] in pass(from: client, to: server, number) }
        run { [self] in pass(from: server, to: client, number) }
    }

    private func pass(from source: Int32, to target: Int32, _ number: Int) {
        var piece = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = unsafe recv(source, &piece, piece.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0, Self.send(piece[..<count], to: target) else { break }
        }
        state.withLock { state in
            guard var line = state.lines[number] else { return }
            shutdown(line.client, Int32(SHUT_RDWR))
            shutdown(line.server, Int32(SHUT_RDWR))
            line.threads -= 1
            state.lines[number] = line.threads == 0 ? nil : line
            if line.threads == 0 {
                close(line.client)
                close(line.server)
            }
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(target, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func run(_ body: @escaping @Sendable () -> Void) {
        if let thread = TestThread(body) { state.withLock { $0.threads.append(thread) } }
    }
}
