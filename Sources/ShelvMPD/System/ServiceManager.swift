import CLinux
import Glibc

/// Tells the program that started us, systemd or another with its protocol, how we are: lines in a datagram to
/// `NOTIFY_SOCKET`.
///
/// Source: sd_notify(3), sd_watchdog_enabled(3).
struct ServiceManager: Sendable {
    /// What the socket is called; `@` in front of a name without a file.
    private let socket: String
    /// How often it wants to hear that we are alive, or nil.
    let watchdogInterval: Duration?

    /// What the environment says; nil when nobody wants to be told.
    /// - Parameter process: our number: a watchdog may be meant for another process.
    init?(_ environment: Environment, process: pid_t = getpid()) {
        guard let socket = environment["NOTIFY_SOCKET"], socket.hasPrefix("/") || socket.hasPrefix("@") else {
            return nil
        }
        self.socket = socket
        let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        // Twice as often as needed, so that one that is late ends nothing.
        watchdogInterval = isForUs ? limit.map { .microseconds($0 / 2) } : nil
    }

    /// We serve.
    func ready(_ status: String) { tell("READY=1\nSTATUS=\(status)") }

    /// How we are, for people.
    func status(_ status: String) { tell("STATUS=\(status)") }

    /// We read our configuration again; `ready` follows.
    func reloading() {
        tell("RELOADING=1\nMONOTONIC_USEC=\(shelv_monotonic_now() / 1000)\nSTATUS=Reading the configuration again")
    }

    func stopping() { tell("STOPPING=1\nSTATUS=Ending") }

    func alive() { tell("WATCHDOG=1") }

    /// Never waits: what nobody takes is lost.
    private func tell(_ lines: String) {
        guard let (name, length) = Listener.unixAddress(socket) else { return }
        var address = name
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(lines.utf8)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
