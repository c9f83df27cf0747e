/// What a connection is in the middle of: nothing, collecting a command list, or waiting for events.
///
/// Lines go in, and what to do with them comes out. `idle` itself is an ordinary command, so that it is subject to
/// permissions; its handler calls `beginIdle`.
///
/// Source: MPD 0.24 `src/client/Process.cxx`.
public struct SessionState: Sendable {
    /// What the connection has to do about a line.
    public enum Action: Sendable, Hashable {
        /// Run the line as a single command.
        case execute
        /// Run the collected list.
        case executeList(CommandList)
        /// Answer `OK`: the wait for events is over.
        case leaveIdle
        /// Nothing to do, and nothing to answer.
        case ignore
        /// Drop the connection without a reply.
        case close
    }

    /// The pending events and the wait for them.
    public private(set) var idle = IdleState()
    private var list: CommandList?
    private let maximumListSize: Int

    /// - Parameter maximumListSize: bytes that the lines of a list may have together, each counted with its end.
    public init(maximumListSize: Int = 2 << 20) { self.maximumListSize = maximumListSize }

    /// Whether a command list is being collected.
    public var isCollecting: Bool { list != nil }

    /// Takes a line of `LineDecoder`.
    public mutating func receive(line: [UInt8]) -> Action {
        if list != nil { return collect(line) }
        if line.spells("noidle") {
            // Without a wait there is no answer: the report that ended it and this line may have crossed.
            return idle.cancel() ? .leaveIdle : .ignore
        }
        if idle.isWaiting { return .close }
        if line.spells("command_list_begin") {
            list = CommandList(sendsListOK: false)
            return .ignore
        }
        if line.spells("command_list_ok_begin") {
            list = CommandList(sendsListOK: true)
            return .ignore
        }
        return .execute
    }

    private mutating func collect(_ line: [UInt8]) -> Action {
        guard var list = list.take() else { return .close }
        if line.spells("command_list_end") { return .executeList(list) }
        // The bare words only: `idle` with arguments is noticed when the list runs, and ends it.
        if line.spells("noidle") || line.spells("idle") { return .close }
        guard list.size + line.count + 1 <= maximumListSize else { return .close }
        list.append(line)
        self.list = list
        return .ignore
    }

    /// Runs `idle`. See `IdleState.begin`.
    public mutating func beginIdle(_ wanted: Subsystems) -> Subsystems? { idle.begin(wanted) }

    /// Notes events. See `IdleState.raise`.
    public mutating func raise(_ events: Subsystems) -> Subsystems? { idle.raise(events) }
}
