public import SubsonicKit

/// What the player needs to know to play one song from a server.
public struct AudioSource: Sendable {
    /// What libmpv fetches itself, past the cache: radio and other remote streams. Nil for a song of a server.
    public var stream: StreamAddress?

    /// Names the song's bytes in the cache: server id and song id. Any text; two sources with one key share one file.
    public var cacheKey: String

    /// Makes a freshly signed request for the song's bytes from an offset on; nil means from the start, without `Range`.
    ///
    /// Called on the fetcher's threads, for each attempt anew; must not block.
    public var request: @Sendable (_ rangeStart: Int64?) -> HTTPRequest

    /// Length of the file in bytes, where the server has said it.
    public var size: Int64?

    /// File name ending such as `flac`, without a dot; may be empty. A hint: the bytes decide.
    public var suffix: String

    /// Playing time as the library knows it; the decoder may know better.
    public var duration: Duration?

    /// Where the song begins when it follows another one; `load` names its own place.
    public var start: Duration

    /// Where the song ends before its end; nil for all of it.
    public var end: Duration?

    /// The gain, applied before every output; nil leaves the samples alone.
    public var gain: SongGain?

    /// Whether the server makes the bytes when they are asked for, so that their number is not known before the end.
    public var isTranscoded = false

    /// Makes a request for the song without its first seconds, where the server can leave them out; else what comes before
    /// a place is fetched and thrown away.
    public var requestFromSecond: (@Sendable (_ second: Int) -> HTTPRequest)?

    /// Asks the server for something else than songs. Nil where nobody can tell; then a server that fails at a song is
    /// waited for, and what its status says is believed.
    public var serverHealth: (@Sendable () async -> ServerHealth)?

    public init(
        cacheKey: String,
        size: Int64? = nil,
        suffix: String = "",
        duration: Duration? = nil,
        start: Duration = .zero,
        end: Duration? = nil,
        gain: SongGain? = nil,
        request: @escaping @Sendable (_ rangeStart: Int64?) -> HTTPRequest
    ) {
        self.cacheKey = cacheKey
        self.size = size
        self.suffix = suffix
        self.duration = duration
        self.start = start
        self.end = end
        self.gain = gain
        self.request = request
    }

    /// A remote stream.
    public init(stream: StreamAddress) {
        self.init(cacheKey: stream.url) { _ in HTTPRequest(url: stream.url) }
        self.stream = stream
    }
}
