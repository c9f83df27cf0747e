/// How songs overlap, as MPD's `crossfade`, `mixrampdb` and `mixrampdelay` say.
public struct CrossfadeSettings: Sendable, Equatable {
    /// Seconds of overlap; 0 is none, also for MixRamp.
    public var seconds: UInt32
    /// The level in dB at which MixRamp lets songs meet.
    public var mixRampLevel: Float
    /// Seconds by which MixRamp shortens the overlap; only above 0 songs are joined by MixRamp.
    public var mixRampDelay: Float

    public init(seconds: UInt32 = 0, mixRampLevel: Float = 0, mixRampDelay: Float = -1) {
        self.seconds = seconds
        self.mixRampLevel = mixRampLevel
        self.mixRampDelay = mixRampDelay
    }

    /// Songs shorter than this do not overlap. Source: MPD's `src/player/CrossFade.cxx`.
    static let shortestSong = Duration.seconds(20)

    /// Whether songs are joined as they are, and not faded.
    var isMixRamp: Bool { mixRampDelay > 0 }

    /// Whether two songs may overlap, by their lengths.
    func joins(_ old: Duration?, _ new: Duration?) -> Bool {
        guard seconds > 0, let old, let new else { return false }
        return min(old, new) >= Self.shortestSong && .seconds(Int64(seconds)) < min(old, new)
    }

    /// How long two songs overlap.
    ///
    /// - Parameters:
    ///   - end: the old song's MixRamp profile of its end, and what replay gain adds to it in dB.
    ///   - start: the new song's of its start.
    func overlap(end: (profile: String, gain: Float)?, start: (profile: String, gain: Float)?) -> Duration {
        guard isMixRamp, let end, let start else { return .seconds(Int64(seconds)) }
        let old = MixRamp.time(in: end.profile, at: mixRampLevel - end.gain)
        let new = MixRamp.time(in: start.profile, at: mixRampLevel - start.gain)
        guard let old, let new, old + new >= Double(mixRampDelay) else { return .zero }
        let overlap = old + new - Double(mixRampDelay)
        return overlap < 1e6 ? .microseconds(Int64((overlap * 1e6).rounded())) : .zero
    }
}

/// The profile in a tag `MIXRAMP_START` or `MIXRAMP_END`: `LEVEL SECONDS;LEVEL SECONDS;…`, levels in dB, growing.
enum MixRamp {
    /// After how many seconds from the song's border a level is reached; between two points along a line.
    ///
    /// Nil when the profile has no such level or is none.
    static func time(in profile: String, at level: Float) -> Double? {
        var before: (level: Float, time: Double)?
        for point in profile.split(separator: ";") {
            let words = point.split(separator: " ")
            guard words.count == 2, let here = Float(words[0]), let time = Double(words[1]), here.isFinite,
                time.isFinite, time >= 0
            else { return nil }
            if here >= level {
                guard here > level, let before, here > before.level else { return time }
                return before.time + Double((level - before.level) / (here - before.level)) * (time - before.time)
            }
            before = (here, time)
        }
        return nil
    }
}
