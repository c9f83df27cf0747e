/// What becomes of what is heard.
extension Server {
    /// Takes what a partition's tracker tells. URLs are nobody's songs: of them nothing is told.
    func listened(_ report: PlayTracker.Report, in partition: Partition) {
        switch report {
        case .began, .paced: break
        case .due(let play):
            guard let song = song(of: play), let start = play.start else { return }
            for observer in playObservers { observer.songWasPlayed(song, at: start) }
        case .left(let play, let isSkip):
            guard isSkip, let song = song(of: play) else { return }
            for observer in playObservers { observer.songWasSkipped(song, at: PlayTracker.wallClock) }
        }
    }

    /// The song that is played; nil for a URL.
    private func song(of play: PlayTracker.Play) -> SongIdentity? {
        if case .stream = songs.song(play.key) { return nil }
        return songs.names.identity(play.key)
    }
}
