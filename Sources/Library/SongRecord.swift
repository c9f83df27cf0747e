import Glibc
public import MPDProtocol

/// One song of a server, mapped to MPD's terms: what goes into a `LibraryBuilder` and comes out of a snapshot again.
///
/// Texts are as they shall appear in replies, apart from line ends and lengths, which the builder takes care of.
public struct SongRecord: Sendable, Hashable {
    /// The server's id of the song: its durable identity.
    public var songID: String
    /// The song's URI: relative, safe, unique in its library.
    public var uri: String
    /// The tags in the order of replies; a tag may occur several times.
    public var tags: [TagValue]
    /// Milliseconds; nil if the server does not know.
    public var duration: UInt32?
    /// Unix time in seconds.
    public var lastModified: Int64?
    /// When the song entered the server's library, Unix time in seconds.
    public var added: Int64?
    public var format: AudioFormat?
    /// Bytes of the original file.
    public var size: Int64?
    /// The file name's ending without its dot; may be empty.
    public var suffix: String
    /// The MIME type; may be empty.
    public var contentType: String
    /// kbit/s.
    public var bitRate: Int?
    /// The server's id of the picture.
    public var coverArt: String?
    public var albumID: String?
    public var artistID: String?
    public var replayGain: ReplayGain?
    /// The user's rating, 1...5; 0 is none.
    public var userRating: UInt8
    public var playCount: UInt32
    /// When it was played last, Unix time in seconds.
    public var played: Int64?

    public init(
        songID: String,
        uri: String,
        tags: [TagValue] = [],
        duration: UInt32? = nil,
        lastModified: Int64? = nil,
        added: Int64? = nil,
        format: AudioFormat? = nil,
        size: Int64? = nil,
        suffix: String = "",
        contentType: String = "",
        bitRate: Int? = nil,
        coverArt: String? = nil,
        albumID: String? = nil,
        artistID: String? = nil,
        replayGain: ReplayGain? = nil,
        userRating: UInt8 = 0,
        playCount: UInt32 = 0,
        played: Int64? = nil
    ) {
        self.songID = songID
        self.uri = uri
        self.tags = tags
        self.duration = duration
        self.lastModified = lastModified
        self.added = added
        self.format = format
        self.size = size
        self.suffix = suffix
        self.contentType = contentType
        self.bitRate = bitRate
        self.coverArt = coverArt
        self.albumID = albumID
        self.artistID = artistID
        self.replayGain = replayGain
        self.userRating = userRating
        self.playCount = playCount
        self.played = played
    }
}

/// One tag of a song.
public struct TagValue: Sendable, Hashable {
    public var tag: Tag
    public var value: String

    public init(_ tag: Tag, _ value: String) {
        self.tag = tag
        self.value = value
    }
}

/// What a song's samples look like: `44100:16:2`.
public struct AudioFormat: Sendable, Hashable {
    /// Hertz.
    public var sampleRate: UInt32
    public var sampleFormat: SampleFormat
    public var channels: UInt8

    public init(sampleRate: UInt32, sampleFormat: SampleFormat, channels: UInt8) {
        self.sampleRate = sampleRate
        self.sampleFormat = sampleFormat
        self.channels = channels
    }
}

/// Loudness as the server measured it or read it from tags. Gains are in dB, peaks are factors (1 is full scale).
public struct ReplayGain: Sendable, Hashable {
    public var trackGain: Float?
    public var albumGain: Float?
    public var trackPeak: Float?
    public var albumPeak: Float?
    /// Already applied by the file's header (Opus).
    public var baseGain: Float?
    /// To use where a song has no gain of its own.
    public var fallbackGain: Float?

    public init(
        trackGain: Float? = nil,
        albumGain: Float? = nil,
        trackPeak: Float? = nil,
        albumPeak: Float? = nil,
        baseGain: Float? = nil,
        fallbackGain: Float? = nil
    ) {
        self.trackGain = trackGain
        self.albumGain = albumGain
        self.trackPeak = trackPeak
        self.albumPeak = albumPeak
        self.baseGain = baseGain
        self.fallbackGain = fallbackGain
    }
}

/// What is known about a library as a whole.
public struct LibraryInfo: Sendable, Hashable {
    /// Made once for a server, and kept when it is renamed.
    public var serverID: String
    public var serverName: String
    /// When the library was last compared with the server, Unix time in seconds; `db_update` of `stats`.
    public var lastSync: Int64
    /// False while only the first pages have arrived.
    public var isComplete: Bool
    /// What the sync wants to find again at the next start.
    public var syncState: [String: String]

    public init(
        serverID: String,
        serverName: String,
        lastSync: Int64 = 0,
        isComplete: Bool = true,
        syncState: [String: String] = [:]
    ) {
        self.serverID = serverID
        self.serverName = serverName
        self.lastSync = lastSync
        self.isComplete = isComplete
        self.syncState = syncState
    }
}

/// Why a library cannot be opened or built.
public enum LibraryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such file: sync from the server.
    case noFile
    /// The file was written by another version, or is none of ours: build it again.
    case otherFormat
    /// The file's content is not what was written: build it again. The text says where.
    case damaged(String)
    /// A system call failed.
    case system(operation: String, path: String, errno: Int32)
    /// More songs, values or text than 32-bit ids can name.
    case tooLarge

    public var description: String {
        switch self {
        case .noFile: "there is no file of the library"
        case .otherFormat: "the library's file is of another version"
        case .damaged(let place): "the library's file is damaged: \(place)"
        case .system(let operation, let path, let code):
            unsafe "cannot \(operation) \(path): \(String(cString: strerror(code)))"
        case .tooLarge: "the library has more than can be numbered"
        }
    }
}

/// Why a filter cannot be evaluated.
public enum FilterError: Error, Sendable, Hashable {
    /// PCRE2 refused the expression: `Error in regex at offset N: MESSAGE`, ACK 2.
    case regex(offset: Int, message: String)
    /// A `base` term on the top level names nothing: `No such directory`, ACK 50.
    case noSuchDirectory
    /// The expression needs more time than a server may spend on it.
    case tooExpensive
}
