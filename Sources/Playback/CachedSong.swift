public import Logging
public import SubsonicKit
import Synchronization

/// A song's file in the cache and the fetcher that fills it; shared by all who play the song.
final class CachedSong: Sendable {
    let key: String
    let fetcher: Fetcher
    /// Whether the server makes the bytes when they are asked for.
    let isMade: Bool
    var file: SparseFile { fetcher.file }

    private let observers: Observers

    /// Who wants to hear of the fetcher.
    fileprivate final class Observers: Sendable {
        let table = Mutex<[CacheReader: @Sendable (FetchNotice) -> Void]>([:])

        func tell(_ notice: FetchNotice) {
            for observer in table.withLock({ Array($0.values) }) { observer(notice) }
        }
    }

    fileprivate init(key: String, fetcher: Fetcher, isMade: Bool, observers: Observers) {
        self.key = key
        self.isMade = isMade
        self.fetcher = fetcher
        self.observers = observers
    }

    /// Whether all bytes are there.
    var isComplete: Bool { file.isComplete }
    /// Whether all bytes are there, as the server tells.
    fileprivate var isWhole: Bool { file.isComplete && !file.monitor.withLock { $0.isTotalGuessed } }

    /// Lets the fetcher bring bytes for one more. To be followed by its `plan`.
    fileprivate func add(
        _ reader: CacheReader,
        isEager: Bool,
        _ request: @escaping @Sendable (Int64?) -> HTTPRequest,
        _ observer: @escaping @Sendable (FetchNotice) -> Void
    ) {
        // Both under the lock, here and in `remove`: else who comes while the last one leaves is stopped with that one.
        observers.table.withLock { table in
            table[reader] = observer
            fetcher.allow(isEager: isEager, request)
        }
    }

    /// Ends the fetch with the last one. Returns whether nobody is left.
    fileprivate func remove(_ reader: CacheReader) -> Bool {
        let ended = observers.table.withLock { table -> [RangeTransfer]? in
            table[reader] = nil
            return table.isEmpty ? fetcher.forbid() : nil
        }
        for transfer in ended ?? [] { transfer.cancel() }
        return ended != nil
    }

    fileprivate var isUnused: Bool { observers.table.withLock { $0.isEmpty } }
}

/// Who has a song open: a playback of one of the players, who all count their playbacks from 1.
struct CacheReader: Hashable {
    let player: UInt64
    let playback: PlaybackID
}

/// The folder of audio files: `NAME.audio` is complete, `NAME.part` is not and has a `NAME.map` that says what is there. A
/// complete one has it, too, where the server has sent another length than the catalog tells.
///
/// All players of the process share it, by a `CacheDesk` each: what one fetches, the others need not fetch. A file gets its final name only after its length was verified and its bytes were brought to the disk; a map never
/// tells of bytes that are not. So after a crash, whatever is found can be believed.
public final class AudioCache: Sendable {
    private let directory: String
    let transport: any HTTPTransport
    /// Waits for retries; must not be held up by a slow disk.
    private let timer: WorkerThread
    /// Brings files to the disk.
    private let keeper: WorkerThread
    private let log: Log
    private let patienceWhenFailing: Duration
    private let patienceAtEarlyEnds: Duration
    private let songs = Mutex<[String: CachedSong]>([:])
    /// Most bytes that files may take which nobody plays or will play soon.
    private let limit: Int64
    /// Files that shall stay although nobody has opened them, by player.
    private let pins = Mutex<[UInt64: Set<String>]>([:])
    private let players = Atomic<UInt64>(0)

    /// Makes the folder when missing.
    ///
    /// - Parameters:
    ///   - limit: bytes that all files may take; those that are played or come soon stay also beyond it.
    ///   - transport: brings the bytes of songs; best one that serves nothing else.
    ///   - patienceWhenFailing: so long a server may fail at one song, well otherwise, until that song is given up.
    ///   - patienceAtEarlyEnds: so long a player waits at a place where the server always ends a song, until that is thought
    ///     to be its end, or the rest to be lost. Only where nothing but one answer's head tells of more.
    /// - Throws: `PlayerError` when there can't be one.
    public init(
        directory: String,
        limit: Int64 = .max,
        transport: any HTTPTransport,
        log: Log,
        patienceWhenFailing: Duration = .seconds(15),
        patienceAtEarlyEnds: Duration = .seconds(60)
    ) throws(PlayerError) {
        try CacheFiles.makeDirectory(directory)
        self.limit = limit
        self.directory = directory
        self.transport = transport
        self.log = log
        self.patienceWhenFailing = patienceWhenFailing
        self.patienceAtEarlyEnds = patienceAtEarlyEnds
        timer = WorkerThread(name: "fetch-timer")
        keeper = WorkerThread(name: "cache")
        keeper.after { [weak self] in self?.makeRoom() }
    }

