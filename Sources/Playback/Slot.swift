import SubsonicKit

/// A song that libmpv has or will get: the current one or the next one. Belongs to the player's thread.
final class Slot {
    /// How the song was over before the listener heard of it.
    enum Outcome {
        case ended
        /// What was read of it is of an older version of the file: it must be loaded again.
        case stale
        case failed(PlaybackFailure)
    }

    let id: PlaybackID
    let source: AudioSource
    /// Nil when the cache could not open it, and for a remote stream.
    var song: CachedSong?
    /// What libmpv fetches itself.
    let stream: RemoteStream?
    /// What it is to be heard with, whether libmpv has a filter for that, and what it was told.
    var gain: SongGain?
    var hasGainFilter = false
    var givenLevel: Float = 0
    /// Where it was loaded last.
    var deck: Deck?
    /// What the file says of itself, once asked for.
    var metadata: MPVValue?
    var wasAskedForMetadata = false
    /// Number of the latest load; a song is loaded again for some seeks.
    var number: UInt64 = 0
    /// libmpv's name for that load, once it has answered.
    var entry: Int64?
    /// libmpv has found out what the file is.
    var isLoaded = false
    /// The listener was told that this song plays.
    var isAnnounced = false
    /// Where the latest load or seek went. libmpv's clock begins before it, by what the output holds.
    var begin = Duration.zero
    /// Where the bytes at hand begin in the song; libmpv's clock counts from there.
    var offset = Duration.zero
    /// Sound has come since the latest load.
    var isSounding = false
    /// The latest load has ended, and libmpv had nothing to play of it.
    var isSilent = false
    var outcome: Outcome?
    /// It cannot overlap with the song before it, though the settings would have it so.
    var refusesFade = false
    /// The version of the file that this load reads.
    var generation = 0
    var format: DecodedFormat?
    var duration: Duration?
    /// kbit/s as told.
    var bitRate: Int?

    init(_ id: PlaybackID, _ source: AudioSource) {
        self.id = id
        self.source = source
        gain = source.gain
        stream = source.stream.map(RemoteStream.init)
    }

    /// The song from `offset` on, as libmpv and the cache see it.
    var bytes: AudioSource {
        guard offset > .zero, let request = source.requestFromSecond else { return source }
        let second = Int(offset.components.seconds)
        var part = source
        part.cacheKey += "@\(second)"
        part.duration = source.duration.map { $0 - offset }
        part.end = source.end.map { $0 - offset }
        part.request = { start in
            var request = request(second)
            request.rangeStart = start
            return request
        }
        return part
    }

    /// Whether the latest load may have been begun behind the last sound, or behind the end of the wanted part. What libmpv
    /// cannot even open has no sound anywhere.
    var isBegunAtEnd: Bool {
        guard begin > .zero, isLoaded else { return false }
        let place = begin + .seconds(1)
        if let end = source.end, place >= end { return true }
        // What the library says of the length is not always so.
        return duration.map { place >= $0 } ?? true
    }

    /// Where the song ends: by the decoder, else the library, or before that where only a part is wanted.
    var knownEnd: Duration? {
        guard let whole = duration ?? source.duration else { return source.end }
        return source.end.map { min($0, whole) } ?? whole
    }
}
