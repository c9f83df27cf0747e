import CLinux
import Glibc

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock of every deadline and position here.
func monotonicNow() -> UInt64 {
    shelv_monotonic_now()
}

extension Duration {
    /// Whole nanoseconds, clamped to what fits.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflow2) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow2 ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds as libmpv counts them.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// From libmpv's seconds, rounded to the microsecond; what is no finite number of sane size counts as zero.
    init(mpvSeconds: Double) {
        self = mpvSeconds.magnitude < 1e9 ? .microseconds(Int64((mpvSeconds * 1e6).rounded())) : .zero
    }
}

extension UInt64 {
    /// This moment of the monotonic clock plus a duration; a negative one counts as zero.
    func advanced(by duration: Duration) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(UInt64(clamping: duration.nanoseconds))
        return overflow ? .max : sum
    }
}

/// State behind a lock that threads can wait on. For threads that may block, such as libmpv's readers.
///
/// `@unchecked Sendable`: `state` is only touched with `mutex` held.
@safe final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe shelv_cond_init_monotonic(condition)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the state without waking anybody.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Changes the state and has everyone who waits look again.
    func update<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        let result = body(&state)
        unsafe pthread_cond_broadcast(condition)
        return result
    }

    /// Blocks until `body` gives a value, or until a moment of the monotonic clock; then nil.
    ///
    /// `body` may change the state; it is called with the lock held, at once and after every `update`.
    func wait<Result>(until deadline: UInt64 = .max, _ body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if deadline == .max {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            if monotonicNow() >= deadline { return nil }
            unsafe shelv_cond_wait_until(condition, mutex, deadline)
        }
    }
}
