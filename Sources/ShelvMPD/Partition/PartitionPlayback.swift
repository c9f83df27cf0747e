import Library
import Logging
import MPDProtocol
import Playback
import QueueEngine

/// What the player reports, and what clients see of it.
extension Partition {
    /// Takes one report. Reports of songs that are no longer loaded are late and mean nothing.
    func handle(_ event: PlayerEvent) {
        log.debug("player: \(event)")
        switch event {
        case .started(let playback):
            guard loaded?.playback == playback else { return }
            loaded?.hasSounded = true
            if let entry = loaded?.entry { started(entry) }
            raise(.player)
        case .position(let playback, let position):
            guard loaded?.playback == playback else { return }
            if loaded?.take(position) == true { plays.moved(to: position) }
        case .committed(let playback):
            guard let next = preloaded, next.playback == playback else { return }
            preloaded?.isCommitted = true
            report { $0.committed(next.entry) }
        case .audible(let playback):
            guard let next = preloaded, next.playback == playback else { return }
            changed(to: next)
        case .ended(let playback, .endOfFile):
            guard let song = loaded, song.playback == playback else { return }
            plays.left(isChoice: false)
            unload()
            report { $0.trackEnded(song.entry, isSilent: song.isSilent) }
            if song.isSilent { tellSilence() }
        case .silent(let playback):
            guard loaded?.playback == playback else { return }
            loaded?.isSilent = true
        case .ended(_, .stopped), .closed: break
        case .failed(let playback, let failure): failed(playback, failure)
        case .starving(let playback, let message):
            guard loaded?.playback == playback else { return }
            setError(message, isTransient: true)
        case .recovered(let playback):
            guard loaded?.playback == playback, errorMessage?.isTransient == true else { return }
            clearError()
            raise(.player)
        case .format(let playback, let format):
            guard loaded?.playback == playback else { return }
            loaded?.format = format
        case .bitRate(let playback, let bitRate):
            guard loaded?.playback == playback else { return }
            loaded?.bitRate = bitRate
        case .duration(let playback, let duration):
            guard loaded?.playback == playback else { return }
            loaded?.duration = duration
            plays.lengthIs(duration)
        case .seekable(let playback, let isSeekable):
            guard loaded?.playback == playback else { return }
            loaded?.isSeekable = isSeekable
        case .tags(let playback, let tags):
            guard loaded?.playback == playback, let entry = loaded?.entry else { return }
            streamTells(tags, entry)
        case .output(let index, let problem): setOutputProblem(index, problem)
        // All partitions are told, by the server.
        case .devices: break
        }
    }

    /// The listener hears the preloaded song now.
    private func changed(to next: PreloadedSong) {
        plays.left(isChoice: false)
        let isSilent = loaded?.isSilent ?? false
        unload()
        var song = LoadedSong(
            playback: next.playback,
            entry: next.entry,
            elapsed: start(of: next.entry),
            duration: knownDuration(of: next.entry)
        )
        song.hasSounded = true
        loaded = song
        plays.begins(next.entry, key: queue.entry(id: next.entry)?.key, length: song.duration, at: .zero)
        report { $0.trackChanged(to: next.entry, isSilent: isSilent) }
        if isSilent { tellSilence() }
    }

    /// Says why it is still, where nothing was heard of one song after the other.
    private func tellSilence() {
        guard queue.state == .stopped, queue.currentID != nil else { return }
        setError("Nothing can be heard of these songs", isTransient: false)
    }

    private func failed(_ playback: PlaybackID, _ failure: PlaybackFailure) {
        guard let song = loaded, song.playback == playback else { return }
        if song.entry != queue.currentID {
            // Its end, in the commit window: the listener is at the next one already.
            plays.left(isChoice: false)
            unload()
            report { $0.trackEnded(song.entry) }
            return
        }
        switch failure {
        case .permanent(let message):
            plays.left(isChoice: false)
            fail(song.entry, message, isSilent: song.isSilent)
        case .transport(let message):
            lose(because: message)
            setError(message, isTransient: false)
            report { $0.transportFailed(song.entry) }
        }
    }

    /// The player has nothing any more. What it had is kept here, for whatever the listener asks for next.
    func lose(because reason: String) {
        loaded?.lose(because: reason)
        preloaded?.isCommitted = false
        if let loaded { plays.isLost(at: loaded.position) }
    }

    // MARK: What `status` shows

    /// Time into the current song's range, or nil when stopped.
    var elapsed: Duration? {
        guard let song = loaded else { return nil }
        // After `next` in the commit window the end of another song is still heard.
        guard song.entry == queue.currentID else { return .zero }
        let elapsed = max(.zero, song.elapsed - start(of: song.entry))
        return duration.map { min($0, elapsed) } ?? elapsed
    }

    /// Length of what plays of the current song, or nil when stopped or unknown.
    var duration: Duration? {
        guard let song = loaded, let entry = queue.currentEntry else { return nil }
        let known = song.entry == entry.id ? song.duration : knownDuration(of: entry.id)
        guard let whole = known, entry.range != .whole else { return known }
        let end = entry.range.end == 0 ? whole : min(whole, .milliseconds(Int64(entry.range.end)))
        return max(.zero, end - .milliseconds(Int64(entry.range.start)))
    }

    func knownDuration(of entry: EntryID) -> Duration? {
        queue.entry(id: entry).flatMap(duration).map { .milliseconds($0) }
    }

    /// Length of an entry's whole song as the library knows it, in milliseconds.
    func duration(of entry: Entry) -> Int64? {
        switch songs.song(entry.key) {
        case .library(let song): songs.library.duration(song).map { Int64($0) }
        case .gone(let song): songs.unseen(song).flatMap { $0.library.duration($0.song) }.map { Int64($0) }
        case .stream, nil: nil
        }
    }

    /// kbit/s at the moment, 0 while unknown.
    var bitRate: Int { loaded?.bitRate ?? 0 }

    var format: DecodedFormat? { loaded?.format }

    /// How long songs have sounded since the start.
    var playtime: Duration { heard + (loaded?.heard() ?? .zero) }
}
