import Library
import Logging
import MPDProtocol
import QueueEngine
import SubsonicKit

/// Hands the queue over between devices: the server gets it after each change, and what another device has saved there
/// can be had here. Owned by the core; a courier carries out what it wants.
final class PlayQueueKeeper {
    /// What the configuration decides.
    enum Mode: Sendable {
        /// The queue is saved, and what others have saved can be loaded.
        case save
        /// The same, and at the start it takes the place of the queue.
        case both
    }

    let mode: Mode
    let log: Log
    private unowned let server: Server
    /// The server that keeps it.
    private unowned let home: MusicServer
    private let partition: Partition
    private var perform: ((PlayQueueJob) -> Void)?
    let pace = DeliveryPace()
    private var hasChanges = false
    private var isFinished = false
    /// What was restored at the start, which is no news; until there is somebody to be told.
    private var start: PlayQueueMoment?
    private var isSupported = true
    /// What another device has saved last.
    private(set) var foreign: PlayQueue?
    /// What was given out last to be loaded.
    private var offered: ForeignQueue?

    /// Edits that come together are saved together.
    static let delay = Duration.seconds(3)

    init(_ mode: Mode, _ server: Server, log: Log = .silent) {
        self.mode = mode
        self.server = server
        self.log = log
        home = server.active
        partition = server.defaultPartition
        start = moment()
    }

    /// Begins: there is somebody to carry things out.
    func connect(_ perform: @escaping (PlayQueueJob) -> Void) {
        self.perform = perform
        pace.connect(to: server) { [unowned self] in save() }
        pace.began()
        if let start { perform(.know(start)) }
        start = nil
        perform(.look(isStart: true))
    }

    // MARK: Saving

    /// The queue, or what plays of it, has changed.
    func noteChange() {
        guard isSupported else { return }
        hasChanges = true
        pace.soon(after: Self.delay)
    }

    func save() {
        guard hasChanges, !isFinished, !pace.isUnderWay, let perform, pace.isTime() else { return }
        hasChanges = false
        guard let moment = moment() else { return }
        pace.began()
        perform(.save(moment))
    }

    /// Whether nothing is to be done.
    var isAtRest: Bool { !hasChanges && !pace.isUnderWay && (perform != nil || !isSupported) }

    /// Saves for the last time.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        guard let perform, hasChanges || partition.queue.state != .stopped, let moment = moment() else { return }
        perform(.save(moment))
    }

    /// What would be saved now. Takes no time: it shares its memory with the original. Nil for an empty queue, which is no
    /// queue.
    private func moment() -> PlayQueueMoment? {
        guard let journal = home.journal, !partition.queue.isEmpty else { return nil }
        return PlayQueueMoment(
            serverID: journal.server.text,
            queue: partition.queue,
            names: server.songs.names,
            elapsed: partition.elapsed ?? .zero
        )
    }

    // MARK: What came of it

    /// A queue was saved, or could not be.
    func wasSaved(_ result: Result<PlayQueueSaving, SubsonicError>) {
        pace.ended(lookingAfter: Self.delay)
        switch result {
        case .success(let saving):
            pace.succeeded()
            if let replaced = saving.replaced { foreignIs(replaced) }
        case .failure(let error):
            hasChanges = true
            log.info("Cannot save the queue at the server: \(error); again in \(pace.failed(error)) s")
        }
    }

    /// The server keeps no queues: nothing is tried any more.
    func isNotSupported() {
        log.info("The server keeps no queues")
        pace.ended()
        isSupported = false
        hasChanges = false
        perform = nil
    }

    /// The server has answered somebody: it is looked at again what others have saved.
    func serverAnswers() {
        pace.serverAnswers()
        guard let perform, !pace.isUnderWay else { return }
        pace.began()
        perform(.look(isStart: false))
    }

    /// What another device has saved last; nil if it was this one.
    func looked(_ result: Result<PlayQueue?, SubsonicError>, isStart: Bool) {
        pace.ended(lookingAfter: Self.delay)
        if case .success(let queue) = result {
            if let queue { foreignIs(queue) }
            if isStart, mode == .both, let queue, !hasChanges { takeOver(queue) }
        }
    }

    private func foreignIs(_ queue: PlayQueue) {
        guard queue != foreign else { return }
        foreign = queue
        log.info("Another device has saved a queue of \(queue.songIDs.count) songs")
        home.playlists.changed()
    }

    // MARK: Taking over

    /// Another device's queue, fetched to be loaded.
    func offers(_ queue: ForeignQueue) {
        offered = queue
        foreignIs(queue.queue)
    }

    /// The queue that was offered is in the queue now.
    /// - Parameter isAll: all of it, and nothing else.
    func wasLoaded(into partition: Partition, isAll: Bool) {
        guard let offered, isAll, partition === self.partition else { return }
        self.offered = nil
        stand(offered)
    }

    /// Puts another device's queue in the place of the present one, held where it was.
    private func takeOver(_ queue: PlayQueue) {
        let (reference, id, library) = (home.reference, home.id.text, server.library)
        server.workers.submit {
            let foreign = ForeignQueue(queue, of: id, in: library)
            reference.post { $0.playQueue?.begin(foreign, of: library) }
        }
    }

    private func begin(_ foreign: ForeignQueue, of library: LibrarySnapshot) {
        // Somebody has done something meanwhile: then that counts.
        guard !hasChanges, !foreign.songs.isEmpty else { return }
        log.notice("The queue of another device is taken over: \(foreign.songs.count) songs")
        partition.report { $0.clear() }
        add(foreign, of: library, from: 0)
    }

    /// Adds a piece; the next one in the next turn.
    private func add(_ foreign: ForeignQueue, of library: LibrarySnapshot, from start: Int) {
        guard partition.queue.count == start else { return }
        let end = min(start + Self.pieceSize, foreign.songs.count)
        let keys = server.songs.keys(for: foreign.songs[start..<end], of: library)
        let ids = try? partition.add { queue throws(QueueError) in try queue.append(contentsOf: keys) }
        guard let ids, ids.count == end - start else { return }
        if end == foreign.songs.count { return stand(foreign) }
        home.reference.post { $0.playQueue?.add(foreign, of: library, from: end) }
    }

    /// Some thousand entries take well under a millisecond.
    private static let pieceSize = 4_096

    /// Holds the queue, which is another device's and has just come, where that device was.
    private func stand(_ foreign: ForeignQueue) {
        try? partition.edit { queue throws(QueueError) in
            try queue.stand(at: foreign.current, time: foreign.time)
        }
        // It comes from there: it does not go back.
        hasChanges = false
        if let perform, let moment = moment() { perform(.know(moment)) }
    }
}

