import Logging

// What libmpv and the fetchers tell.

extension PlayerCore {
    /// The song that libmpv is at.
    var playing: Slot? { song(on: deck) }

    /// The song that a deck is at.
    func song(on deck: Deck) -> Slot? {
        guard let entry = deck.entry else { return nil }
        return [current, next].compactMap { $0 }.first { $0.deck === deck && $0.entry == entry }
    }

    func take(_ event: MPVEvent, from deck: Deck) {
        switch event {
        case .startFile(let entry):
            deck.entry = entry
            arrive()
        case .fileLoaded:
            let slot = song(on: deck)
            slot?.isLoaded = true
            if let slot, slot.stream != nil { askFacts(of: slot, on: deck) }
            // Tags in a file are known now, and a gain may have changed since the song was given to libmpv.
            slot.map(apply)
            if deck === self.deck { appendNext() } else { otherIsReady() }
        case .opened(let hook):
            deck.hook = hook
            opened(on: deck)
        case .playbackRestart:
            restarted(on: deck)
        case .endFile(let entry, let end, let message):
            ended(entry, on: deck, end, message)
        case .property(let property, let value):
            changed(property, value, of: deck)
        case .reply(let tag, let isError, let value):
            answered(Tag(rawValue: tag), isError: isError, value)
        case .log(let line):
            log.debug("mpv \(StreamAddress.withoutSecrets(line))")
        case .nothing, .shutdown, .other:
            break
        }
    }

    private func answered(_ tag: Tag, isError: Bool, _ value: MPVValue) {
        switch tag.kind {
        case .none:
            break
        case .load:
            guard let slot = slot(tag.number) else { return }
            if case .integer(let entry) = value["playlist_entry_id"], !isError {
                slot.entry = entry
                arrive()
                if let deck = slot.deck { opened(on: deck) }
            } else if slot === current {
                fail(.transport("libmpv refuses to load the song"))
            }
        case .position:
            guard !isError, let seconds = value.number else { return }
            // For what an overlap waits for.
            if fade?.stage == .loading, current?.format != nil { otherIsReady() }
            positionIs(seconds, number: tag.number)
        case .bitRate:
            guard !isError, let bits = value.number, bits >= 0, bits < 1e9, let current,
                current.number == tag.number
            else { return }
            let rate = Int((bits / 1000).rounded())
            if rate != current.bitRate {
                current.bitRate = rate
                emit(.bitRate(current.id, rate))
            }
        case .codec:
            if !isError, let slot = slot(tag.number), let deck = slot.deck, song(on: deck) === slot {
                changed(.audioCodec, value, of: deck)
            }
        case .metadata:
            guard let slot = slot(tag.number) else { return }
            slot.metadata = isError ? MPVValue.none : value
            if let metadata = slot.metadata { tagsAre(metadata, of: slot) }
            if slot.deck?.hook != nil { setLevelAtOpening(slot) } else { apply(slot) }
            otherIsReady()
        case .parameters:
            guard let slot = slot(tag.number), slot.format == nil, let deck = slot.deck, song(on: deck) === slot
            else { return }
            changed(.audioParameters, isError ? .none : value, of: deck)
            if deck !== self.deck { return }
            // A paused song is not looked at again, so until this is known it is.
            if slot.format == nil { pollDue = min(pollDue, monotonicNow().advanced(by: .milliseconds(100))) }
        case .seekable:
            if let slot = slot(tag.number) { seekableIs(!isError && value.isTrue, slot) }
        case .output:
            if !isError {
                deck.driver = value.text
                driverIs(value.text)
            }
        case .gain:
            if isError, let slot = slot(tag.number) { commandFailed(slot) }
        case .hook:
            decks.first { $0.hook == tag.number }.map(goOn)
        case .seek:
            guard seekInFlight?.number == tag.number else { return }
            if isError {
                seekInFlight = nil
                askPosition()
            } else {
                seekInFlight?.isTaken = true
            }
        }
    }

    /// The song of a load.
    private func slot(_ number: UInt64) -> Slot? {
        [current, next].compactMap { $0 }.first { $0.number == number }
    }

    // MARK: Natural change of song

    /// libmpv is at an entry: is it the next song's?
    private func arrive() {
        guard let next, let entry = deck.entry, next.deck === deck, next.entry == entry, !isInNext else { return }
        isInNext = true
        emit(.committed(next.id))
        // Until libmpv says when the new song will be heard: when the old one must be over.
        let left = current?.knownEnd.map { $0 - position.elapsed(at: monotonicNow()) } ?? .milliseconds(500)
        let bounded = min(max(left, .zero), .seconds(1)) + .milliseconds(100)
        audibleDue = isPaused ? .max : monotonicNow().advanced(by: bounded)
    }

    /// The listener hears the next song now, or should: it becomes the current one.
    func becomeAudible(elapsed: Duration) {
        guard isInNext, let old = current, let new = next else { return }
        audibleDue = .max
        isInNext = false
        current = new
        next = nil
        toldTrouble = nil
        giveUpDue = .max
        release(old)
        handle.command(["playlist-remove", "0"])
        tellSilence(of: old)
        becomeCurrent(new, elapsed: elapsed)
    }

