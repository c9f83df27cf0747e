import CLinux
import Glibc

/// Sockets that never block, for outputs.
enum Socket {
    /// Closes a socket; does nothing for a negative number.
    static func close(_ descriptor: Int32) {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Sends what the other side takes at once; returns the number of bytes, or nil when it is gone.
    static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        while true {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default: return nil
            }
        }
    }

    /// Receives what is there; empty when the other side has ended, nil when there is nothing yet.
    static func receive(from descriptor: Int32, limit: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { return Array(buffer.prefix(count)) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return nil }
            return []
        }
    }

    /// Connects; waits for the name and the other side at most so long for each of its addresses.
    static func connect(to host: String, port: UInt16, timeout: Duration) -> Result<Int32, PlayerError> {
        var problem = "there is no such host"
        let addresses = resolve(host, port, isPassive: false)
        for address in addresses {
            let descriptor = make(address)
            guard descriptor >= 0 else { continue }
            let code = unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe Glibc.connect(
                    descriptor,
                    bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count)
                )
            }
            if code == 0 || errno == EINPROGRESS {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let isReady = unsafe poll(&wait, 1, Int32(clamping: timeout.nanoseconds / 1_000_000)) == 1
                var failure: Int32 = ETIMEDOUT
                var size = socklen_t(MemoryLayout<Int32>.size)
                if isReady { unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) }
                if failure == 0 { return .success(descriptor) }
                problem = SystemError.text(failure)
            } else {
                problem = SystemError.text()
            }
            close(descriptor)
        }
        return .failure(PlayerError(problem))
    }

    /// Listens at all addresses of a host, of this machine for nil.
    static func listen(at host: String?, port: UInt16) throws(PlayerError) -> [Int32] {
        var sockets: [Int32] = []
        var problem = "there is no such address"
        for address in resolve(host, port, isPassive: true) {
            let descriptor = make(address)
            guard descriptor >= 0 else { continue }
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
            if address.family == AF_INET6 { unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
            let isBound = unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe bind(
                    descriptor,
                    bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count)
                ) == 0
            }
            if isBound, Glibc.listen(descriptor, 16) == 0 {
                sockets.append(descriptor)
            } else {
                problem = SystemError.text()
                close(descriptor)
            }
        }
        guard !sockets.isEmpty else { throw PlayerError("cannot listen at port \(port): \(problem)") }
        return sockets
    }

    /// The port that a socket listens at.
    static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            } == 0
        }
        guard isKnown else { return nil }
        // Both families have the port at the same place, in network order.
        return unsafe withUnsafeBytes(of: storage) { bytes in
            unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    private struct Address {
        var family: Int32
        var bytes: [UInt8]
    }

    private static func make(_ address: Address) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.family, kind, 0)
    }

    private static func resolve(_ host: String?, _ port: UInt16, isPassive: Bool) -> [Address] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        if isPassive { unsafe hints.ai_flags = AI_PASSIVE }
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = unsafe list
        while let info = unsafe next?.pointee {
            let bytes = unsafe UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
            unsafe addresses.append(Address(family: info.ai_family, bytes: Array(bytes)))
            unsafe next = info.ai_next
        }
        return addresses
    }
}
