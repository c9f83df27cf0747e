import CLinux
import Glibc

extension Files {
    /// Runs `body` while no other program does so for a file of the same folder, so that what one of them reads and writes back
    /// is not lost between reading and writing of another. Waits for others; leaves nothing behind.
    ///
    /// Where the system cannot lock a folder, `body` runs nevertheless.
    static func alone<Result>(beside path: String, _ body: () throws -> Result) rethrows -> Result {
        let descriptor = unsafe shelv_open(folder(of: realPath(path) ?? path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        // Closing gives the lock back.
        defer { if descriptor >= 0 { close(descriptor) } }
        if descriptor >= 0 { while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {} }
        return try body()
    }

    /// The path from the root, links not followed.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return realPath(".").map { "\($0)/\(path)" } ?? path
    }
}
