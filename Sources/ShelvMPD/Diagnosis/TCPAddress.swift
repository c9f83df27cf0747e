import CLinux
import Glibc

/// TCP connections of a moment.
enum TCPAddress {
    static func canConnect(host: String, port: UInt16) -> Bool {
        guard let descriptor = ServerConnection.connect(host: host, port) else { return false }
        close(descriptor)
        return true
    }

    /// The first line that comes within a second; empty if none does.
    static func greeting(host: String, port: UInt16) -> String {
        guard let descriptor = ServerConnection.connect(host: host, port) else { return "" }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        _ = Files.readSome(descriptor, into: &bytes)
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
