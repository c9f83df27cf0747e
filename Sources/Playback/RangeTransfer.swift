import SubsonicKit
import Synchronization

/// One request for the bytes of a song from an offset on, until it has brought what was missing.
///
/// Callbacks come on the transport's thread, one at a time; the fetcher decides what becomes of them.
final class RangeTransfer: HTTPReceiver {
    private enum Phase {
        case waiting
        /// The media type says text: holds what came until the first byte has decided, and an error document to its end.
        case document([UInt8], head: HTTPHead, total: Int64?)
        /// What a refusal says, of which the status means this.
        case refusal([UInt8], ServerAnswer)
        case audio
    }

    private struct State {
        var phase = Phase.waiting
        var received: Int64 = 0
        var fresh: Int64 = 0
        var isSequential = false
        var hasLength = false
        var verdict: ServerAnswer?
    }

    private struct Control {
        var handle: (any HTTPTransfer)?
        var isCancelled = false
        var isFinished = false
    }

    /// Most bytes of a document that are kept to find an error code in.
    private static let documentLimit = 64 * 1024

    /// The first byte asked for; 0 means that the request has no `Range`.
    let start: Int64
    /// Where the next byte goes.
    private let head: Atomic<Int64>
    private let state = Mutex(State())
    private let control = Mutex(Control())
    private let fetcher: Fetcher

    /// - Parameter isSequential: whether it is for a server that sends whole files only.
    init(start: Int64, isSequential: Bool, fetcher: Fetcher) {
        self.start = isSequential ? 0 : start
        self.fetcher = fetcher
        head = Atomic(self.start)
        state.withLock { $0.isSequential = isSequential }
    }

    /// Position in the file of the next byte to come.
    var position: Int64 { head.load(ordering: .relaxed) }
    /// Bytes of audio received so far.
    var received: Int64 { state.withLock { $0.received } }
    /// Bytes of audio received so far that were not there before.
    var fresh: Int64 { state.withLock { $0.fresh } }
    /// Whether the server sends from the start whatever was asked, so that known bytes must be waited through.
    var isSequential: Bool { state.withLock { $0.isSequential } }
    /// Whether the head told how long the file is.
    var hasLength: Bool { state.withLock { $0.hasLength } }
    /// What a document or head has decided, if that was not audio.
    var verdict: ServerAnswer? { state.withLock { $0.verdict } }
    var isCancelled: Bool { control.withLock { $0.isCancelled } }

    /// So many of the bytes that have come were not there before.
    func note(fresh count: Int64) { state.withLock { $0.fresh += count } }

    /// Sends the request. Call it once, without a lock held.
    func begin(_ request: HTTPRequest, by transport: any HTTPTransport) {
        if isCancelled {
            fetcher.transferDidFinish(self, nil)
            return
        }
        let handle = transport.stream(request, to: self)
        let isCancelled = control.withLock { control in
            // The handle holds us; it is let go at the end, which may have come already.
            if !control.isFinished { control.handle = handle }
            return control.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    /// Ends it soon; bytes that still come are dropped.
    func cancel() {
        let handle = control.withLock { control in
            control.isCancelled = true
            return control.handle
        }
        handle?.cancel()
    }

    func transferDidReceive(_ head: HTTPHead) -> Bool {
        guard !isCancelled else { return false }
        let answer = ServerAnswer(head, rangeStart: start > 0 ? start : nil)
        switch answer {
        case .audio(let offset, let total), .doubtful(let offset, let total):
            let isDoubtful = if case .doubtful = answer { true } else { false }
            state.withLock { state in
                state.phase = isDoubtful ? .document([], head: head, total: total) : .audio
                state.isSequential = state.isSequential || offset < start
                state.hasLength = total != nil
            }
            self.head.store(offset, ordering: .relaxed)
            // A document's length and validators are not the song's.
            return isDoubtful || fetcher.transfer(self, didReceive: head, total: total)
        case .explained(let status):
            state.withLock { $0.phase = .refusal([], status) }
            return true
        case .rangeRefused, .retry, .broken, .denied, .failed:
            state.withLock { $0.verdict = answer }
            return false
        }
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isCancelled else { return false }
        let isAudio = state.withLock { state in
            if case .audio = state.phase { true } else { false }
        }
        return isAudio ? unsafe take(bytes) : unsafe takeDocument(bytes)
    }

    func transferDidFinish(_ error: TransportError?) {
        control.withLock { control in
            control.isFinished = true
            control.handle = nil
        }
        state.withLock { state in
            guard state.verdict == nil else { return }
            switch state.phase {
            case .document(let bytes, _, _) where error == nil || !bytes.isEmpty:
                state.verdict = ErrorDocument.judge(bytes)
            case .refusal(let bytes, let status): state.verdict = ErrorDocument.judge(bytes, status: status)
            case .audio where error == nil && state.received == 0 && !state.hasLength && position == 0:
                state.verdict = .broken(ServerAnswer.emptiness)
            case .waiting, .document, .audio: break
            }
        }
        fetcher.transferDidFinish(self, error)
    }

    /// Collects a document; passes it on as audio when it turns out not to begin like one.
    private func takeDocument(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (audio, isFull) = state.withLock { state -> ((before: [UInt8], HTTPHead, Int64?)?, Bool) in
            if case .refusal(let before, let status) = state.phase {
                let collected = unsafe before + bytes.prefix(Self.documentLimit - before.count)
                state.phase = .refusal(collected, status)
                return (nil, collected.count >= Self.documentLimit)
            }
            guard case .document(let before, let head, let total) = state.phase else { return (nil, true) }
            let collected = unsafe before + bytes.prefix(Self.documentLimit - before.count)
            if ErrorDocument.isText(collected) == false {
                state.phase = .audio
                return ((before, head, total), false)
            }
            state.phase = .document(collected, head: head, total: total)
            return (nil, collected.count >= Self.documentLimit)
        }
        guard let (before, head, total) = audio else { return !isFull }
        guard fetcher.transfer(self, didReceive: head, total: total) else { return false }
        let isWanted = unsafe before.withUnsafeBytes { unsafe take($0) }
        guard isWanted else { return false }
        return unsafe take(bytes)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unsafe !bytes.isEmpty else { return true }
        let position = position
        state.withLock { $0.received += Int64(bytes.count) }
        let goesOn = unsafe fetcher.transfer(self, didReceive: bytes, at: position)
        head.store(position + Int64(bytes.count), ordering: .relaxed)
        return goesOn
    }
}
