import CLinux
import Glibc

/// Runs a command line by `/bin/sh` and takes what it writes.
enum ShellCommand {
    enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
        /// It was killed, because the time was over.
        case timedOut
    }

    struct Result: Sendable, Equatable {
        var output: [UInt8]
        var end: End
    }

    /// Runs `command` to its end. Its standard input is empty, its standard error is ours.
    /// - Parameters:
    ///   - timeout: Milliseconds, after which it is killed.
    ///   - limit: Bytes of output that are kept.
    static func run(_ command: String, timeout: Int, limit: Int) throws(SystemError) -> Result {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError("cannot make a pipe", code: errno) }
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        _ = shelv_fcntl(reader, F_SETFD, Int(FD_CLOEXEC))
        let child: pid_t
        do throws(SystemError) {
            // Closed on every way out: the end of the output is told by the last writer's closing.
            defer { close(writer) }
            child = try spawn(command, output: writer)
        } catch {
            throw error
        }

        let deadline = milliseconds() + timeout
        var output: [UInt8] = []
        var timedOut = false
        while !timedOut {
            let left = max(0, deadline - milliseconds())
            let ready = shelv_wait_readable(reader, Int32(clamping: left))
            if ready < 0 && errno == EINTR { continue }
            if ready == 0 { timedOut = true } else if Files.readSome(reader, into: &output) <= 0 { break }
            if output.count > limit { output.removeLast(output.count - limit) }
        }
        // The shell leads a group of its own, so what it started ends too.
        if timedOut { kill(-child, SIGKILL) }
        let status = wait(for: child)
        if timedOut { return Result(output: output, end: .timedOut) }
        let signal = status & 0x7F
        return Result(output: output, end: signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal))
    }

    private static func spawn(_ command: String, output: Int32) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_addclose(&actions, output)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // We ignore SIGPIPE; who writes into a pipeline must not.
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        // Threads of this program hold signals back; the command has to end by them.
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        let words = ["/bin/sh", "-c", command]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, "/bin/sh", &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw SystemError("cannot start /bin/sh", code: code) }
        return child
    }

    private static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// Milliseconds of the monotonic clock.
    private static func milliseconds() -> Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}