    /// The next song has taken the place of the current one.
    func becomeCurrent(_ new: Slot, elapsed: Duration) {
        new.isAnnounced = true
        emit(.audible(new.id))
        tellFacts(new)
        report(elapsed, advances: new.isSounding && !isPaused && !isStarving)
        new.song?.fetcher.fetchAll()
        fetchAhead()
        if !new.isSounding { patienceDue = monotonicNow().advanced(by: Self.patienceInSong) }
        switch new.outcome {
        case .failed(.permanent(let message)) where new.stream != nil: streamFailed(new, message)
        case .failed(let failure): fail(failure)
        case .stale: start(new, at: max(elapsed, .zero))
        case .ended where deck.isIdle: drain()
        case .ended, nil: break
        }
    }

    // MARK: Sound and silence

    private func restarted(on deck: Deck) {
        guard let slot = song(on: deck) else { return }
        slot.isSounding = true
        // Most songs look like the one before; for the others a change is told.
        if slot.format == nil { formatIs(slot) }
        guard deck === self.deck else {
            otherIsReady()
            return
        }
        askDevice()
        if let seek = seekInFlight {
            guard seek.isTaken else { return }
            seekInFlight = nil
        }
        if slot === current {
            patienceDue = .max
            slot.stream?.sounds()
            if !slot.isAnnounced {
                slot.isAnnounced = true
                emit(.started(slot.id))
                tellFacts(slot)
            }
            if !isStarving { tellRecovery() }
        }
        askPosition()
    }

    private func ended(_ entry: Int64, on deck: Deck, _ end: MPVEvent.End, _ message: String) {
        let songs = [current, next].compactMap { $0 }
        guard let slot = songs.first(where: { $0.deck === deck && $0.entry == entry }) else { return }
        let fetcher = slot.song?.fetcher
        if let generation = fetcher?.file.monitor.withLock({ $0.generation }), generation != slot.generation {
            // The reader was cut off because the file is another one.
            if slot === current {
                start(slot, at: position.elapsed(at: monotonicNow()))
            } else if slot.deck === self.deck {
                // In time; what is heard now is heard to its end first.
                slot.outcome = .stale
                if self.deck.isIdle { becameIdle() }
            }
            return
        }
        let outcome: Slot.Outcome
        slot.isSilent = end == .nothingToPlay && slot.stream == nil
        switch end {
        case .stopped, .other:
            return
        case .endOfFile:
            // Without an error libmpv also ends a song of which no more bytes come.
            outcome = (fetcher?.failure).map { .failed($0) } ?? .ended
        case .nothingToPlay where slot.stream == nil && slot.isBegunAtEnd:
            outcome = (fetcher?.failure).map { .failed($0) } ?? .ended
        case .outputFailure:
            outcome = .failed(.transport("no audio output: \(message)"))
        case .error where slot.stream != nil, .nothingToPlay where slot.stream != nil,
            .redirect where slot.stream != nil:
            outcome = .failed(.permanent(message))
        case .error, .nothingToPlay:
            outcome = .failed(fetcher?.failure ?? .permanent("this file can't be played: \(message)"))
        case .redirect:
            outcome = .failed(.permanent("this file can't be played: it is a playlist"))
        }
        slot.outcome = outcome
        guard slot === current else {
            if deck !== self.deck { otherIsReady() }
            return
        }
        switch outcome {
        case .failed where fade?.isRunning == true: fadeIsOver()
        case .failed(.permanent(let message)) where slot.stream != nil: streamFailed(slot, message)
        case .failed(let failure): fail(failure)
        case .ended, .stale: if deck.isIdle { becameIdle() }
        }
    }

    /// libmpv has nothing to play, and all it had was heard.
    func becameIdle() {
        if isInNext, next?.outcome != nil {
            becomeAudible(elapsed: next?.begin ?? .zero)
            return
        }
        // With a next song on its way libmpv begins it by itself.
        guard let current, case .ended = current.outcome else { return }
        if fade != nil { return fadeIsOver() }
        guard next == nil || next?.number == 0 else { return }
        // A song that was begun behind its last sound stays there while it is paused.
        if !isPaused { drain() }
    }

