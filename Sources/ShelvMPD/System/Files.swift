import CLinux
import Glibc

/// Whole small files and folders; blocking, so for the start and for threads of their own.
enum Files {
    /// The bytes of a file.
    /// - Throws: `SystemError`, also (as `EFBIG`) when the file is larger than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = unsafe shelv_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError("cannot open \(path)", code: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            switch readSome(descriptor, into: &bytes) {
            case 0: return bytes
            case let count where count < 0: throw SystemError("cannot read \(path)", code: errno)
            default: if bytes.count > limit { throw SystemError("cannot read \(path)", code: EFBIG) }
            }
        }
    }

    /// Appends what one `read` gives.
    /// - Returns: The number of bytes, 0 at the end, or -1 with `errno` set.
    static func readSome(_ descriptor: Int32, into bytes: inout [UInt8]) -> Int {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let capacity = buffer.count
        var count = -1
        repeat {
            count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, capacity) }
        } while count < 0 && errno == EINTR
        if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) }
        return count
    }

    /// Makes a folder and those above it, for this user alone (mode 0700) where they are new.
    static func makeDirectory(_ path: String) throws(SystemError) {
        var prefix = ""
        for part in path.split(separator: "/") {
            prefix += "/" + part
            if unsafe mkdir(prefix, 0o700) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS {
                throw SystemError("cannot make the folder \(prefix)", code: errno)
            }
        }
        guard kind(of: path) == .directory else {
            throw SystemError("cannot make the folder \(path)", code: exists(path) ? ENOTDIR : ENOENT)
        }
    }

    /// What a path names.
    enum Kind { case regular, directory, other }

    /// What stands at a path, links followed, or nil when nothing does.
    static func kind(of path: String) -> Kind? {
        guard let mode = mode(of: path) else { return nil }
        switch mode & S_IFMT {
        case S_IFREG: return .regular
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    /// Whether anything stands at a path, links followed.
    static func exists(_ path: String) -> Bool { mode(of: path) != nil }

    /// Whether users other than the owner and his group may read a file.
    static func isReadableByOthers(_ path: String) -> Bool { (mode(of: path) ?? 0) & S_IROTH != 0 }

    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode : nil
    }
}
