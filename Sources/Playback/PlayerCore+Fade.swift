import Logging

/// An overlap of the current song and the next one, which a deck of its own plays.
struct Fade {
    enum Stage: Comparable {
        /// The next song is loaded a while before the overlap begins.
        case planned
        case loading
        case ready
        /// Both songs sound.
        case running
    }

    var stage = Stage.planned
    /// Where it begins in the current song.
    var start: Duration
    var length: Duration
    /// Whether the current song has got a filter for its way out.
    var isFiltered = false

    var isReady: Bool { stage >= .ready }
    var isRunning: Bool { stage == .running }
}

/// How songs overlap.
///
/// MPD's rules: both songs last at least 20 s and longer than the overlap, both are told how they look by the decoder in
/// the same words, and the next one follows by itself. Clients hear of the change when the old song is over.
extension PlayerCore {
    /// The next song is loaded so long before it is needed.
    private static let lead = Duration.seconds(10)
    /// Less than what may wait in the tap, so that libmpv does not wait for it.
    private static let longestMixRamp = Duration.seconds(15)
    /// The least that it takes to begin.
    private static let margin = Duration.milliseconds(200)

    /// Sets how songs overlap; what has begun goes on.
    func setCrossfade(_ settings: CrossfadeSettings) {
        guard settings != crossfade else { return }
        crossfade = settings
        guard fade?.isRunning != true else { return }
        if fade != nil { dropFade() }
        if let next, next.number > 0, !isInNext, settings.seconds > 0 {
            handle.command(["playlist-remove", "1"])
            takeBack(next)
        }
        next?.refusesFade = false
        if settings.seconds == 0, let other {
            self.other = nil
            other.handle.destroy()
        }
        appendNext()
    }

    /// Plans that the next song overlaps with the current one. False: it shall follow without a gap.
    func planFade(from current: Slot, to next: Slot) -> Bool {
        guard let end = current.knownEnd, let nextEnd = next.knownEnd, !next.refusesFade, current.outcome == nil,
            crossfade.joins(end - current.source.start, nextEnd - next.source.start)
        else { return false }
        let length = Duration.seconds(Int64(crossfade.seconds))
        fade = Fade(start: end - length, length: length)
        if !outputs.isTimed || end - length - position.elapsed(at: monotonicNow()) <= Self.lead {
            loadFade()
        } else {
            askPosition()
        }
        return true
    }

    /// Plans when the overlap has to be thought of.
    func planFadeDue(elapsed: Duration, after wait: Duration, advances: Bool) {
        guard let fade, advances else {
            fadeDue = .max
            return
        }
        switch fade.stage {
        case .planned: fadeDue = monotonicNow().advanced(by: max(.zero, wait + fade.start - Self.lead - elapsed))
        case .ready: fadeDue = monotonicNow().advanced(by: max(.zero, wait + fade.start - elapsed))
        case .loading, .running: fadeDue = .max
        }
    }

    func fadeIsDue() {
        switch fade?.stage {
        case .planned: loadFade()
        case .ready: runFade()
        case .loading, .running, nil: break
        }
    }

    /// Loads the next song into a deck of its own.
    private func loadFade() {
        guard let current, let next, let end = current.knownEnd, let deck = otherDeck() else { return refuseFade() }
        let elapsed = outputs.isTimed ? position.elapsed(at: monotonicNow()) + Self.margin : .zero
        let start = max(end - .seconds(Int64(crossfade.seconds)), elapsed)
        guard start < end else { return refuseFade() }
        fade = Fade(stage: .loading, start: start, length: end - start)
        deck.handle.set(.pause, outputs.isTimed || isPaused)
        var filter: String?
        if outputs.hasDevice, !crossfade.isMixRamp {
            filter = Self.fadeFilter("in", from: next.source.start, length: end - start)
        }
        // Before the first sample of the next song can come.
        settleTap(to: loads + 1, isFinal: !crossfade.isMixRamp)
        send(next, to: deck, flags: "replace", at: next.source.start, fade: filter)
        guard crossfade.isMixRamp else { return }
        if current.metadata == nil, !current.wasAskedForMetadata {
            current.wasAskedForMetadata = true
            handle.get(.metadata, .node, tag: Tag(.metadata, current.number).rawValue)
        }
    }

    private func otherDeck() -> Deck? {
        if let other { return other }
        do throws(PlayerError) {
            let deck = Deck(try makeHandle(outputs.options))
            other = deck
            outputs.setVolume(volume, [deck])
            return deck
        } catch {
            log.notice("No crossfade: \(error)")
            return nil
        }
    }

    /// Tells the tap where the songs overlap; while that is not known, from where on it may be.
    private func settleTap(to load: UInt64, isFinal: Bool) {
        guard let tap = outputs.tap, let fade, let current else { return }
        let provisional = max(.zero, fade.start + fade.length - Self.longestMixRamp - current.begin)
        let fading = TapFade(
            from: tap.number(of: current.number),
            to: tap.number(of: load),
            start: isFinal ? fade.start - current.begin : provisional,
            length: fade.length,
            isFaded: !crossfade.isMixRamp,
            isSettled: isFinal
        )
        tap.setFade(fading)
    }

