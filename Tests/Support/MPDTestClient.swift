import CLinux
import Glibc

/// A blocking MPD client for tests: says lines, reads replies, and never waits longer than it was told.
public final class MPDTestClient {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// What the server said first, without its line end.
    public private(set) var greeting = ""
    /// The server, where it shall live as long as its client.
    public var server: AnyObject?

    /// Why a reply did not come.
    public enum Failure: Error, Equatable {
        case cannotConnect
        case closed
        case timedOut
    }

    /// Where a server listens.
    public enum Address: Sendable {
        /// A port of 127.0.0.1, of ::1.
        case loopback(port: Int)
        case loopback6(port: Int)
        /// A socket file, or after an `@` a name in the abstract namespace.
        case path(String)
    }

    /// Connects to a port of 127.0.0.1 and reads the greeting.
    /// - Parameter timeout: seconds that any one read may take.
    public convenience init(port: Int, timeout: Int = 10, readsGreeting: Bool = true) throws {
        try self.init(.loopback(port: port), timeout: timeout, readsGreeting: readsGreeting)
    }

    /// Connects to any address, and reads the greeting.
    public init(_ address: Address, timeout: Int = 10, readsGreeting: Bool = true) throws {
        guard let opened = LoopbackSocket.openConnection(to: address) else { throw Failure.cannotConnect }
        descriptor = opened
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        LoopbackSocket.sendAtOnce(descriptor)
        if readsGreeting { greeting = try line() }
    }

    deinit { close(descriptor) }

    /// Sends a text as it is.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes as they are; what the server does not take any more is dropped.
    public func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    descriptor,
                    bytes.baseAddress.map { unsafe $0 + sent },
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// The next line, without its end.
    public func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            try fill()
        }
    }

    /// The lines up to and including `OK` or `ACK`.
    public func reply() throws -> [String] {
        var lines: [String] = []
        while true {
            lines.append(try line())
            if let last = lines.last, last == "OK" || last.hasPrefix("ACK ") { return lines }
        }
    }

    /// Sends a line and reads its reply.
    public func ask(_ command: String) throws -> [String] {
        send(command + "\n")
        return try reply()
    }

    /// Sends a line and gives the first value of a key in its reply, or nil.
    public func value(_ key: String, of command: String) throws -> String? {
        let prefix = key + ": "
        return try ask(command).first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// A reply that may hold bytes: its lines but for those bytes, which are nil where there are none.
    public func binaryReply() throws -> (lines: [String], bytes: [UInt8]?) {
        var lines: [String] = []
        var bytes: [UInt8]?
        while true {
            let line = try line()
            lines.append(line)
            if line == "OK" || line.hasPrefix("ACK ") { return (lines, bytes) }
            guard line.hasPrefix("binary: "), let count = Int(line.dropFirst(8)) else { continue }
            while buffer.count < count + 1 { try fill() }
            bytes = Array(buffer[..<count])
            guard buffer[count] == UInt8(ascii: "\n") else { throw Failure.closed }
            buffer.removeSubrange(...count)
        }
    }

    /// Everything up to the server's closing the connection.
    public func rest() throws -> String {
        while true {
            do {
                try fill()
            } catch Failure.closed {
                defer { buffer = [] }
                return String(decoding: buffer, as: UTF8.self)
            }
        }
    }

    /// Says that nothing more will be sent.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits for bytes and throws them away; false when there are none any more.
    public func discard() -> Bool {
        buffer.removeAll(keepingCapacity: true)
        return (try? fill()) != nil
    }

    private func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 {
            buffer.append(contentsOf: chunk[..<count])
        } else {
            throw count < 0 && (errno == EAGAIN || errno == EINTR) ? Failure.timedOut : Failure.closed
        }
    }
}
