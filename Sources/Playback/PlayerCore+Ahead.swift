import Logging

/// A song that is fetched before anybody plays it.
struct SongAhead {
    let id: PlaybackID
    let song: CachedSong
    let key: String
}

/// Fetching of songs that come after the next one, one at a time, when the line has nothing better to do.
extension PlayerCore {
    /// Sets the songs that will follow, in order.
    func setAhead(_ sources: [AudioSource]) {
        wantedAhead = sources.filter { $0.stream == nil }
        failedAhead.formIntersection(wantedAhead.map(\.cacheKey))
        cache.pin(wantedAhead)
        if let ahead, !wantedAhead.contains(where: { $0.cacheKey == ahead.key }) { stopAhead() }
        fetchAhead()
    }

    /// Begins with the first one that is missing, if the songs before it are there.
    func fetchAhead() {
        let slots = [current, next].compactMap { $0 }
        let isFree = slots.allSatisfy { $0.stream != nil || $0.song?.isComplete == true }
        guard current != nil, isFree else { return stopAhead() }
        guard ahead == nil else { return }
        for source in wantedAhead where !failedAhead.contains(source.cacheKey) && !cache.holds(source) {
            aheadCount += 1
            let (id, mailbox) = (PlaybackID(.max - aheadCount), mailbox)
            do throws(PlayerError) {
                let song = try cache.open(source, for: id, isEager: true) { mailbox.post(.fetch(id, $0)) }
                ahead = SongAhead(id: id, song: song, key: source.cacheKey)
                return
            } catch {
                log.debug("not fetched ahead: \(error)")
                failedAhead.insert(source.cacheKey)
            }
        }
    }

    func take(aheadNotice notice: FetchNotice) {
        guard let ahead else { return }
        switch notice {
        case .complete: break
        // It is told when its turn comes.
        case .failed: failedAhead.insert(ahead.key)
        case .trouble, .flowing, .progress, .wantsRoom, .changed: return
        }
        stopAhead()
        fetchAhead()
    }

    /// Leaves the song that is fetched ahead as it is.
    func stopAhead() {
        guard let ahead else { return }
        self.ahead = nil
        cache.close(ahead.song, for: ahead.id)
    }
}
