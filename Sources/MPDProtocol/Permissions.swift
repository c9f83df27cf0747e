/// What a connection may do.
///
/// Source: MPD 0.24 `src/Permission.cxx`.
public struct Permissions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    /// A set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let read = Permissions(rawValue: 1 << 0)
    public static let add = Permissions(rawValue: 1 << 1)
    public static let player = Permissions(rawValue: 1 << 2)
    public static let control = Permissions(rawValue: 1 << 3)
    public static let admin = Permissions(rawValue: 1 << 4)

    public static let all: Permissions = [.read, .add, .player, .control, .admin]

    private static let names: [(name: String, permission: Permissions)] = [
        ("read", .read), ("add", .add), ("player", .player), ("control", .control), ("admin", .admin),
    ]

    /// The name of an unknown permission.
    public struct UnknownName: Error, Sendable, Hashable {
        public var name: String

        /// The error for this name.
        public init(name: String) { self.name = name }
    }

    /// Reads a list such as `read,add` of the configuration; an empty list means none.
    ///
    /// `control` brings `player` along, because before 0.23 it was one permission.
    public init(list: String) throws(UnknownName) {
        var permissions: Permissions = []
        for name in list.split(separator: ",") {
            guard let entry = Self.names.first(where: { $0.name == name }) else {
                throw UnknownName(name: String(name))
            }
            permissions.formUnion(entry.permission)
        }
        if permissions.contains(.control) { permissions.insert(.player) }
        self = permissions
    }
}
