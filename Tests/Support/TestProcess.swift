import CLinux
import Glibc
import Synchronization

/// A program that a test runs: started in a process group of its own, ended with all that it started.
///
/// Its output goes to files in a temporary folder, so nothing blocks on a full pipe.
public final class TestProcess: Sendable {
    /// How it ended.
    public enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    private struct State {
        var end: End?
    }

    /// Of the program and of its group.
    public let identifier: Int32
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    /// Starts a program found through `PATH`; nil when it cannot be started.
    /// - Parameters:
    ///   - environment: Variables on top of this process's own; an empty value removes one.
    ///   - directory: Working directory, or nil for this process's own.
    public init?(_ words: [String], environment: [String: String] = [:], directory: String? = nil) {
        guard let folder = TemporaryFolder(),
            let identifier = TestProcess.spawn(words, environment, directory, folder)
        else { return nil }
        self.folder = folder
        self.identifier = identifier
    }

    deinit { stop() }

    /// What it wrote to standard output so far.
    public var output: String { String(decoding: contents(of: folder.path("out")) ?? [], as: UTF8.self) }
    /// What it wrote to standard error so far.
    public var errors: String { String(decoding: contents(of: folder.path("err")) ?? [], as: UTF8.self) }

    /// Whether it has not ended yet.
    public var isRunning: Bool { poll() == nil }

    /// Sends a signal to the program alone.
    public func send(_ signal: Int32) {
        if poll() == nil { kill(identifier, signal) }
    }

    /// Waits for the end; nil when it has not come within `milliseconds`.
    public func wait(milliseconds: Int = 60_000) -> End? {
        _ = waitUntil(milliseconds: milliseconds) { self.poll() != nil }
        return poll()
    }

    /// Ends the group: SIGTERM, and SIGKILL for what is still there after five seconds.
    public func stop() {
        if poll() == nil {
            kill(-identifier, SIGTERM)
            if wait(milliseconds: 5000) == nil { kill(-identifier, SIGKILL) }
            _ = wait(milliseconds: 5000)
        }
        // What it left behind.
        kill(-identifier, SIGKILL)
    }

    /// Runs a program to its end.
    /// - Returns: Nil when it could not be started or took longer than `milliseconds`.
    public static func run(
        _ words: [String],
        environment: [String: String] = [:],
        directory: String? = nil,
        milliseconds: Int = 60_000
    ) -> (end: End, output: String, errors: String)? {
        guard let process = TestProcess(words, environment: environment, directory: directory),
            let end = process.wait(milliseconds: milliseconds)
        else { return nil }
        return (end, process.output, process.errors)
    }

    /// The path of a program, or nil when `PATH` has none of that name.
    public static func find(_ program: String) -> String? {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(program)" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// The end, if it has come. Reaps the process, once.
    private func poll() -> End? {
        state.withLock { state in
            if state.end != nil { return state.end }
            var status: Int32 = 0
            guard unsafe waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
            let signal = status & 0x7F
            state.end = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
            return state.end
        }
    }

    private static func spawn(
        _ words: [String],
        _ changes: [String: String],
        _ directory: String?,
        _ folder: TemporaryFolder
    ) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, folder.path("out"), flags, 0o644)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, folder.path("err"), flags, 0o644)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // We ignore SIGPIPE; who writes into a pipeline must not.
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        // The threads that tests run on hold signals back, and what is started would for ever.
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        let flagged = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flagged))

        // `env` changes the folder and the variables: posix_spawn's own way for the folder is not standard yet.
        var command = ["env"]
        if let directory { command += ["-C", directory] }
        for name in changes.keys.sorted() where changes[name] == "" { command += ["-u", name] }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            command.append("\(name)=\(value)")
        }
        command += words
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, "env", &actions, &attributes, &arguments, environ) == 0 else { return nil }
        return child
    }
}

/// Looks every few milliseconds whether something has become true, for what no event tells.
/// - Returns: False when it has not within `milliseconds`.
public func waitUntil(milliseconds: Int = 30_000, _ condition: () -> Bool) -> Bool {
    let deadline = monotonicMilliseconds() + milliseconds
    while !condition() {
        if monotonicMilliseconds() >= deadline { return false }
        usleep(10_000)
    }
    return true
}

/// Milliseconds of the monotonic clock.
public func monotonicMilliseconds() -> Int {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// A TCP port of loopback that was free a moment ago; nil when there is none.
public func freePort() -> Int? {
    guard let (descriptor, port) = LoopbackSocket.listen(on: "127.0.0.1", backlog: 1) else { return nil }
    close(descriptor)
    return port
}
