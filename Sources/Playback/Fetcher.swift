import Logging
import SubsonicKit
import Synchronization

/// What a fetcher tells those who play or keep its song. Comes on any thread, without a lock held.
enum FetchNotice: Equatable, Sendable {
    /// An attempt failed; another one follows by itself. For users, without secrets.
    case trouble(String)
    /// Bytes come again after trouble.
    case flowing
    /// Every byte is on disk.
    case complete
    /// No more bytes will come.
    case failed(PlaybackFailure)
    /// The server's file is another one than before; what was read so far belongs to the old one.
    case changed
}

/// Brings a song's bytes into its file: what readers wait for first, then the rest.
///
/// It asks for the whole file, and for ranges wherever a reader meets a hole that no transfer will fill soon. Cut
/// transfers are resumed at the byte. It never gives up on what may pass.
final class Fetcher: Sendable {
    private struct State {
        var request: @Sendable (Int64?) -> HTTPRequest
        /// Position that each blocked reader waits for.
        var wants: [UInt64: Int64] = [:]
        /// Where the last reader waited: filling goes on from there.
        var lastWant: Int64 = 0
        var transfers: [RangeTransfer] = []
        var isActive = false
        /// Whether to bring bytes before any reader waits.
        var isEager = false
        var failure: PlaybackFailure?
        var trouble: String?
        /// Failed attempts in a row.
        var attempts = 0
        /// Error documents in a row that name no reason.
        var vagueErrors = 0
        /// Grows with each planned retry and each reason to drop it.
        var retryNumber = 0
        var isWaitingToRetry = false
        var refusesRanges = false
        var validators = Validators()
        /// Whether the server itself has told the length of the file.
        var isTotalCertain: Bool
        /// How often the file was another one.
        var changes = 0
        /// Where a body without a length ended in order.
        var cleanEnd: Int64?
        var isComplete = false
    }

    /// What identifies a version of the file.
    struct Validators: Equatable, Sendable {
        var entityTag: String?
        var lastModified: String?

        init(entityTag: String? = nil, lastModified: String? = nil) {
            self.entityTag = entityTag
            self.lastModified = lastModified
        }

        init(_ head: HTTPHead) {
            entityTag = head.value(of: "etag")
            lastModified = head.value(of: "last-modified")
        }

        /// Whether both can describe one version. Equal dates outweigh tags, which some servers make anew at each start.
        func agree(with other: Validators) -> Bool {
            if let a = lastModified, let b = other.lastModified { return a == b }
            if let a = entityTag, let b = other.entityTag { return a == b }
            return true
        }
    }

    /// A transfer that will reach a position after at most so many bytes is waited for.
    private static let patience: Int64 = 512 * 1024
    /// A transfer ends when it meets a piece of at least this size that is there already.
    private static let overlap: Int64 = 64 * 1024
    /// An attempt that brought at least this much was no failure: the next one follows at once.
    private static let progress: Int64 = 64 * 1024
    private static let vagueErrorLimit = 3
    private static let maximumTransfers = 3
    private static let maximumDelay = Duration.seconds(5)

    let file: SparseFile
    private let state: Mutex<State>
    private let transport: any HTTPTransport
    private let worker: WorkerThread
    private let log: Log
    private let notify: @Sendable (FetchNotice) -> Void

    /// - Parameter isTotalCertain: whether the file's length comes from the server's answer, not from its catalog.
    init(
        file: SparseFile,
        validators: Validators,
        isTotalCertain: Bool,
        transport: any HTTPTransport,
        worker: WorkerThread,
        log: Log,
        request: @escaping @Sendable (Int64?) -> HTTPRequest,
        notify: @escaping @Sendable (FetchNotice) -> Void
    ) {
        self.file = file
        self.transport = transport
        self.worker = worker
        self.log = log
        self.notify = notify
        var state = State(request: request, isTotalCertain: isTotalCertain)
        state.validators = validators
        state.isComplete = file.isComplete
        self.state = Mutex(state)
    }

