/// Somebody who wants to know what was listened to. Told on the core; must return at once.
protocol PlayObserver: AnyObject {
    /// A song counts as played: half of it, or four minutes, were heard. Once for each play; never for URLs and for songs
    /// under half a minute.
    /// - Parameter time: when the play began, Unix time in milliseconds.
    func songWasPlayed(_ song: SongIdentity, at time: Int64)

    /// The listener has gone on to something else before the song counted as played. Not for what `stop` ends, nor for
    /// what cannot be played.
    /// - Parameter time: when that was, Unix time in milliseconds.
    func songWasSkipped(_ song: SongIdentity, at time: Int64)
}
