import Library
import Logging
import MPDProtocol
import Playback
import QueueEngine

/// Tells a partition from others, and from earlier ones of the same name.
struct PartitionID: Hashable, Sendable {
    let name: String
    let generation: UInt64

    init(_ name: String, generation: UInt64 = 0) {
        self.name = name
        self.generation = generation
    }
}

/// A room: a queue and the player that plays it, with volume and outputs.
///
/// `apply` is the only place that carries out what the queue wants of the player and turns changes into idle events;
/// `PartitionPlayback.swift` takes what the player reports. Owned by the core.
final class Partition {
    let id: PartitionID
    let player: any Player
    let songs: SongTable
    let log: Log
    private(set) var queue: Queue
    /// 0...100; changed by `setVolume`.
    var volume: Int
    /// Changed by what `PartitionOutputs.swift` has.
    var outputs: [OutputState]
    private(set) var sound = SoundSettings()

    /// The client whose command list has the partition for itself.
    var owner: Connection.ID?
    /// Clients whose edits wait for that list to end.
    var waiting: [Connection.ID] = []

    /// The song that the player has, and the one that it will go on with.
    var loaded: LoadedSong?
    var preloaded: PreloadedSong?
    /// How often the player has been told to seek.
    private var seekCalls: UInt64 = 0
    /// The text of `error:`, and whether it goes by itself when bytes flow again.
    var errorMessage: (text: String, isTransient: Bool)?
    /// Why there is no library; shown while nothing else is wrong.
    var libraryTrouble: String?
    /// The stored playlist that was added to the queue last; empty if there is none, and after `clear`.
    var lastLoadedPlaylist = ""
    /// Keeps the queue and all that goes with it; nil where nothing is to be kept.
    var saver: PartitionSaver?
    /// How a song is fetched that the library does not have yet.
    var absentSource: ((SongTable.GoneSong) -> AudioSource?)?
    /// Why a server that is there cannot be asked at all, as without its password; by its id.
    var problemOfServer: ((String) -> String?)?
    /// How many songs are fetched that follow the next one, and which ones are.
    var songsAhead = 0
    /// Whether devices that were found in earlier runs keep their places.
    var findsDevices = false
    private var entriesAhead: [EntryID] = []
    /// Told after each change of the queue or of what plays; in the middle of an edit, so they must not edit.
    var queueObservers: [() -> Void] = []
    /// Follows how much is heard of each song.
    let plays = PlayTracker()
    /// Lets the music go on when the queue runs out; nil where it shall end.
    var infinitePlay: InfinitePlay?
    /// How long songs have sounded since the start, without the present one.
    var heard = Duration.zero

    private let makeSource: (SongIndex, LibrarySnapshot) -> AudioSource?
    private let schedule: (Duration, @escaping @Sendable (Server) -> Void) -> Void
    private var events: Subsystems = []
    private var lastPlayback: UInt64 = 0

    /// - Parameters:
    ///   - source: how a song's bytes are fetched, or nil when no server can give them.
    ///   - schedule: runs something on the core after a while.
    init(
        id: PartitionID,
        queue: Queue,
        player: any Player,
        outputs: [OutputState],
        volume: Int,
        songs: SongTable,
        log: Log,
        source: @escaping (SongIndex, LibrarySnapshot) -> AudioSource?,
        schedule: @escaping (Duration, @escaping @Sendable (Server) -> Void) -> Void
    ) {
        self.id = id
        self.queue = queue
        self.player = player
        self.outputs = outputs
        self.volume = volume
        self.songs = songs
        self.log = log
        makeSource = source
        self.schedule = schedule
    }

    /// What clients call it.
    var name: String { id.name }

    // MARK: Edits

    /// Changes the queue and carries out what follows from it.
    func edit(_ body: (inout Queue) throws(QueueError) -> Outcome) throws(QueueError) {
        apply(try body(&queue))
    }

    /// Changes the queue by a command that keeps what it did before it found something wrong.
    func editPartly(_ body: (inout Queue) -> PartialOutcome) throws(QueueError) {
        let result = body(&queue)
        apply(result.outcome)
        if let error = result.error { throw error }
    }

    /// Tells the queue what has happened to playback, and carries out what follows from it.
    func report(_ body: (inout Queue) -> Outcome) { apply(body(&queue)) }

    /// Songs have gone from the library or have come back: their entries look different, and are saved so.
    func songsChanged(_ keys: SongKeys) { report { $0.markChanged { keys.contains($0) } } }

    /// Tells the queue that an entry can be heard.
    func started(_ entry: EntryID) {
        queue.started(entry)
        saver?.noteChange()
    }

    /// Adds to the queue and carries out what follows from it; the ids of the new entries.
    func add(_ body: (inout Queue) throws(QueueError) -> Addition) throws(QueueError) -> Range<EntryID> {
        let addition = try body(&queue)
        apply(addition.outcome)
        return addition.ids
    }

