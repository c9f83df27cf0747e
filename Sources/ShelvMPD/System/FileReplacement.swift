import CLinux
import Glibc

extension Files {
    /// Puts `bytes` in place of a file, whole or not at all, also across a crash. Follows links; keeps mode, owner and group of
    /// what is there; a new file is for this user alone (0600).
    static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let target = realPath(path) ?? path
        var status = stat()
        let isThere = unsafe stat(target, &status) == 0
        let draft = target + ".new-\(getpid())"
        let descriptor = unsafe shelv_open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("cannot write \(draft)", code: errno) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unsafe unlink(draft) }
        }
        if isThere {
            // As far as it is allowed: who may not give a file away gets one of his own, with no more rights than before.
            let isOwn = fchown(descriptor, status.st_uid, status.st_gid) == 0
            fchmod(descriptor, isOwn ? status.st_mode & 0o7777 : status.st_mode & 0o700)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemError("cannot write \(draft)", code: errno) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0, unsafe rename(draft, target) == 0 else {
            throw SystemError("cannot write \(target)", code: errno)
        }
        isDone = true
    }

    /// Where a path leads through all links, or nil where nothing is.
    static func realPath(_ path: String) -> String? {
        guard let pointer = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(pointer) }
        return unsafe String(cString: pointer)
    }

    /// The folder in which a path stands.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
