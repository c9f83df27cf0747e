import CLinux
import Glibc

/// Listening sockets that somebody else has opened for us, such as systemd by a socket unit.
///
/// Source: sd_listen_fds(3). As in MPD, they replace `bind_to_address`.
enum SocketActivation {
    /// The first descriptor that is passed.
    static let firstDescriptor: CInt = 3

    /// The sockets that were passed to this process; none when there are none.
    /// - Throws: `BindError` when one of them is no listening socket.
    static func listeners(
        _ environment: Environment,
        process: pid_t = getpid(),
        first: CInt = firstDescriptor
    ) throws(BindError) -> [Listener] {
        guard environment["LISTEN_PID"] == "\(process)", let count = environment["LISTEN_FDS"].flatMap({ CInt($0) }),
            1...1024 ~= count
        else { return [] }
        var listeners: [Listener] = []
        for descriptor in first..<first + count { listeners.append(try listener(descriptor)) }
        return listeners
    }

    /// Hides from programs that we start what was meant for us.
    static func forget() {
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
    }

    private static func listener(_ descriptor: CInt) throws(BindError) -> Listener {
        guard option(descriptor, SO_ACCEPTCONN) == 1, option(descriptor, SO_TYPE) == Int32(SOCK_STREAM.rawValue) else {
            throw BindError(address: "descriptor \(descriptor)", reason: "it is no listening stream socket")
        }
        _ = shelv_fcntl(descriptor, F_SETFD, Int(FD_CLOEXEC))
        _ = shelv_fcntl(descriptor, F_SETFL, Int(shelv_fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK))
        let place = unsafe socketName(of: descriptor, getsockname) {
            address,
            length -> (isLocal: Bool, name: String)? in
            switch Int32(unsafe address.pointee.sa_family) {
            case AF_UNIX: (true, "a local socket")
            case AF_INET: unsafe numericAddress(address, length).map { (false, $0) }
            case AF_INET6: unsafe numericAddress(address, length).map { (false, "[\($0)]") }
            default: nil
            }
        }
        guard let place else {
            throw BindError(address: "descriptor \(descriptor)", reason: "it is neither a TCP nor a Unix socket")
        }
        let bare = Listener(descriptor: descriptor, isLocal: place.isLocal, name: "", path: nil)
        let name = bare.port.map { "\(place.name):\($0)" } ?? place.name
        // The socket's file belongs to who has made it.
        return Listener(descriptor: descriptor, isLocal: place.isLocal, name: "\(name), which was passed", path: nil)
    }

    private static func option(_ descriptor: CInt, _ name: CInt) -> CInt {
        var value: CInt = -1
        var size = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1
    }
}
