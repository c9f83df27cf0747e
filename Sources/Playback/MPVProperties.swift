/// The properties of libmpv that the player observes, asks for or sets. Their names occur nowhere else.
enum MPVProperty: String, CaseIterable {
    /// Seconds into the current entry by what is audible; negative before its first sound is heard.
    case position = "time-pos"
    case duration
    /// Of the decoder's output: a map with `samplerate`, `channel-count`, `format`.
    case audioParameters = "audio-params"
    case audioCodec = "audio-codec-name"
    /// Of the compressed stream, in bit/s.
    case bitRate = "audio-bitrate"
    /// What the file or the stream tells of itself: a map of texts.
    case metadata
    case isSeekable = "seekable"
    case pause
    /// Playback waits for the demuxer, and that for us.
    case isStarving = "paused-for-cache"
    /// Nothing is loaded, and everything has been heard.
    case isIdle = "idle-active"
    /// The driver in use; `null` may be the fallback.
    case currentOutput = "current-ao"
    case volume
    /// The sound system's own, in hundredths of what it can; only while a device is open.
    case deviceVolume = "ao-volume"
    case pulseServer = "pulse-host"
    case output = "ao"
    case device = "audio-device"
    /// What there is to play on: a list of maps with `name` and `description`. Changes come only where it is observed.
    case devices = "audio-device-list"

    /// The observed ones, with the format to get them in.
    static let observed: [(MPVProperty, MPVValue.Format)] = [
        (.duration, .number), (.audioParameters, .node), (.audioCodec, .text), (.isStarving, .flag), (.isIdle, .flag),
        (.currentOutput, .text), (.metadata, .node),
    ]
    /// Those that are observed on request only.
    static let observable: [(MPVProperty, MPVValue.Format)] = [(.devices, .node)]
}

/// A value of libmpv, copied.
enum MPVValue: Equatable, Sendable {
    enum Format { case flag, number, text, node }

    /// Not available at the moment.
    case none
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case map([String: MPVValue])
    case list([MPVValue])

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var isTrue: Bool { self == .flag(true) }

    /// Any number, if it is a finite one.
    var number: Double? {
        switch self {
        case .number(let value): value.isFinite ? value : nil
        case .integer(let value): Double(value)
        default: nil
        }
    }

    subscript(key: String) -> MPVValue {
        if case .map(let values) = self { values[key] ?? .none } else { .none }
    }
}

/// What libmpv tells, copied.
enum MPVEvent {
    enum End: Equatable {
        case endOfFile, stopped, error, redirect, other
        /// No sound came of it, though it was opened.
        case nothingToPlay
        /// There is nothing to play on.
        case outputFailure
    }

    /// The time of the wait is over, or `wake` was called.
    case nothing
    case startFile(entry: Int64)
    case fileLoaded
    /// The entry's file is open, nothing of it is decoded yet; libmpv waits for `goOn`.
    case opened(hook: UInt64)
    case playbackRestart
    case endFile(entry: Int64, End, message: String)
    case property(MPVProperty, MPVValue)
    /// The answer to an asynchronous call; `isError` when it failed.
    case reply(tag: UInt64, isError: Bool, MPVValue)
    case log(String)
    case shutdown
    case other
}

extension MPVHandle {
    /// How a player's handle is set up: sound only, nothing from the user's mpv configuration, no scripts.
    static func options(isTimed: Bool) -> [(String, String)] {
        [
            ("config", "no"), ("terminal", "no"), ("idle", "yes"), ("vid", "no"), ("sid", "no"),
            // Each of these would run a Lua thread.
            ("load-scripts", "no"), ("ytdl", "no"), ("osc", "no"), ("load-stats-overlay", "no"),
            ("load-osd-console", "no"), ("load-auto-profiles", "no"),
            ("input-default-bindings", "no"), ("input-vo-keyboard", "no"),
            // A file from a server must not name other files.
            ("access-references", "no"), ("load-unsafe-playlists", "no"), ("autoload-files", "no"),
            ("audio-display", "no"),
            // "weak" opens the device anew where the format changes, instead of converting hi-res songs to the first
            // song's format; songs of one format still follow without a gap.
            ("gapless-audio", "weak"), ("prefetch-playlist", "yes"),
            // Of remote streams; songs of servers come through our own protocol.
            ("user-agent", "ShelvMPD/0.1"), ("tls-verify", "yes"), ("network-timeout", "20"),
            // Our own protocol is no network to libmpv: without these it would read one second ahead.
            ("cache", "yes"), ("cache-secs", "20"), ("cache-pause", "yes"), ("cache-pause-wait", "0.5"),
            ("demuxer-max-bytes", "48MiB"), ("demuxer-max-back-bytes", "8MiB"),
            ("hr-seek", "yes"), ("audio-pitch-correction", "no"), ("replaygain", "no"), ("volume-max", "100"),
            ("audio-fallback-to-null", "yes"), ("audio-client-name", "ShelvMPD"),
            ("ao-null-untimed", isTimed ? "no" : "yes"),
        ]
    }
}
