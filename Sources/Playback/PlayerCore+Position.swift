/// Where the current song is.
extension PlayerCore {
    /// Whether the current song's position grows with the clock.
    var isAdvancing: Bool {
        guard let current, current.isAnnounced, seekInFlight == nil else { return false }
        return (current.isSounding || isInNext) && !isPaused && !isStarving && !isUnheard
    }

    /// Where in the song the bytes had best begin, so that a position is heard soon: zero for all of them.
    ///
    /// Of what the server makes when it is asked, a place far ahead would come only after all that is before it.
    func offset(for slot: Slot, at position: Duration) -> Duration {
        guard slot.source.requestFromSecond != nil else { return .zero }
        let isWhole =
            slot.offset == .zero ? slot.song?.isComplete ?? cache.holds(slot.source) : cache.holds(slot.source)
        if isWhole || position < Self.reach { return .zero }
        if slot.song != nil, position >= slot.offset {
            let heard = slot === current && slot.isAnnounced ? self.position.elapsed(at: monotonicNow()) : slot.offset
            if slot.song?.isComplete == true || position <= heard + Self.reach { return slot.offset }
        }
        return .seconds(position.components.seconds)
    }

    /// So far ahead of what is heard the bytes are there, or soon will be.
    private static let reach = Duration.seconds(10)

    /// Asks libmpv where the song is that it plays.
    func askPosition() {
        guard let slot = playing, slot.isSounding else { return }
        if slot.givenLevel == .infinity { apply(slot) }
        handle.get(.position, .number, tag: Tag(.position, slot.number).rawValue)
        if slot === current { handle.get(.bitRate, .number, tag: Tag(.bitRate, slot.number).rawValue) }
        if slot.format == nil {
            // libmpv reports changes: a song that looks like the one before it is none, and some come too early.
            handle.get(.audioCodec, .text, tag: Tag(.codec, slot.number).rawValue)
            handle.get(.audioParameters, .node, tag: Tag(.parameters, slot.number).rawValue)
        }
    }

    /// libmpv's answer about a load's position; negative before its first sound is heard.
    func positionIs(_ seconds: Double, number: UInt64) {
        guard let current, seekInFlight == nil else { return }
        if isUnheard, !isInNext { return report(position.elapsed(at: monotonicNow()), advances: false) }
        if current.number == number, !isInNext {
            var clock = Duration(mpvSeconds: max(0, seconds))
            // A live stream has no places: its clock begins anew with each connection.
            if current.stream?.isSeekable == false { clock += current.begin }
            clock += current.offset
            // The listener stands at the beginning until the output has played what it held before.
            let elapsed = max(clock, min(current.begin, current.knownEnd ?? current.begin))
            // Outputs without a clock show no underrun, so libmpv does not notice that it stands.
            let hasMoved = elapsed != position.elapsed
            if isStarving && hasMoved && !deck.isBuffering {
                starvationIs(false)
            } else if isAdvancing && position.advances && !hasMoved && current.song?.fetcher.isAwaited == true {
                starvationIs(true)
            }
            report(elapsed, advances: isAdvancing, after: elapsed - clock)
        } else if isInNext, next?.number == number {
            let begin = next?.begin ?? .zero
            let elapsed = Duration(mpvSeconds: seconds) - begin
            if elapsed >= .zero {
                becomeAudible(elapsed: begin + elapsed)
            } else {
                let total = current.knownEnd ?? position.elapsed - elapsed
                report(max(.zero, total + elapsed), advances: isAdvancing)
                audibleDue = isPaused ? .max : monotonicNow().advanced(by: .zero - elapsed)
            }
        }
    }

    /// Tells where the current song is, and when to look again.
    /// - Parameter wait: how long it will still stand there.
    func report(_ elapsed: Duration, advances: Bool, after wait: Duration = .zero) {
        guard let current else { return }
        let now = monotonicNow()
        position = PlaybackPosition(
            elapsed: elapsed,
            time: now.advanced(by: wait),
            advances: advances,
            seeks: seekCalls
        )
        emit(.position(current.id, position))
        let isWatching = isStarving && !isPaused
        planFadeDue(elapsed: elapsed, after: wait, advances: advances)
        pollDue = advances || isWatching ? now.advanced(by: isWatching ? Self.patienceInSong : .seconds(1)) : .max
    }
}
