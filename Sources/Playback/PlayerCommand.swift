/// What is put into the player's mailbox: calls of `Player`, and news from its other threads.
enum PlayerCommand: Sendable {
    case load(PlaybackID, AudioSource, at: Duration, paused: Bool)
    case preload(PlaybackID, AudioSource)
    case cancelPreload
    case ahead([AudioSource])
    case gain(SongGain?, PlaybackID)
    case pause(Bool)
    case seek(Duration)
    case stop
    case volume(Int)
    case crossfade(CrossfadeSettings)
    case output(Int, enabled: Bool)
    case putOutput((Outlet, Outlet.Claim)?, at: Int, enabled: Bool)
    case shutdown
    case fetch(PlaybackID, FetchNotice)
    /// What an address turned out to be, by the number of the question.
    case looked(PlaybackID, UInt64, RemoteProbe.Answer)
    case outputProblem(Int, String?)
    /// The taps have written everything up to the end of a song.
    case drained(PlaybackID)
    /// The taps have written the overlap of the song before this one with it.
    case faded(PlaybackID)
}

/// The player's mailbox: any thread puts commands in, the player's thread takes them out.
final class PlayerMailbox: Sendable {
    private struct State {
        var commands: [PlayerCommand] = []
        /// Something is to be looked at.
        var isAwake = false
        var isClosed = false
    }

    private let monitor = Monitor(State())

    /// Puts a command in and wakes the player. Returns at once.
    func post(_ command: PlayerCommand) {
        monitor.update { state in
            guard !state.isClosed else { return }
            state.commands.append(command)
            state.isAwake = true
        }
    }

    /// Wakes the player, because libmpv has something to tell. Any thread.
    func wake() { monitor.update { $0.isAwake = true } }

    /// Blocks until somebody wakes the player, or until a moment of the monotonic clock.
    func sleep(until deadline: UInt64) {
        _ = monitor.wait(until: deadline) { state -> Bool? in
            guard state.isAwake else { return nil }
            state.isAwake = false
            return true
        }
    }

    /// Takes everything out, in order.
    func take() -> [PlayerCommand] {
        monitor.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Refuses further commands.
    func close() {
        monitor.withLock { state in
            state.isClosed = true
            state.commands = []
        }
    }
}
