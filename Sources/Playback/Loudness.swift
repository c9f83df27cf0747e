import Glibc

/// How loud a song is by its replay gain: gains in dB, peaks as factors.
public struct Loudness: Sendable, Equatable {
    public var trackGain: Float?
    public var albumGain: Float?
    public var trackPeak: Float?
    public var albumPeak: Float?

    public init(
        trackGain: Float? = nil,
        albumGain: Float? = nil,
        trackPeak: Float? = nil,
        albumPeak: Float? = nil
    ) {
        self.trackGain = trackGain
        self.albumGain = albumGain
        self.trackPeak = trackPeak
        self.albumPeak = albumPeak
    }

    /// Whether it holds a gain.
    public var isKnown: Bool { trackGain != nil || albumGain != nil }

    /// From the tags of a file; what is no number in a range that loudness can have counts as missing.
    init(tags: [String: MPVValue]) {
        func number(_ name: String, _ range: ClosedRange<Float>) -> Float? {
            let text = tags.first { $0.key.lowercased() == "replaygain_\(name)" }?.value.text
            let digits = text?.split(separator: " ").first.flatMap { Float($0) }
            return digits.flatMap { range ~= $0 ? $0 : nil }
        }
        self.init(
            trackGain: number("track_gain", -100...100),
            albumGain: number("album_gain", -100...100),
            trackPeak: number("track_peak", 0.0001...100),
            albumPeak: number("album_peak", 0.0001...100)
        )
    }
}

/// What MPD's options `replaygain_preamp`, `replaygain_missing_preamp` and `replaygain_limit` say.
public struct LoudnessRules: Sendable, Equatable {
    /// dB that are added to a gain.
    public var preamp: Float
    /// The gain of songs without one, in dB.
    public var missingPreamp: Float
    /// Whether no gain may drive the song's peak beyond full scale.
    public var limitsPeaks: Bool

    /// Most that a gain may be. Source: MPD's `src/tag/ReplayGainInfo.cxx`, a factor of 15.
    private static let maximum = 20 * log10(Float(15))

    public init(preamp: Float = 0, missingPreamp: Float = 0, limitsPeaks: Bool = true) {
        self.preamp = preamp
        self.missingPreamp = missingPreamp
        self.limitsPeaks = limitsPeaks
    }

    /// The gain of a song in dB. The other gain stands in for one that is missing.
    public func gain(of song: Loudness, byAlbum: Bool) -> Float {
        let track = song.trackGain.map { ($0, song.trackPeak) }
        let album = song.albumGain.map { ($0, song.albumPeak) }
        guard let (gain, peak) = byAlbum ? album ?? track : track ?? album else { return missingPreamp }
        let wanted = min(gain + preamp, Self.maximum)
        guard limitsPeaks, let peak, peak > 0 else { return wanted }
        return min(wanted, -20 * log10(peak))
    }
}

/// The gain that a song is played with.
public struct SongGain: Sendable, Equatable {
    /// dB.
    public var level: Float
    /// How to find a better one in the tags of the file, where the server tells none.
    public var byTags: ByTags?

    /// Which of the gains in a file's tags is taken, and how.
    public struct ByTags: Sendable, Equatable {
        public var rules: LoudnessRules
        public var isByAlbum: Bool

        public init(rules: LoudnessRules, isByAlbum: Bool) {
            self.rules = rules
            self.isByAlbum = isByAlbum
        }
    }

    public init(level: Float, byTags: ByTags? = nil) {
        self.level = level
        self.byTags = byTags
    }
}
