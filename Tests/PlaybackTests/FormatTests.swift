import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Each format plays to its end, seeks to the millisecond and tells its numbers.
@Suite(.serialized, .enabled(if: RealPeer.ffmpeg.isWanted))
struct FormatTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        var suffix: String
        var options: [String] = []
        /// As in `status`.
        var audio: String
        /// Frames by which the end may differ; 0 where no codec pads.
        var slack = 0
        var testDescription: String { name }
    }

    private static let rows = [
        Row(name: "WAV 16", suffix: "wav", audio: "44100:16:2"),
        Row(name: "WAV 24", suffix: "wav", options: ["-c:a", "pcm_s24le"], audio: "44100:24:2"),
        Row(name: "WAV 32", suffix: "wav", options: ["-c:a", "pcm_s32le"], audio: "44100:32:2"),
        Row(name: "WAV float", suffix: "wav", options: ["-c:a", "pcm_f32le"], audio: "44100:f:2"),
        Row(name: "AIFF", suffix: "aiff", audio: "44100:16:2"),
        Row(name: "FLAC 16", suffix: "flac", audio: "44100:16:2"),
        Row(name: "FLAC 24", suffix: "flac", options: ["-sample_fmt", "s32"], audio: "44100:24:2"),
        Row(name: "ALAC", suffix: "m4a", options: ["-c:a", "alac"], audio: "44100:16:2"),
        Row(name: "MP3", suffix: "mp3", options: ["-b:a", "128k"], audio: "44100:f:2", slack: 1),
        Row(name: "Vorbis", suffix: "ogg", options: ["-c:a", "libvorbis"], audio: "44100:f:2", slack: 1),
        Row(name: "Opus", suffix: "opus", options: ["-b:a", "96k"], audio: "48000:f:2", slack: 2),
        // FFmpeg 5.1 plays the padding of the last block.
        Row(name: "AAC", suffix: "m4a", options: ["-c:a", "aac"], audio: "44100:f:2", slack: 1024),
    ]

    @Test(arguments: rows)
    func playsSeeksAndTellsItsNumbers(row: Row) throws {
        let folder = try #require(TemporaryFolder())
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = try tone.encoded(row.suffix, row.options, in: folder)
        let fixture = try PlayerFixture { .file(bytes, for: $0) }
        defer { fixture.stop() }
        // Held until its numbers are told: two seconds without a clock are over sooner than libmpv tells.
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: true)
        try fixture.wait { if case .format(one, _) = $0 { true } else { false } }
        try fixture.wait { if case .duration(one, _) = $0 { true } else { false } }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let whole = firstChannel(try fixture.output())
        #expect(
            (0...row.slack).contains(whole.count - tone.frames) || abs(whole.count - tone.frames) <= min(row.slack, 2)
        )
        #expect(strength(of: 441, in: whole[22_050..<66_150]) > 0.4)
        if row.slack == 0 {
            let worst = zip(whole, firstChannel(tone.pcm)).map { abs(Int($0) - Int($1)) }.max() ?? .max
            #expect(worst <= 1)
        }
        let formats = fixture.events.compactMap {
            if case .format(one, let format) = $0 { format.description } else { nil }
        }
        #expect(formats.last == row.audio)
        let lengths = fixture.events.compactMap { if case .duration(one, let length) = $0 { length } else { nil } }
        #expect(lengths.allSatisfy { abs(($0 - .seconds(2)).seconds) < 0.06 } && !lengths.isEmpty, "\(lengths)")

        fixture.player.load(two, fixture.source("a", size: bytes.count), at: .milliseconds(1250), paused: false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let rest = firstChannel(try fixture.output()).dropFirst(whole.count)
        #expect(
            abs(rest.count - 33_075 - (whole.count - tone.frames)) <= max(2, row.slack == 0 ? 0 : 2),
            "\(rest.count)"
        )
        // The wave goes on where it should: no coarser than a sample.
        let wanted = firstChannel(tone.pcm)[(55_125 + 8820)..<(55_125 + 13_230)]
        let found = rest.dropFirst(8820).prefix(4410)
        let worst = zip(found, wanted).map { abs(Int($0) - Int($1)) }.max() ?? .max
        #expect(worst < (row.slack == 0 ? 2 : 2600), "\(worst)")
    }

    @Test(arguments: [("mp3", 128), ("wav", 1411)])
    func tellsTheBitRateWhileItPlays(suffix: String, wanted: Int) throws {
        let folder = try #require(TemporaryFolder())
        let tone = Tone(441, frames: 4 * 44_100)
        let bytes = suffix == "wav" ? tone.wav : try tone.encoded(suffix, ["-b:a", "\(wanted)k"], in: folder)
        let outputs = [OutputConfiguration(name: "null", kind: .null)]
        let fixture = try PlayerFixture(isTimed: true, outputs: outputs) { .file(bytes, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { if case .bitRate(one, let rate) = $0 { abs(rate - wanted) <= 2 } else { false } }
    }
}
