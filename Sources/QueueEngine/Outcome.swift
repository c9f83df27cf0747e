/// What the player shall do after an operation, in this order.
public enum PlayerEffect: Sendable, Equatable {
    /// Drops what plays and what was preloaded, and loads this entry at a time counted from the start of its range.
    case load(EntryID, at: Duration, paused: Bool)
    /// What shall follow the loaded entry without a gap; nil: nothing shall, whatever was preloaded is dropped.
    case preload(EntryID?)
    /// Holds the sound.
    case pause
    /// Goes on after `pause`.
    case resume
    /// Goes to a time in the loaded entry, counted from the start of its range.
    case seek(Duration)
    /// Unloads everything.
    case stop
}

/// What clients have to be told about. The server maps each to the idle subsystem of MPD.
public struct Changes: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Wraps the bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Entries were added, removed, moved or edited: the version grew. Subsystem `playlist`.
    public static let entries = Changes(rawValue: 1)
    /// The state, the current entry, or the time in it changed by force. Subsystem `player`.
    public static let player = Changes(rawValue: 2)
    /// An option changed. Subsystem `options`.
    public static let options = Changes(rawValue: 4)
}

/// The result of an operation: what the player shall do and what changed.
public struct Outcome: Sendable, Equatable {
    /// To be carried out in order; nothing in them may wait.
    public var effects: [PlayerEffect]
    /// Empty when nothing happened that a client could see.
    public var changes: Changes

    /// An outcome of the given parts; by default the one of an operation that did nothing.
    public init(effects: [PlayerEffect] = [], changes: Changes = []) {
        self.effects = effects
        self.changes = changes
    }

    /// Whether the operation did nothing.
    public var isEmpty: Bool { effects.isEmpty && changes.isEmpty }
}

/// The result of an operation that adds entries.
public struct Addition: Sendable, Equatable {
    /// The new ids, in the order of the keys. Fewer than the keys when the queue became full.
    public var ids: Range<EntryID>
    /// What else came of it.
    public var outcome: Outcome
}
