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
            loaded?.position = position
        case .audible(let playback):
            guard let next = preloaded, next.playback == playback else { return }
            changed(to: next)
        case .ended(let playback, .endOfFile):
            guard let song = loaded, song.playback == playback else { return }
            unload()
            report { $0.trackEnded(song.entry) }
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
        case .output(let index, let problem): setOutputProblem(index, problem)
        }
    }

    /// The listener hears the preloaded song now.
    private func changed(to next: (playback: PlaybackID, entry: EntryID)) {
        unload()
        var song = LoadedSong(playback: next.playback, entry: next.entry, elapsed: .zero, duration: nil)
        if let entry = queue.entry(id: next.entry), case .library(let index)? = songs.song(entry.key) {
            song.duration = songs.library.duration(index).map { .milliseconds(Int64($0)) }
        }
        song.hasSounded = true
        loaded = song
        report { $0.trackChanged(to: next.entry) }
    }

    private func failed(_ playback: PlaybackID, _ failure: PlaybackFailure) {
        guard let song = loaded, song.playback == playback else { return }
        switch failure {
        case .permanent(let message):
            log.notice("Cannot play an entry of the queue: \(message)")
            fail(song.entry, message)
        case .transport(let message):
            setError(message, isTransient: false)
            report { $0.transportFailed(song.entry) }
        }
    }

    // MARK: What `status` shows

    /// Time into the current song's range, or nil when stopped.
    var elapsed: Duration? {
        loaded.map { max(.zero, $0.elapsed - start(of: $0.entry)) }
    }

    /// Length of what plays of the current song, or nil when stopped or unknown.
    var duration: Duration? {
        guard let song = loaded, let whole = song.duration else { return nil }
        guard let entry = queue.entry(id: song.entry), entry.range != .whole else { return whole }
        let end = entry.range.end == 0 ? whole : min(whole, .milliseconds(Int64(entry.range.end)))
        return max(.zero, end - .milliseconds(Int64(entry.range.start)))
    }

    /// kbit/s at the moment, 0 while unknown.
    var bitRate: Int { loaded?.bitRate ?? 0 }

    var format: DecodedFormat? { loaded?.format }

    /// How long songs have sounded since the start.
    var playtime: Duration { heard + (loaded?.heard() ?? .zero) }
}