    private func changed(_ property: MPVProperty, _ value: MPVValue, of deck: Deck) {
        let isMain = deck === self.deck
        switch property {
        case .isIdle:
            deck.isIdle = value.isTrue
            if deck.isIdle, isMain { becameIdle() }
        case .isStarving:
            deck.isBuffering = value.isTrue
            if isMain { starvationIs(deck.isBuffering) }
        case .duration:
            guard let slot = song(on: deck), let seconds = value.number, seconds > 0 else { return }
            let duration = Duration.milliseconds(Int64(clamping: Duration(mpvSeconds: seconds).nanoseconds / 1_000_000))
            // A decoder guesses the length of bytes that have no known end.
            if slot.source.isTranscoded, slot.source.duration != nil { return }
            durationIs(duration + slot.offset, slot)
        case .audioCodec:
            deck.decoder.codec = value.text ?? ""
            song(on: deck).map(formatIs)
        case .audioParameters:
            deck.decoder.parameters = value
            song(on: deck).map(formatIs)
            if !isMain { otherIsReady() }
        case .metadata:
            if let slot = song(on: deck) { tagsAre(value, of: slot) }
        case .currentOutput:
            deck.driver = value.text
            // A device forgets its volume, or has none before it is open.
            outputs.setVolume(volume, [deck])
            if isMain { driverIs(value.text) }
        case .devices:
            let devices = AudioDevice.list(value)
            guard devices != knownDevices else { return }
            if outputs.isBack(in: devices, before: knownDevices) {
                outputs.retry(decks)
                deviceChanged()
            }
            knownDevices = devices
            emit(.devices(devices))
        case .position, .bitRate, .isSeekable, .pause, .volume, .deviceVolume, .pulseServer, .output, .device:
            break
        }
    }

    /// The length of a song, as far as that can be believed.
    func durationIs(_ duration: Duration, _ slot: Slot) {
        if let stream = slot.stream, stream.isSeekable != true {
            // Of what cannot be gone through only what has come so far is known.
            stream.claimedDuration = duration
            return
        }
        guard duration != slot.duration else { return }
        slot.duration = duration
        if slot === current, slot.isAnnounced { emit(.duration(slot.id, duration)) }
    }

    /// What the decoder makes now is what this song's samples are.
    private func formatIs(_ slot: Slot) {
        guard let decoder = slot.deck?.decoder, let format = DecodedFormat(decoder.parameters, codec: decoder.codec),
            format != slot.format
        else { return }
        slot.format = format
        if slot === current, slot.isAnnounced { emit(.format(slot.id, format)) }
    }

    private func tellFacts(_ slot: Slot) {
        if let format = slot.format { emit(.format(slot.id, format)) }
        if let duration = slot.duration { emit(.duration(slot.id, duration)) }
        if let isSeekable = slot.stream?.isSeekable { emit(.seekable(slot.id, isSeekable)) }
        if let tags = slot.stream?.tags, !tags.isEmpty { emit(.tags(slot.id, tags)) }
    }

    /// The song stands for want of bytes, or goes on.
    func starvationIs(_ isStarving: Bool) {
        guard let current, isStarving != self.isStarving else { return }
        self.isStarving = isStarving
        if isStarving {
            if !isInNext { report(position.elapsed(at: monotonicNow()), advances: false) }
            patienceDue = monotonicNow().advanced(by: Self.patienceInSong)
            if let trouble = current.song?.fetcher.trouble, !isInNext { tellTrouble(trouble) }
        } else {
            if !isInNext { tellRecovery() }
        }
        askPosition()
    }

    /// Tells that the current song waits, if it does and this is news.
    func tellTrouble(_ message: String) {
        guard let current, !isInNext, !current.isSounding || isStarving, message != toldTrouble else { return }
        if toldTrouble == nil, let starvationLimit { giveUpDue = monotonicNow().advanced(by: starvationLimit) }
        toldTrouble = message
        emit(.starving(current.id, message: message))
    }

    private func tellRecovery() {
        guard let current, toldTrouble != nil else { return }
        toldTrouble = nil
        giveUpDue = .max
        emit(.recovered(current.id))
    }

    func take(_ notice: FetchNotice, of id: PlaybackID) {
        if id == ahead?.id { return take(aheadNotice: notice) }
        guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.id == id }) else { return }
        switch notice {
        case .trouble(let message):
            if slot === current { tellTrouble(message) }
        case .complete:
            // The line is free now.
            if slot === current { next?.song?.fetcher.fetchAll() }
            fetchAhead()
        case .changed:
            // Unless the end of what it had has come first.
            guard slot.number > 0, slot.generation != slot.song?.file.monitor.withLock({ $0.generation }) else {
                return
            }
            if slot === current {
                start(slot, at: position.elapsed(at: monotonicNow()))
            } else if slot === next, fade != nil, let current {
                start(current, at: position.elapsed(at: monotonicNow()))
            }
        case .flowing, .failed, .progress, .wantsRoom:
            // Failures count when libmpv has used up what came before.
            break
        }
    }
}

extension DecodedFormat {
    /// From libmpv's `audio-params`; nil when that is incomplete.
    init?(_ parameters: MPVValue, codec: String) {
        guard let rate = parameters["samplerate"].number, let channels = parameters["channel-count"].number,
            let format = parameters["format"].text, 1...10_000_000 ~= rate, 1...64 ~= channels
        else { return nil }
        // libmpv has no 24-bit format: such songs show as 32 bits wide, and only raw 32-bit files really are.
        let bits =
            switch format.prefix(while: { $0 != "p" }) {
            case "u8": "8"
            case "s16": "16"
            case "s32": codec.hasPrefix("pcm_s32") ? "32" : "24"
            case "s64": "32"
            default: "f"
            }
        self.init(sampleRate: Int(rate), bits: bits, channels: Int(channels))
    }
}
