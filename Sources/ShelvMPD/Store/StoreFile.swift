import CLinux
import Glibc
import Logging

/// The store's file on disk, locked for this process.
final class StoreFile {
    let database: Database
    /// Keeps the lock while it is open.
    private let lock: Int32

    /// Opens the file, makes it when it is missing, and brings it up to date.
    ///
    /// A damaged file, and one of a later version, is renamed and a new one begun, with an error in the log that says
    /// so. A file of another program is left alone.
    init(path: String, log: Log) throws(StoreError) {
        try StoreFile.makeFolder(of: path)
        let lock = try StoreFile.takeLock(path + ".lock")
        do throws(StoreError) {
            try StoreFile.refuseForeign(path)
            database = try StoreFile.open(path, log)
        } catch {
            close(lock)
            throw error
        }
        self.lock = lock
    }

    deinit { close(lock) }

    private static func open(_ path: String, _ log: Log) throws(StoreError) -> Database {
        do throws(StoreError) {
            return try prepared(path)
        } catch {
            guard error.kind == .damaged || error.kind == .later else { throw error }
            let kept = try setAside(path, as: error.kind == .later ? "later" : "damaged")
            log.error("\(error); it is kept as \(kept), and a new one begins")
            return try prepared(path)
        }
    }

    private static func prepared(_ path: String) throws(StoreError) -> Database {
        // It may hold the password of a stream. What SQLite keeps beside it gets the same permissions.
        let new = unsafe shelv_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if new >= 0 { close(new) }
        // Before it is looked at, for one that cannot be used is kept.
        for suffix in ["", "-wal", "-shm"] { _ = unsafe chmod(path + suffix, 0o600) }
        let database = try Database(path: path)
        try StoreSchema.prepare(database, path: path)
        return database
    }

    /// Renames the file and what SQLite keeps beside it; a number makes the new name a free one.
    private static func setAside(_ path: String, as word: String) throws(StoreError) -> String {
        let free = try freeName(path, word)
        guard unsafe rename(path, free) == 0 else {
            throw StoreError(.failed, SystemError("cannot rename \(path)", code: errno).description)
        }
        for suffix in ["-wal", "-shm"] where Files.exists(path + suffix) {
            _ = unsafe rename(path + suffix, free + suffix)
        }
        return free
    }

    /// `PATH.WORD-NUMBER`, with the first number that no file has.
    static func freeName(_ path: String, _ word: String) throws(StoreError) -> String {
        let free = (1...10_000).lazy.map { "\(path).\(word)-\($0)" }.first { !Files.exists($0) }
        guard let free else { throw StoreError(.failed, "there are too many files \(path).\(word)-…") }
        return free
    }

    private static func makeFolder(of path: String) throws(StoreError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        do throws(SystemError) {
            try Files.makeDirectory(String(path[..<slash]))
        } catch {
            throw StoreError(.failed, error.description)
        }
    }

    /// One process at a time: two with the same queue would overwrite each other's.
    private static func takeLock(_ path: String) throws(StoreError) -> Int32 {
        let descriptor = unsafe shelv_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.failed, SystemError("cannot open \(path)", code: errno).description)
        }
        // A lock of its own file: closing any descriptor of the database would drop SQLite's locks on it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK {
                throw StoreError(.busy, "another shelvmpd keeps its state in the same file (\(path) is locked)")
            }
            throw StoreError(.failed, SystemError("cannot lock \(path)", code: code).description)
        }
        return descriptor
    }

    /// MPD's own `state_file` is text. It would count as damaged, but it is somebody's.
    private static func refuseForeign(_ path: String) throws(StoreError) {
        guard let bytes = firstBytes(of: path) else { return }
        let beginnings = ["sw_volume: ", "audio_device_state:", "state: ", "random: "]
        if beginnings.contains(where: { bytes.starts(with: $0.utf8) }) {
            throw StoreError(.foreign, "\(path) is the state of an MPD; choose another state_file")
        }
    }

    private static func firstBytes(of path: String) -> [UInt8]? {
        let descriptor = unsafe shelv_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        return Files.readSome(descriptor, into: &bytes) > 0 ? bytes : nil
    }
}
