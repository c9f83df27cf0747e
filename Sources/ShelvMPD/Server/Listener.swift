import CLinux
import Glibc

/// A listening socket and what its clients may do that others may not.
struct Listener {
    let descriptor: CInt
    /// Clients come over a local socket: they may use `config` and see local paths.
    let isLocal: Bool
    /// For the log: `127.0.0.1:6600`, `[::1]:6600`, a path.
    let name: String
    /// A socket file to remove at the end.
    let path: String?

    /// The TCP port, also where the kernel chose it; nil for a local socket.
    var port: Int? {
        unsafe socketName(of: descriptor, getsockname) { address, _ in
            switch Int32(unsafe address.pointee.sa_family) {
            case AF_INET, AF_INET6:
                // Both kinds of address have the port behind the family, in network order.
                Int(UInt16(bigEndian: unsafe UnsafeRawPointer(address).load(fromByteOffset: 2, as: UInt16.self)))
            default: nil
            }
        }
    }

    /// Whether only this machine can reach it.
    var isLoopback: Bool {
        let own = unsafe socketName(of: descriptor, getsockname) { address, _ in unsafe AddressRange(address) }
        return own?.isLoopback ?? true
    }

    /// Stops listening; connections that are open stay.
    func close() {
        Glibc.close(descriptor)
        if let path { unsafe unlink(path) }
    }

    /// Binds to each address of a host name; nil means all interfaces, IPv6 and IPv4.
    ///
    /// Addresses of a family that the machine lacks are left out as long as one can be bound.
    /// - Throws: `BindError` naming host, port and the reason of the last failure.
    static func tcp(host: String?, port: Int) throws -> [Listener] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard status == 0, let first = unsafe found else {
            throw BindError(address: "\(host ?? "any"):\(port)", reason: unsafe String(cString: gai_strerror(status)))
        }
        defer { unsafe freeaddrinfo(first) }
        var listeners: [Listener] = []
        var reason = "no address"
        var next: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let info = unsafe next {
            unsafe next = info.pointee.ai_next
            let isIPv6 = unsafe info.pointee.ai_family == AF_INET6
            guard unsafe isIPv6 || info.pointee.ai_family == AF_INET else { continue }
            let descriptor = unsafe socket(
                info.pointee.ai_family,
                Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
                0
            )
            guard descriptor >= 0 else {
                reason = SystemError.text(of: errno)
                continue
            }
            set(descriptor, SOL_SOCKET, SO_REUSEADDR)
            // An IPv6 socket would else take the IPv4 port as well, and the IPv4 bind that follows would fail.
            if isIPv6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
            guard unsafe bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
                listen(descriptor, backlog) == 0
            else {
                reason = SystemError.text(of: errno)
                Glibc.close(descriptor)
                continue
            }
            let shown = unsafe numericAddress(info.pointee.ai_addr, info.pointee.ai_addrlen) ?? "?"
            listeners.append(
                Listener(
                    descriptor: descriptor,
                    isLocal: false,
                    name: isIPv6 ? "[\(shown)]:\(port)" : "\(shown):\(port)",
                    path: nil
                )
            )
        }
        if listeners.isEmpty { throw BindError(address: "\(host ?? "any"):\(port)", reason: reason) }
        return listeners
    }

    /// Binds to a socket file, for the owner and the group.
    ///
    /// A file that a dead server left behind is replaced; one that somebody answers on is not. With an `@` in front
    /// it is a name in Linux's abstract namespace, without a file.
    static func unix(path: String) throws -> Listener {
        guard let (name, length) = unixAddress(path) else {
            throw BindError(address: path, reason: "the path is too long for a socket")
        }
        var address = name
        let isFile = !path.hasPrefix("@")
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SystemError("socket", code: errno) }
        let problem = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> String? in
                if isFile {
                    let probe = socket(AF_UNIX, kind, 0)
                    defer { Glibc.close(probe) }
                    if unsafe connect(probe, pointer, length) == 0 { return "another server listens there" }
                    unsafe unlink(path)
                }
                guard unsafe bind(descriptor, pointer, length) == 0 else { return SystemError.text(of: errno) }
                if isFile { unsafe chmod(path, 0o660) }
                return listen(descriptor, backlog) == 0 ? nil : SystemError.text(of: errno)
            }
        }
        if let problem {
            Glibc.close(descriptor)
            throw BindError(address: path, reason: problem)
        }
        return Listener(descriptor: descriptor, isLocal: true, name: path, path: isFile ? path : nil)
    }

    /// As many may knock at once as the kernel lets in: who finds no room tries again after a whole second.
    private static let backlog = SOMAXCONN

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt) {
        var on: CInt = 1
        unsafe setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The address and how much of it counts, or nil when the name is too long.
    static func unixAddress(_ path: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let isFile = bytes.first != UInt8(ascii: "@")
        // The kernel knows an abstract name by the zero byte in front.
        if !isFile { bytes[0] = 0 }
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            unsafe room.copyBytes(from: bytes)
            return true
        }
        guard isShort else { return nil }
        let whole = MemoryLayout<sockaddr_un>.size
        let used = MemoryLayout<sa_family_t>.size + bytes.count
        return (address, socklen_t(isFile ? whole : used))
    }
}

/// Why the server cannot listen where it was told to.
struct BindError: Error, CustomStringConvertible {
    var address: String
    var reason: String

    var description: String { "Cannot listen on \(address): \(reason)" }
}
