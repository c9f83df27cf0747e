import Glibc
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

    /// What is added to a song's loudness, in dB; nil leaves it as it is.
    ///
    /// The other gain stands in for one that is missing, then what the server says for such songs. Where the peak is
    /// known, it is never driven beyond full scale: MPD's `replaygain_limit`, which is on by default.
    /// - Parameter isRandom: what `auto` goes by.
    func gain(of song: ReplayGain, isRandom: Bool) -> Float? {
        let isByAlbum: Bool
        switch replayGain {
        case .off: return nil
        case .track: isByAlbum = false
        case .album: isByAlbum = true
        case .auto: isByAlbum = !isRandom
        }
        let track = song.trackGain.map { ($0, song.trackPeak) }
        let album = song.albumGain.map { ($0, song.albumPeak) }
        guard let (gain, peak) = isByAlbum ? album ?? track : track ?? album else { return song.fallbackGain }
        guard let peak, peak > 0 else { return gain }
        return min(gain, -20 * log10(peak))
    }
}
