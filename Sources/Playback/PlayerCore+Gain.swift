/// The gain of songs.
extension PlayerCore {
    /// Has a song heard with another gain, at once.
    func setGain(_ gain: SongGain?, of id: PlaybackID) {
        guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.id == id }) else { return }
        slot.gain = gain
        apply(slot)
    }

    /// Tells libmpv the gain of a song that it has.
    func apply(_ slot: Slot) {
        guard slot.number > 0, let deck = slot.deck else { return }
        if slot.gain?.byTags != nil, slot.metadata == nil {
            learnTags(slot)
        }
        let level = slot.level ?? 0
        guard slot.level != nil || slot.hasGainFilter, level != slot.givenLevel else { return }
        // A song that libmpv is not at yet gets its filter when it is begun.
        guard song(on: deck) === slot else { return }
        slot.givenLevel = level
        if slot.hasGainFilter {
            let tag = Tag(.gain, slot.number)
            deck.handle.command(["af-command", "gain", "volume", OutputBoard.decibels(level)], tag: tag.rawValue)
        } else {
            slot.hasGainFilter = true
            deck.handle.command(["af", "pre", OutputBoard.gainFilter(level)])
        }
    }

    /// A filter that has not seen a sample yet takes no commands: it is told again, a little later.
    func commandFailed(_ slot: Slot) {
        guard slot.hasGainFilter else { return }
        slot.givenLevel = .infinity
        pollDue = min(pollDue, monotonicNow().advanced(by: .milliseconds(20)))
    }

    /// libmpv has opened a file and waits: the song's gain may stand in its tags.
    func opened(on deck: Deck) {
        guard deck.hook != nil else { return }
        let waiting = [current, next].compactMap { $0 }.first { $0.deck === deck && $0.entry == nil }
        guard let slot = song(on: deck) else {
            // Whose file it is comes with the answer to the load.
            if waiting == nil { goOn(deck) }
            return
        }
        if slot.gain?.byTags != nil, slot.metadata == nil {
            learnTags(slot)
        } else {
            setLevelAtOpening(slot)
        }
    }

    /// Nothing is decoded yet, so the filter can be replaced.
    func setLevelAtOpening(_ slot: Slot) {
        guard let deck = slot.deck, let hook = deck.hook else { return }
        guard let level = slot.level, level != slot.givenLevel else { return goOn(deck) }
        slot.givenLevel = level
        slot.hasGainFilter = true
        deck.handle.command(["af", "add", OutputBoard.gainFilter(level)], tag: Tag(.hook, hook).rawValue)
    }

    func goOn(_ deck: Deck) {
        guard let hook = deck.hook else { return }
        deck.hook = nil
        deck.handle.goOn(after: hook)
    }

    /// Asks for the tags of a song that libmpv is at.
    private func learnTags(_ slot: Slot) {
        guard let deck = slot.deck, song(on: deck) === slot, !slot.wasAskedForMetadata else { return }
        slot.wasAskedForMetadata = true
        deck.handle.get(.metadata, .node, tag: Tag(.metadata, slot.number).rawValue)
    }
}

extension Slot {
    /// The gain in dB by what is known now; nil leaves the samples alone.
    var level: Float? {
        guard let gain else { return nil }
        guard let byTags = gain.byTags, case .map(let tags) = metadata else { return gain.level }
        let loudness = Loudness(tags: tags)
        return loudness.isKnown ? byTags.rules.gain(of: loudness, byAlbum: byTags.isByAlbum) : gain.level
    }
}
