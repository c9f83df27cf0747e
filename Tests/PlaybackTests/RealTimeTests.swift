import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// What the listener's clock sees, with outputs that keep time.
@Suite(.serialized)
struct RealTimeTests {
    @Test func tellsTheChangeOfSongWhenItIsHeard() throws {
        let parts = [Tone(441, frames: 26_460), Tone(441, frames: 26_460, offset: 26_460)]
        let fixture = try PlayerFixture(isTimed: true) { request in
            .file(parts[Int(String(request.path.dropFirst())) ?? 0].wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("1"))
        try fixture.wait { $0 == .started(one) }
        let begin = monotonicNow()
        try fixture.wait { $0 == .audible(two) }
        let change = monotonicNow()
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let end = monotonicNow()
        print("change after", Double(change - begin) / 1e6, "end after", Double(end - begin) / 1e6)
        print(fixture.events.map { "\($0)" }.joined(separator: "\n"))
        #expect(try fixture.output() == parts[0].pcm + parts[1].pcm)
    }

    @Test func standsStillWhileTheServerStalls() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture(isTimed: true) { request in
            .file(bytes, for: request).interrupted(after: 300_000, by: .wait(gates.gate))
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
        gates.gate.open()
        try fixture.wait { $0 == .recovered(one) }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        print(fixture.events.map { "\($0)" }.joined(separator: "\n"))
        #expect(try fixture.output() == tone.pcm)
    }

    @Test func keepsWhatWasHeardOverPauseAndSeek() throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let fixture = try PlayerFixture(isTimed: true) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        try fixture.wait { if case .bitRate = $0 { true } else { false } }
        fixture.player.pause(true)
        try fixture.wait {
            if case .position(_, let p) = $0 { p.elapsed > .milliseconds(100) && !p.advances } else { false }
        }
        fixture.player.pause(false)
        fixture.player.seek(to: .milliseconds(1500))
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        print(fixture.events.map { "\($0)" }.joined(separator: "\n"))
        let output = try fixture.output()
        print(output.count / 4, "frames")
        #expect(output.suffix(22_050 * 4) == tone.pcm.suffix(22_050 * 4))
    }
}
