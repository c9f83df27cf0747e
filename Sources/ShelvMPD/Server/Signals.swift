import CLinux
import Glibc
import Synchronization

/// The signals that end the server or ask something of it, read as events of the loop instead of interrupting threads.
struct Signals {
    /// Reading end of the pipe that the handler writes numbers to.
    private let descriptor: CInt

    /// Takes SIGHUP over from now on, and ignores SIGPIPE, which a client that leaves would send. Call it once.
    ///
    /// Blocking them and reading a `signalfd` is not enough: behind an asynchronous `main`, the first thread waits in
    /// libdispatch with all signals let in, and the kernel gives them to it.
    /// - Throws: `SystemError` when there are no descriptors left.
    init() throws {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError("cannot make a pipe", code: errno) }
        for end in ends {
            _ = shelv_fcntl(end, F_SETFD, Int(FD_CLOEXEC))
            _ = shelv_fcntl(end, F_SETFL, Int(O_NONBLOCK))
        }
        descriptor = ends[0]
        signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGHUP, noteSignal)
    }

    /// The signals that end the server.
    private static let ends = [SIGINT, SIGTERM]

    /// Calls `action` with the number of each signal, on the core; from now on, also of those that end the server. Before,
    /// there is nothing to end cleanly.
    func watch(_ server: Server, _ action: @escaping (Server, CInt) -> Void) throws {
        for number in Self.ends { signal(number, noteSignal) }
        try server.whenReadable(descriptor) { [descriptor] server in
            var number: UInt8 = 0
            while unsafe read(descriptor, &number, 1) == 1 {
                // Whoever says it twice does not want to wait.
                if Self.ends.contains(CInt(number)) { for number in Self.ends { signal(number, SIG_DFL) } }
                action(server, CInt(number))
            }
        }
    }
}

/// Writing end of the pipe; -1 before there is one.
private let signalPipe = Atomic<CInt>(-1)

/// Runs in whatever thread the kernel picks, at any moment: nothing but a load and a `write` may happen here. A full
/// pipe loses numbers, which then are the same as those in it.
private func noteSignal(_ number: CInt) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
}
