import CLinux
import Glibc
import Logging

/// Where the log goes.
enum LogDestination: Sendable, Equatable {
    case standardError
    case file(String)
    /// The log of the system.
    case system

    /// A log that goes there. Once, at the start.
    /// - Throws: `SystemError` when there is a file that cannot be opened.
    func open(level: LogLevel) throws(SystemError) -> Log {
        try reopen()
        switch self {
        case .standardError: return Log.standardError(level: level)
        case .file: return Log.standardError(level: level, isDated: true)
        case .system: return Log.system(level: level)
        }
    }

    /// Opens a file anew: what rotates logs has renamed the old one. Blocks.
    ///
    /// It takes the place of standard output and standard error, as in MPD: what libraries say there must not get lost.
    func reopen() throws(SystemError) {
        guard case .file(let path) = self else { return }
        let descriptor = unsafe shelv_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw SystemError("cannot open the log \(path)", code: errno) }
        defer { close(descriptor) }
        for standard in [1, 2] as [CInt] where dup2(descriptor, standard) < 0 {
            throw SystemError("cannot write the log \(path)", code: errno)
        }
    }
}
