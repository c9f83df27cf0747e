import CLinux
import Glibc
import Synchronization

/// A thread that runs one closure and is joined.
public final class TestThread: Sendable {
    private let thread: Mutex<pthread_t?>

    /// Starts at once; nil when the system has no thread left.
    public init?(_ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, nil, testThreadMain, box) == 0 else {
            unsafe Unmanaged<ThreadBody>.fromOpaque(box).release()
            return nil
        }
        self.thread = Mutex(thread)
    }

    /// Waits for the end. A second call returns at once.
    public func join() {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread { _ = pthread_join(thread, nil) }
    }
}

extension TestThread {
    /// What `body` makes of 0, 1 … up to `count`, in that order, done by several threads.
    public static func concurrently<Value: Sendable>(
        _ count: Int,
        threads: Int,
        _ body: @escaping @Sendable (Int) -> Value
    ) -> [Value] {
        let state = Mutex<(next: Int, values: [Int: Value])>((0, [:]))
        let work: @Sendable () -> Void = {
            while true {
                let index = state.withLock { state in
                    defer { state.next += 1 }
                    return state.next
                }
                guard index < count else { return }
                let value = body(index)
                state.withLock { $0.values[index] = value }
            }
        }
        let others = (1..<max(1, threads)).compactMap { _ in TestThread(work) }
        work()
        for thread in others { thread.join() }
        return state.withLock { state in (0..<count).compactMap { state.values[$0] } }
    }
}

private final class ThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func testThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

/// Something that happens once, which any number of threads may wait for.
public final class TestGate: Sendable {
    private let descriptor: Int32

    public init() { descriptor = eventfd(0, Int32(EFD_CLOEXEC)) }

    deinit { close(descriptor) }

    /// Lets all waiting and later threads pass.
    public func open() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Blocks the calling thread until `open`; false when `timeout` milliseconds pass before (-1: none).
    @discardableResult
    public func wait(timeout: Int32 = -1) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let result = unsafe poll(&entry, 1, timeout)
            if result < 0 && errno == EINTR { continue }
            return result > 0
        }
    }
}
