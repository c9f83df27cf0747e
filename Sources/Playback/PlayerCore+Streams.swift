/// Remote streams: libmpv opens them by itself, and does not say why it could not. So afterwards the address is looked at:
/// it may be a playlist, it may be gone, or not to be reached at the moment.
extension PlayerCore {
    /// Asks what an address is.
    func look(at stream: RemoteStream, of slot: Slot) {
        let (id, mailbox, address) = (slot.id, mailbox, stream.address)
        let expectsPlaylist = stream.isToBeRead
        stream.ask { number in
            RemoteProbe.begin(address, wantsPlaylist: expectsPlaylist, by: transport) { answer in
                mailbox.post(.looked(id, number, answer))
            }
        }
    }

    /// libmpv cannot play the current stream.
    func streamFailed(_ slot: Slot, _ message: String) {
        guard let stream = slot.stream else { return }
        slot.isSounding = false
        slot.isLoaded = false
        slot.outcome = .failed(.permanent(message))
        report(position.elapsed(at: monotonicNow()), advances: false)
        patienceDue = monotonicNow().advanced(by: Self.patienceAtStart)
        look(at: stream, of: slot)
    }

    /// What an address turned out to be.
    func take(_ answer: RemoteProbe.Answer, to question: UInt64, of id: PlaybackID) {
        guard let slot = [current, next].compactMap({ $0 }).first(where: { $0.id == id }), let stream = slot.stream,
            stream.question == question
        else { return }
        guard slot === current else {
            // Only a playlist is looked at beforehand. What else there is to say of it is said when it is its turn.
            if case .playlist(let playlist) = answer, stream.unfold(playlist) {} else { stream.isNoPlaylist() }
            if case .segments = answer { _ = stream.isHLS() }
            appendNext()
            return
        }
        switch answer {
        case .playlist(let playlist):
            guard stream.unfold(playlist) else {
                giveUp(stream, of: slot, "\(stream.address): playlists that name playlists without an end")
                return
            }
            start(slot, at: slot.begin)
        case .segments:
            guard stream.isHLS() else {
                giveUp(stream, of: slot, "\(stream.address): this stream can't be played")
                return
            }
            start(slot, at: slot.begin)
        case .media:
            guard case .failed(let failure)? = slot.outcome else {
                stream.isNoPlaylist()
                start(slot, at: slot.begin)
                return
            }
            giveUp(stream, of: slot, "\(stream.address): this can't be played: \(failure.message)")
        case .failed(.permanent(let message)) where !(stream.isRadio && stream.hasSounded):
            giveUp(stream, of: slot, message)
        case .failed(let failure):
            stream.isUnreachable(failure.message)
            if !stream.hasSounded, stream.advance() { start(slot, at: .zero) } else { waitAndReopen(stream) }
        }
    }

    /// An address cannot be played, now or later.
    private func giveUp(_ stream: RemoteStream, of slot: Slot, _ message: String) {
        if stream.advance() {
            start(slot, at: .zero)
        } else if stream.isUnreached {
            waitAndReopen(stream)
        } else {
            fail(.permanent(message))
        }
    }

    private func waitAndReopen(_ stream: RemoteStream) {
        let trouble = stream.trouble ?? "the stream was cut"
        guard let delay = stream.nextDelay() else {
            fail(.transport(trouble))
            return
        }
        tellTrouble(trouble)
        patienceDue = .max
        reopenDue = monotonicNow().advanced(by: delay)
    }

    /// Tries the current stream again.
    func reopen() {
        guard let current, let stream = current.stream else { return }
        stream.beginAnew()
        // The time that a radio has been heard goes on.
        start(current, at: stream.cutAt ?? (stream.hasSounded ? position.elapsed : current.begin))
    }

    /// The current address has been heard to its end. Returns whether the stream goes on nevertheless.
    func goOn(with stream: RemoteStream, of slot: Slot) -> Bool {
        if stream.isRadio {
            cut(stream, of: slot, at: nil)
            return true
        }
        let heard = position.elapsed(at: monotonicNow())
        if let whole = slot.duration, slot.source.end == nil, whole - heard > max(.seconds(5), whole / 10),
            stream.cutAt.map({ heard > $0 + .seconds(1) }) ?? true
        {
            // libmpv takes a lost server for an end.
            cut(stream, of: slot, at: heard)
            return true
        }
        if stream.advance() {
            stream.cutAt = nil
            slot.duration = nil
            start(slot, at: .zero)
            return true
        }
        // What follows was held back until now.
        guard next != nil else { return false }
        appendNext()
        return true
    }

    private func cut(_ stream: RemoteStream, of slot: Slot, at position: Duration?) {
        slot.isSounding = false
        slot.isLoaded = false
        stream.cutAt = position
        stream.isUnreachable("\(stream.address): the stream was cut")
        report(self.position.elapsed(at: monotonicNow()), advances: false)
        waitAndReopen(stream)
    }

    // MARK: What a stream tells

    /// Asks what cannot be observed in time.
    func askFacts(of slot: Slot, on deck: Deck) {
        deck.handle.get(.metadata, .node, tag: Tag(.metadata, slot.number).rawValue)
        deck.handle.get(.isSeekable, .flag, tag: Tag(.seekable, slot.number).rawValue)
    }

    /// Follows the tags of a stream; those of servers' songs are the servers'.
    func tagsAre(_ value: MPVValue, of slot: Slot) {
        guard let stream = slot.stream, case .map(let pairs) = value else { return }
        let tags = pairs.compactMap { name, value in value.text.map { StreamTag(name.lowercased(), $0) } }.sorted()
        stream.isRadio = stream.isRadio || tags.contains { $0.name.hasPrefix("icy-") }
        guard tags != stream.tags, !tags.isEmpty else { return }
        stream.tags = tags
        if slot === current, slot.isAnnounced { emit(.tags(slot.id, tags)) }
    }

    /// libmpv has said whether one can move in the stream; by now its tags are known, too.
    func seekableIs(_ isSeekable: Bool, _ slot: Slot) {
        guard let stream = slot.stream else { return }
        // What has an end and no places begins where it begins; the time of a radio goes on.
        if !isSeekable, !stream.isRadio, !stream.hasSounded { slot.begin = .zero }
        let place = stream.canSeek(isSeekable)
        if slot === current, slot.isAnnounced { emit(.seekable(slot.id, isSeekable)) }
        if let duration = stream.claimedDuration { durationIs(duration, slot) }
        if let place, slot === current {
            start(slot, at: place)
        } else {
            appendNext()
        }
    }
}
