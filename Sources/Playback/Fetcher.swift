import Logging
import SubsonicKit
import Synchronization

/// Brings a song's bytes into its file: what readers wait for first, then the rest.
///
/// It asks for the whole file, and for ranges wherever a reader meets a hole that no transfer will fill soon. Cut
/// transfers are resumed at the byte. It never gives up on what may pass.
final class Fetcher: Sendable {
    /// A transfer that will reach a position after at most so many bytes is waited for.
    private static let patience: Int64 = 512 * 1024
    /// A transfer ends when it meets a piece of at least this size that is there already.
    static let overlap: Int64 = 64 * 1024
    /// An attempt that brought at least this much that is new was no failure: the next one follows at once.
    static let progress: Int64 = 64 * 1024
    /// So often a disk may be full in a row until the song is given up.
    static let fullDiskLimit = 3
    /// A failure older than this may be over.
    private static let agingOfFailures = Duration.seconds(1)
    /// So many bytes at most are lost by a crash.
    static let noteInterval: Int64 = 4 << 20
    private static let maximumTransfers = 3
    static let maximumDelay = Duration.seconds(5)

    let file: SparseFile
    let state: Mutex<FetchState>
    private let transport: any HTTPTransport
    private let worker: WorkerThread
    let log: Log
    let notify: @Sendable (FetchNotice) -> Void
    let patienceWhenFailing: Duration
    let patienceAtEarlyEnds: Duration
    /// What the catalog says of the length.
    let catalogSize: Int64?
    /// Asks the server whether it is well but for this song; nil where nobody can.
    let serverHealth: (@Sendable () async -> ServerHealth)?

    /// - Parameters:
    ///   - isTotalCertain: whether the file's length comes from the server's answer, not from its catalog.
    ///   - catalogSize: what the catalog says of the length.
    ///   - patienceWhenFailing: so long a server may fail at the song in each answer, well otherwise, until the song is given up.
    ///   - patienceAtEarlyEnds: so long a reader waits at a place where each body ends, until nothing more is thought to come.
    init(
        file: SparseFile,
        validators: FileValidators,
        isTotalCertain: Bool,
        catalogSize: Int64?,
        transport: any HTTPTransport,
        worker: WorkerThread,
        log: Log,
        patienceWhenFailing: Duration,
        patienceAtEarlyEnds: Duration,
        serverHealth: (@Sendable () async -> ServerHealth)?,
        request: @escaping @Sendable (Int64?) -> HTTPRequest,
        notify: @escaping @Sendable (FetchNotice) -> Void
    ) {
        self.file = file
        self.transport = transport
        self.worker = worker
        self.log = log
        self.notify = notify
        self.patienceWhenFailing = patienceWhenFailing
        self.patienceAtEarlyEnds = patienceAtEarlyEnds
        self.catalogSize = catalogSize
        self.serverHealth = serverHealth
        var state = FetchState(request: request, isTotalCertain: isTotalCertain)
        state.validators = validators
        if !isTotalCertain { state.catalogTotal = file.monitor.withLock { $0.total } }
        state.isComplete = file.isComplete
        self.state = Mutex(state)
    }

    /// The last failed attempt's message while it matters.
    var trouble: String? { state.withLock { $0.trouble } }
    var failure: PlaybackFailure? { state.withLock { $0.failure } }
    /// Whether a reader is blocked.
    var isAwaited: Bool { state.withLock { !$0.wants.isEmpty } }
    var validators: FileValidators { state.withLock { $0.validators } }
    var isTotalCertain: Bool { state.withLock { $0.isTotalCertain } }

    /// Lets it bring bytes, with requests made by `request` from now on, once `plan` is called. A failure is tried anew.
    /// Calls nobody.
    ///
    /// - Parameter isEager: false to begin only when a reader waits for bytes.
    func allow(isEager: Bool, _ request: @escaping @Sendable (Int64?) -> HTTPRequest) {
        state.withLock { state in
            state.request = request
            state.isActive = true
            state.isEager = state.isEager || isEager
            state.earlyEnd = nil
            if state.failure != nil {
                state.failure = nil
                state.attempts = 0
                state.failing = nil
                state.fullDisks = 0
                file.monitor.update { $0.isClosed = false }
            }
        }
    }

    /// Somebody begins to read. What was given up a while ago, before anybody could hear of it, is asked for once more.
    func begin() {
        state.withLock { state in
            let now = monotonicNow()
            guard state.failure != nil, state.isActive, now >= state.failureTime.advanced(by: Self.agingOfFailures)
            else { return }
            state.failure = nil
            state.attempts = 0
            // The server has had its time; but it may not be as well now as it was then.
            state.failing = Failing(patienceDue: now)
            file.monitor.update { $0.isClosed = false }
        }
    }

