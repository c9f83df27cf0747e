/// Names one loading of a song; the same song loaded again has another one. Its maker counts upwards.
public struct PlaybackID: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static func < (a: PlaybackID, b: PlaybackID) -> Bool { a.rawValue < b.rawValue }

    public var description: String { "playback \(rawValue)" }
}
