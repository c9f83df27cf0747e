import MPDProtocol
import QueueEngine
import SubsonicKit

/// What becomes of what is heard.
extension Server {
    /// Takes what a partition's tracker tells. URLs are nobody's songs: of them nothing is told.
    func listened(_ report: PlayTracker.Report, in partition: Partition) {
        switch report {
        case .began(let play):
            keep(play, of: partition)
            guard let (scrobbler, songID) = scrobbler(of: play) else { return }
            scrobbler.sounds(
                Sounding(songID: songID, start: play.start ?? 0, state: .playing, position: 0, isNew: true),
                in: partition.id
            )
        case .heard(let play): keep(play, of: partition)
        case .paced(let play, let elapsed, let advances):
            keep(play, of: partition)
            guard let (scrobbler, songID) = scrobbler(of: play) else { return }
            scrobbler.sounds(
                Sounding(
                    songID: songID,
                    start: play.start ?? 0,
                    state: advances ? .playing : .paused,
                    position: elapsed.milliseconds,
                    isNew: false
                ),
                in: partition.id
            )
        case .due(let play): due(play, in: partition)
        case .left(let play, let isSkip): left(play, in: partition, isSkip: isSkip)
        }
    }

    private func due(_ play: PlayTracker.Play, in partition: Partition) {
        guard let song = song(of: play), let start = play.start else { return }
        if let (scrobbler, songID) = scrobbler(of: play), let home = scrobbler.home {
            // In one transaction: killed at any moment, the program does not count a play twice, nor forget it.
            let (record, name) = (PlayRecord(play), partition.name)
            scrobbler.submit(songID, at: start) { database throws(StoreError) in try record?.write(name, to: database) }
            home.freshPlays.add(songID, at: start, in: home.library)
            home.raise(.sticker)
        } else {
            keep(play, of: partition)
        }
        for observer in playObservers { observer.songWasPlayed(song, at: start) }
    }

    private func left(_ play: PlayTracker.Play, in partition: Partition, isSkip: Bool) {
        guard let song = song(of: play) else { return }
        if let (scrobbler, songID) = scrobbler(of: play) {
            scrobbler.sounds(
                Sounding(
                    songID: songID,
                    start: play.start ?? 0,
                    state: .stopped,
                    position: play.watch.heardSoFar.milliseconds,
                    isNew: false
                ),
                in: partition.id
            )
        }
        guard isSkip else { return }
        for observer in playObservers { observer.songWasSkipped(song, at: PlayTracker.wallClock) }
    }

    /// The program ends, and with it what can be heard. The play goes on after the next start.
    func endSounding(in partition: Partition) {
        guard let play = partition.plays.current, let start = play.start, partition.queue.state != .stopped,
            let (scrobbler, songID) = scrobbler(of: play)
        else { return }
        let position = (partition.elapsed ?? .zero).milliseconds
        scrobbler.finish(
            Sounding(songID: songID, start: start, state: .stopped, position: position, isNew: false)
        )
    }

    /// The song that is played; nil for a URL.
    private func song(of play: PlayTracker.Play) -> SongIdentity? {
        if case .stream = songs.song(play.key) { return nil }
        return songs.names.identity(play.key)
    }

    /// Who tells the song's server of it, and what that calls the song; nil where nobody is told.
    private func scrobbler(of play: PlayTracker.Play) -> (Scrobbler, songID: String)? {
        guard let song = song(of: play), let scrobbler = musicServer(id: song.serverID)?.scrobbler,
            scrobbler.isEnabled
        else { return nil }
        return (scrobbler, song.songID)
    }

    private func keep(_ play: PlayTracker.Play, of partition: Partition) {
        guard let store = journal?.store, let record = PlayRecord(play) else { return }
        let name = partition.name
        store.submit("how much was heard of a song") { database throws(StoreError) in
            try record.write(name, to: database)
        }
    }
}
