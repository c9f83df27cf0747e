/// What a server shall make of a song's file before it sends it.
public struct Transcoding: Sendable, Equatable {
    /// The server's name of a format, such as `mp3` or `opus`; nil for its own choice.
    public var format: String?
    /// kbit/s at most; nil for no limit.
    public var maximumBitRate: Int?

    public init(format: String? = nil, maximumBitRate: Int? = nil) {
        self.format = format
        self.maximumBitRate = maximumBitRate
    }
}
