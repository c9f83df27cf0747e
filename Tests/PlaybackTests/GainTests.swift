import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Replay gain, as the samples show it.
@Suite(.serialized)
struct GainTests {
    private let tone = Tone(441, frames: 44_100)

    private func amplitude(_ samples: ArraySlice<Int16>) -> Double {
        strength(of: 441, in: samples) / (16000 / 32768.0)
    }

    @Test func appliesTheGainExactly() throws {
        let fixture = try PlayerFixture { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", gain: -6.0206), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        #expect(samples.count == tone.frames)
        // The filter takes hundredths of a dB.
        #expect(abs(amplitude(samples[...]) - 0.5) < 0.001)
    }

    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: ["flac", "mp3", "ogg"])
    func takesTheTagsWhereTheServerTellsNothing(suffix: String) throws {
        let folder = try #require(TemporaryFolder())
        let tags = ["REPLAYGAIN_TRACK_GAIN=-12.04 dB", "REPLAYGAIN_TRACK_PEAK=0.5", "REPLAYGAIN_ALBUM_GAIN=-6.02 dB"]
        let bytes = try tone.encoded(suffix, tags.flatMap { ["-metadata", $0] }, in: folder)
        let fixture = try PlayerFixture { .file(bytes, for: $0) }
        defer { fixture.stop() }
        var source = fixture.source("a")
        for (id, isByAlbum) in [(one, false), (two, true)] {
            source.gain = SongGain(level: 0, byTags: SongGain.ByTags(rules: LoudnessRules(), isByAlbum: isByAlbum))
            if id == one {
                fixture.player.load(id, source, at: .zero, paused: false)
            } else {
                fixture.player.preload(id, source)
            }
        }
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        // From the first sample on, in both songs.
        for (start, wanted) in [(1000, 0.25), (22_050, 0.25), (45_100, 0.5), (66_150, 0.5)] {
            let found = amplitude(samples[start..<(start + 4410)])
            #expect(abs(found - wanted) < (suffix == "flac" ? 0.001 : 0.03), "\(found) at \(start)")
        }
    }

    @Test func changesTheGainWhileASongPlays() throws {
        let long = Tone(441, frames: 5 * 44_100)
        let fixture = try PlayerFixture(isTimed: true) { .file(long.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", duration: long.duration), at: .seconds(3), paused: false)
        try fixture.wait { $0 == .started(one) }
        fixture.player.setGain(SongGain(level: -6.02), of: one)
        fixture.player.setGain(SongGain(level: -12.04), of: one)
        try fixture.wait {
            if case .position(_, let position) = $0 { position.elapsed > .milliseconds(3900) } else { false }
        }
        fixture.player.setGain(nil, of: one)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        // No sample is missing or doubled, however often it changes.
        #expect(samples.count == 2 * 44_100)
        #expect(abs(amplitude(samples[22_050..<33_075]) - 0.25) < 0.001)
        #expect(samples.suffix(22_050) == firstChannel(long.pcm).suffix(22_050))
    }

    @Test func followsMPDsRules() {
        let song = Loudness(trackGain: 3, albumGain: -6, trackPeak: 0.9, albumPeak: 0.5)
        let free = LoudnessRules(preamp: 2, limitsPeaks: false)
        #expect(free.gain(of: song, byAlbum: false) == 5)
        #expect(free.gain(of: song, byAlbum: true) == -4)
        #expect(abs(LoudnessRules(preamp: 2).gain(of: song, byAlbum: false) - 0.915) < 0.001)
        #expect(LoudnessRules(preamp: 2).gain(of: song, byAlbum: true) == -4)
        #expect(LoudnessRules(preamp: 9, missingPreamp: -3).gain(of: Loudness(), byAlbum: true) == -3)
        #expect(LoudnessRules().gain(of: Loudness(albumGain: -2), byAlbum: false) == -2)
        #expect(abs(LoudnessRules(preamp: 15).gain(of: Loudness(trackGain: 90), byAlbum: false) - 23.52) < 0.01)
        #expect(
            Loudness(tags: ["REPLAYGAIN_TRACK_GAIN": .text("-3.5 dB"), "replaygain_album_peak": .text("x")])
                == Loudness(trackGain: -3.5)
        )
        #expect(
            Loudness(tags: ["REPLAYGAIN_TRACK_GAIN": .text("1e9 dB"), "REPLAYGAIN_TRACK_PEAK": .text("nan")])
                == Loudness()
        )
    }
}
