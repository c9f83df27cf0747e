import CLinux
import Glibc

/// A POSIX thread that runs one closure.
final class PlatformThread: Sendable {
    private let handle: pthread_t

    /// Starts the thread. Under extreme shortage, when the kernel refuses a thread, the process ends with a message:
    /// nothing useful can run without it.
    init(name: String, _ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, body))
        var thread = pthread_t()
        let result = unsafe pthread_create(&thread, nil, threadMain, box.toOpaque())
        precondition(result == 0, "pthread_create: \(result)")
        handle = thread
    }

    /// Waits for the closure's return; call once.
    func join() {
        pthread_join(handle, nil)
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    // The kernel takes 15 bytes; longer names fail and leave the thread unnamed.
    unsafe shelv_name_thread(String(body.name.prefix(15)))
    body.body()
    return nil
}

/// A counting semaphore between threads.
@safe final class Semaphore: @unchecked Sendable {
    // `sem_t` is made for use by several threads; the pointer never changes.
    private let raw: UnsafeMutablePointer<sem_t>

    init() {
        unsafe raw = .allocate(capacity: 1)
        unsafe sem_init(raw, 0, 0)
    }

    deinit {
        unsafe sem_destroy(raw)
        unsafe raw.deallocate()
    }

    func signal() { unsafe sem_post(raw) }

    func wait() {
        while unsafe sem_wait(raw) != 0 && errno == EINTR {}
    }

    /// Waits, but not for ever, whatever is done to the clock meanwhile.
    /// - Returns: whether there was a signal.
    @discardableResult
    func wait(atMost limit: Duration) -> Bool {
        let end = UInt64(clamping: Instant.now.advanced(by: limit).nanoseconds)
        var result = unsafe shelv_sem_wait_until(raw, end)
        while result != 0 && errno == EINTR { result = unsafe shelv_sem_wait_until(raw, end) }
        return result == 0
    }
}