    /// Carries out what the queue wants.
    func apply(_ outcome: Outcome) {
        for effect in outcome.effects {
            switch effect {
            case .load(let entry, let time, let paused): load(entry, at: time, paused: paused)
            case .preload(let entry): preload(entry)
            case .pause: player.pause(true)
            case .resume:
                if let lost, let place = loaded?.elapsed {
                    loadAgain(lost, at: place, paused: false)
                } else {
                    player.pause(false)
                }
            case .seek(let time):
                let position = time + start(of: loaded?.entry)
                if let lost {
                    loadAgain(lost, at: position, paused: queue.state == .paused)
                } else {
                    seekCalls += 1
                    loaded?.expect(elapsed: position, seeks: seekCalls)
                    plays.stands()
                    player.seek(to: position)
                }
            case .stop:
                // What is taken out of the queue was not wanted; what is stopped may be.
                plays.left(isChoice: loaded.map { queue.entry(id: $0.entry) == nil } ?? false)
                unload()
                player.stop()
            }
        }
        if outcome.changes.contains(.entries) { raise(.playlist) }
        if outcome.changes.contains(.player) { raise(.player) }
        if outcome.changes.contains(.options) {
            raise(.options)
            if sound.replayGain == .auto { updateGains() }
        }
        saver?.noteChange()
        if outcome.isEmpty { return }
        fetchAhead()
        for observer in queueObservers { observer() }
    }

    private func load(_ entry: EntryID, at time: Duration, paused: Bool) {
        let position = time + start(of: entry)
        give(entry, at: position, paused: paused) { length in
            plays.begins(entry, key: queue.entry(id: entry)?.key, length: length, at: time)
        }
    }

    /// The entry of which the player has let go, though it is to be heard.
    private var lost: EntryID? { loaded.flatMap { $0.loss == nil ? nil : $0.entry } }

    /// Gives the player again what it has let go of, and what follows that. The same play goes on, wherever that is.
    /// - Parameter position: from the beginning of the song, not of its range.
    private func loadAgain(_ entry: EntryID, at position: Duration, paused: Bool) {
        if let loss = loaded?.loss, errorMessage?.text == loss { clearError() }
        let next = preloaded?.entry
        give(entry, at: position, paused: paused) { _ in plays.stands() }
        if let next, loaded != nil { preload(next) }
    }

    private func give(_ entry: EntryID, at position: Duration, paused: Bool, _ note: (Duration?) -> Void) {
        unload()
        guard let source = source(of: entry) else {
            if let problem = problem(of: entry) {
                loaded = LoadedSong(
                    playback: nextPlayback(),
                    entry: entry,
                    elapsed: position,
                    duration: knownDuration(of: entry)
                )
                note(loaded?.duration)
                return wait(at: entry, because: problem)
            }
            plays.left(isChoice: true)
            fail(entry, "the song is not on the server any more")
            return
        }
        let playback = nextPlayback()
        loaded = LoadedSong(playback: playback, entry: entry, elapsed: position, duration: source.duration)
        note(source.duration)
        player.load(playback, source, at: position, paused: paused)
    }

    /// Why the server of an entry's song cannot be asked; nil where that is not what is wrong.
    func problem(of entry: EntryID) -> String? {
        guard let key = queue.entry(id: entry)?.key, let song = songs.names.identity(key) else { return nil }
        return problemOfServer?(song.serverID)
    }

    /// Stands still at an entry whose server cannot be asked, as where a server refuses access, until it is asked for again.
    private func wait(at entry: EntryID, because problem: String) {
        lose(because: problem)
        player.stop()
        log.notice("Cannot play \(nameForMessages(of: entry)): \(problem)")
        setError(problem, isTransient: false)
        // Not in the middle of an edit.
        schedule(.zero) { [id] server in
            guard let partition = server.partition(id), partition.lost == entry else { return }
            partition.report { $0.transportFailed(entry) }
        }
    }

    private func preload(_ entry: EntryID?) {
        guard let entry, let source = source(of: entry) else {
            preloaded = nil
            player.cancelPreload()
            return
        }
        let playback = nextPlayback()
        preloaded = PreloadedSong(playback: playback, entry: entry)
        player.preload(playback, source)
    }

    /// Tells the player which songs will follow the next one, where that has changed.
    private func fetchAhead() {
        guard songsAhead > 0 else { return }
        let entries = preloaded == nil ? [] : queue.upcoming(songsAhead)
        guard entries != entriesAhead else { return }
        entriesAhead = entries
        player.fetchAhead(entries.compactMap(source))
    }

    /// Forgets what the player has, and counts what was heard of it.
    func unload() {
        if let loaded { heard += loaded.heard() }
        loaded = nil
        preloaded = nil
    }

    /// Runs something on the core after a while.
    func later(_ delay: Duration, _ action: @escaping @Sendable (Server) -> Void) { schedule(delay, action) }

