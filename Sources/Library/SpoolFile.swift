import CLinux
import Glibc

/// An open file that is written once from front to back and read from anywhere; closed when the last user lets go.
@safe final class SpoolFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Opens or creates a file that only this user may read.
    init(path: String) throws(LibraryError) {
        self.path = path
        descriptor = unsafe shelv_create(path, O_RDWR | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw .system(operation: "open", path: path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Bytes.
    var size: Int64 {
        let end = lseek(descriptor, 0, SEEK_END)
        return max(0, Int64(end))
    }

    /// Writes all bytes at a position.
    func write(_ bytes: [UInt8], at offset: Int64) throws(LibraryError) {
        var done = 0
        while done < bytes.count {
            let result = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if result < 0, errno == EINTR { continue }
            if result <= 0 { throw .system(operation: "write", path: path, errno: result < 0 ? errno : ENOSPC) }
            done += result
        }
    }

    /// The bytes from a position, `count` or fewer at the end of the file.
    func read(count: Int, at offset: Int64) throws(LibraryError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
                )
                let result = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
                if result < 0, errno == EINTR { continue }
                if result < 0 { failure = errno }
                if result <= 0 { return }
                filled += result
            }
        }
        if failure != 0 { throw .system(operation: "read", path: path, errno: failure) }
        return bytes
    }

    /// Drops everything behind a position.
    func truncate(to length: Int64) throws(LibraryError) {
        if ftruncate(descriptor, off_t(length)) != 0 {
            throw .system(operation: "truncate", path: path, errno: errno)
        }
    }

    /// Takes the file's name away; it can be read until it is closed.
    func remove() {
        _ = unsafe unlink(path)
    }
}
