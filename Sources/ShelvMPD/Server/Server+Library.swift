import Library
import MPDProtocol
import QueueEngine

/// The library changes, or is to be compared with the servers.
extension Server {
    /// Puts a new library in the place of the present one.
    /// - Parameters:
    ///   - hasChanged: whether clients can see a difference.
    ///   - prepared: as `show` takes it.
    func replaceLibrary(
        _ snapshot: LibrarySnapshot,
        _ translation: SongTranslation,
        hasChanged: Bool,
        _ prepared: SongReplacement? = nil
    ) {
        active.follow(snapshot, translation)
        show(snapshot, translation, prepared)
        if hasChanged { raise(.database) }
    }

    /// Forgets what is known of URLs that have left all queues.
    func forgetUnusedStreams() {
        guard songs.hasManyStreams else { return }
        songs.forgetStreams(except: Set(partitions.lazy.flatMap { $0.queue.entries.lazy.map(\.key) }))
    }

    /// A client wants the library compared with the server.
    /// - Returns: the number of the job that does it.
    func requestUpdate(rescans: Bool) -> UInt32 {
        let (job, begins) = updates.request(rescans: rescans)
        // A comparison that is under way would not answer it; the next one begins when that has ended.
        guard begins else { return job }
        raise(.update)
        askForSyncs(rescans: rescans)
        return job
    }

    private func askForSyncs(rescans: Bool) {
        for music in attached {
            guard let requestSync = music.requestSync else { continue }
            updates.servers.insert(music.reference.number)
            requestSync(rescans)
        }
    }

    /// A client wants a shelf brought up to date, or all of them. What stands on the others comes from the library.
    /// - Returns: the number of the job that does it, or of the one that is under way.
    func requestShelfUpdate(path: [UInt8]) -> UInt32 {
        let shelf = Shelf(path: path)
        if shelf == nil || shelf == .random { shelves.draw(at: .now) }
        switch shelf {
        case .recentlyAdded, .genres, .decades: return requestUpdate(rescans: false)
        case .radio: return requestUpdate(rescans: false)
        case nil, .recentlyPlayed, .frequentlyPlayed, .random, .favorites: break
        }
        if let running = updates.running {
            for music in attached { music.requestShelves?(shelf, false) }
            return running
        }
        let job = updates.request().job
        raise(.update)
        var isAsked = false
        for music in attached where shelf != .random {
            guard let requestShelves = music.requestShelves else { continue }
            isAsked = true
            updates.servers.insert(music.reference.number)
            requestShelves(shelf, true)
        }
        if !isAsked { syncEnded(active, didChange: shelf == .random) }
        return job
    }

    /// A comparison with the server begins, asked for or not.
    func syncBegan(_ music: MusicServer) {
        updates.servers.insert(music.reference.number)
        guard updates.running == nil else { return }
        _ = updates.request()
        raise(.update)
    }

    /// A comparison with the server has ended.
    /// - Parameter didChange: whether clients can see a difference.
    func syncEnded(_ music: MusicServer, didChange: Bool) {
        updates.servers.remove(music.reference.number)
        if didChange {
            raise(.database)
            noteNews()
        }
        guard updates.running != nil, updates.servers.isEmpty else { return }
        let jobs = updates.end()
        if jobs.ended?.rescans == true { raise(.database) }
        // Those who asked meanwhile are answered by all.
        if let begun = jobs.begun { askForSyncs(rescans: begun.rescans) }
        raise(.update)
    }
}
