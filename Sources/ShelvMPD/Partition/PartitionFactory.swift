import Library
import Logging
import Playback
import QueueEngine
import Synchronization

/// Makes partitions, each with a player, a queue and what keeps it. What they share is here.
final class PartitionFactory: Sendable {
    private let present: Mutex<Configuration>
    /// Keeps the partitions; nil where nothing is kept.
    let store: Store?
    private let core: Core
    private let log: Log
    /// What the outputs are before any is moved: all of them in the first partition.
    private let outputs: [OutputState]
    private let makePlayer: MakePlayer
    private let source: @Sendable (SongIndex, LibrarySnapshot) -> AudioSource?
    private let absentSource: @Sendable (SongTable.GoneSong) -> AudioSource?
    private let problem: @Sendable (String) -> String?
    private let generations = Atomic<UInt64>(0)

    /// Starts the player of a partition. Only that of the first one may take its time.
    typealias MakePlayer = @Sendable (PartitionID, PlayerConfiguration, _ isFirst: Bool) throws -> any Player

    /// - Parameters:
    ///   - outputs: nil for those of the configuration.
    ///   - source: how a song of the library is fetched; nil when no server can give it.
    ///   - absentSource: the same for a song that the library does not have yet.
    ///   - problem: why a server that is there cannot be asked at all.
    init(
        _ configuration: Configuration,
        outputs: [OutputState]? = nil,
        store: Store?,
        core: Core,
        log: Log,
        source: @escaping @Sendable (SongIndex, LibrarySnapshot) -> AudioSource?,
        absentSource: @escaping @Sendable (SongTable.GoneSong) -> AudioSource?,
        problem: @escaping @Sendable (String) -> String? = { _ in nil },
        makePlayer: @escaping MakePlayer
    ) {
        present = Mutex(configuration)
        self.outputs = outputs ?? configuration.outputs.map(OutputState.init)
        self.store = store
        self.core = core
        self.log = log
        self.source = source
        self.absentSource = absentSource
        self.problem = problem
        self.makePlayer = makePlayer
    }

    /// What holds for partitions that are made from now on.
    var configuration: Configuration {
        get { present.withLock { $0 } }
        set { present.withLock { $0 = newValue } }
    }

    /// Makes a partition as it was saved, or a new one. Its queue is there; nothing plays, and nothing else is restored.
    /// - Parameter isFirst: whether it begins with all outputs.
    func make(
        _ name: String,
        _ songs: SongTable,
        _ saved: SavedPartition? = nil,
        isFirst: Bool = false
    ) throws -> Partition {
        let id = PartitionID(name, generation: generations.add(1, ordering: .relaxed).newValue)
        let outputs = isFirst ? outputs : []
        let (core, configuration) = (core, configuration)
        let playerConfiguration = PlayerConfiguration(configuration, outputs: outputs.compactMap(\.outlet))
        let partition = Partition(
            id: id,
            queue: Self.queue(saved?.archive, configuration),
            player: try makePlayer(id, playerConfiguration, isFirst),
            outputs: outputs,
            volume: 100,
            songs: songs,
            log: log,
            source: source,
            schedule: { delay, action in
                core.post { _ = $0.timers.schedule(at: .now.advanced(by: delay), action) }
            }
        )
        partition.configureSound(configuration.replayGain, configuration.loudness)
        partition.songsAhead = configuration.songsAhead
        partition.findsDevices = isFirst && configuration.findsDevices
        partition.absentSource = absentSource
        partition.problemOfServer = problem
        if let store {
            let writer = QueueWriter(store, partition: name, saved: saved)
            partition.saver = PartitionSaver(partition, writer) { core.post($0) }
        }
        return partition
    }

    private static func queue(_ saved: QueueArchive?, _ configuration: Configuration) -> Queue {
        let rules = QueueConfiguration(
            mode: configuration.queueMode,
            jump: configuration.jump,
            maximumLength: configuration.maxPlaylistLength
        )
        let seed = UInt64.random(in: .min ... .max)
        return saved.map { Queue($0, configuration: rules, seed: seed) } ?? Queue(configuration: rules, seed: seed)
    }

    /// Takes up where the last run ended: the default partition and the others, each with its outputs. To be called before
    /// the first client is served.
    func restore(
        _ saved: SavedPartitions,
        _ songs: SongTable
    ) throws -> (default: Partition, others: [Partition]) {
        let first = try make(PartitionPlan.defaultName, songs, saved[PartitionPlan.defaultName], isFirst: true)
        let others = try saved.plan.names.map { try make($0, songs, saved[$0]) }
        first.restoreDevices(saved[first.name])
        // Before anything is loud or on. An output that has no home, or none any more, stays in the default partition.
        for index in first.outputs.indices {
            let name = saved.plan.homes[first.outputs[index].name]
            guard let home = others.first(where: { $0.name == name }) else { continue }
            home.receive(first.giveAway(index), volume: first.volume)
        }
        let all = [first] + others
        for partition in all { partition.restoreSettings(saved[partition.name]) }
        if songs.takeNewIDs() {
            for partition in all { partition.saver?.saveAnew() }
        }
        let pauses = configuration.restorePaused
        for partition in all { partition.resume(saved[partition.name], pauses: pauses) }
        return (first, others)
    }
}

extension PartitionFactory {
    /// Makes partitions with real players.
    /// - Parameters:
    ///   - cache: the files of songs, which all players share.
    ///   - players: counts them.
    convenience init(
        _ configuration: Configuration,
        store: Store,
        core: Core,
        log: Log,
        cache: AudioCache,
        players: OpenPlayers,
        source: @escaping @Sendable (SongIndex, LibrarySnapshot) -> AudioSource?,
        absentSource: @escaping @Sendable (SongTable.GoneSong) -> AudioSource?,
        problem: @escaping @Sendable (String) -> String?
    ) {
        self.init(
            configuration,
            store: store,
            core: core,
            log: log,
            source: source,
            absentSource: absentSource,
            problem: problem
        ) { id, playerConfiguration, isFirst in
            let player = try MPVPlayer(playerConfiguration, cache: cache, log: log, startsLater: !isFirst) { event in
                if event == .closed { players.closed() }
                core.post { $0.take(event, of: id) }
            }
            players.opened()
            return player
        }
    }
}

extension PlayerConfiguration {
    /// The player of a room with these outputs, which any output of the configuration may come to.
    init(_ configuration: Configuration, outputs: [Outlet]) {
        self.init(
            outputs: outputs,
            takesSamples: configuration.outputs.contains(where: \.takesSamples),
            tapLibrary: configuration.tapLibrary,
            isTimed: configuration.isTimed,
            starvationLimit: configuration.starvationLimit,
            stopsWithoutDevice: configuration.stopsWithoutDevice,
            findsDevices: configuration.findsDevices
        )
    }
}

/// Counts the players that were opened, so that the end of the program can wait for theirs.
final class OpenPlayers: Sendable {
    private let count = Mutex(0)
    private let ended = Semaphore()

    /// A player was started.
    func opened() { count.withLock { $0 += 1 } }

    /// A player has ended: what was fetched of a song is written down, and raw outputs have got their last samples.
    func closed() { ended.signal() }

    /// Waits until all have ended, but not for ever.
    func wait(atMost limit: Duration) {
        let end = Instant.now.advanced(by: limit)
        for _ in 0..<count.withLock({ $0 }) { ended.wait(atMost: max(.zero, Instant.now.duration(to: end))) }
    }
}
