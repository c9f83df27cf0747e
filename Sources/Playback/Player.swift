/// Plays one song after another, without a gap where the songs allow it.
///
/// Every call returns at once and may be made from any thread: it only puts a command into the player's mailbox.
/// Commands take effect in the order of the calls; what comes of them arrives as `PlayerEvent`s, in order.
/// The player holds at most two songs: the current one and the next one. It never decides what plays; it only tells
/// that a song was heard to its end, and goes on with the preloaded one.
public protocol Player: AnyObject, Sendable {
    /// Makes `source` the current song, in place of whatever is playing or preloaded.
    ///
    /// - Parameters:
    ///   - id: not used before; from now on events of other ids are dropped.
    ///   - position: where to begin; beyond the end counts as the end.
    ///   - paused: true to open the song and stand at `position` without a sound.
    func load(_ id: PlaybackID, _ source: AudioSource, at position: Duration, paused: Bool)

    /// Prepares the song that follows the current one without a gap; replaces an earlier preload.
    ///
    /// Without a current song nothing happens.
    func preload(_ id: PlaybackID, _ source: AudioSource)

    /// Forgets the preloaded song: the current one is the last.
    func cancelPreload()

    /// Has a song that is loaded or preloaded heard with another gain, at once.
    func setGain(_ gain: SongGain?, of id: PlaybackID)

    /// Has the bytes of songs fetched that will follow the preloaded one, in this order, as soon as the songs before them
    /// are there; replaces what was said before. Their files are kept.
    func fetchAhead(_ sources: [AudioSource])

    /// Pauses or resumes the current song. Remembered while the song is still loading.
    func pause(_ paused: Bool)

    /// Moves to an exact position in the current song. Remembered while the song is still loading; the last one wins.
    func seek(to position: Duration)

    /// Stops the sound and forgets both songs; `.ended(id, .stopped)` follows.
    func stop()

    /// Sets the software volume: 0 is silence, 100 leaves the samples alone. Clamped; kept from song to song.
    func setVolume(_ percent: Int)

    /// Sets how songs overlap, from the next change of song on.
    func setCrossfade(_ settings: CrossfadeSettings)

    /// Sets whether an output takes part; `index` counts the configured outputs from 0. Playback goes on.
    func setOutput(_ index: Int, enabled: Bool)

    /// Puts an output at an index, in place of what was there; nil leaves the place empty. Playback goes on, and other
    /// outputs notice nothing. What was open of it with another player, such as a connection, stays open and comes along.
    func putOutput(_ outlet: Outlet?, at index: Int, enabled: Bool)

    /// Ends playback and the player's threads. Later calls do nothing; no event comes after `.closed`.
    func shutdown()
}
