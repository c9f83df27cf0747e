import Glibc
import Logging

/// The player's state and rules. Lives on the player's thread; libmpv is only asked, never waited for.
///
/// libmpv decodes ahead: it leaves a song some 0.4 s before the listener does. So there are two views of what plays.
/// `current` is what the listener hears, and what events speak of; `isInNext` says that libmpv is at `next` already.
final class PlayerCore {
    /// How long a song may be silent before the listener is told that it waits.
    static let patienceAtStart = Duration.seconds(1)
    static let patienceInSong = Duration.milliseconds(300)

    let handle: MPVHandle
    let registry: StreamRegistry
    let cache: AudioCache
    let mailbox: PlayerMailbox
    let log: Log
    var outputs: OutputBoard
    private let emitEvent: @Sendable (PlayerEvent) -> Void

    var current: Slot?
    var next: Slot?
    /// The entry that libmpv has begun last.
    var entry: Int64?
    var isInNext = false
    var isPaused = false
    /// The current song stands for want of bytes.
    var isStarving = false
    /// libmpv says so.
    var isBuffering = false
    var isIdle = true
    /// Number of the last seek, while its first sound is awaited, and whether libmpv has taken it.
    var seekInFlight: (number: UInt64, isTaken: Bool)?
    var seeks: UInt64 = 0
    private var loads: UInt64 = 0
    /// What the listener was told about waiting.
    var toldTrouble: String?
    /// The last reported position of the current song.
    var position = PlaybackPosition(elapsed: .zero, time: 0, advances: false)

    // Moments of the monotonic clock; `.max` means never.
    var pollDue = UInt64.max
    var audibleDue = UInt64.max
    var patienceDue = UInt64.max

    init(
        handle: MPVHandle,
        registry: StreamRegistry,
        cache: AudioCache,
        mailbox: PlayerMailbox,
        outputs: OutputBoard,
        log: Log,
        emit: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        self.handle = handle
        self.registry = registry
        self.cache = cache
        self.mailbox = mailbox
        self.outputs = outputs
        self.log = log
        emitEvent = emit
    }

    /// Works until `shutdown`; then everything is closed and `.closed` was sent.
    func run() {
        var isRunning = true
        while isRunning {
            for command in mailbox.take() {
                if case .shutdown = command { isRunning = false } else { obey(command) }
            }
            guard isRunning else { break }
            fireTimers()
            if case .shutdown = waitForEvent() { break }
        }
        mailbox.close()
        outputs.tap?.beginClosing()
        handle.destroy()
        outputs.tap?.close()
        if let current { release(current) }
        if let next { release(next) }
        cache.shutdown()
        emit(.closed)
    }

    private func waitForEvent() -> MPVEvent {
        let due = min(pollDue, audibleDue, patienceDue, outputs.retryDue)
        let now = monotonicNow()
        let seconds = due == .max ? -1 : Double(due > now ? due - now : 0) / 1e9
        let event = handle.wait(seconds)
        take(event)
        return event
    }

    func emit(_ event: PlayerEvent) { emitEvent(event) }

    private func fireTimers() {
        let now = monotonicNow()
        if now >= audibleDue {
            audibleDue = .max
            if isInNext { becomeAudible(elapsed: .zero) }
        }
        if now >= pollDue {
            pollDue = .max
            askPosition()
        }
        if now >= patienceDue {
            patienceDue = .max
            losePatience()
        }
        if now >= outputs.retryDue {
            outputs.retry(handle)
            deviceChanged()
        }
    }

    /// The current song has been silent for too long.
    private func losePatience() {
        guard let current, let fetcher = current.song?.fetcher, !current.isSounding || isStarving else { return }
        if fetcher.isAwaited || fetcher.trouble != nil {
            tellTrouble(fetcher.trouble ?? "waiting for the server")
        } else {
            // Bytes trickle in just now; soon it may be waiting again.
            patienceDue = monotonicNow().advanced(by: Self.patienceInSong)
        }
    }

    private func obey(_ command: PlayerCommand) {
        switch command {
        case .load(let id, let source, let position, let paused): load(Slot(id, source), at: position, paused: paused)
        case .preload(let id, let source): preload(Slot(id, source))
        case .cancelPreload: cancelPreload()
        case .pause(let isPaused): pause(isPaused)
        case .seek(let position): seek(to: position)
        case .stop: stop()
        case .volume(let percent): outputs.setVolume(percent, handle)
        case .output(let index, let isEnabled):
            if outputs.setEnabled(index, isEnabled, handle) { deviceChanged() }
        case .outputProblem(let index, let problem): emit(.output(index: index, problem: problem))
        case .fetch(let id, let notice): take(notice, of: id)
        case .drained(let id): finish(id)
        case .shutdown: break
        }
    }

    // MARK: Commands

    private func load(_ slot: Slot, at position: Duration, paused: Bool) {
        forgetSongs()
        current = slot
        setPaused(paused)
        guard open(slot, isEager: true) else { return }
        start(slot, at: position)
    }

