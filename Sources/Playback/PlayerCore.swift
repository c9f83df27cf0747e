import Glibc
import Logging
import SubsonicKit

/// The player's state and rules. Lives on the player's thread; libmpv is only asked, never waited for.
///
/// libmpv decodes ahead: it leaves a song some 0.4 s before the listener does. So there are two views of what plays.
/// `current` is what the listener hears, and what events speak of; `isInNext` says that libmpv is at `next` already.
/// While two songs overlap, `other` plays the next one; when the current one is over, the decks change places.
final class PlayerCore {
    /// How long a song may be silent before the listener is told that it waits.
    static let patienceAtStart = Duration.seconds(1)
    static let patienceInSong = Duration.milliseconds(300)

    /// Plays the current song.
    var deck: Deck
    /// Plays the next song where it overlaps with the current one.
    var other: Deck?
    let makeHandle: ([(String, String)]) throws(PlayerError) -> MPVHandle
    let registry: StreamRegistry
    let cache: CacheDesk
    /// Looks at addresses of remote streams.
    let transport: any HTTPTransport
    let mailbox: PlayerMailbox
    let log: Log
    let starvationLimit: Duration?
    let stopsWithoutDevice: Bool
    var outputs: OutputBoard
    /// What libmpv has found to play on; nil before it has looked.
    var knownDevices: [AudioDevice]?
    private let emitEvent: @Sendable (PlayerEvent) -> Void

    var current: Slot?
    var next: Slot?
    var isInNext = false
    var isPaused = false
    /// The current song stands for want of bytes.
    var isStarving = false
    /// Number of the last seek, while its first sound is awaited, and whether libmpv has taken it.
    var seekInFlight: (number: UInt64, isTaken: Bool)?
    var seeks: UInt64 = 0
    /// Calls of `seek` that have arrived.
    var seekCalls: UInt64 = 0
    var loads: UInt64 = 0
    /// What the listener was told about waiting.
    var toldTrouble: String?
    /// The last reported position of the current song.
    var position = PlaybackPosition(elapsed: .zero, time: 0, advances: false)

    /// Songs that will follow the next one, and those of them that cannot be had.
    var wantedAhead: [AudioSource] = []
    var failedAhead: Set<String> = []
    var ahead: SongAhead?
    var aheadCount: UInt64 = 0
    var crossfade = CrossfadeSettings()
    var fade: Fade?
    var volume = 100

    // Moments of the monotonic clock; `.max` means never.
    var pollDue = UInt64.max
    var audibleDue = UInt64.max
    var patienceDue = UInt64.max
    var fadeDue = UInt64.max
    /// When a remote stream is tried again.
    var reopenDue = UInt64.max
    var giveUpDue = UInt64.max

    /// - Parameters:
    ///   - makeHandle: makes a second libmpv like the first one, with further options.
    init(
        handle: MPVHandle,
        makeHandle: @escaping ([(String, String)]) throws(PlayerError) -> MPVHandle,
        registry: StreamRegistry,
        cache: CacheDesk,
        transport: any HTTPTransport,
        mailbox: PlayerMailbox,
        outputs: OutputBoard,
        log: Log,
        starvationLimit: Duration?,
        stopsWithoutDevice: Bool,
        emit: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        deck = Deck(handle)
        self.makeHandle = makeHandle
        self.registry = registry
        self.cache = cache
        self.transport = transport
        self.mailbox = mailbox
        self.outputs = outputs
        self.log = log
        self.starvationLimit = starvationLimit
        self.stopsWithoutDevice = stopsWithoutDevice
        emitEvent = emit
    }

    var handle: MPVHandle { deck.handle }
    var decks: [Deck] { [deck, other].compactMap { $0 } }

    /// Works until `shutdown`; then everything is closed and `.closed` was sent.
    func run() {
        var isRunning = true
        while isRunning {
            for command in mailbox.take() {
                if case .shutdown = command { isRunning = false } else { obey(command) }
            }
            guard isRunning else { break }
            fireTimers()
            takeEvents()
            mailbox.sleep(
                until: min(
                    min(pollDue, audibleDue, patienceDue, reopenDue, fadeDue, giveUpDue),
                    min(outputs.retryDue, outputs.lossDue)
                )
            )
        }
        mailbox.close()
        outputs.tap?.beginClosing()
        for deck in decks { deck.handle.destroy() }
        outputs.tap?.close()
        if let current { release(current) }
        if let next { release(next) }
        stopAhead()
        cache.pin([])
        emit(.closed)
    }

