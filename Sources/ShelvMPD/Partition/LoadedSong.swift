import Playback
import QueueEngine

/// The song that the player will go on with.
struct PreloadedSong {
    let playback: PlaybackID
    let entry: EntryID
    /// Whether the player is at it already, although the listener still hears the one before.
    var isCommitted = false
}

/// The song that the player has, as far as the player has told.
struct LoadedSong {
    let playback: PlaybackID
    let entry: EntryID
    var position: PlaybackPosition
    var duration: Duration?
    var format: DecodedFormat?
    /// kbit/s.
    var bitRate = 0
    /// False for a remote stream in which one cannot move.
    var isSeekable = true
    /// Whether it has been heard yet.
    var hasSounded = false
    /// Whether its end has come and nothing of it was heard since it was loaded.
    var isSilent = false
    /// Why the player has let go of it, though it is to be heard; it stands where it was.
    private(set) var loss: String?
    /// The seeks that the player must know of before its reports count.
    private var awaitedSeeks: UInt64 = 0
    /// Where it began to sound.
    private var begin: Duration

    /// - Parameter elapsed: where it is told to begin.
    init(playback: PlaybackID, entry: EntryID, elapsed: Duration, duration: Duration?) {
        self.playback = playback
        self.entry = entry
        self.duration = duration
        begin = elapsed
        position = PlaybackPosition(elapsed: elapsed, time: Self.now, advances: false)
    }

    /// Time into the song at this moment.
    var elapsed: Duration {
        let elapsed = position.elapsed(at: Self.now)
        guard let duration, duration > .zero else { return elapsed }
        return min(elapsed, duration)
    }

    /// Shows a position that was asked for before the player has reached it.
    /// - Parameter seeks: how often the player has been told to seek; what it reports of earlier times is no news.
    mutating func expect(elapsed: Duration, seeks: UInt64) {
        begin += elapsed - self.elapsed
        position = PlaybackPosition(elapsed: elapsed, time: Self.now, advances: false, seeks: seeks)
        awaitedSeeks = seeks
    }

    /// Takes what the player has reported. Returns whether it is news.
    mutating func take(_ position: PlaybackPosition) -> Bool {
        guard position.seeks >= awaitedSeeks else { return false }
        self.position = position
        return true
    }

    /// The player has let go of it: it stands at the place that it has reached.
    mutating func lose(because reason: String) {
        loss = reason
        position = PlaybackPosition(elapsed: elapsed, time: Self.now, advances: false, seeks: position.seeks)
    }

    /// How long it has sounded, leaving out what was jumped over.
    func heard() -> Duration { hasSounded ? max(.zero, elapsed - begin) : .zero }

    private static var now: UInt64 { UInt64(clamping: Instant.now.nanoseconds) }
}