    private func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        handle.set(.pause, isPaused)
        outputs.tap?.setPaused(isPaused)
    }

    /// Opens a slot's file. Reports the failure of a current one and returns false.
    private func open(_ slot: Slot, isEager: Bool) -> Bool {
        let (id, mailbox) = (slot.id, mailbox)
        do throws(PlayerError) {
            slot.song = try cache.open(slot.source, for: id, isEager: isEager) { notice in
                mailbox.post(.fetch(id, notice))
            }
            return true
        } catch {
            if slot === current { fail(.transport("\(error)")) } else { slot.outcome = .failed(.transport("\(error)")) }
            return false
        }
    }

    /// Has libmpv play the current song from a position, in place of everything it has.
    func start(_ slot: Slot, at position: Duration) {
        outputs.tap?.cut(through: loads)
        isInNext = false
        seekInFlight = nil
        isStarving = false
        audibleDue = .max
        if let next {
            registry.remove(number: next.number)
            next.entry = nil
            next.number = 0
            next.isLoaded = false
            next.isSounding = false
            next.outcome = nil
        }
        send(slot, flags: "replace", at: position)
        report(position, advances: false)
        patienceDue = monotonicNow().advanced(by: Self.patienceAtStart)
    }

    private func send(_ slot: Slot, flags: String, at position: Duration) {
        guard let song = slot.song else { return }
        if slot.number > 0 { registry.remove(number: slot.number) }
        loads += 1
        slot.number = loads
        slot.entry = nil
        slot.isLoaded = false
        slot.isSounding = false
        slot.outcome = nil
        slot.generation = song.file.monitor.withLock { $0.generation }
        registry.add(song, number: slot.number)
        var options: [(String, String)] = []
        if position > .zero { options.append(("start", "+" + Self.seconds(position))) }
        let filters = outputs.filters(gain: slot.source.gain, load: slot.number, start: position)
        if !filters.isEmpty { options.append(("af", filters)) }
        handle.load(
            StreamRegistry.address(of: slot.number),
            flags: flags,
            options: options,
            tag: Tag(.load, slot.number).rawValue
        )
    }

    private func preload(_ slot: Slot) {
        guard current != nil else { return }
        cancelPreload()
        next = slot
        appendNext()
    }

    /// Gives the next song to libmpv as soon as the current one is known to be audio, so that libmpv does not run on to
    /// it after a failure.
    func appendNext() {
        guard let next, next.number == 0, let current, current.isLoaded, !isInNext else { return }
        guard next.song != nil || open(next, isEager: current.song?.isComplete ?? true) else { return }
        send(next, flags: "append-play", at: .zero)
    }

    private func cancelPreload() {
        guard let next else { return }
        self.next = nil
        let wasGiven = next.number > 0
        release(next)
        if isInNext {
            // libmpv has left the song that is still heard: back to it.
            if let current { start(current, at: position.elapsed(at: monotonicNow())) }
        } else if wasGiven {
            handle.command(["playlist-remove", "1"])
        }
    }

    private func pause(_ isPaused: Bool) {
        guard current != nil, isPaused != self.isPaused else { return }
        setPaused(isPaused)
        if isInNext { audibleDue = .max }
        askPosition()
    }

    private func seek(to target: Duration) {
        guard let current else { return }
        let target = max(.zero, target)
        // With a tap too: it gets samples before libmpv drops those that come before the target.
        guard current.isLoaded, current.outcome == nil, !isInNext, outputs.tap == nil else {
            start(current, at: target)
            return
        }
        seeks += 1
        seekInFlight = (seeks, false)
        handle.command(["seek", Self.seconds(target), "absolute+exact"], tag: Tag(.seek, seeks).rawValue)
        report(target, advances: false)
    }

    private func stop() {
        guard let current else { return }
        outputs.tap?.cut(through: loads)
        handle.command(["stop"])
        forgetSongs()
        emit(.ended(current.id, .stopped))
    }

    /// libmpv has opened another device, and decodes anew what was not yet heard. The tap must not get that twice.
    private func deviceChanged() {
        guard outputs.tap != nil, let current, current.isSounding else { return }
        start(current, at: position.elapsed(at: monotonicNow()))
    }

    private static func seconds(_ duration: Duration) -> String {
        decimal(Int(duration.nanoseconds / 1000), digits: 6)
    }

    // MARK: Ends

    /// The current song can't go on.
    func fail(_ failure: PlaybackFailure) {
        guard let current else { return }
        handle.command(["stop"])
        forgetSongs()
        emit(.failed(current.id, failure))
    }

    /// libmpv is silent after the current song; the taps may still be writing.
    func drain() {
        guard let current else { return }
        let (id, mailbox) = (current.id, mailbox)
        if let tap = outputs.tap { tap.drain { mailbox.post(.drained(id)) } } else { finish(id) }
    }

    private func finish(_ id: PlaybackID) {
        guard let current, current.id == id, case .ended = current.outcome, next == nil else { return }
        forgetSongs()
        emit(.ended(id, .endOfFile))
    }

    /// Lets go of both songs.
    private func forgetSongs() {
        if let current { release(current) }
        if let next { release(next) }
        current = nil
        next = nil
        isInNext = false
        isStarving = false
        seekInFlight = nil
        toldTrouble = nil
        pollDue = .max
        audibleDue = .max
        patienceDue = .max
    }

    func release(_ slot: Slot) {
        registry.remove(number: slot.number)
        if let song = slot.song { cache.close(song, for: slot.id) }
        slot.song = nil
    }
}

/// What an asynchronous call to libmpv was for: the kind in the low byte, and a number.
struct Tag {
    enum Kind: UInt64 { case none, load, position, bitRate, seek }

    let kind: Kind
    let number: UInt64

    init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }

    init(rawValue: UInt64) {
        kind = Kind(rawValue: rawValue & 0xFF) ?? .none
        number = rawValue >> 8
    }

    var rawValue: UInt64 { number << 8 | kind.rawValue }
}
