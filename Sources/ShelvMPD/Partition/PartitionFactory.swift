import Library
import Logging
import Playback
import QueueEngine
import Synchronization

/// Makes partitions, each with a player, a queue and what keeps it. What they share is here.
struct PartitionFactory: Sendable {
    let configuration: Configuration
    let store: Store
    let core: Core
    let log: Log
    /// The files of songs, which all players share.
    let cache: AudioCache
    /// How a song of the library is fetched; nil when no server can give it.
    let source: @Sendable (SongIndex, LibrarySnapshot) -> AudioSource?
    /// The same for a song that the library does not have yet.
    let absentSource: @Sendable (SongTable.GoneSong) -> AudioSource?
    let players = OpenPlayers()

    /// Starts the player of the partition of this name.
    func makePlayer(_ name: String) throws(PlayerError) -> MPVPlayer {
        let (core, players) = (core, players)
        let player = try MPVPlayer(
            PlayerConfiguration(
                outputs: configuration.outputs.map(Outlet.init),
                tapLibrary: configuration.tapLibrary,
                isTimed: configuration.isTimed,
                starvationLimit: configuration.starvationLimit,
                stopsWithoutDevice: configuration.stopsWithoutDevice,
                findsDevices: configuration.findsDevices
            ),
            cache: cache,
            log: log
        ) { event in
            if event == .closed { players.closed() }
            core.post { $0.partition(named: name)?.handle(event) }
        }
        players.opened()
        return player
    }

    /// Makes the partition of this name, as it was saved. Its queue and its options are there; nothing plays before
    /// `restore`.
    func make(_ name: String, _ player: any Player, _ saved: SavedPartition, _ songs: SongTable) -> Partition {
        let (core, source) = (core, source)
        let partition = Partition(
            name: name,
            queue: queue(saved.archive),
            player: player,
            outputs: configuration.outputs.map(OutputState.init),
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
        partition.findsDevices = configuration.findsDevices
        partition.absentSource = absentSource
        partition.saver = PartitionSaver(partition, QueueWriter(store, partition: name, saved: saved)) {
            core.post($0)
        }
        return partition
    }

    private func queue(_ saved: QueueArchive?) -> Queue {
        let rules = QueueConfiguration(
            mode: configuration.queueMode,
            jump: configuration.jump,
            maximumLength: configuration.maxPlaylistLength
        )
        let seed = UInt64.random(in: .min ... .max)
        return saved.map { Queue($0, configuration: rules, seed: seed) } ?? Queue(configuration: rules, seed: seed)
    }
}

/// Counts the players that were opened, so that the end of the program can wait for theirs.
final class OpenPlayers: Sendable {
    private let count = Mutex(0)
    private let ended = Semaphore()

    func opened() { count.withLock { $0 += 1 } }

    /// A player has ended: what was fetched of a song is written down, and raw outputs have got their last samples.
    func closed() { ended.signal() }

    /// Waits until all have ended, but not for ever.
    func wait(atMost limit: Duration) {
        let end = Instant.now.advanced(by: limit)
        for _ in 0..<count.withLock({ $0 }) {
            ended.wait(atMost: max(.zero, Instant.now.duration(to: end)))
        }
    }
}

extension OutputState {
    init(_ output: OutputConfiguration) {
        let plugin =
            switch output.kind {
            case .device(let driver, _): driver ?? "default"
            case .null: "null"
            case .file: "file"
            case .fifo: "fifo"
            case .tcp: "snapcast"
            case .stream: "httpd"
            }
        self.init(name: output.name, plugin: plugin, isEnabled: output.enabled, hasVolume: output.mixer != .none)
        guard case .device(let driver, let device) = output.kind else { return }
        isDevice = true
        if let driver, let device { self.device = "\(driver)/\(device)" }
    }
}