/// Another device's queue, as far as the library has its songs.
struct ForeignQueue: Sendable {
    let queue: PlayQueue
    let songs: [SongIndex]
    /// The place of the current song among them.
    let current: Int
    let time: Duration

    /// Looks each song up: not for the core.
    init(_ queue: PlayQueue, of serverID: String, in library: LibrarySnapshot) {
        self.queue = queue
        var songs: [SongIndex] = []
        songs.reserveCapacity(queue.songIDs.count)
        var (current, time) = (0, Duration.zero)
        for (place, id) in queue.songIDs.enumerated() {
            let song = library.song(SongIdentity(serverID: serverID, songID: id))
            if place == queue.current {
                current = songs.count
                time = song == nil ? .zero : .milliseconds(queue.position)
            }
            if let song { songs.append(song) }
        }
        self.songs = songs
        // The last one may be the one that is not there.
        self.current = max(0, min(current, songs.count - 1))
        self.time = time
    }
}

/// A queue at one moment, of which the server's form can be made on any thread.
struct PlayQueueMoment: Sendable {
    var serverID: String
    var queue: Queue
    var names: SongNames
    var elapsed: Duration

    /// The queue as the server can keep it: songs of that server only; nil if there are none.
    func playQueue() -> PlayQueue? {
        var ids: [String] = []
        ids.reserveCapacity(queue.count)
        var (current, position) = (0, Int64(0))
        for entry in queue.entries {
            let song = names.identity(entry.key).flatMap { $0.serverID == serverID ? $0.songID : nil }
            if entry.id == queue.currentID {
                current = ids.count
                position = song == nil ? 0 : elapsed.milliseconds
            }
            if let song { ids.append(song) }
        }
        if ids.isEmpty { return nil }
        return PlayQueue(songIDs: ids, current: min(current, ids.count - 1), position: position)
    }
}

/// Something to be done at the server for the queue.
enum PlayQueueJob: Sendable {
    case save(PlayQueueMoment)
    /// The queue is as the server has it, or as it was at the start.
    case know(PlayQueueMoment)
    case look(isStart: Bool)
    case fetch(@Sendable (Result<PlayQueue?, SubsonicError>) -> Void)
}

/// A queue is saved.
struct PlayQueueSaving: Sendable {
    /// What another device had saved, and what is not there any more.
    var replaced: PlayQueue?
}

/// The stored playlist `Queue: NAME`: what another device has saved as its queue.
final class QueuePlaylist: VirtualPlaylist {
    let name: String
    private unowned let home: MusicServer
    private let fetch: @Sendable (@escaping @Sendable (Result<PlayQueue?, SubsonicError>) -> Void) -> Void

    /// - Parameters:
    ///   - server: as the configuration calls it.
    ///   - fetch: asks it for the queue.
    init(
        server name: String,
        of server: Server,
        _ fetch: @escaping @Sendable (@escaping @Sendable (Result<PlayQueue?, SubsonicError>) -> Void) -> Void
    ) {
        self.name = "Queue: " + PlaylistNames.safe(name)
        home = server.active
        self.fetch = fetch
    }

    var isListed: Bool { home.playQueue?.foreign != nil }
    var lastModified: Int64 { home.playQueue?.foreign?.changed ?? 0 }

    func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent {
        let known = home.playQueue?.foreign
        if use == .look, let known { return .made(cost: known.songIDs.count) { known.songIDs.map { .song($0) } } }
        return .fetched { [fetch, reference = home.reference, id = home.id.text] server, whenDone in
            let library = server.library
            fetch { result in
                // Without the server, what is known of it serves as well.
                guard let queue = (try? result.get()) ?? known else {
                    return whenDone(.failure(PlaylistError.noSuchPlaylist))
                }
                let foreign = ForeignQueue(queue, of: id, in: library)
                reference.post { $0.playQueue?.offers(foreign) }
                whenDone(.success(queue.songIDs.map { .song($0) }))
            }
        }
    }

    func wasLoaded(into partition: Partition, isAll: Bool, of server: Server) {
        home.playQueue?.wasLoaded(into: partition, isAll: isAll)
    }
}
