/// Where an output's bytes go. Belongs to the tap's thread, and never makes it wait.
protocol TapSink: AnyObject {
    /// Takes whole frames; what cannot be taken at once is kept for a moment or thrown away.
    ///
    /// - Throws: `PlayerError` when the output is of no use any more.
    func write(_ bytes: [UInt8], frameSize: Int) throws(PlayerError)

    /// Throws away what was not heard yet, because the sound was cut.
    func discardUnread()
}

/// Sends raw samples to a server that listens for them, such as a snapserver with a source `tcp://…?mode=server`.
///
/// A thread of its own connects, again and again; meanwhile samples are thrown away.
final class TCPSink: TapSink {
    private struct State {
        var descriptor: Int32 = -1
        var isClosed = false
    }

    /// Time between two attempts to connect.
    private static let interval = Duration.seconds(2)
    /// Bytes that may wait when the line is slow; then whole frames are dropped.
    private static let backlog = 512 * 1024

    private let monitor = Monitor(State())
    private var waiting: [UInt8] = []

    /// - Parameter onProblem: hears, on another thread, why there is no connection, and with nil when there is one.
    init(host: String, port: UInt16, onProblem: @escaping @Sendable (String?) -> Void) {
        let monitor = monitor
        startThread(named: "tcp-output") {
            Self.keepConnected(to: host, port, monitor, onProblem)
        }
    }

    deinit {
        let descriptor = monitor.update { state in
            state.isClosed = true
            return state.descriptor
        }
        Socket.close(descriptor)
    }

    private static func keepConnected(
        to host: String,
        _ port: UInt16,
        _ monitor: Monitor<State>,
        _ onProblem: (String?) -> Void
    ) {
        var told: String?? = .none
        while true {
            // Ends when it is closed, goes on when the connection is lost.
            let isClosed = monitor.wait { $0.isClosed ? true : $0.descriptor < 0 ? false : nil } ?? true
            if isClosed { return }
            let result = Socket.connect(to: host, port: port, timeout: .seconds(5))
            let problem: String?
            switch result {
            case .success(let descriptor):
                problem = nil
                let isKept = monitor.update { state in
                    if !state.isClosed { state.descriptor = descriptor }
                    return !state.isClosed
                }
                if !isKept { Socket.close(descriptor) }
            case .failure(let error):
                problem = "\(host):\(port): \(error)"
            }
            if told != .some(problem) { onProblem(problem) }
            told = .some(problem)
            if problem != nil {
                let due = monotonicNow().advanced(by: interval)
                _ = monitor.wait(until: due) { $0.isClosed ? true : nil }
            }
        }
    }

    func write(_ bytes: [UInt8], frameSize: Int) throws(PlayerError) {
        let descriptor = monitor.withLock { $0.descriptor }
        guard descriptor >= 0 else {
            waiting = []
            return
        }
        if waiting.count + bytes.count <= Self.backlog { waiting += bytes }
        guard let sent = Socket.send(waiting[...], to: descriptor) else {
            waiting = []
            monitor.update { $0.descriptor = -1 }
            Socket.close(descriptor)
            return
        }
        waiting.removeFirst(sent)
    }

    func discardUnread() {
        // What has been sent in part must be ended, or all that follows would be shifted.
    }
}
