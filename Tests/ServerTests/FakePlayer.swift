import Playback
import Synchronization

@testable import ShelvMPD

/// A player that plays nothing: it writes down what it is told, and reports what the test says.
final class FakePlayer: Player {
    enum Call: Equatable {
        case load(PlaybackID, key: String, at: Duration, paused: Bool)
        case preload(PlaybackID, key: String)
        case cancelPreload
        case fetchAhead([String])
        case gain(PlaybackID, SongGain?)
        case pause(Bool)
        case seek(Duration)
        case stop
        case volume(Int)
        case crossfade(CrossfadeSettings)
        case output(Int, Bool)
        case putOutput(String?, at: Int, Bool)
        case shutdown
    }

    private struct State {
        var calls: [Call] = []
        var sources: [PlaybackID: AudioSource] = [:]
        var report: (@Sendable (PlayerEvent) -> Void)?
    }

    private let state = Mutex(State())

    /// Where reports go.
    func connect(_ report: @escaping @Sendable (PlayerEvent) -> Void) { state.withLock { $0.report = report } }

    /// Says that something has happened.
    func report(_ event: PlayerEvent) { state.withLock { $0.report }?(event) }

    /// What it was told since the last look.
    func takeCalls() -> [Call] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }

    /// What it was given to play under an id.
    func source(_ id: PlaybackID) -> AudioSource? { state.withLock { $0.sources[id] } }

    private func note(_ id: PlaybackID, _ source: AudioSource) { state.withLock { $0.sources[id] = source } }

    private func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    func load(_ id: PlaybackID, _ source: AudioSource, at position: Duration, paused: Bool) {
        note(id, source)
        note(.load(id, key: source.cacheKey, at: position, paused: paused))
    }
    func preload(_ id: PlaybackID, _ source: AudioSource) {
        note(id, source)
        note(.preload(id, key: source.cacheKey))
    }
    func cancelPreload() { note(.cancelPreload) }
    func setGain(_ gain: SongGain?, of id: PlaybackID) { note(.gain(id, gain)) }
    func fetchAhead(_ sources: [AudioSource]) { note(.fetchAhead(sources.map(\.cacheKey))) }
    func pause(_ paused: Bool) { note(.pause(paused)) }
    func seek(to position: Duration) { note(.seek(position)) }
    func stop() { note(.stop) }
    func setVolume(_ percent: Int) { note(.volume(percent)) }
    func setCrossfade(_ settings: CrossfadeSettings) { note(.crossfade(settings)) }
    func setOutput(_ index: Int, enabled: Bool) { note(.output(index, enabled)) }
    func putOutput(_ outlet: Outlet?, at index: Int, enabled: Bool) {
        note(.putOutput(outlet?.configuration.name, at: index, enabled))
    }
    func shutdown() { note(.shutdown) }
}

/// The players of all partitions, by the partition's name.
final class FakePlayers: Sendable {
    private let table = Mutex<[String: FakePlayer]>([:])
    private let configurations = Mutex<[String: PlayerConfiguration]>([:])

    /// How the player of a partition was to be set up.
    func configuration(of name: String) -> PlayerConfiguration? { configurations.withLock { $0[name] } }

    /// The one of the partition that has the name now, or had it last.
    subscript(name: String) -> FakePlayer {
        table.withLock { table in
            if let player = table[name] { return player }
            let player = FakePlayer()
            table[name] = player
            return player
        }
    }

    /// Makes the player of a new partition; what it is told to report goes to the core.
    func make(_ id: PartitionID, _ configuration: PlayerConfiguration, _ core: Core) -> FakePlayer {
        configurations.withLock { $0[id.name] = configuration }
        let player = FakePlayer()
        player.connect { event in core.post { $0.take(event, of: id) } }
        table.withLock { $0[id.name] = player }
        return player
    }
}
