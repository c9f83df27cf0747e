import Library
import Synchronization

/// Who waits for what others work on, as far as they care: whether he is still there. One for each connection. Any thread.
final class Asker: Sendable {
    private let gone = StopSign()
    private let silence = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Who wants what is begun at the moment.
    @TaskLocal static var current: Asker?

    init() {}

    /// Whether nobody waits any more.
    var isGone: Bool { gone.isSet }

    /// Whether he has ended sending. He may have gone, or wait for the last answer: a socket does not tell which.
    var hasSaidAll: Bool { silence.load(ordering: .relaxed) }

    /// He has closed the connection, or was sent away.
    func leave() {
        gone.set()
        task.withLock { $0 }?.cancel()
    }

    /// Lets a task end when he leaves. It takes the place of the one before: a client wants one thing at a time.
    func wants(_ task: Task<Void, Never>) {
        self.task.withLock { $0 = task }
        if isGone { task.cancel() }
    }

    /// Nothing more comes from him.
    func fallSilent() { silence.store(true, ordering: .relaxed) }

    /// Does something for him; what looks at the stop sign ends early when he leaves.
    func serve<Value>(_ work: () throws -> Value) rethrows -> Value {
        try StopSign.$current.withValue(gone) { try work() }
    }
}
