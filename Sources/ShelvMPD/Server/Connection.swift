import CLinux
import Glibc
import MPDProtocol

/// One client: its socket, its unread replies, and the command that is being carried out for it.
///
/// Replies go out in the order of the requests. The next request is not looked at before the reply to the one before
/// has left (but for what the socket's buffer takes), so a client that does not read holds up nobody but itself.
/// Owned by the core.
final class Connection {
    /// Not used twice in the life of the process.
    struct ID: Hashable, Sendable { let rawValue: UInt64 }

    /// A command, or a list of them, under way.
    struct Run {
        enum Lines {
            case single([UInt8])
            case list(CommandList)
        }

        var lines: Lines
        /// The line that is next, or under way.
        var index = 0
        /// Whether one of its commands has changed a queue, or what plays, or is about to.
        var edits = false

        init(_ lines: Lines) { self.lines = lines }

        var isList: Bool { if case .list = lines { true } else { false } }

        var sendsListOK: Bool { if case .list(let list) = lines { list.sendsListOK } else { false } }

        /// The line at `index`, or nil at the end.
        var line: [UInt8]? {
            switch lines {
            case .single(let line): index == 0 ? line : nil
            case .list(let list): index < list.count ? list[index] : nil
            }
        }
    }

    enum Progress {
        /// Takes the next request.
        case ready
        case running(Run)
        /// A worker looks something up for the run.
        case waitingForWorker(Run)
        /// Another client's command list has the partition for itself.
        case waitingForPartition(Run)
        /// The command of this name adds songs to the queue, a piece at a time.
        case adding(Run, command: String, QueueAddition)
        /// A reply is produced as the client reads it.
        case streaming(Run, any ReplySource)
    }

    let id: ID
    let descriptor: CInt
    /// The client, for those who work for it on other threads.
    let asker = Asker()
    var session: Session
    var progress = Progress.ready
    /// Decides about lists and idle.
    var protocolState: SessionState
    /// The replies that the socket has not taken yet.
    var reply = Reply()
    /// It waits in line to be served; until then nothing more is read.
    var isQueued = false
    /// When the last complete line arrived, or the last reply byte left.
    var lastActivity = Instant.now

    private var decoder = LineDecoder()
    private var sentCount = 0
    private var watched = EPOLLIN.rawValue
    /// No further request is taken; what was asked is still answered.
    private(set) var isClosing = false
    /// The client has said `close` or broken the rules: nothing further is carried out.
    private(set) var isLeaving = false
    private(set) var isClosed = false

    /// How long the core works for one client before it is the others' turn: about a piece of a long reply.
    static let share = Duration.microseconds(250)

    /// Unread reply bytes beyond which no further request is taken.
    static let outputHighWater = 64 * 1024

    init(id: ID, descriptor: CInt, session: Session, maximumListSize: Int) {
        self.id = id
        self.descriptor = descriptor
        self.session = session
        protocolState = SessionState(maximumListSize: maximumListSize)
    }

    /// Bytes of replies that wait for the socket.
    var pendingOutput: Int { reply.bytes.count - sentCount }

    /// Whether a further request, or a further piece of a long reply, may add to the output.
    var hasRoom: Bool { pendingOutput < Self.outputHighWater }

    /// Whether what is under way is a piece of something longer.
    var isAtLength: Bool {
        switch progress {
        case .streaming, .adding: true
        case .ready, .running, .waitingForWorker, .waitingForPartition: false
        }
    }

    // MARK: Input

    enum ReadResult { case progress, nothing, closed }

    /// Reads once what the socket has, through the shared `buffer`.
    func read(into buffer: inout [UInt8]) -> ReadResult {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 {
            decoder.append(buffer[..<count])
            return .progress
        }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }

    /// The next complete line, or nil when there is none; a client that breaks the rules is closed.
    func nextLine() -> [UInt8]? {
        switch decoder.next() {
        case .line(let line): return line
        case .needsInput: return nil
        case .close:
            leave()
            return nil
        }
    }

    // MARK: Output

    /// Hands replies to the socket, as much as it takes. Returns false when the client has gone.
    func flush() -> Bool {
        while sentCount < reply.bytes.count {
            let count = unsafe reply.bytes.withUnsafeBytes { bytes in
                unsafe send(
                    descriptor,
                    bytes.baseAddress.map { unsafe $0 + sentCount },
                    bytes.count - sentCount,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN
            }
            sentCount += count
            lastActivity = .now
        }
        // A piece of a long reply ends with a whole line, a little behind the mark.
        reply.bytes.removeAll(keepingCapacity: reply.bytes.count <= 2 * Self.outputHighWater)
        sentCount = 0
        return true
    }

    /// Lets go of what was sent of a reply that is still growing, so that memory stays with what is unread.
    func dropSentOutput() {
        guard sentCount > 0 else { return }
        reply.bytes.removeFirst(sentCount)
        sentCount = 0
    }

    // MARK: Life

    /// No further request is taken; the socket is closed when the replies have left.
    func closeAfterFlush() { isClosing = true }

    /// As `closeAfterFlush`, and nothing further that was sent is carried out.
    func leave() {
        isClosing = true
        isLeaving = true
    }

    /// Watches for what can be used: readable unless the client must read first, writable while output waits.
    func updateWatch(_ loop: EventLoop) {
        var wanted: UInt32 = 0
        // Who waits in line is served anyway.
        if pendingOutput > 0, !isQueued { wanted |= EPOLLOUT.rawValue }
        if takesInput { wanted |= EPOLLIN.rawValue }
        // A client that went away while we work for it is noticed by EPOLLHUP, which is always watched; over TCP, one that
        // closes in order has only ended sending, as far as can be seen.
        if case .waitingForWorker = progress, !asker.hasSaidAll { wanted |= EPOLLRDHUP.rawValue }
        guard wanted != watched else { return }
        watched = wanted
        loop.rewatch(descriptor, wanted)
    }

    private var takesInput: Bool {
        guard case .ready = progress, !isClosing, !isQueued else { return false }
        return hasRoom
    }

    /// Closes the socket. Once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        asker.leave()
        Glibc.close(descriptor)
    }
}
