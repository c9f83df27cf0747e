import Library
import MPDProtocol
import Playback

/// How songs are joined and how loud they are played, as `status` and `replay_gain_status` show it.
struct SoundSettings: Equatable {
    /// Seconds of crossfade; 0 is none.
    var crossfade: UInt32 = 0
    /// The level at which MixRamp joins songs, in dB.
    var mixRampThreshold: Float = 0
    /// Seconds by which MixRamp joins songs later; nothing above 0, or no number, is no MixRamp.
    var mixRampDelay: Float = 0
    var replayGain = ReplayGainMode.off

    /// What the player is told about the joining of songs.
    var crossfadeSettings: CrossfadeSettings {
        CrossfadeSettings(seconds: crossfade, mixRampLevel: mixRampThreshold, mixRampDelay: mixRampDelay)
    }

    /// What goes into a gain besides what is known of the song; from the configuration.
    var loudness = LoudnessRules()

    /// What a song is played with; nil leaves it as it is.
    ///
    /// Where the server tells no gain, that in the file's tags counts, then what the server says for such songs.
    /// - Parameter isRandom: what `auto` goes by.
    func gain(of song: ReplayGain?, isRandom: Bool) -> SongGain? {
        let isByAlbum: Bool
        switch replayGain {
        case .off: return nil
        case .track: isByAlbum = false
        case .album: isByAlbum = true
        case .auto: isByAlbum = !isRandom
        }
        let known = Loudness(
            trackGain: song?.trackGain,
            albumGain: song?.albumGain,
            trackPeak: song?.trackPeak,
            albumPeak: song?.albumPeak
        )
        guard known.isKnown else {
            let level = song?.fallbackGain ?? loudness.missingPreamp
            return SongGain(level: level, byTags: SongGain.ByTags(rules: loudness, isByAlbum: isByAlbum))
        }
        return SongGain(level: loudness.gain(of: known, byAlbum: isByAlbum))
    }
}
