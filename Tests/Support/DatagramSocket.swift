import CLinux
import Glibc

/// A local socket that takes datagrams, such as a service manager's.
public final class DatagramSocket: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Binds to a path, or after an `@` to a name in the abstract namespace; nil when that fails.
    public init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.path = path
        guard descriptor >= 0, let (found, length) = LoopbackSocket.unixName(path) else { return nil }
        var name = found
        let bound = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe bind(descriptor, UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        }
        guard bound == 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        unsafe unlink(path)
    }

    /// The next datagram as text; nil when none has come within `milliseconds`.
    public func next(within milliseconds: Int = 20_000) -> String? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, Int32(milliseconds)) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The next datagram that holds a line, others passed over.
    public func next(with line: String) -> String? {
        while let text = next() {
            if text.split(separator: "\n").contains(Substring(line)) { return text }
        }
        return nil
    }
}
