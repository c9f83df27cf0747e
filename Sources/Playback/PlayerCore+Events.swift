import Logging

// What libmpv and the fetchers tell.

extension PlayerCore {
    /// The song that libmpv is at.
    var playing: Slot? {
        guard let entry else { return nil }
        if current?.entry == entry { return current }
        return next?.entry == entry ? next : nil
    }

    func take(_ event: MPVEvent) {
        switch event {
        case .startFile(let entry):
            self.entry = entry
            arrive()
        case .fileLoaded:
            playing?.isLoaded = true
            appendNext()
        case .playbackRestart:
            restarted()
        case .endFile(let entry, let end, let message, let isOutputFailure):
            ended(entry, end, message, isOutputFailure: isOutputFailure)
        case .property(let property, let value):
            changed(property, value)
        case .reply(let tag, let isError, let value):
            answered(Tag(rawValue: tag), isError: isError, value)
        case .log(let line):
            log.debug("mpv \(line)")
        case .nothing, .shutdown, .other:
            break
        }
    }

    private func answered(_ tag: Tag, isError: Bool, _ value: MPVValue) {
        switch tag.kind {
        case .none:
            break
        case .load:
            guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.number == tag.number }) else {
                return
            }
            if case .integer(let entry) = value["playlist_entry_id"], !isError {
                slot.entry = entry
                arrive()
            } else if slot === current {
                fail(.transport("libmpv refuses to load the song"))
            }
        case .position:
            guard !isError, let seconds = value.number else { return }
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
            if !isError, playing?.number == tag.number { changed(.audioCodec, value) }
        case .parameters:
            guard let slot = playing, slot.number == tag.number, slot.format == nil else { return }
            changed(.audioParameters, isError ? .none : value)
            // A paused song is not looked at again, so until this is known it is.
            if slot.format == nil { pollDue = min(pollDue, monotonicNow().advanced(by: .milliseconds(100))) }
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

    // MARK: Natural change of song

    /// libmpv is at an entry: is it the next song's?
    private func arrive() {
        guard let next, let entry, next.entry == entry, !isInNext else { return }
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
        release(old)
        handle.command(["playlist-remove", "0"])
        new.isAnnounced = true
        emit(.audible(new.id))
        tellFacts(new)
        report(elapsed, advances: new.isSounding && !isPaused && !isStarving)
        new.song?.fetcher.fetchAll()
        if !new.isSounding { patienceDue = monotonicNow().advanced(by: Self.patienceInSong) }
        switch new.outcome {
        case .failed(let failure): fail(failure)
        case .ended where isIdle: drain()
        case .ended, nil: break
        }
    }

    // MARK: Sound and silence

    private func restarted() {
        guard let slot = playing else { return }
        slot.isSounding = true
        // Most songs look like the one before; for the others a change is told.
        if slot.format == nil { formatIs(slot) }
        if let seek = seekInFlight {
            guard seek.isTaken else { return }
            seekInFlight = nil
        }
        if slot === current {
            patienceDue = .max
            if !slot.isAnnounced {
                slot.isAnnounced = true
                emit(.started(slot.id))
                tellFacts(slot)
            }
            if !isStarving { tellRecovery() }
        }
        askPosition()
    }

    private func ended(_ entry: Int64, _ end: MPVEvent.End, _ message: String, isOutputFailure: Bool) {
        guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.entry == entry }) else { return }
        let fetcher = slot.song?.fetcher
        if let generation = fetcher?.file.monitor.withLock({ $0.generation }), generation != slot.generation {
            // The reader was cut off because the file is another one; the fetcher's notice reloads the song.
            return
        }
        let outcome: Slot.Outcome
        switch end {
        case .stopped, .other:
            return
        case .endOfFile:
            // Without an error libmpv also ends a song of which no more bytes come.
            outcome = (fetcher?.failure).map { .failed($0) } ?? .ended
        case .error where slot.source.end.map { slot.begin >= $0 } ?? false:
            // libmpv finds nothing to play behind the end of a part.
            outcome = (fetcher?.failure).map { .failed($0) } ?? .ended
        case .error where isOutputFailure:
            outcome = .failed(.transport("no audio output: \(message)"))
        case .error:
            outcome = .failed(fetcher?.failure ?? .permanent("this file can't be played: \(message)"))
        case .redirect:
            outcome = .failed(.permanent("this file can't be played: it is a playlist"))
        }
        slot.outcome = outcome
        guard slot === current else { return }
        switch outcome {
        case .failed(let failure): fail(failure)
        case .ended: if isIdle { becameIdle() }
        }
    }

    /// libmpv has nothing to play, and all it had was heard.
    private func becameIdle() {
        if isInNext, next?.outcome != nil {
            becomeAudible(elapsed: next?.begin ?? .zero)
            return
        }
        // With a next song on its way libmpv begins it by itself.
        guard let current, case .ended = current.outcome, next == nil || next?.number == 0 else { return }
        drain()
    }

    private func changed(_ property: MPVProperty, _ value: MPVValue) {
        switch property {
        case .isIdle:
            isIdle = value.isTrue
            if isIdle { becameIdle() }
        case .isStarving:
            isBuffering = value.isTrue
            starvationIs(isBuffering)
        case .duration:
            guard let slot = playing, let seconds = value.number, seconds > 0 else { return }
            let duration = Duration.milliseconds(Int64(clamping: Duration(mpvSeconds: seconds).nanoseconds / 1_000_000))
            guard duration != slot.duration else { return }
            slot.duration = duration
            if slot === current, slot.isAnnounced { emit(.duration(slot.id, duration)) }
        case .audioCodec:
            decoder.codec = value.text ?? ""
            playing.map(formatIs)
        case .audioParameters:
            decoder.parameters = value
            playing.map(formatIs)
        case .currentOutput:
            let problem = outputs.driverIs(value.text)
            if let problem { emit(.output(index: problem.index, problem: problem.text)) }
        case .position, .bitRate, .pause, .volume, .output, .device:
            break
        }
    }

    /// What the decoder makes now is what this song's samples are.
    private func formatIs(_ slot: Slot) {
        guard let format = DecodedFormat(decoder.parameters, codec: decoder.codec), format != slot.format else {
            return
        }
        slot.format = format
        if slot === current, slot.isAnnounced { emit(.format(slot.id, format)) }
    }

    private func tellFacts(_ slot: Slot) {
        if let format = slot.format { emit(.format(slot.id, format)) }
        if let duration = slot.duration { emit(.duration(slot.id, duration)) }
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
        toldTrouble = message
        emit(.starving(current.id, message: message))
    }

    private func tellRecovery() {
        guard let current, toldTrouble != nil else { return }
        toldTrouble = nil
        emit(.recovered(current.id))
    }

    func take(_ notice: FetchNotice, of id: PlaybackID) {
        guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.id == id }) else { return }
        switch notice {
        case .trouble(let message):
            if slot === current { tellTrouble(message) }
        case .complete:
            // The line is free now.
            if slot === current { next?.song?.fetcher.fetchAll() }
        case .changed:
            if slot === current, slot.number > 0 {
                start(slot, at: position.elapsed(at: monotonicNow()))
            } else if slot === next, let current, slot.number > 0 {
                if isInNext { start(current, at: position.elapsed(at: monotonicNow())) }
            }
        case .flowing, .failed:
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
