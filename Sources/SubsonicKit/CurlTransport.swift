internal import CLinux
internal import Glibc
internal import Synchronization

/// How a `CurlTransport` behaves.
public struct CurlTransportOptions: Sendable {
    /// Transfers at once to one scheme, host and port; more wait, and their timeouts begin when they start.
    public var maximumTransfersPerServer: Int
    /// A PEM file with the certificate authorities to trust instead of the system's, or nil.
    public var certificateFile: String?
    public var userAgent: String
    /// Bytes that a whole answer may have, after decompression; a larger one fails at step `local`.
    public var maximumBody: Int
    /// How long a whole answer may take beyond its first wait, however little of it comes.
    public var slownessLimit: Duration
    /// Schemes for which the environment names a proxy.
    var proxies: Set<String>
    /// What the environment excepts from proxies.
    var noProxy: String

    public init(
        maximumTransfersPerServer: Int = 8,
        certificateFile: String? = nil,
        userAgent: String = "ShelvMPD/0.1",
        maximumBody: Int = 128 << 20,
        slownessLimit: Duration = .seconds(60)
    ) {
        self.maximumTransfersPerServer = max(1, maximumTransfersPerServer)
        self.certificateFile = certificateFile
        self.userAgent = userAgent
        self.maximumBody = maximumBody
        self.slownessLimit = slownessLimit
        // The variables that libcurl looks at; HTTP_PROXY in capitals is none of them.
        let all = Self.environment("all_proxy") || Self.environment("ALL_PROXY")
        proxies = []
        if all || Self.environment("http_proxy") { proxies.insert("http") }
        if all || Self.environment("https_proxy") || Self.environment("HTTPS_PROXY") { proxies.insert("https") }
        noProxy = Self.text("no_proxy") ?? Self.text("NO_PROXY") ?? ""
    }

    private static func text(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    private static func environment(_ name: String) -> Bool { !(text(name) ?? "").isEmpty }
}

/// HTTP by libcurl, on one thread of its own that sleeps while nothing happens.
///
/// Keeps connections alive, speaks HTTP/2 over TLS where offered, takes compressed answers (whole ones only), verifies
/// TLS, uses the environment's proxies (never for loopback names), and follows redirects inside one host only, never
/// from https to http. Make one for the API and another for audio, so that neither waits for the other's callbacks.
public final class CurlTransport: HTTPTransport {
    private let mailbox = CurlMailbox()
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. Throws at step `local` when memory, descriptors or threads are short.
    public init(_ options: CurlTransportOptions = CurlTransportOptions()) throws(TransportError) {
        guard let loop = CurlLoop(mailbox: mailbox, options: options) else {
            throw TransportError(.local, "cannot start libcurl")
        }
        let pointer = unsafe Unmanaged.passRetained(loop).toOpaque()
        var thread = pthread_t()
        // The thread inherits a full mask: signals are for the main thread, and a SIGPIPE out of TLS for nobody.
        var everything = sigset_t()
        var before = sigset_t()
        _ = unsafe sigfillset(&everything)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &everything, &before)
        let result = unsafe pthread_create(&thread, nil, curlThreadMain, pointer)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard result == 0 else {
            mailbox.close()
            unsafe Unmanaged<CurlLoop>.fromOpaque(pointer).release()
            throw TransportError(.local, "cannot start a thread")
        }
        self.thread = Mutex(thread)
    }

    deinit { shutdown() }

    /// Ends all transfers as cancelled, and the thread; returns when it has ended. Later requests fail at once.
    ///
    /// From a receiver's callback it does not wait.
    public func shutdown() {
        mailbox.stop()
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            _ = pthread_join(thread, nil)
        }
    }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let collector = CurlCollector()
        let transfer = CurlTransfer(request, receiver: collector, isWhole: true, mailbox: mailbox)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                collector.setContinuation(continuation)
                if !transfer.start() { collector.transferDidFinish(Self.isShutDown) }
            }
        } onCancel: {
            transfer.cancel()
        }
        return try result.get()
    }

    public func stream(_ request: HTTPRequest, to receiver: any HTTPReceiver) -> any HTTPTransfer {
        let transfer = CurlTransfer(request, receiver: receiver, isWhole: false, mailbox: mailbox)
        if !transfer.start() {
            // Not from here: the caller may hold a lock that the receiver takes too.
            Task { receiver.transferDidFinish(Self.isShutDown) }
        }
        return transfer
    }

    private static let isShutDown = TransportError(.cancelled, "the transport is shut down")
}

/// The transport's thread.
private func curlThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    unsafe shelv_name_thread("http")
    unsafe Unmanaged<CurlLoop>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