    /// The last failed attempt's message while it matters.
    var trouble: String? { state.withLock { $0.trouble } }
    var failure: PlaybackFailure? { state.withLock { $0.failure } }
    /// Whether a reader is blocked.
    var isAwaited: Bool { state.withLock { !$0.wants.isEmpty } }
    var validators: Validators { state.withLock { $0.validators } }
    var isTotalCertain: Bool { state.withLock { $0.isTotalCertain } }

    /// Lets it bring bytes, with requests made by `request` from now on. A failure is tried anew.
    ///
    /// - Parameter isEager: false to begin only when a reader waits for bytes.
    func activate(isEager: Bool, _ request: @escaping @Sendable (Int64?) -> HTTPRequest) {
        state.withLock { state in
            state.request = request
            state.isActive = true
            state.isEager = state.isEager || isEager
            if state.failure != nil {
                state.failure = nil
                state.attempts = 0
                state.vagueErrors = 0
                file.monitor.update { $0.isClosed = false }
            }
        }
        plan()
    }

    /// Begins to bring the whole file, waited for or not.
    func fetchAll() {
        state.withLock { $0.isEager = true }
        plan()
    }

    /// Ends all transfers; readers stay blocked until they are cancelled or `activate` is called.
    func deactivate() {
        let transfers = state.withLock { state in
            defer { state.transfers = [] }
            state.isActive = false
            state.isEager = false
            state.isWaitingToRetry = false
            state.retryNumber &+= 1
            return state.transfers
        }
        for transfer in transfers { transfer.cancel() }
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
    private func plan() {
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

    private func retry(after delay: Duration, _ message: String) {
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

    private func fail(_ failure: PlaybackFailure) {
        let transfers = state.withLock { state in
            defer { state.transfers = [] }
            state.failure = failure
            state.trouble = nil
            return state.transfers
        }
        for transfer in transfers { transfer.cancel() }
        file.monitor.update { $0.isClosed = true }
        notify(.failed(failure))
    }

    private func completeIfWhole() {
        guard file.isComplete else { return }
        let isNews = state.withLock { state in
            defer { state.isComplete = true }
            return !state.isComplete
        }
        if isNews { notify(.complete) }
    }

    // MARK: From transfers

    /// Judges whether an answer belongs to the file at hand. False ends the transfer.
    func transfer(_ transfer: RangeTransfer, didReceive head: HTTPHead, total: Int64?) -> Bool {
        let validators = Validators(head)
        let known = file.monitor.withLock { $0.total }
        let (isChanged, others) = state.withLock { state -> (Bool, [RangeTransfer]) in
            if transfer.isSequential { state.refusesRanges = true }
            let lengthDiffers = total != nil && known != nil && total != known
            // A server that never repeats its validators must not make us start over for ever.
            let validatorsDiffer = state.changes < 3 && !validators.agree(with: state.validators)
            let isChanged = (lengthDiffers && state.isTotalCertain) || validatorsDiffer
            state.validators = validators
            if total != nil { state.isTotalCertain = true }
            guard isChanged else { return (false, []) }
            state.changes += 1
            state.isComplete = false
            let others = state.transfers.filter { $0 !== transfer }
            state.transfers.removeAll { $0 !== transfer }
            return (true, others)
        }
        for other in others { other.cancel() }
        if isChanged {
            log.info("\(file.path): the server's file has changed, starting over")
            file.reset(total: total)
            notify(.changed)
            if transfer.position > 0 { return false }
        } else if let total, total != known {
            file.monitor.update { $0.total = total }
        }
        return true
    }

    /// Takes bytes into the file. False ends the transfer.
    func transfer(_ transfer: RangeTransfer, didReceive bytes: UnsafeRawBufferPointer, at position: Int64) -> Bool {
        let (isCertain, isFlowing) = state.withLock { state -> (Bool, Bool) in
            let isFlowing = state.trouble != nil
            state.trouble = nil
            state.vagueErrors = 0
            if transfer.received >= Self.progress { state.attempts = 0 }
            return (state.isTotalCertain, isFlowing)
        }
        let (total, covered) = file.monitor.withLock { state -> (Int64?, Int64) in
            // The catalog's length was wrong: the end of the body will tell.
            if !isCertain, let total = state.total, position + Int64(bytes.count) > total { state.total = nil }
            return (state.total, state.intervals.end(from: position))
        }
        let room = Int(clamping: max(0, (total ?? .max) - position))
        let wanted = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        let end = position + Int64(wanted.count)
        if covered < end {
            do throws(PlayerError) {
                try unsafe file.write(wanted, at: position)
            } catch {
                fail(.transport("\(error)"))
                return false
            }
        }
        if isFlowing { notify(.flowing) }
        if total.map({ end >= $0 }) ?? false {
            completeIfWhole()
            return wanted.count == bytes.count
        }
        // What follows is there already; whoever needs the hole behind it gets a transfer of its own.
        let ahead = file.monitor.withLock { $0.intervals.end(from: end) - end }
        return transfer.isSequential || ahead < Self.overlap
    }

    /// Looks at how a transfer has ended, and goes on.
    func transferDidFinish(_ transfer: RangeTransfer, _ error: TransportError?) {
        let isOurs = state.withLock { state in
            guard let index = state.transfers.firstIndex(where: { $0 === transfer }) else { return false }
            state.transfers.remove(at: index)
            return state.isActive
        }
        guard isOurs else { return }
        if let verdict = transfer.verdict {
            act(on: verdict, transfer)
            return
        }
        completeIfWhole()
        let position = transfer.position
        let (total, isThere) = file.monitor.withLock { state in
            (state.total, state.intervals.end(from: position) > position)
        }
        if let total, position >= total { return plan() }
        // Ended by ourselves: it met what is there already.
        if isThere || error?.step == .cancelled && transfer.received > 0 { return plan() }
        if error == nil, !transfer.hasLength, endsHere(position, total: total) { return }
        // Without a byte it was ended by ourselves only where the head was one of another file.
        let message = error.map { $0.step == .cancelled ? "the song has changed on the server" : $0.message }
        tryAgain(transfer, message ?? "the server ended the connection early")
    }

    /// Whether the clean end of a body of untold length is the end of the file.
    private func endsHere(_ position: Int64, total: Int64?) -> Bool {
        // With a catalog's length that says otherwise, the second end at the same place counts.
        let isEnd = state.withLock { state in
            defer { state.cleanEnd = position }
            return total == nil || state.cleanEnd == position
        }
        guard isEnd, position > 0 else { return false }
        file.monitor.update { $0.total = position }
        state.withLock { $0.isTotalCertain = true }
        completeIfWhole()
        plan()
        return true
    }

    private func act(on verdict: ServerAnswer, _ transfer: RangeTransfer) {
        switch verdict {
        case .audio, .doubtful:
            plan()
        case .failed(let failure):
            fail(failure)
        case .retry(let message, let after):
            tryAgain(transfer, message, notBefore: after)
        case .vague(let message):
            let count = state.withLock { state in
                state.vagueErrors += 1
                return state.vagueErrors
            }
            if count > Self.vagueErrorLimit { fail(.permanent(message)) } else { tryAgain(transfer, message) }
        case .rangeRefused(let total):
            refused(transfer, total)
        }
    }

    private func refused(_ transfer: RangeTransfer, _ total: Int64?) {
        guard let total else {
            state.withLock { $0.refusesRanges = true }
            tryAgain(transfer, "the server does not send parts of files")
            return
        }
        let isSame = file.monitor.withLock { $0.intervals.ranges.allSatisfy { $0.upperBound <= total } }
        state.withLock { state in
            state.isTotalCertain = true
            if !isSame { state.changes += 1 }
        }
        if isSame {
            file.monitor.update { $0.total = total }
            completeIfWhole()
        } else {
            file.reset(total: total)
            notify(.changed)
        }
        plan()
    }

    private func tryAgain(_ transfer: RangeTransfer, _ message: String, notBefore: Duration? = nil) {
        let attempts = state.withLock { state in
            if transfer.received >= Self.progress {
                state.attempts = 0
            } else if !state.isWaitingToRetry {
                state.attempts += 1
            }
            return state.attempts
        }
        let delay = min(.milliseconds(500) * attempts, Self.maximumDelay)
        log.debug("\(file.path): \(message); next attempt after \(delay)")
        retry(after: max(delay, notBefore ?? .zero), message)
    }
}
