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

    /// Tells clients why there is no library, if there is none, and that it has come. What one of them has cleared is not
    /// told again, however often it is tried in vain.
    func tellLibraryTrouble() {
        let trouble = attached.lazy.compactMap(\.firstSyncTrouble).first
        let isNews = (trouble == nil) != (libraryTrouble == nil)
        libraryTrouble = trouble
        for partition in partitions where isNews || partition.libraryTrouble != nil {
            partition.libraryTrouble = trouble
        }
        if isNews { raise(.player) }
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
        var isAsked = false
        for music in attached {
            guard let request = music.requestSync?(rescans) else { continue }
            isAsked = true
            updates.expect(.request(request), of: music.reference.number)
        }
        if !isAsked { updates.expect(.request(0), of: active.reference.number) }
    }

    /// A server can be asked now. The job under way waits for that if nobody could be asked when it began.
    func askLate(_ music: MusicServer) {
        guard let rescans = updates.rescans, updates.isExpected(.request(0), of: music.reference.number) else { return }
        updates.settle(.request(0), of: music.reference.number)
        askForSyncs(rescans: rescans)
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
        let running = updates.running
        let job = running ?? updates.request().job
        if running == nil { raise(.update) }
        for music in attached where shelf != .random {
            guard let requestShelves = music.requestShelves else { continue }
            requestShelves(shelf, updates.expectShelves(of: music.reference.number))
        }
        if shelf == .random { raise(.database) }
        if running == nil { endJobIfSettled() }
        return job
    }

    /// A comparison with the server begins, asked for or not.
    func syncBegan(_ music: MusicServer) {
        if updates.running == nil {
            _ = updates.request()
            raise(.update)
        }
        updates.expect(.comparison, of: music.reference.number)
    }

    /// A comparison with the server has ended.
    /// - Parameters:
    ///   - didChange: whether clients can see a difference.
    ///   - request: the last of those that it answers; 0 if it answers none.
    func syncEnded(_ music: MusicServer, didChange: Bool, through request: UInt64) {
        updates.settleComparison(through: request, of: music.reference.number)
        if didChange { tellNews() }
        endJobIfSettled()
    }

    /// What shelves take from a server is there, or could not be had.
    func shelvesFetched(_ music: MusicServer, _ number: UInt64, didChange: Bool) {
        updates.settle(.shelves(number), of: music.reference.number)
        if didChange { tellNews() }
        endJobIfSettled()
    }

    /// Clients will see a library of a server a little later: the job under way does not end before.
    func libraryIsOnItsWay(_ music: MusicServer, _ number: UInt64) {
        if updates.running != nil { updates.expect(.library(number), of: music.reference.number) }
    }

    /// That library is there.
    /// - Parameter take: shows it to clients, or sends it on its way again.
    func libraryArrives(_ music: MusicServer, _ number: UInt64, take: () -> Void) {
        updates.settle(.library(number), of: music.reference.number)
        take()
        endJobIfSettled()
    }

    /// Nothing more comes of the comparisons with a server.
    func forgetSync(_ music: MusicServer) {
        updates.settleAll(of: music.reference.number)
        endJobIfSettled()
    }

    private func tellNews() {
        raise(.database)
        noteNews()
    }

    /// Ends the job under way if nothing is waited for any more, and clients see what it came to.
    func endJobIfSettled() {
        guard updates.running != nil, updates.isSettled, !isMergeAwaited else { return }
        let jobs = updates.end()
        if jobs.ended?.rescans == true { raise(.database) }
        // Those who asked meanwhile are answered by all.
        if let begun = jobs.begun { askForSyncs(rescans: begun.rescans) }
        raise(.update)
    }
}
