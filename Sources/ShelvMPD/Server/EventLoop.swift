import CLinux
import Glibc
import Synchronization

/// What the loop tells its owner, always on the loop's thread.
protocol EventLoopOwner: AnyObject, Sendable {
    /// How long the loop may sleep, in milliseconds; -1 means until something happens.
    func loopTimeout() -> Int32
    /// The loop has looked for events, and now comes what is to be done about them.
    func loopTurnBegan()
    /// A watched descriptor has these epoll events.
    func loopReady(_ descriptor: CInt, _ events: UInt32)
    /// All events and all posted work of this turn are done.
    func loopTurnEnded()
    /// The loop is over: nothing more is told, and nothing that is posted is carried out.
    func loopEnded()
}

/// One thread that waits in epoll for all client sockets, and runs the core actor's jobs between the events.
///
/// Being the actor's executor, it lets socket events enter the actor without a hop: `assumeIsolated` is true here.
/// Level-triggered. Other threads hand over work by `post` and `enqueue`, which wake it through an eventfd.
final class EventLoop: SerialExecutor {
    private enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isSignalled = false
        var isStopped = false
        /// Whether nobody carries out calls any more.
        var hasEnded = false
    }

    /// How long the sockets of one turn may take together.
    private static let socketShare = Duration.milliseconds(1)

    private let epoll: CInt
    private let wake: CInt
    private let inbox = Mutex(Inbox())
    /// `pthread_self` of the thread in `run`, 0 before.
    private let thread = Atomic<UInt>(0)

    /// - Throws: `SystemError` when the kernel gives no descriptor.
    init() throws {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1", code: errno) }
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wake >= 0 else { throw SystemError("eventfd", code: errno) }
        try watch(wake, EPOLLIN.rawValue)
    }

    deinit {
        close(wake)
        close(epoll)
    }

    // MARK: Descriptors (loop thread only)

    /// Starts watching a descriptor for epoll `events`.
    func watch(_ descriptor: CInt, _ events: UInt32) throws {
        guard control(EPOLL_CTL_ADD, descriptor, events) == 0 else { throw SystemError("epoll_ctl", code: errno) }
    }

    /// Changes what a watched descriptor is watched for.
    func rewatch(_ descriptor: CInt, _ events: UInt32) {
        _ = control(EPOLL_CTL_MOD, descriptor, events)
    }

    /// Stops watching; needed only for descriptors that stay open.
    func unwatch(_ descriptor: CInt) {
        _ = control(EPOLL_CTL_DEL, descriptor, 0)
    }

    private func control(_ operation: CInt, _ descriptor: CInt, _ events: UInt32) -> CInt {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.fd = descriptor
        return unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: Work from anywhere

    /// Runs `body` on the loop's thread, after everything posted before. Once the loop has ended it is let go of instead. Any
    /// thread.
    func post(_ body: @escaping @Sendable () -> Void) {
        add(.call(body))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Lets `run` return after the present turn. Any thread.
    func stop() {
        inbox.withLock { $0.isStopped = true }
        signal()
    }

    private func add(_ work: consuming Work) {
        let work = work
        let mustSignal = inbox.withLock { inbox in
            if inbox.hasEnded, case .call = work { return false }
            inbox.work.append(work)
            if inbox.isSignalled { return false }
            inbox.isSignalled = true
            return true
        }
        if mustSignal { signal() }
    }

    private func signal() {
        var one: UInt64 = 1
        _ = unsafe write(wake, &one, 8)
    }

    /// Lets go of the calls that nobody will carry out.
    private func letGo() {
        let rest = inbox.withLock { inbox in
            inbox.hasEnded = true
            let rest = inbox.work
            inbox.work = rest.filter { if case .job = $0 { true } else { false } }
            return rest
        }
        // Who is told by that may post something: not under the lock.
        withExtendedLifetime(rest) {}
    }

    // MARK: Isolation

    var isCurrentThread: Bool {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

    func checkIsolated() {
        precondition(isCurrentThread, "core state touched off the event loop's thread")
    }

    // MARK: Running

    /// Serves until `stop`; the calling thread becomes the loop's thread.
    func run(_ owner: some EventLoopOwner) {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        let capacity = 256
        var events = unsafe [epoll_event](repeating: epoll_event(), count: capacity)
        var batch: [Work] = []
        // Where a turn was cut short, the next one begins, so that nobody is always among the last.
        var first = 0
        while true {
            let timeout = owner.loopTimeout()
            let count = unsafe events.withUnsafeMutableBufferPointer {
                unsafe epoll_wait(epoll, $0.baseAddress, Int32(capacity), timeout)
            }
            let ready = max(0, Int(count))
            owner.loopTurnBegan()
            // Emptied before the inbox: a signal that comes after it means work that came after it.
            if unsafe events[..<ready].contains(where: { unsafe $0.data.fd == wake }) {
                var drained: UInt64 = 0
                _ = unsafe read(wake, &drained, 8)
            }
            // Before the sockets: what was posted happened before the requests that are found now.
            let isStopped = inbox.withLock { inbox in
                swap(&batch, &inbox.work)
                inbox.isSignalled = false
                return inbox.isStopped
            }
            for work in batch {
                switch work {
                case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                case .call(let body): body()
                }
            }
            batch.removeAll(keepingCapacity: true)
            // Whoever is left out is ready in the next turn as well.
            let end = Instant.now.advanced(by: Self.socketShare)
            var handled = 0
            while handled < ready, handled == 0 || .now < end {
                let index = (first + handled) % ready
                let descriptor = unsafe events[index].data.fd
                if descriptor != wake { unsafe owner.loopReady(descriptor, events[index].events) }
                handled += 1
            }
            first = handled < ready ? (first + handled) % ready : 0
            owner.loopTurnEnded()
            guard isStopped else { continue }
            letGo()
            return owner.loopEnded()
        }
    }
}