    private static func fadeFilter(_ direction: String, from start: Duration, length: Duration) -> String {
        let (start, length) = (start.nanoseconds / 1000, length.nanoseconds / 1000)
        return "@fade:lavfi=[afade=t=\(direction):curve=hsin:st=\(start)us:d=\(length)us]"
    }

    /// Looks whether the next song's deck can begin.
    func otherIsReady() {
        guard fade?.stage == .loading, let current, let next, let other else { return }
        if next.outcome != nil { return refuseFade() }
        guard next.isLoaded else { return }
        if crossfade.isMixRamp, next.metadata == nil {
            if !next.wasAskedForMetadata {
                next.wasAskedForMetadata = true
                other.handle.get(.metadata, .node, tag: Tag(.metadata, next.number).rawValue)
            }
            return
        }
        guard next.isSounding, let format = next.format else { return }
        // The decoder of a song that has just begun may not have told yet; it is asked at each look at the position.
        guard let old = current.format else { return askPosition() }
        if format != old { return refuseFade() }
        if outputs.hasDevice, other.driver == "null", deck.driver != "null" {
            log.notice("No crossfade: the device plays one song at a time")
            return refuseFade()
        }
        if crossfade.isMixRamp {
            guard current.metadata != nil, let end = current.knownEnd else { return }
            let overlap = crossfade.overlap(
                end: current.mixRamp("end").map { ($0, current.level ?? 0) },
                start: next.mixRamp("start").map { ($0, next.level ?? 0) }
            )
            let elapsed = outputs.isTimed ? position.elapsed(at: monotonicNow()) + Self.margin : .zero
            let start = max(end - overlap, elapsed)
            guard start < end else { return refuseFade() }
            fade?.start = start
            fade?.length = end - start
            settleTap(to: next.number, isFinal: true)
        } else if outputs.hasDevice, let fade {
            handle.command([
                "af", "add", Self.fadeFilter("out", from: fade.start - current.offset, length: fade.length),
            ])
            self.fade?.isFiltered = true
        }
        fade?.stage = .ready
        if outputs.isTimed { askPosition() } else { runFade() }
    }

    private func runFade() {
        guard fade?.stage == .ready, let next, let other else { return }
        fade?.stage = .running
        other.handle.set(.pause, isPaused)
        emit(.committed(next.id))
        if case .ended = current?.outcome, deck.isIdle { fadeIsOver() }
    }

    /// The current song is over, or cannot go on.
    func fadeIsOver() {
        // Faster than real time, the old song is decoded before the new one is there.
        if fade?.stage == .loading, !outputs.isTimed, outputs.tap != nil { return }
        guard let fade, fade.isReady, let next else { return refuseFade() }
        guard let tap = outputs.tap else { return changeDecks() }
        if outputs.isTimed {
            tap.endFade(nil)
            changeDecks()
        } else {
            // Faster than real time, the tap may be far behind.
            let (id, mailbox) = (next.id, self.mailbox)
            tap.endFade { mailbox.post(.faded(id)) }
        }
    }

    /// The tap has written the end of the song before this one.
    func faded(_ id: PlaybackID) {
        if next?.id == id, fade?.isReady == true { changeDecks() }
    }

    private func changeDecks() {
        guard let fade, let old = current, let new = next, let deck = other else { return }
        other = self.deck
        self.deck = deck
        self.fade = nil
        fadeDue = .max
        current = new
        next = nil
        toldTrouble = nil
        giveUpDue = .max
        seekInFlight = nil
        isStarving = deck.isBuffering
        release(old)
        deck.handle.set(.pause, isPaused)
        tellSilence(of: old)
        becomeCurrent(new, elapsed: new.begin + (fade.isRunning ? fade.length : .zero))
        askPosition()
    }

    /// The two songs do not overlap after all: the next one follows without a gap.
    private func refuseFade() {
        dropFade()
        next?.refusesFade = true
        appendNext()
    }

    /// Takes the next song back from its deck.
    func dropFade() {
        if fade?.isFiltered == true { handle.command(["af", "remove", "@fade"]) }
        if let fade, fade.stage > .planned {
            other?.handle.command(["stop"])
            outputs.tap?.dropFade()
            if let next { takeBack(next) }
        }
        fade = nil
        fadeDue = .max
    }

    private func takeBack(_ slot: Slot) {
        registry.remove(number: slot.number)
        slot.deck = nil
        slot.entry = nil
        slot.number = 0
        slot.isLoaded = false
        slot.isSounding = false
        slot.outcome = nil
    }
}

extension Slot {
    /// The file's MixRamp profile of one of its borders; `border` is `start` or `end`.
    fileprivate func mixRamp(_ border: String) -> String? {
        guard case .map(let tags) = metadata else { return nil }
        return tags.first { $0.key.lowercased() == "mixramp_\(border)" }?.value.text
    }
}
