import CLinux

/// A point on the monotonic clock, in nanoseconds.
struct Instant: Comparable, Hashable, Sendable {
    var nanoseconds: Int64

    static var now: Instant {
        // Not `clock_gettime`: `timespec` is a type of two modules, and which of them it is depends on the other files.
        Instant(nanoseconds: Int64(clamping: shelv_monotonic_now()))
    }

    func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds &+ duration.nanoseconds)
    }

    func duration(to later: Instant) -> Duration {
        .nanoseconds(later.nanoseconds &- nanoseconds)
    }

    static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
}

extension Duration {
    /// Whole nanoseconds, clamped to what 64 bits hold.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflows ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 {
        let nanoseconds = nanoseconds
        return nanoseconds >= 0 ? nanoseconds / 1_000_000 : -((-nanoseconds + 999_999) / 1_000_000)
    }
}

/// The few things that the core does later: time-outs, retries, saves. Owned by the core.
struct TimerQueue {
    struct ID: Hashable { fileprivate var value: UInt64 }

    private var timers: [(id: ID, due: Instant, action: (Server) -> Void)] = []
    private var lastID: UInt64 = 0

    /// When the next timer is due, or nil.
    var nextDue: Instant? { timers.lazy.map(\.due).min() }

    mutating func schedule(at due: Instant, _ action: @escaping (Server) -> Void) -> ID {
        lastID += 1
        let id = ID(value: lastID)
        timers.append((id, due, action))
        return id
    }

    mutating func cancel(_ id: ID) {
        timers.removeAll { $0.id == id }
    }

    /// Takes out all actions due by `now`, earliest first.
    mutating func takeDue(_ now: Instant) -> [(Server) -> Void] {
        let due = timers.filter { $0.due <= now }.sorted { $0.due < $1.due }
        guard !due.isEmpty else { return [] }
        timers.removeAll { $0.due <= now }
        return due.map(\.action)
    }
}
