/// The stable MPD song id of one occurrence of a song in the queue.
///
/// It stays with the entry through every move and is never 0. Ids are given out in increasing order from 1 to 2^31 - 1.
public struct EntryID: Hashable, Comparable, Sendable, Strideable, CustomStringConvertible {
    /// The number that clients see in `Id:` and `songid:`.
    public let rawValue: UInt32

    /// Makes an id from a number that a client sent or an archive holds; it need not exist in any queue.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The number alone.
    public var description: String { "\(rawValue)" }

    /// Orders ids by the time at which they were given out, until the counter wraps.
    public static func < (left: EntryID, right: EntryID) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The number of ids from this one to the other.
    public func distance(to other: EntryID) -> Int {
        Int(other.rawValue) - Int(rawValue)
    }

    /// The id that many steps later, held inside the numbers that exist.
    public func advanced(by steps: Int) -> EntryID {
        EntryID(UInt32(clamping: Int(rawValue) &+ steps))
    }

    /// The highest id that is given out: MPD's clients read ids as signed 32-bit numbers.
    static let highest: UInt32 = 0x7FFF_FFFF
}

/// The song that an entry plays, as a handle whose meaning only the server knows.
public struct SongKey: Hashable, Sendable {
    /// The server's number.
    public let rawValue: UInt32

    /// Wraps the server's number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The label of an upcoming entry. History and the current entry carry `albumQueue`.
public enum Tier: UInt8, Sendable, CaseIterable {
    /// The highest tier: directly behind the current entry.
    case playNext = 0
    /// The middle tier: the rest of what the current entry was started from.
    case albumQueue = 1
    /// The lowest tier: the backlog.
    case userQueue = 2
}

/// Where an entry stands, seen from the current one.
public enum Section: UInt8, Sendable, CaseIterable {
    /// Before the current entry.
    case history = 0
    /// The current entry itself.
    case current = 1
    /// In the Play Next block.
    case playNext = 2
    /// In the album queue.
    case albumQueue = 3
    /// In the user queue.
    case userQueue = 4
}

/// The part of a song that `rangeid` chose, in milliseconds.
public struct PlaybackRange: Hashable, Sendable {
    /// The first millisecond that is heard.
    public let start: UInt32
    /// The millisecond at which the entry ends; 0 means the end of the song.
    public let end: UInt32

    /// A range from `start` to `end`; `end` 0 leaves it open. `0` and `0` together are the whole song.
    public init(start: UInt32, end: UInt32 = 0) {
        self.start = start
        self.end = end
    }

    /// The whole song.
    public static let whole = PlaybackRange(start: 0)
}

/// One occurrence of a song in the queue.
public struct Entry: Sendable, Equatable {
    /// The MPD song id.
    public let id: EntryID
    /// What it plays.
    public internal(set) var key: SongKey
    /// The part of the song that plays; `.whole` unless `rangeid` chose one.
    public internal(set) var range: PlaybackRange
    /// The queue version at which the entry, or its position, last changed.
    public internal(set) var version: UInt32
    /// Where `EntryList` keeps the position of this entry.
    var slot: UInt32
    /// The label among the upcoming entries.
    public internal(set) var tier: Tier
    /// 0 to 255, as `prio` shows it; in the three-tier mode positive exactly in the Play Next block.
    public internal(set) var priority: UInt8
    /// Whether the entry waits at the end to be dealt into the shuffled part, at the next start of a song.
    public internal(set) var isLoose: Bool

    init(id: EntryID, key: SongKey, tier: Tier, version: UInt32, priority: UInt8 = 0, range: PlaybackRange = .whole) {
        self.id = id
        self.key = key
        self.range = range
        self.version = version
        self.slot = 0
        self.tier = tier
        self.priority = priority
        self.isLoose = false
    }

    /// Compares all that a client can see, and the tier.
    public static func == (left: Entry, right: Entry) -> Bool {
        left.id == right.id && left.key == right.key && left.range == right.range && left.version == right.version
            && left.tier == right.tier && left.priority == right.priority && left.isLoose == right.isLoose
    }
}
