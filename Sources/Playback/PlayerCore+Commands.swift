/// What the player is told to do.
extension PlayerCore {
    /// Plays another song.
    func load(_ slot: Slot, at position: Duration, paused: Bool) {
        forgetSongs()
        stopAhead()
        if !paused { _ = tryLostDevice() }
        current = slot
        setPaused(paused)
        slot.offset = offset(for: slot, at: position)
        guard open(slot, isEager: true) else { return }
        start(slot, at: position)
    }

    private func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        handle.set(.pause, isPaused)
        if fade?.isRunning == true { other?.handle.set(.pause, isPaused) }
        outputs.tap?.setPaused(isPaused)
    }

    /// Opens a slot's file, if it is to have one. Reports the failure of a current one and returns false.
    private func open(_ slot: Slot, isEager: Bool) -> Bool {
        if slot.stream != nil { return true }
        let (id, mailbox) = (slot.id, mailbox)
        do throws(PlayerError) {
            slot.song = try cache.open(slot.bytes, for: id, isEager: isEager) { notice in
                mailbox.post(.fetch(id, notice))
            }
            return true
        } catch {
            if slot === current { fail(.transport("\(error)")) } else { slot.outcome = .failed(.transport("\(error)")) }
            return false
        }
    }

    /// Has libmpv play the current song from a position, in place of everything it has.
    /// - Parameter isKnown: whether the taps have what comes first, so that it is heard only by a device.
    func start(_ slot: Slot, at position: Duration, isKnown: Bool = false) {
        if fade != nil { dropFade() }
        if isKnown {
            outputs.tap?.goOn(from: slot.number, to: loads + 1, at: position - slot.begin)
        } else {
            outputs.tap?.cut(through: loads)
        }
        let offset = offset(for: slot, at: position)
        if offset != slot.offset {
            // The old bytes may be awaited by libmpv until it gets the new ones.
            if let song = slot.song { cache.close(song, for: slot.id) }
            slot.song = nil
            slot.offset = offset
            guard open(slot, isEager: true) else { return }
        }
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
        reopenDue = .max
        if let stream = slot.stream, stream.isToBeRead {
            deck.handle.command(["stop"])
            slot.begin = position
            slot.outcome = nil
            slot.isLoaded = false
            slot.isSounding = false
            look(at: stream, of: slot)
        } else {
            send(slot, to: deck, flags: "replace", at: position)
        }
        report(position, advances: false)
        patienceDue = monotonicNow().advanced(by: Self.patienceAtStart)
    }

    /// Has a deck load a slot's song.
    ///
    /// - Parameter fade: a filter for the way in, where the song overlaps with the one before it.
    func send(_ slot: Slot, to deck: Deck, flags: String, at position: Duration, fade: String? = nil) {
        guard slot.song != nil || slot.stream != nil else { return }
        if slot.number > 0 { registry.remove(number: slot.number) }
        loads += 1
        slot.number = loads
        slot.deck = deck
        slot.entry = nil
        slot.isLoaded = false
        slot.isSounding = false
        slot.isSilent = false
        slot.begin = position
        slot.outcome = nil
        var options: [(String, String)] = []
        var opening = position - slot.offset
        let bytes = slot.bytes
        if let song = slot.song {
            slot.generation = song.file.monitor.withLock { $0.generation }
            registry.add(song, number: slot.number)
        }
        if let stream = slot.stream {
            opening = stream.opening(at: position)
            options += stream.options
        }
        if opening > .zero { options.append(("start", "+" + Self.seconds(opening))) }
        if let end = bytes.end { options.append(("end", "+" + Self.seconds(end))) }
        if slot.gain?.byTags != nil, !deck.stopsAtOpening {
            deck.stopsAtOpening = true
            deck.handle.stopAtOpening()
        }
        slot.wasAskedForMetadata = slot.metadata != nil
        let level = slot.level
        slot.hasGainFilter = level != nil || outputs.tap != nil
        slot.givenLevel = level ?? 0
        let filters =
            outputs.filters(
                of: bytes,
                gain: slot.hasGainFilter ? level ?? 0 : nil,
                load: slot.number,
                start: opening
            ) + [fade].compactMap { $0 }
        if !filters.isEmpty { options.append(("af", filters.joined(separator: ","))) }
        deck.handle.load(
            slot.stream?.address.url ?? StreamRegistry.address(of: slot.number),
            flags: flags,
            options: options,
            tag: Tag(.load, slot.number).rawValue
        )
    }

    /// Takes the song that follows.
    func preload(_ slot: Slot) {
        guard current != nil else { return }
        cancelPreload()
        next = slot
        appendNext()
    }

    /// Gives the next song to libmpv as soon as the current one is known to be audio, so that libmpv does not run on to
    /// it after a failure.
    func appendNext() {
        guard let next, next.number == 0, let current, current.isLoaded, !isInNext, fade == nil else { return }
        // After a radio that is cut comes the same radio, and after a row of a playlist the next one.
        if let stream = current.stream, !stream.isLast { return }
        if let stream = next.stream, stream.isToBeRead {
            look(at: stream, of: next)
            return
        }
        guard next.song != nil || open(next, isEager: current.song?.isComplete ?? true) else { return }
        fetchAhead()
        if current.stream == nil, next.stream == nil, planFade(from: current, to: next) { return }
        send(next, to: deck, flags: "append-play", at: next.source.start)
    }

    /// Forgets the song that follows.
    func cancelPreload() {
        guard let next else { return }
        let wasGiven = next.number > 0
        let wasFading = fade?.isRunning == true
        let wasOnOther = fade != nil
        if wasOnOther { dropFade() }
        self.next = nil
        release(next)
        if isInNext || wasFading {
            // libmpv has left the song that is still heard: back to it.
            if let current { start(current, at: position.elapsed(at: monotonicNow())) }
        } else if wasGiven && !wasOnOther {
            handle.command(["playlist-remove", "1"])
        }
    }

    /// Stops or goes on at the same place.
    func pause(_ isPaused: Bool) {
        guard current != nil, isPaused != self.isPaused else { return }
        setPaused(isPaused)
        if isInNext { audibleDue = .max }
        if !isPaused, tryLostDevice() { deviceChanged() }
        if !isPaused, deck.isIdle { becameIdle() }
        askPosition()
    }

    /// Moves in the current song.
    func seek(to target: Duration) {
        guard let current, current.stream?.isSeekable != false else { return }
        let target = max(.zero, target)
        // With a tap too: it gets samples before libmpv drops those that come before the target.
        guard current.isLoaded, current.outcome == nil, !isInNext, fade == nil, outputs.tap == nil,
            offset(for: current, at: target) == current.offset
        else {
            start(current, at: target)
            return
        }
        seeks += 1
        current.begin = target
        seekInFlight = (seeks, false)
        handle.command(
            ["seek", Self.seconds(target - current.offset), "absolute+exact"],
            tag: Tag(.seek, seeks).rawValue
        )
        report(target, advances: false)
    }

    /// Ends the sound.
    func stop() {
        guard let current else { return }
        outputs.tap?.cut(through: loads)
        for deck in decks { deck.handle.command(["stop"]) }
        forgetSongs()
        stopAhead()
        emit(.ended(current.id, .stopped))
    }

    /// libmpv has opened another device, and has dropped what the former one held. That is decoded anew; the tap must not get it
    /// twice.
    func deviceChanged() {
        guard let current, current.isSounding else { return }
        let elapsed = position.elapsed(at: monotonicNow())
        guard outputs.tap != nil else {
            // What is under way between two songs, or comes but once, is left as it is.
            if !isInNext, fade == nil, current.stream == nil, current.outcome == nil { start(current, at: elapsed) }
            return
        }
        guard outputs.isTimed, !isInNext, fade == nil, current.stream == nil, current.outcome == nil else {
            return start(current, at: elapsed)
        }
        // A whole number of frames at all usual rates.
        let border = Duration.milliseconds(elapsed.nanoseconds / 40_000_000 * 40)
        start(current, at: max(border, current.begin), isKnown: true)
    }

    static func seconds(_ duration: Duration) -> String {
        decimal(Int(duration.nanoseconds / 1000), digits: 6)
    }
}