    /// Begins to bring the whole file, waited for or not.
    func fetchAll() {
        state.withLock { $0.isEager = true }
        plan()
    }

    /// Ends all transfers; readers stay blocked until they are cancelled, or bytes are allowed again.
    func deactivate() {
        for transfer in forbid() { transfer.cancel() }
    }

    /// The same, but leaves it to the caller to cancel the transfers that it returns. Calls nobody.
    func forbid() -> [RangeTransfer] {
        state.withLock { state in
            defer { state.transfers = [] }
            state.isActive = false
            state.isEager = false
            state.isWaitingToRetry = false
            state.failing = nil
            state.earlyEnd = nil
            state.retryNumber &+= 1
            return state.transfers
        }
    }

    /// A reader waits for the byte at `position`.
    func want(_ position: Int64, reader: UInt64) {
        state.withLock { state in
            state.wants[reader] = position
            state.lastWant = position
            state.isEager = true
        }
        plan()
    }

    /// A reader waits no more.
    func unwant(reader: UInt64) {
        state.withLock { _ = $0.wants.removeValue(forKey: reader) }
    }

    // MARK: Deciding

    /// Starts the transfers that are missing and ends those that are in the way.
    func plan() {
        let (starting, ending, request) = state.withLock { state -> ([RangeTransfer], [RangeTransfer], Request) in
            guard state.isActive, state.isEager, state.failure == nil, !state.isComplete, !state.isWaitingToRetry else {
                return ([], [], state.request)
            }
            let (intervals, total) = file.monitor.withLock { ($0.intervals, $0.total) }
            var starting: [RangeTransfer] = []
            for position in state.wants.values.sorted() {
                guard intervals.end(from: position) == position, position < total ?? .max else { continue }
                let all = state.transfers + starting
                if all.contains(where: { Self.will($0, reach: position) }) { continue }
                if state.refusesRanges && !all.isEmpty { continue }
                starting.append(RangeTransfer(start: position, isSequential: state.refusesRanges, fetcher: self))
            }
            if state.transfers.isEmpty && starting.isEmpty {
                let limit = total ?? .max
                let hole = intervals.hole(from: state.lastWant, limit: limit) ?? intervals.hole(from: 0, limit: limit)
                if let start = hole?.lowerBound {
                    starting.append(RangeTransfer(start: start, isSequential: state.refusesRanges, fetcher: self))
                }
            }
            var ending: [RangeTransfer] = []
            while state.transfers.count + starting.count > Self.maximumTransfers,
                let idle = state.transfers.firstIndex(where: { transfer in
                    !state.wants.values.contains { Self.will(transfer, reach: $0) }
                })
            {
                ending.append(state.transfers.remove(at: idle))
            }
            state.transfers += starting
            return (starting, ending, state.request)
        }
        for transfer in ending { transfer.cancel() }
        for transfer in starting {
            var request = request(transfer.start > 0 ? transfer.start : nil)
            request.rangeStart = transfer.start > 0 ? transfer.start : nil
            transfer.begin(request, by: transport)
        }
    }

    private typealias Request = @Sendable (Int64?) -> HTTPRequest

    private static func will(_ transfer: RangeTransfer, reach position: Int64) -> Bool {
        let head = transfer.position
        // One that must send everything from the start gets there in the end; another request would do no better.
        return head <= position && (transfer.isSequential || position - head <= patience)
    }

    /// Plans another attempt, and tells why.
    func retry(after delay: Duration, _ message: String) {
        let number = state.withLock { state -> Int? in
            state.trouble = message
            guard state.isActive, !state.isWaitingToRetry else { return nil }
            state.isWaitingToRetry = true
            state.retryNumber &+= 1
            return state.retryNumber
        }
        notify(.trouble(message))
        guard let number else { return }
        worker.after(delay) { [self] in
            let isDue = state.withLock { state in
                guard state.retryNumber == number else { return false }
                state.isWaitingToRetry = false
                return true
            }
            if isDue { plan() }
        }
    }

    /// Gives the song up: nothing more will come.
    func fail(_ failure: PlaybackFailure) {
        let transfers = state.withLock { state in
            defer { state.transfers = [] }
            state.failure = failure
            state.failureTime = monotonicNow()
            state.trouble = nil
            return state.transfers
        }
        for transfer in transfers { transfer.cancel() }
        file.monitor.update { $0.isClosed = true }
        notify(.failed(failure))
    }

    /// Tells once when every byte is there.
    func completeIfWhole() {
        guard file.isComplete else { return }
        let isNews = state.withLock { state in
            defer { state.isComplete = true }
            return !state.isComplete
        }
        if isNews { notify(.complete) }
    }
}
