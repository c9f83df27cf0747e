import Synchronization

/// What is put into the player's mailbox: calls of `Player`, and news from its other threads.
enum PlayerCommand: Sendable {
    case load(PlaybackID, AudioSource, at: Duration, paused: Bool)
    case preload(PlaybackID, AudioSource)
    case cancelPreload
    case pause(Bool)
    case seek(Duration)
    case stop
    case volume(Int)
    case output(Int, enabled: Bool)
    case shutdown
    case fetch(PlaybackID, FetchNotice)
    case outputProblem(Int, String?)
    /// The taps have written everything up to the end of a song.
    case drained(PlaybackID)
}

/// The player's mailbox: any thread puts commands in, the player's thread takes them out.
final class PlayerMailbox: Sendable {
    private struct State {
        var commands: [PlayerCommand] = []
        var handle: MPVHandle?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Sets whom to wake.
    func attach(_ handle: MPVHandle) { state.withLock { $0.handle = handle } }

    /// Puts a command in and wakes the player. Returns at once.
    func post(_ command: PlayerCommand) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.commands.append(command)
            // With the lock held, so that it can't be destroyed in between.
            if state.commands.count == 1 { state.handle?.wake() }
        }
    }

    /// Takes everything out, in order.
    func take() -> [PlayerCommand] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Refuses further commands and never wakes the handle again.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.commands = []
            state.handle = nil
        }
    }
}
