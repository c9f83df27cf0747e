import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

@Suite(.serialized)
struct PlayerTests {
    @Test func playsASongToItsEndWithExactSamples() throws {
        let tone = Tone(440, frames: 50_001)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0, type: "audio/wav") }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(fixture.story == [.started(one), .ended(one, .endOfFile)])
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.events.contains(.format(one, DecodedFormat(sampleRate: 44100, bits: "16", channels: 2))))
        #expect(fixture.events.contains(.duration(one, .milliseconds(1133))))
    }
}
