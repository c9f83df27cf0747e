/// What the player tells, in order, on its own thread. The receiver must not block.
public enum PlayerEvent: Sendable, Equatable {
    /// A song given to `load` can be heard (or, loaded paused, is ready) for the first time.
    case started(PlaybackID)
    /// Where the song is; comes at each change of pace (start, seek, pause, starving) and about once a second.
    case position(PlaybackID, PlaybackPosition)
    /// The player is at the preloaded song, some tenths of a second before the listener: only `load`, `preload`,
    /// `cancelPreload`, `seek` or `stop` can keep it from being heard, and all but `load` and `stop` go back for that.
    case committed(PlaybackID)
    /// The listener now hears the preloaded song: it has become the current one.
    case audible(PlaybackID)
    /// The song is over and nothing was preloaded; comes when its last sample has been heard, or after `stop`.
    case ended(PlaybackID, EndReason)
    /// The end of the current song has come and nothing of it was heard since it was loaded, though it may have `started`.
    /// Comes just before its `ended` or `failed`, or the `audible` of the song that follows.
    case silent(PlaybackID)
    /// The song can't be played; playback has stopped at it, and the player has neither it nor what was preloaded any more.
    case failed(PlaybackID, PlaybackFailure)
    /// The song waits for bytes; it plays on by itself when they come. The message says why, without secrets.
    case starving(PlaybackID, message: String)
    /// Bytes flow again.
    case recovered(PlaybackID)
    /// How the decoder's samples look.
    case format(PlaybackID, DecodedFormat)
    /// Bit rate of the compressed stream at the moment, in kbit/s.
    case bitRate(PlaybackID, Int)
    /// Playing time as the decoder knows it, to the millisecond.
    case duration(PlaybackID, Duration)
    /// Whether `seek` can move in a remote stream.
    case seekable(PlaybackID, Bool)
    /// What a remote stream tells of itself: all of it, each time that something has changed.
    case tags(PlaybackID, [StreamTag])
    /// An output stopped working, or its state became known; `nil` means that it works again.
    case output(index: Int, problem: String?)
    /// The devices that libmpv has found, all of them, each time that something has changed; with `findsDevices` only.
    case devices([AudioDevice])
    /// The last event of all.
    case closed
}

/// A point in a song and the moment it belongs to, so that the receiver can go on counting by itself.
public struct PlaybackPosition: Sendable, Equatable {
    /// Time into the song, never negative.
    public var elapsed: Duration
    /// `CLOCK_MONOTONIC` in nanoseconds at which `elapsed` was true.
    public var time: UInt64
    /// Whether `elapsed` grows with the clock from there; false while paused, starving or loading.
    public var advances: Bool
    /// How many calls of `seek` the player had taken then, since its start. Who has called it more often waits for another
    /// report: this one is older than the last call.
    public var seeks: UInt64

    public init(elapsed: Duration, time: UInt64, advances: Bool, seeks: UInt64 = .max) {
        self.elapsed = elapsed
        self.time = time
        self.advances = advances
        self.seeks = seeks
    }

    /// The elapsed time at a later moment of the same clock.
    public func elapsed(at now: UInt64) -> Duration {
        guard advances, now > time else { return elapsed }
        return elapsed + .nanoseconds(Int64(clamping: now - time))
    }
}

/// One thing that a remote stream tells of itself.
public struct StreamTag: Sendable, Hashable, Comparable {
    /// FFmpeg's name in lower case, such as `artist`; of a radio `icy-name` and `icy-title`.
    public var name: String
    public var text: String

    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    public static func < (a: StreamTag, b: StreamTag) -> Bool { (a.name, a.text) < (b.name, b.text) }
}

/// Why a song is over.
public enum EndReason: Sendable, Equatable {
    /// The song was heard to its end.
    case endOfFile
    /// `stop` was called.
    case stopped
}

/// Why a song can't be played. The messages are for users: no query, no secret.
public enum PlaybackFailure: Sendable, Equatable {
    /// The song itself is at fault (gone from the server, not decodable): trying again does not help.
    case permanent(String)
    /// The server refuses us (login, permission): the song may play later.
    case transport(String)

    public var message: String {
        switch self {
        case .permanent(let message), .transport(let message): message
        }
    }
}

/// The samples as the decoder makes them, in MPD's terms.
public struct DecodedFormat: Sendable, Equatable, CustomStringConvertible {
    /// Samples a second.
    public var sampleRate: Int
    /// MPD's word for the sample format: `8`, `16`, `24`, `32`, `f` or `dsd`.
    public var bits: String
    public var channels: Int

    public init(sampleRate: Int, bits: String, channels: Int) {
        self.sampleRate = sampleRate
        self.bits = bits
        self.channels = channels
    }

    /// As in `status`: `44100:16:2`.
    public var description: String { "\(sampleRate):\(bits):\(channels)" }
}
