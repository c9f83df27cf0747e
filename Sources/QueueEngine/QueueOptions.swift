/// Whose rules the queue follows.
public enum QueueMode: String, Sendable, CaseIterable {
    /// Play Next, album queue and user queue, seen by clients as one list.
    case threeTier = "three_tier"
    /// MPD's own behaviour.
    case mpd
}

/// What `play` does with an entry that has not come yet, in the three-tier mode.
public enum JumpMode: String, Sendable, CaseIterable {
    /// The entry is taken out and inserted behind the current one; nothing in front of it is passed over.
    case move
    /// Only the pointer moves, as in MPD.
    case pointer
}

/// What does not change while a queue lives.
public struct QueueConfiguration: Sendable, Equatable {
    /// Whose rules apply.
    public var mode: QueueMode
    /// What a jump is.
    public var jump: JumpMode
    /// The largest number of entries; nil: no limit.
    public var maximumLength: Int?

    /// A configuration; by default three tiers, jumps that move, and no limit.
    public init(mode: QueueMode = .threeTier, jump: JumpMode = .move, maximumLength: Int? = nil) {
        self.mode = mode
        self.jump = jump
        self.maximumLength = maximumLength
    }
}

/// The three values of `single` and `consume`.
public enum OneShotMode: UInt8, Sendable, CaseIterable {
    /// Not in force.
    case off = 0
    /// In force until it is switched off.
    case on = 1
    /// In force for one song.
    case oneShot = 2
}

/// The playback options that decide what plays next.
public struct QueueOptions: Sendable, Equatable {
    /// Shuffled order.
    public internal(set) var random = false
    /// Begin again at the end; with `single`, repeat one song.
    public internal(set) var `repeat` = false
    /// Stop after each song, or repeat it.
    public internal(set) var single = OneShotMode.off
    /// Remove what has been played.
    public internal(set) var consume = OneShotMode.off

    /// All options off.
    public init() {}
}

/// MPD's player states.
public enum PlayState: UInt8, Sendable, CaseIterable {
    /// Nothing is loaded; there may be a current entry all the same.
    case stopped = 0
    /// The current entry is loaded and sounds.
    case playing = 1
    /// The current entry is loaded and held.
    case paused = 2
}