    /// Bytes that are made free at once on a full disk.
    private static let room: Int64 = 64 << 20

    private static func name(of source: AudioSource) -> String {
        CacheFiles.name(key: source.cacheKey, size: source.size)
    }

    /// Whether a song's file is whole. Looks at the disk.
    func holds(_ source: AudioSource) -> Bool {
        let name = Self.name(of: source)
        if let song = songs.withLock({ $0[name] }) { return song.isComplete }
        return wholeLength(of: name, source) != nil
    }

    /// The length of a song's whole file, or nil when there is none that can be believed.
    private func wholeLength(of name: String, _ source: AudioSource) -> Int64? {
        guard let length = CacheFiles.length(of: path(name, "audio")), length > 0 else { return nil }
        if length == source.size ?? length { return length }
        // The catalog errs. Once it tells something else, the name is another one.
        let note = CacheFiles.readMap(path(name, "map"))
        return note?.isTotalCertain == true && note?.total == length ? length : nil
    }

    /// One more player's way to the files.
    func desk() -> CacheDesk { CacheDesk(self, player: players.add(1, ordering: .relaxed).newValue) }

    fileprivate func pin(_ sources: [AudioSource], for player: UInt64) {
        let names = Set(sources.map(Self.name))
        pins.withLock { $0[player] = names.isEmpty ? nil : names }
    }

    /// Removes files although they are within the limit: the disk is full before that is reached.
    private func giveUpRoom() {
        keeper.after { [self] in
            let removed = makeRoom(atLeast: Self.room)
            if removed > 0 { log.notice("The disk is full; \(removed >> 10) KiB of songs left the cache") }
        }
    }

    /// Removes the files that were not used for the longest time, until the others fit. On the keeper's thread.
    /// - Parameter room: so many bytes go in any case, if there are files that may.
    /// - Returns: the bytes that went.
    @discardableResult
    private func makeRoom(atLeast room: Int64 = 0) -> Int64 {
        let files = CacheFiles.list(directory)
        let whole = files.reduce(0) { $0 + $1.size }
        let limit = min(limit, whole - room)
        var size = whole
        guard size > limit else { return 0 }
        let kept = Set(songs.withLock { $0.keys }).union(pins.withLock { $0.values.joined() })
        for file in files.sorted(by: { $0.lastUse < $1.lastUse }) where !kept.contains(file.name) {
            if size <= limit { break }
            // With the lock held, so that nobody opens it in between.
            let isRemoved = songs.withLock { songs in
                guard songs[file.name] == nil else { return false }
                for kind in ["map", "part", "audio"] { CacheFiles.remove(path(file.name, kind)) }
                return true
            }
            if isRemoved { size -= file.size }
        }
        return whole - size
    }

    fileprivate func open(
        _ source: AudioSource,
        for reader: CacheReader,
        isEager: Bool,
        observer: @escaping @Sendable (FetchNotice) -> Void
    ) throws(PlayerError) -> CachedSong {
        let name = Self.name(of: source)
        let song = songs.withLock { songs -> Result<CachedSong, PlayerError> in
            if let song = songs[name] {
                song.add(reader, isEager: isEager, source.request, observer)
                return .success(song)
            }
            do throws(PlayerError) {
                let song = try make(name, source)
                song.add(reader, isEager: isEager, source.request, observer)
                songs[name] = song
                return .success(song)
            } catch {
                return .failure(error)
            }
        }
        let opened = try song.get()
        opened.fetcher.plan()
        return opened
    }

    fileprivate func close(_ song: CachedSong, for reader: CacheReader) {
        guard song.remove(reader) else { return }
        keeper.after { [self] in
            // Opened again meanwhile: the note is written when that one closes.
            guard song.isUnused, songs.withLock({ $0[song.key] === song }) else { return }
            // Who opens it while this is written gets this one, and not a second one of the same file.
            if !song.isWhole { CacheFiles.writeMap(of: song.fetcher, path: path(song.key, "map")) }
            for kind in ["part", "audio"] { CacheFiles.touch(path(song.key, kind)) }
            songs.withLock { songs in
                if song.isUnused, songs[song.key] === song { songs[song.key] = nil }
            }
            makeRoom()
        }
    }

