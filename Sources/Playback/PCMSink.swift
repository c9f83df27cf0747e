import CLinux
import Glibc

/// Where raw samples go: a file, or a FIFO. Belongs to one thread.
final class PCMSink: TapSink {
    private let path: String
    private let isFIFO: Bool
    private let descriptor: Int32

    /// Largest piece that a FIFO takes whole or not at all.
    private static let atomicSize = 4096

    /// Opens the place of a `file` or `fifo` output, which is made when missing.
    ///
    /// - Parameter continues: true to append to a file instead of emptying it.
    /// - Throws: `PlayerError` with the system's reason.
    init(_ kind: OutputConfiguration.Kind, continues: Bool) throws(PlayerError) {
        switch kind {
        case .file(let path, _):
            let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (continues ? O_APPEND : O_TRUNC)
            descriptor = try Self.open(path, flags)
            self.path = path
            isFIFO = false
        case .fifo(let path, _):
            if unsafe mkfifo(path, 0o644) != 0, errno != EEXIST {
                throw PlayerError("cannot make the FIFO \(path): \(SystemError.text())")
            }
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
                throw PlayerError("\(path) exists and is no FIFO")
            }
            // For reading too: then it can be opened while nobody reads, and emptied when it is full.
            descriptor = try Self.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            self.path = path
            isFIFO = true
        case .device, .null, .tcp, .stream:
            throw PlayerError("this output takes no samples")
        }
    }

    private static func open(_ path: String, _ flags: Int32) throws(PlayerError) -> Int32 {
        let descriptor = unsafe shelv_open(path, flags, 0o644)
        guard descriptor >= 0 else { throw PlayerError("cannot open \(path): \(SystemError.text())") }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Writes whole frames. To a FIFO it never blocks: what nobody has read in time is thrown away.
    ///
    /// - Throws: `PlayerError`, for example when the disk is full.
    func write(_ bytes: [UInt8], frameSize: Int) throws(PlayerError) {
        let piece = isFIFO ? max(1, Self.atomicSize / frameSize) * frameSize : max(1, bytes.count)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + piece)
            start += try write(bytes[start..<end])
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(PlayerError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN where isFIFO: discardUnread()
            default: throw PlayerError("cannot write to \(path): \(SystemError.text())")
            }
        }
    }

    /// Empties a FIFO, so that a reader who comes late gets no old sound.
    func discardUnread() {
        guard isFIFO else { return }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
