import CLinux
import Glibc

/// Starts a detached thread that runs `body` once. Returns false when the system refuses one.
///
/// All signals are blocked on it, so that they go to the main thread. `name` has at most 15 bytes.
@discardableResult
func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    var thread = pthread_t()
    guard unsafe pthread_create(&thread, nil, runThreadBody, box.toOpaque()) == 0 else {
        unsafe box.release()
        return false
    }
    pthread_detach(thread)
    return true
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    unsafe shelv_name_thread(body.name)
    body.run()
    return nil
}

/// Runs jobs one after another on a thread of its own, each at or after its time.
final class WorkerThread: Sendable {
    private struct Job {
        let due: UInt64
        let number: UInt64
        let run: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var counter: UInt64 = 0
        var isStopping = false
        var hasEnded = false
    }

    private let monitor = Monitor(State())

    private enum Step {
        case run(@Sendable () -> Void)
        case sleep(until: UInt64, counter: UInt64)
        case end
    }

    init(name: String) {
        let monitor = monitor
        let started = startThread(named: name) {
            while true {
                switch monitor.withLock(Self.next) {
                case .run(let job):
                    job()
                case .sleep(let until, let counter):
                    _ = monitor.wait(until: until) { $0.counter != counter || $0.isStopping ? true : nil }
                case .end:
                    monitor.update { $0.hasEnded = true }
                    return
                }
            }
        }
        if !started { monitor.withLock { $0.hasEnded = true } }
    }

    private static func next(_ state: inout State) -> Step {
        let first = state.jobs.indices.min { a, b in
            (state.jobs[a].due, state.jobs[a].number) < (state.jobs[b].due, state.jobs[b].number)
        }
        guard let first else { return state.isStopping ? .end : .sleep(until: .max, counter: state.counter) }
        let due = state.jobs[first].due
        if due <= monotonicNow() { return .run(state.jobs.remove(at: first).run) }
        return state.isStopping ? .end : .sleep(until: due, counter: state.counter)
    }

    /// Runs `job` on the thread after a delay; jobs of the same moment run in the order of the calls.
    func after(_ delay: Duration = .zero, _ job: @escaping @Sendable () -> Void) {
        let due = monotonicNow().advanced(by: delay)
        monitor.update {
            $0.counter &+= 1
            $0.jobs.append(Job(due: due, number: $0.counter, run: job))
        }
    }

    /// Drops the jobs that are not due, runs the others, and returns when the thread is at its end.
    func stop() {
        monitor.update { $0.isStopping = true }
        _ = monitor.wait { $0.hasEnded ? true : nil }
    }
}
