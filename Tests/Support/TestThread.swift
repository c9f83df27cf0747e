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
