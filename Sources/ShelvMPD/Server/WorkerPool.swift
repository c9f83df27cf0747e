import Glibc
import Synchronization

/// A few threads for work that would hold the core too long: scans of the library, sorting, big listings.
///
/// Jobs start in order of arrival; each gets only `Sendable` values, so nothing here can touch core state.
final class WorkerPool: Sendable {
    private struct State {
        var jobs = WaitingLine<@Sendable () -> Void>()
        var isStopped = false
    }

    private let state = Mutex(State())
    private let available: Semaphore
    private let threads: Mutex<[PlatformThread]>

    /// - Parameter count: number of threads, at least 1.
    init(count: Int) {
        available = Semaphore()
        threads = Mutex([])
        for index in 0..<max(1, count) {
            let thread = PlatformThread(name: "worker-\(index)") { [self] in work() }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Runs `job` on one of the threads. Any thread; returns at once.
    func submit(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        available.signal()
    }

    /// Ends the threads after the jobs under way; waiting jobs are dropped.
    func shutdown() {
        state.withLock { $0.isStopped = true }
        let all = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for _ in all { available.signal() }
        for thread in all { thread.join() }
    }

    private func work() {
        while true {
            available.wait()
            let (job, isStopped) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                state.isStopped ? (nil, true) : (state.jobs.next(), false)
            }
            if isStopped { return }
            job?()
        }
    }
}