    /// Ends the cache's threads when all files are at rest. To be called when all players have ended. Blocks.
    public func shutdown() {
        let open = songs.withLock { Array($0.values) }
        for song in open { song.fetcher.deactivate() }
        timer.stop()
        keeper.stop()
    }

    private func path(_ name: String, _ kind: String) -> String { "\(directory)/\(name).\(kind)" }

    private func make(_ name: String, _ source: AudioSource) throws(PlayerError) -> CachedSong {
        let observers = CachedSong.Observers()
        var note = CacheFiles.Map()
        let file: SparseFile
        let complete = path(name, "audio")
        if let length = wholeLength(of: name, source) {
            file = try SparseFile(path: complete, total: length, intervals: IntervalSet([0..<length]), isReadOnly: true)
            note.isTotalCertain = true
        } else {
            note = CacheFiles.readMap(path(name, "map")) ?? note
            file = try SparseFile(
                path: path(name, "part"),
                total: note.isTotalCertain ? note.total : source.size.flatMap { $0 > 0 ? $0 : nil },
                intervals: note.intervals,
                note: path(name, "map")
            )
        }
        let fetcher = Fetcher(
            file: file,
            validators: note.validators,
            isTotalCertain: note.isTotalCertain,
            catalogSize: source.size,
            transport: transport,
            worker: timer,
            log: log,
            patienceWhenFailing: patienceWhenFailing,
            patienceAtEarlyEnds: patienceAtEarlyEnds,
            serverHealth: source.serverHealth,
            request: source.request
        ) { [weak self] notice in
            switch notice {
            case .complete: self?.keep(name, file, catalogSize: source.size)
            case .progress:
                self?.note(name)
                return
            case .wantsRoom:
                self?.giveUpRoom()
                return
            default: break
            }
            observers.tell(notice)
        }
        return CachedSong(key: name, fetcher: fetcher, isMade: source.isTranscoded, observers: observers)
    }

    /// Writes down what is there of a file that still grows, so that a crash costs little.
    private func note(_ name: String) {
        keeper.after { [self] in
            guard let song = songs.withLock({ $0[name] }), !song.isComplete else { return }
            CacheFiles.writeMap(of: song.fetcher, path: path(name, "map"))
        }
    }

    /// Gives a complete file its final name.
    private func keep(_ name: String, _ file: SparseFile, catalogSize: Int64?) {
        keeper.after { [self] in
            let (known, isGuess) = file.monitor.withLock { ($0.total, $0.isTotalGuessed) }
            // What may lack its end must not be found as a whole file later.
            guard let total = known, !isGuess, file.isComplete else { return }
            file.truncate(to: total)
            guard CacheFiles.length(of: file.path) == total, file.synchronize() else {
                log.error("cannot keep \(file.path): \(SystemError.text())")
                return
            }
            let isAsTold = total == catalogSize ?? total
            if !isAsTold {
                let note = CacheFiles.Map(intervals: IntervalSet([0..<total]), total: total, isTotalCertain: true)
                CacheFiles.write(note, to: path(name, "map"))
            }
            CacheFiles.rename(file.path, to: path(name, "audio"))
            if isAsTold { CacheFiles.remove(path(name, "map")) }
            makeRoom()
        }
    }
}

/// A player's way to the files of the cache.
final class CacheDesk: Sendable {
    private let cache: AudioCache
    private let player: UInt64

    fileprivate init(_ cache: AudioCache, player: UInt64) {
        self.cache = cache
        self.player = player
    }

    /// Whether a song's file is whole. Looks at the disk.
    func holds(_ source: AudioSource) -> Bool { cache.holds(source) }

    /// Sets the songs that the player will want soon, in place of those before: their files are not removed to make room.
    func pin(_ sources: [AudioSource]) { cache.pin(sources, for: player) }

    /// Opens a song's file. Reads and makes small files only.
    ///
    /// - Parameters:
    ///   - isEager: whether to fetch what is missing at once, not only when a reader waits for it.
    ///   - observer: hears of the fetch until `close` is called with the same id.
    func open(
        _ source: AudioSource,
        for id: PlaybackID,
        isEager: Bool,
        observer: @escaping @Sendable (FetchNotice) -> Void
    ) throws(PlayerError) -> CachedSong {
        try cache.open(source, for: CacheReader(player: player, playback: id), isEager: isEager, observer: observer)
    }

    /// Tells that a playback needs the song no more. The last one ends the fetch and notes what is there.
    func close(_ song: CachedSong, for id: PlaybackID) {
        cache.close(song, for: CacheReader(player: player, playback: id))
    }
}
