import CLinux
import Glibc

/// The few socket calls that the test servers need.
enum LoopbackSocket {
    /// A listening socket and its port: a free one, or the given one.
    static func listen(on address: String, port: Int = 0, backlog: Int32) -> (descriptor: Int32, port: Int)? {
        let isIPv6 = address.contains(":")
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        // For one that comes after it at the same port: its connections may still be ending then.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var storage = sockaddr_storage()
        let bound = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            if isIPv6 {
                var name = sockaddr_in6()
                name.sin6_family = sa_family_t(AF_INET6)
                name.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
                guard unsafe inet_pton(AF_INET6, address, &name.sin6_addr) == 1 else { return false }
                unsafe raw.storeBytes(of: name, as: sockaddr_in6.self)
                length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            } else {
                var name = sockaddr_in()
                name.sin_family = sa_family_t(AF_INET)
                name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
                guard unsafe inet_pton(AF_INET, address, &name.sin_addr) == 1 else { return false }
                unsafe raw.storeBytes(of: name, as: sockaddr_in.self)
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
            }
            let name = unsafe raw.assumingMemoryBound(to: sockaddr.self)
            guard unsafe bind(descriptor, name, length) == 0, Glibc.listen(descriptor, backlog) == 0 else {
                return false
            }
            length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return unsafe getsockname(descriptor, name, &length) == 0
        }
        guard bound else {
            close(descriptor)
            return nil
        }
        // The port stands at the same place in both kinds of address.
        let port = unsafe withUnsafeBytes(of: &storage) { bytes in
            Int(unsafe bytes[2]) << 8 | Int(unsafe bytes[3])
        }
        return (descriptor, port)
    }

    /// A socket whose connection to a port of 127.0.0.1 is under way.
    static func beginConnecting(to port: Int) -> Int32? {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_INET, Int32(kind), 0)
        guard descriptor >= 0 else { return nil }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe connect(
                descriptor,
                UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_in>.size)
            )
        }
        return descriptor
    }

    /// A socket that is connected to a port of 127.0.0.1; nil when nobody listens there.
    static func openConnection(to port: Int) -> Int32? {
        guard let descriptor = beginConnecting(to: port) else { return nil }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        var (error, length) = (Int32(0), socklen_t(4))
        guard unsafe poll(&entry, 1, 5000) == 1,
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0
        else {
            close(descriptor)
            return nil
        }
        _ = shelv_fcntl(descriptor, F_SETFL, 0)
        return descriptor
    }

    /// A socket that is connected to any address of a server; nil when nobody listens there.
    static func openConnection(to address: MPDTestClient.Address) -> Int32? {
        switch address {
        case .loopback(let port):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return openConnection(AF_INET, &name, MemoryLayout<sockaddr_in>.size)
        case .loopback6(let port):
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
            name.sin6_addr = in6addr_loopback
            return openConnection(AF_INET6, &name, MemoryLayout<sockaddr_in6>.size)
        case .path(let path):
            guard let (found, length) = unixName(path) else { return nil }
            var name = found
            return openConnection(AF_UNIX, &name, length)
        }
    }

    private static func openConnection<Name>(_ family: Int32, _ name: inout Name, _ length: Int) -> Int32? {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connected = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe connect(
                descriptor,
                UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self),
                socklen_t(length)
            )
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The address of a local socket, after an `@` one in the abstract namespace, and its length.
    static func unixName(_ path: String) -> (sockaddr_un, Int)? {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        let fits = unsafe withUnsafeMutableBytes(of: &name.sun_path) { room in
            guard bytes.count < room.count else { return false }
            unsafe room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        let used = MemoryLayout<sa_family_t>.size + bytes.count
        return (name, bytes.first == 0 ? used : MemoryLayout<sockaddr_un>.size)
    }

    static func sendAtOnce(_ descriptor: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    /// The next `close` sends a reset.
    static func resetOnClose(_ descriptor: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }
}
