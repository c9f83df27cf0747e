import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)
private let three = PlaybackID(3)

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
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let begin = try fixture.time(of: .started(one))
        let change = try fixture.time(of: .audible(two))
        let end = try fixture.time(of: .ended(two, .endOfFile))
        // Never early. Late is a busy machine; on a quiet one it is by 2 ms, and 40 ms at the end.
        #expect(change - begin > 580_000_000 && end - begin > 1_180_000_000)
        #expect(try fixture.output() == parts[0].pcm + parts[1].pcm)
    }

    /// Within 0.3 ms of being heard in most runs; up to 80 ms on two cores with much else to do.
    @Test func tellsChangesByTheClockOfASilentOutput() throws {
        let tone = Tone(441, frames: 26_460)
        let outputs = [OutputConfiguration(name: "null", kind: .null)]
        let fixture = try PlayerFixture(isTimed: true, outputs: outputs) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        let ids = (2...6).map { PlaybackID(UInt64($0)) }
        for id in ids {
            fixture.player.preload(id, fixture.source("a"))
            try fixture.wait { $0 == .audible(id) }
        }
        let begins = fixture.events.compactMap { event -> UInt64? in
            guard case .position(one, let position) = event, position.advances else { return nil }
            return position.time - UInt64(clamping: position.elapsed.nanoseconds)
        }
        let begin = try #require(begins.max())
        let late = try ids.enumerated().map { index, id in
            (Double(try fixture.time(of: .audible(id))) - Double(begin)) / 1e6 - Double(index + 1) * 600
        }
        // The goal is 30 ms; a busy machine wakes nobody in time.
        #expect(late.allSatisfy { -30...400 ~= $0 }, "ms: \(late)")
        print("A change of song is told after it is heard by, in ms: \(late)")
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
        // It stands at what 300,000 bytes hold, some samples of which the decoder keeps back. A busy machine notices
        // late, so the first place that is told may be behind that.
        try fixture.wait {
            if case .position(one, let p) = $0 { !p.advances && abs(p.elapsed.seconds - 1.65) < 0.1 } else { false }
        }
        let before = fixture.events.count
        gates.gate.open()
        try fixture.wait { $0 == .recovered(one) }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        // And it goes on from there.
        let later = fixture.events[before...].compactMap { event -> Duration? in
            if case .position(one, let position) = event { position.elapsed } else { nil }
        }
        #expect(later.allSatisfy { $0 > .milliseconds(1500) }, "\(later)")
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
        let output = try fixture.output()
        // What was heard before the seek, to some hundredths of a second, then what followed: nothing more.
        let before = output.count / 4 - 22_050
        #expect(output.prefix(before * 4) == tone.pcm.prefix(before * 4))
        let paused = fixture.events.compactMap { event -> Double? in
            if case .position(_, let p) = event, !p.advances, p.elapsed < .seconds(1.4) {
                p.elapsed.seconds
            } else {
                nil
            }
        }
        #expect(abs(Double(before) / 44_100 - (paused.last ?? 0)) < 0.5)
        #expect(output.suffix(22_050 * 4) == tone.pcm.suffix(22_050 * 4))
    }

    /// libmpv has left the first song already; the listener has not.
    @Test(arguments: ["cancel", "replace", "seek"])
    func changesItsMindInTheLastMoment(act: String) throws {
        let songs = [Tone(441, frames: 30_870), Tone(882, frames: 10_000), Tone(1323, frames: 10_000)]
        let fixture = try PlayerFixture(isTimed: true) { request in
            .file(songs[Int(String(request.path.dropFirst())) ?? 0].wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("1"))
        // Paused between the two: libmpv has told a position of the old song when it had begun the new one.
        try fixture.wait { if case .position(one, let p) = $0 { p.elapsed > .milliseconds(200) } else { false } }
        fixture.player.pause(true)
        try fixture.wait { event in
            if case .position(let id, let p) = event { id == two || p.elapsed > .zero && !p.advances } else { false }
        }
        // A machine too slow to pause in that moment shows nothing.
        if fixture.story.contains(.audible(two)) { return }
        switch act {
        case "cancel": fixture.player.cancelPreload()
        case "replace": fixture.player.preload(three, fixture.source("2"))
        default: fixture.player.seek(to: .milliseconds(100))
        }
        fixture.player.pause(false)
        let last = act == "cancel" ? one : act == "replace" ? three : two
        try fixture.wait { $0 == .ended(last, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        switch act {
        case "cancel":
            #expect(fixture.story == [.started(one), .ended(one, .endOfFile)])
            #expect(strength(of: 441, in: samples.suffix(8000)) > 0.4)
        case "replace":
            #expect(fixture.story == [.started(one), .audible(three), .ended(three, .endOfFile)])
            #expect(strength(of: 1323, in: samples.suffix(8000)) > 0.4)
        default:
            #expect(fixture.story == [.started(one), .audible(two), .ended(two, .endOfFile)])
            #expect(samples.count > 30_870 + 10_000 + 4_410)
            #expect(strength(of: 882, in: samples.suffix(8000)) > 0.4)
        }
        #expect(strength(of: 882, in: samples.suffix(19_000).prefix(8000)) < 0.05 || act == "cancel")
    }

    @Test func standsWhilePausedBetweenTwoSongs() throws {
        let songs = [Tone(441, frames: 30_870), Tone(441, frames: 10_000, offset: 30_870)]
        let fixture = try PlayerFixture(isTimed: true) { request in
            .file(songs[Int(String(request.path.dropFirst())) ?? 0].wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("1"))
        try fixture.wait { if case .position(one, let p) = $0 { p.elapsed > .milliseconds(200) } else { false } }
        fixture.player.pause(true)
        try fixture.wait { if case .position(one, let p) = $0 { !p.advances && p.elapsed > .zero } else { false } }
        let gate = TestGate()
        gate.wait(timeout: 600)
        #expect(!fixture.story.contains(.audible(two)))
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == songs[0].pcm + songs[1].pcm)
    }
}
