/// What may have changed, as `idle` names it: a set in MPD's order.
///
/// Source: MPD 0.24 `src/protocol/IdleFlags.cxx`.
public struct Subsystems: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16

    /// A set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let database = Subsystems(rawValue: 1 << 0)
    public static let storedPlaylist = Subsystems(rawValue: 1 << 1)
    /// The queue.
    public static let playlist = Subsystems(rawValue: 1 << 2)
    public static let player = Subsystems(rawValue: 1 << 3)
    public static let mixer = Subsystems(rawValue: 1 << 4)
    public static let output = Subsystems(rawValue: 1 << 5)
    public static let options = Subsystems(rawValue: 1 << 6)
    public static let sticker = Subsystems(rawValue: 1 << 7)
    public static let update = Subsystems(rawValue: 1 << 8)
    public static let subscription = Subsystems(rawValue: 1 << 9)
    public static let message = Subsystems(rawValue: 1 << 10)
    public static let neighbor = Subsystems(rawValue: 1 << 11)
    public static let mount = Subsystems(rawValue: 1 << 12)
    public static let partition = Subsystems(rawValue: 1 << 13)

    /// The names of the bits, from the lowest on.
    private static let names = [
        "database", "stored_playlist", "playlist", "player", "mixer", "output", "options", "sticker", "update",
        "subscription", "message", "neighbor", "mount", "partition",
    ]

    /// Every subsystem.
    public static let all = Subsystems(rawValue: (1 << UInt16(names.count)) - 1)

    /// The names in the order in which replies list them.
    public var names: [String] {
        Self.names.indices.filter { rawValue & (1 << UInt16($0)) != 0 }.map { Self.names[$0] }
    }

    /// The subsystem with this name in any case, or nil.
    public init?(name: some Collection<UInt8>) {
        guard let bit = Self.names.firstIndex(where: { name.equalsIgnoringASCIICase($0) }) else { return nil }
        self.init(rawValue: 1 << UInt16(bit))
    }

    /// What the arguments of `idle` ask for; no argument means all.
    public init(idleArguments arguments: Arguments) throws(ACK) {
        var wanted: Subsystems = arguments.isEmpty ? .all : []
        for index in arguments.indices {
            guard let subsystem = Subsystems(name: arguments.slice(index)) else {
                throw ACK(.argument, "Unrecognized idle event", quoting: arguments.slice(index))
            }
            wanted.formUnion(subsystem)
        }
        self = wanted
    }
}