    private func nextPlayback() -> PlaybackID {
        lastPlayback += 1
        return PlaybackID(lastPlayback)
    }

    /// How an entry is played; nil when its song is not to be had any more.
    func source(of entry: EntryID) -> AudioSource? {
        guard let entry = queue.entry(id: entry) else { return nil }
        var source: AudioSource?
        switch songs.song(entry.key) {
        case .library(let song):
            source = makeSource(song, songs.library)
            source?.gain = gain(of: entry.key)
        case .gone(let song):
            if song.isRemoved { return nil }
            if let (own, library) = songs.unseen(song) {
                source = makeSource(own, library)
            } else {
                source = absentSource?(song)
            }
            source?.gain = gain(of: entry.key)
        case .stream(let stream): source = StreamAddress(stream.uri).map(AudioSource.init)
        case nil: return nil
        }
        source?.start = .milliseconds(Int64(entry.range.start))
        source?.end = entry.range.end == 0 ? nil : .milliseconds(Int64(entry.range.end))
        return source
    }

    /// Where the entry's range begins.
    func start(of entry: EntryID?) -> Duration {
        guard let entry, let entry = queue.entry(id: entry) else { return .zero }
        return .milliseconds(Int64(entry.range.start))
    }

    // MARK: Sound

    /// Changes how songs are joined, or how loud they are played: from the next song on. Always an event, as in MPD.
    func setSound(_ change: (inout SoundSettings) -> Void) {
        let old = sound
        change(&sound)
        raise(.options)
        saver?.noteChange()
        if sound.crossfadeSettings != old.crossfadeSettings { player.setCrossfade(sound.crossfadeSettings) }
        if sound.replayGain != old.replayGain { updateGains() }
    }

    /// Takes over what the configuration says about sound, before anything plays.
    func configureSound(_ mode: ReplayGainMode, _ rules: LoudnessRules) {
        sound.replayGain = mode
        sound.loudness = rules
    }

    /// Nil also for what is no server's song.
    private func gain(of key: SongKey) -> SongGain? {
        let known: ReplayGain?
        switch songs.song(key) {
        case .library(let song): known = songs.library.replayGain(song)
        case .gone(let song): known = songs.unseen(song).flatMap { $0.library.replayGain($0.song) }
        case .stream, nil: return nil
        }
        return sound.gain(of: known, isRandom: queue.options.random)
    }

    /// The songs that the player has are to be heard with another gain, at once.
    private func updateGains() {
        for (playback, entry) in [loaded.map { ($0.playback, $0.entry) }, preloaded.map { ($0.playback, $0.entry) }]
            .compactMap({ $0 })
        {
            guard let entry = queue.entry(id: entry) else { continue }
            if case .stream = songs.song(entry.key) { continue }
            player.setGain(gain(of: entry.key), of: playback)
        }
    }

    /// Lets the queue go on after a song that cannot be played, a moment later: a queue of such songs is not raced
    /// through, and the core is not in the middle of an edit then.
    ///
    /// While the next one plays, clients still show `error:`, so it says whose it is.
    /// - Parameter isSilent: whether it seemed to begin, but nothing was heard.
    func fail(_ entry: EntryID, _ message: String, isSilent: Bool = false) {
        let line = "Cannot play \(nameForMessages(of: entry)): \(message)"
        log.notice(line)
        setError(line, isTransient: false)
        schedule(.milliseconds(500)) { [id] server in server.partition(id)?.passOver(entry, isSilent: isSilent) }
    }

    /// The URI of an entry; of a URL without what may be secret in it.
    private func nameForMessages(of entry: EntryID) -> String {
        guard let key = queue.entry(id: entry)?.key else { return "a song" }
        if case .stream(let stream)? = songs.song(key), let address = StreamAddress(stream.uri) {
            return address.description
        }
        return String(decoding: songs.uri(of: key), as: UTF8.self)
    }

    private func passOver(_ entry: EntryID, isSilent: Bool) {
        guard queue.currentID == entry, queue.state != .stopped else { return }
        report { $0.permanentlyFailed(entry, isSilent: isSilent) }
    }

    // MARK: Errors and events

    var error: String? { errorMessage?.text ?? libraryTrouble }

    func setError(_ text: String, isTransient: Bool) {
        errorMessage = (text, isTransient)
        raise(.player)
    }

    func clearError() { errorMessage = nil }

    /// Clears all that `error:` could show, until something else goes wrong.
    func clearErrors() {
        errorMessage = nil
        libraryTrouble = nil
    }

    /// Notes events for the clients of this partition.
    func raise(_ events: Subsystems) { self.events.formUnion(events) }

    /// Ends all that goes on here: the partition will be no more.
    func close() {
        // Whoever is told what can be heard hears of the end.
        report { $0.stop() }
        saver?.abandon()
        player.shutdown()
    }

    /// The events since the last call.
    func takeEvents() -> Subsystems {
        defer { events = [] }
        return events
    }
}
