import SubsonicKit
import Synchronization

/// Looks at what an address answers: a playlist, or something to play, or why there is nothing.
///
/// Reads a bounded part of it and never waits longer than half a minute. Callbacks come on the transport's thread.
final class RemoteProbe: HTTPReceiver {
    enum Answer: Sendable, Equatable {
        case playlist(RemotePlaylist)
        /// An HLS playlist, which is played, not read.
        case segments
        /// No playlist; whether it can be played is another question.
        case media
        case failed(PlaybackFailure)
    }

    private struct State {
        var head: HTTPHead?
        var body: [UInt8] = []
        var verdict: Answer?
        var transfer: (any HTTPTransfer)?
        var isCancelled = false
        var isFinished = false
    }

    /// As much is enough to see that something is no playlist.
    private static let firstLook = 1_024
    private static let patience = Duration.seconds(30)

    private let address: StreamAddress
    private let wantsPlaylist: Bool
    private let deadline: UInt64
    private let state = Mutex(State())
    private let whenDone: @Sendable (Answer) -> Void

    private init(_ address: StreamAddress, wantsPlaylist: Bool, whenDone: @escaping @Sendable (Answer) -> Void) {
        self.address = address
        self.wantsPlaylist = wantsPlaylist
        self.whenDone = whenDone
        deadline = monotonicNow().advanced(by: Self.patience)
    }

    /// Begins to ask.
    ///
    /// - Parameters:
    ///   - wantsPlaylist: whether a playlist is expected, so that what calls itself audio is looked at, too.
    ///   - whenDone: called once, on any thread.
    static func begin(
        _ address: StreamAddress,
        wantsPlaylist: Bool,
        by transport: any HTTPTransport,
        whenDone: @escaping @Sendable (Answer) -> Void
    ) -> RemoteProbe {
        let probe = RemoteProbe(address, wantsPlaylist: wantsPlaylist, whenDone: whenDone)
        guard address.isHTTP else {
            // What is no HTTP cannot be looked at, and is no playlist.
            whenDone(.media)
            return probe
        }
        let request = HTTPRequest(
            url: address.url,
            followsAnywhere: true,
            connectTimeout: .seconds(10),
            stallTimeout: .seconds(10)
        )
        let transfer = transport.stream(request, to: probe)
        let isCancelled = probe.state.withLock { state in
            if !state.isFinished { state.transfer = transfer }
            return state.isCancelled
        }
        if isCancelled { transfer.cancel() }
        return probe
    }

    /// Asks, and waits for the answer. Cancelling the task ends it with a failure.
    static func ask(_ address: StreamAddress, wantsPlaylist: Bool, by transport: any HTTPTransport) async -> Answer {
        let probe = Mutex<(probe: RemoteProbe?, isCancelled: Bool)>((nil, false))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let begun = begin(address, wantsPlaylist: wantsPlaylist, by: transport) { answer in
                    continuation.resume(returning: answer)
                }
                let isCancelled = probe.withLock { state in
                    state.probe = begun
                    return state.isCancelled
                }
                if isCancelled { begun.cancel() }
            }
        } onCancel: {
            let begun = probe.withLock { state in
                state.isCancelled = true
                return state.probe
            }
            begun?.cancel()
        }
    }

    /// Ends it soon, with a failure as the answer. Any thread.
    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func transferDidReceive(_ head: HTTPHead) -> Bool {
        state.withLock { state in
            state.head = head
            guard (200..<300).contains(head.status) else {
                let message = "\(address): the server answers with status \(head.status)"
                let mayPass = head.status >= 500 || head.status == 408 || head.status == 429
                state.verdict = .failed(mayPass ? .transport(message) : .permanent(message))
                return false
            }
            let type = head.value(of: "content-type")
            let isSound = ["audio/", "video/"].contains { type?.hasPrefix($0) == true }
            if isSound, !wantsPlaylist, !RemotePlaylist.isPlaylist(mediaType: type) {
                state.verdict = .media
                return false
            }
            return true
        }
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            let room = RemotePlaylist.maximumLength - state.body.count
            unsafe state.body.append(contentsOf: bytes.prefix(room))
            if bytes.count > room {
                let message = "\(address): longer than a playlist may be"
                state.verdict = wantsPlaylist ? .failed(.permanent(message)) : .media
                return false
            }
            if monotonicNow() > deadline {
                state.verdict = .failed(.transport("\(address): the server is too slow"))
                return false
            }
            // Sound shows itself by bytes that no text has.
            if state.body.prefix(Self.firstLook).contains(where: { $0 < 0x20 && !"\t\n\u{0C}\r".utf8.contains($0) }) {
                state.verdict = .media
                return false
            }
            return true
        }
    }

    func transferDidFinish(_ error: TransportError?) {
        let answer = state.withLock { state -> Answer in
            state.isFinished = true
            state.transfer = nil
            if let verdict = state.verdict { return verdict }
            if let error {
                let isFinal = error.step == .local
                return .failed(isFinal ? .permanent(error.message) : .transport(error.message))
            }
            let type = state.head?.value(of: "content-type")
            // Where it was found at last; that address has no query, which a relative one would not take over anyway.
            let base = state.head.map(\.effectiveURL).flatMap { $0.isEmpty ? nil : $0 } ?? address.url
            switch RemotePlaylist.read(state.body, mediaType: type, base: base) {
            case .playlist(let playlist) where playlist.rows.isEmpty:
                return .failed(.permanent("\(address): the playlist names nothing that can be played"))
            case .playlist(let playlist): return .playlist(playlist)
            case .segments: return .segments
            case nil: return .media
            }
        }
        whenDone(answer)
    }
}
