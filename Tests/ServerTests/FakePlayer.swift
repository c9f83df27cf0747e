import Playback
import Synchronization

@testable import ShelvMPD

/// A player that plays nothing: it writes down what it is told, and reports what the test says.
///
/// As a real one it has no use for what is said of a song that it does not have, and has none after a failure.
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
        var current: PlaybackID?
        var next: PlaybackID?
        var report: (@Sendable (PlayerEvent) -> Void)?
    }

    private let state = Mutex(State())

    /// Where reports go.
    func connect(_ report: @escaping @Sendable (PlayerEvent) -> Void) { state.withLock { $0.report = report } }

    /// Says that something has happened.
    func report(_ event: PlayerEvent) {
        let report = state.withLock { state in
            switch event {
            case .ended(let id, _), .failed(let id, _):
                if id == state.current { (state.current, state.next) = (nil, nil) }
            case .audible(let id):
                if id == state.next { (state.current, state.next) = (id, nil) }
            default: break
            }
            return state.report
        }
        report?(event)
    }

    /// What it was told since the last look.
    func takeCalls() -> [Call] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }

    /// What it was given to play under an id.
    func source(_ id: PlaybackID) -> AudioSource? { state.withLock { $0.sources[id] } }

    private func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    /// Writes down what only means something while there is a song.
    private func noteOfSong(_ call: Call, _ change: (inout State) -> Void = { _ in }) {
        state.withLock { state in
            guard state.current != nil else { return }
            state.calls.append(call)
            change(&state)
        }
    }

    func load(_ id: PlaybackID, _ source: AudioSource, at position: Duration, paused: Bool) {
        state.withLock { state in
            state.sources[id] = source
            (state.current, state.next) = (id, nil)
            state.calls.append(.load(id, key: source.cacheKey, at: position, paused: paused))
        }
    }
    func preload(_ id: PlaybackID, _ source: AudioSource) {
        noteOfSong(.preload(id, key: source.cacheKey)) { state in
            state.sources[id] = source
            state.next = id
        }
    }
    func cancelPreload() { noteOfSong(.cancelPreload) { $0.next = nil } }
    func setGain(_ gain: SongGain?, of id: PlaybackID) { note(.gain(id, gain)) }
    func fetchAhead(_ sources: [AudioSource]) { note(.fetchAhead(sources.map(\.cacheKey))) }
    func pause(_ paused: Bool) { noteOfSong(.pause(paused)) }
    func seek(to position: Duration) { noteOfSong(.seek(position)) }
    func stop() { noteOfSong(.stop) { ($0.current, $0.next) = (nil, nil) } }
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
