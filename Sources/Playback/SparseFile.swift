import CLinux
import Glibc

/// A file on disk that is filled in any order, and a memory of what is there.
///
/// Any thread may write and read. A file that was complete when it was opened is never written to.
final class SparseFile: Sendable {
    struct State {
        var intervals = IntervalSet()
        /// Length of the whole file in bytes, where known.
        var total: Int64? { didSet { isTotalGuessed = false } }
        /// Whether `total` is only what a server seems to mean that says something else.
        var isTotalGuessed = false
        /// Grows when the contents were thrown away, so that who read the old ones notices.
        var generation = 0
        /// Nothing more will come.
        var isClosed = false
    }

    /// What a reader finds at a position.
    enum Availability: Equatable {
        /// So many bytes at least can be read.
        case bytes(Int)
        /// The position is at or beyond the known end.
        case end
        /// The contents were thrown away since `generation`, or nothing more will come.
        case lost
    }

    let path: String
    let monitor: Monitor<State>
    private let descriptor: Int32
    /// The file that tells what is there; it must not outlive the contents.
    private let note: String?

    /// Opens or makes the file.
    ///
    /// - Parameters:
    ///   - intervals: what is there, by an earlier note; what lies beyond the end of the file is ignored.
    ///   - isReadOnly: true for a complete file.
    ///   - note: a file that tells what is there; removed when the contents are thrown away.
    /// - Throws: `PlayerError` with the system's reason.
    init(
        path: String,
        total: Int64?,
        intervals: IntervalSet,
        isReadOnly: Bool = false,
        note: String? = nil
    ) throws(PlayerError) {
        let descriptor =
            unsafe isReadOnly
            ? shelv_open(path, O_RDONLY | O_CLOEXEC, 0) : shelv_create(path, O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlayerError("cannot open \(path): \(SystemError.text())") }
        let length = Int64(lseek(descriptor, 0, SEEK_END))
        let kept = intervals.ranges.compactMap { range -> Range<Int64>? in
            range.lowerBound < length ? range.lowerBound..<min(range.upperBound, length) : nil
        }
        self.path = path
        self.note = note
        self.descriptor = descriptor
        monitor = Monitor(State(intervals: IntervalSet(kept), total: total))
    }

    deinit { close(descriptor) }

    /// Writes bytes at a position and wakes readers.
    ///
    /// - Throws: `PlayerError`, when the disk takes no more.
    func write(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(PlayerError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(position) + off_t(done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let isFull = errno == ENOSPC || errno == EDQUOT
                throw PlayerError("cannot write \(path): \(SystemError.text())", isForWantOfRoom: isFull)
            }
            done += count
        }
        let count = Int64(bytes.count)
        monitor.update { $0.intervals.insert(position..<(position + count)) }
    }

    /// Reads up to `buffer.count` bytes that are there; returns their number, or -1 when the disk refuses.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
            if count < 0 && errno == EINTR { continue }
            return count
        }
    }

    /// What is at `position`, or nil when it is still missing.
    static func look(_ state: State, at position: Int64, generation: Int) -> Availability? {
        if state.generation != generation { return .lost }
        let available = state.intervals.end(from: position) - position
        if available > 0 { return .bytes(Int(available)) }
        if let total = state.total, position >= total { return .end }
        return state.isClosed ? .lost : nil
    }

    /// Throws all contents away, because the server's file is another one now.
    func reset(total: Int64?) {
        monitor.update { state in
            state.generation += 1
            state.intervals = IntervalSet()
            state.total = total
        }
        if let note { CacheFiles.remove(note) }
        ftruncate(descriptor, 0)
    }

    /// Brings the contents to the disk itself. Blocks.
    @discardableResult
    func synchronize() -> Bool { fdatasync(descriptor) == 0 }

    /// Cuts off what lies beyond `length`.
    func truncate(to length: Int64) {
        ftruncate(descriptor, off_t(length))
    }

    /// Whether every byte of the known length is there.
    var isComplete: Bool {
        monitor.withLock { state in
            guard let total = state.total else { return false }
            return state.intervals.hole(from: 0, limit: total) == nil
        }
    }
}

/// The system's own words for what went wrong.
enum SystemError {
    /// The text of an error number, of `errno` by default.
    static func text(_ code: Int32 = errno) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
