import Logging
import SubsonicKit
import Synchronization

/// A song's file in the cache and the fetcher that fills it; shared by all who play the song.
final class CachedSong: Sendable {
    let key: String
    let fetcher: Fetcher
    /// Whether the server makes the bytes when they are asked for.
    let isMade: Bool
    var file: SparseFile { fetcher.file }

    private let observers: Observers

    /// Who wants to hear of the fetcher, by playback.
    fileprivate final class Observers: Sendable {
        let table = Mutex<[PlaybackID: @Sendable (FetchNotice) -> Void]>([:])

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

    fileprivate func add(_ id: PlaybackID, _ observer: @escaping @Sendable (FetchNotice) -> Void) {
        observers.table.withLock { $0[id] = observer }
    }

    /// Returns whether nobody is left.
    fileprivate func remove(_ id: PlaybackID) -> Bool {
        observers.table.withLock { table in
            table[id] = nil
            return table.isEmpty
        }
    }

    fileprivate var isUnused: Bool { observers.table.withLock { $0.isEmpty } }
}

/// The folder of audio files: `NAME.audio` is complete, `NAME.part` is not and has a `NAME.map` that says what is there.
///
/// A file gets its final name only after its length was verified and its bytes were brought to the disk; a map never
/// tells of bytes that are not. So after a crash, whatever is found can be believed.
final class AudioCache: Sendable {
    private let directory: String
    private let transport: any HTTPTransport
    /// Waits for retries; must not be held up by a slow disk.
    private let timer: WorkerThread
    /// Brings files to the disk.
    private let keeper: WorkerThread
    private let log: Log
    private let songs = Mutex<[String: CachedSong]>([:])
    /// Most bytes that files may take which nobody plays or will play soon.
    private let limit: Int64
    /// Files that shall stay although nobody has opened them.
    private let pins = Mutex<Set<String>>([])

    /// Makes the folder when missing.
    ///
    /// - Parameter limit: bytes that all files may take; those that are played or pinned stay also beyond it.
    /// - Throws: `PlayerError` when there can't be one.
    init(
        directory: String,
        limit: Int64 = .max,
        transport: any HTTPTransport,
        log: Log
    ) throws(PlayerError) {
        try CacheFiles.makeDirectory(directory)
        self.limit = limit
        self.directory = directory
        self.transport = transport
        self.log = log
        timer = WorkerThread(name: "fetch-timer")
        keeper = WorkerThread(name: "cache")
        keeper.after { [weak self] in self?.makeRoom() }
    }

    private static func name(of source: AudioSource) -> String {
        CacheFiles.name(key: source.cacheKey, size: source.size)
    }

    /// Whether a song's file is whole. Looks at the disk.
    func holds(_ source: AudioSource) -> Bool {
        let name = Self.name(of: source)
        if let song = songs.withLock({ $0[name] }) { return song.isComplete }
        guard let length = CacheFiles.length(of: path(name, "audio")), length > 0 else { return false }
        return length == source.size ?? length
    }

    /// Sets the songs that will be wanted soon, in place of those before: their files are not removed to make room.
    func pin(_ sources: [AudioSource]) {
        let names = Set(sources.map(Self.name))
        pins.withLock { $0 = names }
    }

    /// Removes the files that were not used for the longest time, until the others fit. On the keeper's thread.
    private func makeRoom() {
        let files = CacheFiles.list(directory)
        var size = files.reduce(0) { $0 + $1.size }
        guard size > limit else { return }
        let kept = Set(songs.withLock { $0.keys }).union(pins.withLock { $0 })
        for file in files.sorted(by: { $0.lastUse < $1.lastUse }) where !kept.contains(file.name) {
            if size <= limit { return }
            // With the lock held, so that nobody opens it in between.
            let isRemoved = songs.withLock { songs in
                guard songs[file.name] == nil else { return false }
                for kind in ["map", "part", "audio"] { CacheFiles.remove(path(file.name, kind)) }
                return true
            }
            if isRemoved { size -= file.size }
        }
    }

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
        let name = Self.name(of: source)
        let song = songs.withLock { songs -> Result<CachedSong, PlayerError> in
            if let song = songs[name] {
                song.add(id, observer)
                return .success(song)
            }
            do throws(PlayerError) {
                let song = try make(name, source)
                song.add(id, observer)
                songs[name] = song
                return .success(song)
            } catch {
                return .failure(error)
            }
        }
        let opened = try song.get()
        opened.fetcher.activate(isEager: isEager, source.request)
        return opened
    }

    /// Tells that a playback needs the song no more. The last one ends the fetch and notes what is there.
    func close(_ song: CachedSong, for id: PlaybackID) {
        guard song.remove(id) else { return }
        song.fetcher.deactivate()
        keeper.after { [self] in
            let isOurs = songs.withLock { songs in
                guard song.isUnused, songs[song.key] === song else { return false }
                songs[song.key] = nil
                return true
            }
            // Opened again meanwhile: the note is written when that one closes.
            guard isOurs else { return }
            if !song.isComplete { CacheFiles.writeMap(of: song.fetcher, path: path(song.key, "map")) }
            for kind in ["part", "audio"] { CacheFiles.touch(path(song.key, kind)) }
            makeRoom()
        }
    }

    /// Ends the cache's threads when all files are at rest. Blocks.
    func shutdown() {
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
        if let length = CacheFiles.length(of: complete), length > 0, length == source.size ?? length {
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
            transport: transport,
            worker: timer,
            log: log,
            request: source.request
        ) { [weak self] notice in
            switch notice {
            case .complete: self?.keep(name, file)
            case .progress:
                self?.note(name)
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
    private func keep(_ name: String, _ file: SparseFile) {
        keeper.after { [self] in
            guard let total = file.monitor.withLock({ $0.total }), file.isComplete else { return }
            file.truncate(to: total)
            guard CacheFiles.length(of: file.path) == total, file.synchronize() else {
                log.error("cannot keep \(file.path): \(SystemError.text())")
                return
            }
            CacheFiles.rename(file.path, to: path(name, "audio"))
            CacheFiles.remove(path(name, "map"))
            makeRoom()
        }
    }
}
