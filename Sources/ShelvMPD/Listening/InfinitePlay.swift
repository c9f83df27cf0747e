import Library
import Logging
import MPDProtocol
import QueueEngine
import SubsonicKit

/// Lets the music of a partition go on: before the queue runs out, songs that go with its last one are added. Owned by the
/// partition.
///
/// Not while `repeat` or `single` say what comes, nor when nothing plays: a queue that was emptied stays empty.
final class InfinitePlay {
    /// So many entries behind the current one are enough.
    static let enough = 3
    /// Songs that are added at a time.
    static let batch = 10
    /// Songs that are not repeated: those of the queue's end and those that were added last.
    static let window = 300

    private unowned let server: Server
    private unowned let partition: Partition
    private let log: Log
    private var isUnderWay = false
    /// After a try that brought nothing, there is no other before that, for the same song.
    private var fruitless: (song: SongKey, until: Instant)?
    /// What was added lately, the last one last; lives on when `consume` takes it out of the queue.
    private var recent: [SongKey] = []

    init(_ partition: Partition, of server: Server, log: Log = .silent) {
        self.server = server
        self.partition = partition
        self.log = log
        partition.queueObservers.append { [unowned self] in look() }
    }

    /// Whether the queue will run out soon, and nothing else is wanted.
    private var isWanted: Bool {
        let queue = partition.queue
        guard queue.state == .playing, !queue.options.repeat, queue.options.single == .off, queue.currentID != nil
        else {
            return false
        }
        let next = queue.nextEntry == nil ? 0 : 1
        return next + queue.upcoming(Self.enough).count < Self.enough
    }

    /// The queue, or what plays of it, has changed.
    private func look() {
        guard isWanted, !isUnderWay, let seed = seed() else { return }
        if let fruitless, fruitless.song == seed.key, Instant.now < fruitless.until { return }
        isUnderWay = true
        let (core, workers, library, id) = (server.core, server.workers, server.library, partition.id)
        let excluded = excluded()
        let local = LocalSimilar(seed.song, in: library)
        SimilarSongs.ask(SimilarTo(seed.song, isArtist: true, in: library), in: library, of: server) { ids in
            workers.submit {
                var generator = SystemRandomNumberGenerator()
                let songs = Self.choose(ids, local, excluded, using: &generator)
                core.post { $0.partition(id)?.infinitePlay?.take(songs, of: library, for: seed.key) }
            }
        }
    }

    /// The last song of the queue that is one of the library.
    private func seed() -> (key: SongKey, song: SongIndex)? {
        for entry in partition.queue.entries.suffix(50).reversed() {
            if case .library(let song) = server.songs.song(entry.key) { return (entry.key, song) }
        }
        return nil
    }

    /// What shall not come again; the last one counts most.
    private func excluded() -> [SongIdentity] {
        let keys = recent + partition.queue.entries.suffix(Self.window).map(\.key)
        return keys.suffix(Self.window).compactMap { server.songs.names.identity($0) }
    }

    /// Songs that the server named, else such as the library has; where all are excluded, those that were heard longest ago,
    /// and where there are none, any.
    static func choose(
        _ ids: [String],
        _ local: LocalSimilar,
        _ excluded: [SongIdentity],
        using generator: inout some RandomNumberGenerator
    ) -> [SongIndex] {
        let library = local.library
        var excluded = excluded
        while true {
            var taken = Set(excluded)
            var songs: [SongIndex] = []
            for id in ids where songs.count < batch {
                guard let song = library.song(id: id), taken.insert(library.identity(song)).inserted else { continue }
                songs.append(song)
            }
            if songs.count < batch {
                for song in local.songs(using: &generator) where songs.count < batch {
                    if taken.insert(library.identity(song)).inserted { songs.append(song) }
                }
            }
            if !songs.isEmpty { return songs }
            if excluded.count <= 1 { return anySongs(of: library, except: taken, using: &generator) }
            excluded = Array(excluded.suffix(excluded.count / 2))
        }
    }

    /// By chance, for a song that nothing goes with.
    private static func anySongs(
        of library: LibrarySnapshot,
        except excluded: Set<SongIdentity>,
        using generator: inout some RandomNumberGenerator
    ) -> [SongIndex] {
        var chosen: Set<SongIndex> = []
        var songs: [SongIndex] = []
        // Each draw finds a new one but where nearly all are taken.
        for _ in 0..<(library.songCount == 0 ? 0 : 20 * batch) where songs.count < batch {
            let song = SongIndex(rawValue: .random(in: 0..<UInt32(clamping: library.songCount), using: &generator))
            guard !excluded.contains(library.identity(song)), chosen.insert(song).inserted else { continue }
            songs.append(song)
        }
        return songs
    }

    private func take(_ songs: [SongIndex], of library: LibrarySnapshot, for seed: SongKey) {
        if partition.owner != nil {
            // In the middle of a client's list.
            let id = partition.id
            partition.later(.milliseconds(100)) { server in
                server.partition(id)?.infinitePlay?.take(songs, of: library, for: seed)
            }
            return
        }
        isUnderWay = false
        guard isWanted else { return }
        let keys = server.songs.keys(for: songs, of: library)
        guard !keys.isEmpty else {
            fruitless = (seed, .now.advanced(by: .seconds(60)))
            return
        }
        recent = Array((recent + keys).suffix(Self.window))
        log.info("The queue goes on with \(keys.count) songs")
        _ = try? partition.add { queue throws(QueueError) in try queue.continues(with: keys) }
    }
}

extension Server {
    /// Lets the music go on in all partitions.
    func playOn(log: Log = .silent) {
        equipPartitions { [unowned self] in $0.infinitePlay = InfinitePlay($0, of: self, log: log) }
    }
}
