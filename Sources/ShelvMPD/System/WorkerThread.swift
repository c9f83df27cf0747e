import CLinux
import Glibc

/// A thread of its own for one function that blocks, which must stay off Swift's pool of threads.
final class WorkerThread: Sendable {
    private let handle: pthread_t

    /// Starts `body`.
    /// - Parameter name: At most 15 bytes, shown by `top -H` and debuggers.
    init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = unsafe Unmanaged.passRetained(ThreadStart(name, body))
        var handle = pthread_t()
        let code = unsafe pthread_create(&handle, nil, runThread, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw SystemError("cannot start the thread \(name)", code: code)
        }
        self.handle = handle
    }

    /// Blocks until `body` has returned. Call it at most once, from another thread.
    func join() {
        _ = pthread_join(handle, nil)
    }
}

/// What a new thread takes along.
private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    unsafe shelv_name_thread(start.name)
    start.body()
    return nil
}