    /// Takes what libmpv has told, of both decks.
    private func takeEvents() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for deck in decks {
                let event = deck.handle.next()
                if case .nothing = event { continue }
                isBusy = true
                take(event, from: deck)
            }
        }
    }

    func emit(_ event: PlayerEvent) { emitEvent(event) }

    private func fireTimers() {
        let now = monotonicNow()
        if now >= audibleDue {
            audibleDue = .max
            if isInNext { becomeAudible(elapsed: next?.begin ?? .zero) }
        }
        if now >= fadeDue {
            fadeDue = .max
            fadeIsDue()
        }
        if now >= pollDue {
            pollDue = .max
            askPosition()
        }
        if now >= patienceDue {
            patienceDue = .max
            losePatience()
        }
        if now >= reopenDue {
            reopenDue = .max
            reopen()
        }
        if now >= giveUpDue {
            giveUpDue = .max
            giveUp()
        }
        if now >= outputs.retryDue {
            outputs.retry(decks)
            deviceChanged()
        }
        if now >= outputs.lossDue {
            outputs.noteLoss()
            askDevice()
        }
    }

    /// There is nothing to play on, and it will not be there in a moment either.
    private func deviceIsLost() {
        if stopsWithoutDevice, !isPaused { fail(.transport("the audio device has gone")) }
    }

    /// What the device was last known to be, it may be no more: asks libmpv, which may not have one open.
    func askDevice() {
        if isUnheard {
            handle.get(.currentOutput, .text, tag: Tag(.output, 0).rawValue)
        }
    }

    /// Something is to sound: a device that was lost is tried once more. Returns whether it was.
    func tryLostDevice() -> Bool {
        guard stopsWithoutDevice, outputs.isLost else { return false }
        outputs.tryOnceMore(decks)
        return true
    }

    /// Whether what plays is not to be counted as heard: it stands where the device was lost until that is back, and where
    /// it begins until there is one.
    var isUnheard: Bool {
        stopsWithoutDevice && (outputs.isMissing || outputs.hasDevice && deck.driver?.isEmpty ?? true)
    }

    /// libmpv plays to this driver now, to none where it is nil.
    func driverIs(_ driver: String?) {
        let wasMissing = outputs.isMissing
        let heard = position.elapsed(at: monotonicNow())
        if let problem = outputs.driverIs(driver) { emit(.output(index: problem.index, problem: problem.text)) }
        if stopsWithoutDevice, outputs.isMissing, !wasMissing, current != nil { report(heard, advances: false) }
        if stopsWithoutDevice, !isUnheard { wasMissing ? goBackToHeard() : askPosition() }
        // While it has none open it may be there again.
        if driver?.isEmpty == false, outputs.isLost { deviceIsLost() }
    }

    /// The device is back, and libmpv further than the listener.
    private func goBackToHeard() {
        deviceChanged()
        askPosition()
    }

    /// The current song has waited for bytes for longer than is allowed.
    private func giveUp() {
        guard let current, toldTrouble != nil, !current.isSounding || isStarving else { return }
        fail(.transport(current.song?.fetcher.trouble ?? "the server sends nothing"))
    }

    /// The current song has been silent for too long.
    private func losePatience() {
        guard let current, !current.isSounding || isStarving else { return }
        if let stream = current.stream { tellTrouble(stream.trouble ?? "waiting for the server") }
        guard let fetcher = current.song?.fetcher else { return }
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
        case .seek(let position):
            seekCalls += 1
            seek(to: position)
        case .gain(let gain, let id): setGain(gain, of: id)
        case .ahead(let sources): setAhead(sources)
        case .stop: stop()
        case .volume(let percent):
            volume = percent
            outputs.setVolume(percent, decks)
        case .crossfade(let settings): setCrossfade(settings)
        case .output(let index, let isEnabled):
            if outputs.setEnabled(index, isEnabled, decks) {
                outputs.setVolume(volume, decks)
                deviceChanged()
                askPosition()
            }
        case .putOutput(let output, let index, let isEnabled):
            if outputs.put(output, at: index, isEnabled, decks) {
                outputs.setVolume(volume, decks)
                deviceChanged()
                askPosition()
            }
        case .looked(let id, let number, let answer): take(answer, to: number, of: id)
        case .outputProblem(let index, let problem): emit(.output(index: index, problem: problem))
        case .fetch(let id, let notice): take(notice, of: id)
        case .drained(let id): finish(id)
        case .faded(let id): faded(id)
        case .shutdown: break
        }
    }

    // MARK: Ends

    /// The current song can't go on.
    func fail(_ failure: PlaybackFailure) {
        guard let current else { return }
        for deck in decks { deck.handle.command(["stop"]) }
        forgetSongs()
        tellSilence(of: current)
        emit(.failed(current.id, failure))
    }

    /// libmpv is silent after the current song; the taps may still be writing.
    func drain() {
        guard let current else { return }
        let (id, mailbox) = (current.id, mailbox)
        if let tap = outputs.tap { tap.drain { mailbox.post(.drained(id)) } } else { finish(id) }
    }

    private func finish(_ id: PlaybackID) {
        guard let current, current.id == id, case .ended = current.outcome else { return }
        if let stream = current.stream, goOn(with: stream, of: current) { return }
        guard next == nil else { return }
        forgetSongs()
        tellSilence(of: current)
        emit(.ended(id, .endOfFile))
    }

    /// Says of a song that is left that nothing of it was heard, if that is so.
    func tellSilence(of slot: Slot) {
        if slot.isSilent { emit(.silent(slot.id)) }
    }

    /// Lets go of both songs.
    func forgetSongs() {
        if let current { release(current) }
        if let next { release(next) }
        current = nil
        next = nil
        isInNext = false
        isStarving = false
        seekInFlight = nil
        toldTrouble = nil
        giveUpDue = .max
        if fade != nil { dropFade() }
        pollDue = .max
        audibleDue = .max
        patienceDue = .max
        reopenDue = .max
    }

    func release(_ slot: Slot) {
        registry.remove(number: slot.number)
        if let song = slot.song { cache.close(song, for: slot.id) }
        slot.song = nil
        slot.stream?.forgetQuestion()
    }
}
