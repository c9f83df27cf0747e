import Glibc
import Synchronization

/// A few threads for work that would hold the core too long: scans of the library, sorting, big listings.
///
/// Jobs start in order of arrival, those of clients that have ended sending behind the others, but for one now and then; those
/// of clients that have gone do not start. Each gets only `Sendable` values, so nothing here can touch core state.
final class WorkerPool: Sendable {
    private struct Job {
        let asker: Asker?
        let work: @Sendable () -> Void

        var isOver: Bool { asker?.isGone == true }
    }

    private struct State {
        var jobs = WaitingLine<Job>()
        /// Of clients that have ended sending: whoever opens connections, asks and leaves must not make others wait.
        var later = WaitingLine<Job>()
        /// How many others were begun while one of those waited.
        var overtakings = 0
        /// Clients that have gone since jobs were cleared away.
        var departures = 0
        var isStopped = false

        var waiting: Int { jobs.count + later.count }

        mutating func next() -> Job? {
            if overtakings >= WorkerPool.mostOvertakings, let job = nextLater() { return job }
            while let job = jobs.next() {
                if job.isOver { continue }
                guard job.asker?.hasSaidAll == true else {
                    overtakings = later.count == 0 ? 0 : overtakings + 1
                    return job
                }
                later.append(job)
            }
            return nextLater()
        }

        private mutating func nextLater() -> Job? {
            overtakings = 0
            while let job = later.next() {
                if !job.isOver { return job }
            }
            return nil
        }
    }

    /// So many jobs of clients that go on sending come before one of those that have ended.
    private static let mostOvertakings = 16

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

    /// Jobs that have not begun.
    var waitingCount: Int { state.withLock(\.waiting) }

    /// Runs `job` on one of the threads. Any thread; returns at once.
    /// - Parameter asker: who wants it; once he has gone, it is not begun. A client has one job at a time, so no more wait than
    ///   there are clients.
    func submit(for asker: Asker? = nil, _ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(Job(asker: asker, work: job)) }
        available.signal()
    }

    /// Somebody who waited for a job has gone. Any thread; returns at once.
    func noteDeparture() {
        state.withLock { state in
            state.departures += 1
            guard state.departures >= 32, state.departures * 2 >= state.waiting else { return }
            state.departures = 0
            state.jobs.remove(where: \.isOver)
            state.later.remove(where: \.isOver)
        }
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
            let (job, isStopped) = state.withLock { state -> (Job?, Bool) in
                state.isStopped ? (nil, true) : (state.next(), false)
            }
            if isStopped { return }
            guard let job else { continue }
            if let asker = job.asker { asker.serve(job.work) } else { job.work() }
        }
    }
}
