import CLinux
import Glibc

/// The signals that end the server or ask something of it, read as events of the loop instead of interrupting threads.
struct Signals {
    private let descriptor: CInt

    /// Blocks the signals for this thread and those that it starts, so call it before there are others; and ignores
    /// SIGPIPE, which a client that leaves would send.
    /// - Throws: `SystemError` when the kernel gives no descriptor.
    init() throws {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        descriptor = unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("signalfd", code: errno) }
    }

    /// Calls `action` with the number of each signal, on the core.
    func watch(_ server: Server, _ action: @escaping (Server, CInt) -> Void) throws {
        try server.whenReadable(descriptor) { [descriptor] server in
            var information = signalfd_siginfo()
            let size = MemoryLayout<signalfd_siginfo>.size
            while unsafe read(descriptor, &information, size) == size {
                action(server, CInt(bitPattern: information.ssi_signo))
            }
        }
    }
}
