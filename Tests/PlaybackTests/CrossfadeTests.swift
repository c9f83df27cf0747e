import Glibc
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)
private let three = PlaybackID(3)

/// How songs overlap, sample by sample.
@Suite(.serialized)
struct CrossfadeTests {
    /// Low, because songs must be long.
    private static let rate = 8000
    private static let format = "8000:16:1"
    private static let old = tone(441, 21 * rate)
    private static let new = tone(882, 20 * rate + 800)

    private static func tone(_ frequency: Double, _ frames: Int) -> Tone {
        Tone(frequency, frames: frames, rate: rate, channels: 1)
    }

    private func samples(_ fixture: PlayerFixture) throws -> [Int16] { firstChannel(try fixture.output(), channels: 1) }

    private func fixture(_ songs: [String: [UInt8]] = ["/a": old.wav, "/b": new.wav]) throws -> PlayerFixture {
        try PlayerFixture(format: Self.format) { request in .file(songs[request.path] ?? [], for: request) }
    }

    private func source(_ fixture: PlayerFixture, _ path: String, _ tone: Tone) -> AudioSource {
        fixture.source(path, size: nil, duration: tone.duration)
    }

    /// Held until the player knows what follows: the outputs run faster than it could be told.
    private func play(_ fixture: PlayerFixture, _ first: AudioSource, then second: AudioSource) throws {
        fixture.player.load(one, first, at: first.start, paused: true)
        fixture.player.preload(two, second)
        try fixture.wait { $0 == .started(one) }
        fixture.player.pause(false)
    }

    /// What must be heard when `overlap` frames of two songs sound together.
    private func joined(_ old: Tone, _ new: Tone, overlap: Int, isFaded: Bool = true) -> [Int16] {
        let (a, b) = (firstChannel(old.pcm, channels: 1), firstChannel(new.pcm, channels: 1))
        let start = a.count - overlap
        let mixed = (0..<overlap).map { index in
            let sine = sin(Double.pi / 2 * Double(index) / Double(overlap))
            let (out, into) = isFaded ? (1 - sine * sine, sine * sine) : (1, 1)
            let sum = Double(a[start + index]) * out + Double(b[index]) * into
            return Int16(max(-32768, min(32767, sum.rounded())))
        }
        return Array(a[..<start]) + mixed + b[overlap...]
    }

    private func expectEqual(_ samples: [Int16], _ wanted: [Int16]) {
        #expect(samples.count == wanted.count)
        let differences = zip(samples, wanted).map { abs(Int($0) - Int($1)) }
        let worst = differences.max() ?? 0
        #expect(worst <= 1, "at \(differences.firstIndex(of: worst) ?? -1)")
    }

    @Test func fadesByMPDsCurve() throws {
        let fixture = try fixture()
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3))
        try play(fixture, source(fixture, "a", Self.old), then: source(fixture, "b", Self.new))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .audible(two), .ended(two, .endOfFile)])
        expectEqual(try samples(fixture), joined(Self.old, Self.new, overlap: 3 * Self.rate))
    }

    /// Faster than real time the new song's samples are soon as many as may wait; the old ones' must still come in.
    @Test func aSongThatRunsAheadDoesNotHoldTheOneBeforeIt() throws {
        let (old, new) = (Self.tone(441, 90 * Self.rate), Self.tone(882, 45 * Self.rate))
        let fixture = try fixture(["/a": old.wav, "/b": new.wav])
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3))
        try play(fixture, source(fixture, "a", old), then: source(fixture, "b", new))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        expectEqual(try samples(fixture), joined(old, new, overlap: 3 * Self.rate))
    }

    /// The new song has come, the old one cannot go on.
    @Test func canBeEndedWhileAnOverlapWaits() throws {
        let gates = GateBox()
        let fixture = try PlayerFixture(format: Self.format) { request in
            let answer = HTTPTestResponse.file(request.path == "/a" ? Self.old.wav : Self.new.wav, for: request)
            return request.path == "/a" ? answer.interrupted(after: 300_000, by: .wait(gates.gate)) : answer
        }
        gates.set(fixture.server)
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3))
        try play(fixture, source(fixture, "a", Self.old), then: source(fixture, "b", Self.new))
        try fixture.wait { $0 == .committed(two) }
        fixture.player.shutdown()
        try fixture.wait { $0 == .closed }
        fixture.stop()
    }

    @Test func aPartOverlapsByItsOwnBorders() throws {
        let tone = Self.tone(441, 25 * Self.rate)
        let fixture = try fixture(["/a": tone.wav, "/b": Self.new.wav])
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 1))
        var part = source(fixture, "a", tone)
        part.start = .seconds(2)
        part.end = .seconds(23)
        try play(fixture, part, then: source(fixture, "b", Self.new))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        expectEqual(try samples(fixture), joined(Self.old, Self.new, overlap: Self.rate))
    }

    struct Refusal: CustomTestStringConvertible {
        var testDescription: String
        var seconds: UInt32 = 3
        var new: Tone
        var duration: Duration?
    }

    @Test(arguments: [
        Refusal(testDescription: "too short", new: tone(882, 19 * rate), duration: .seconds(19)),
        Refusal(testDescription: "unknown length", new: tone(882, 20 * rate), duration: nil),
        Refusal(
            testDescription: "overlap too long",
            seconds: 20,
            new: tone(882, 20 * rate),
            duration: .seconds(20)
        ),
        Refusal(testDescription: "none", seconds: 0, new: tone(882, 20 * rate), duration: .seconds(20)),
    ])
    func followsWithoutAGapWhereMPDDoesNotFade(refusal: Refusal) throws {
        let fixture = try fixture(["/a": Self.old.wav, "/b": refusal.new.wav])
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: refusal.seconds))
        try play(fixture, source(fixture, "a", Self.old), then: fixture.source("b", duration: refusal.duration))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == Self.old.pcm + refusal.new.pcm)
    }

    @Test func doesNotMixSongsThatLookDifferent() throws {
        let odd = Tone(882, frames: 20 * Self.rate, rate: Self.rate, channels: 2)
        let fixture = try fixture(["/a": Self.old.wav, "/b": odd.wav])
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3))
        try play(fixture, source(fixture, "a", Self.old), then: source(fixture, "b", odd))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try samples(fixture).count == Self.old.frames + odd.frames)
    }

    @Test func theLastSongIsNotFaded() throws {
        let fixture = try fixture()
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3))
        fixture.player.load(one, source(fixture, "a", Self.old), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Self.old.pcm)
    }

    @Test(.enabled(if: RealPeer.ffmpeg.isWanted))
    func mixRampLetsSongsMeetAtALevel() throws {
        let folder = try #require(TemporaryFolder())
        func song(_ tone: Tone, _ key: String, _ profile: String) throws -> [UInt8] {
            try tone.encoded("flac", ["-metadata", "\(key)=\(profile)"], in: folder)
        }
        // At -17 dB: half a second before the end, and a quarter of a second into the new song.
        let songs = [
            "/a": try song(Self.old, "MIXRAMP_END", "-30 0.25;-17 0.5;-3 4;"),
            "/b": try song(Self.new, "MIXRAMP_START", "-20 0.125;-14 0.375;"),
        ]
        let fixture = try fixture(songs)
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 3, mixRampLevel: -17, mixRampDelay: 0.25))
        try play(fixture, source(fixture, "a", Self.old), then: source(fixture, "b", Self.new))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let wanted = joined(Self.old, Self.new, overlap: Self.rate / 2, isFaded: false)
        expectEqual(try samples(fixture), wanted)
    }

    @Test func readsProfiles() {
        let profile = "-40 0.1;-20 0.5;-10 1.5;"
        #expect(MixRamp.time(in: profile, at: -50) == 0.1)
        #expect(MixRamp.time(in: profile, at: -20) == 0.5)
        #expect(MixRamp.time(in: profile, at: -15) == 1.0)
        #expect(MixRamp.time(in: profile, at: -5) == nil)
        for damaged in ["", ";", "x y", "1", "-20 -1;", "nan 1", "-20 inf;0 1"] {
            #expect(MixRamp.time(in: damaged, at: -20) == nil)
        }
        let settings = CrossfadeSettings(seconds: 5, mixRampLevel: -20, mixRampDelay: 0.2)
        #expect(settings.overlap(end: (profile, 0), start: (profile, 0)) == .milliseconds(800))
        #expect(settings.overlap(end: (profile, -5), start: (profile, 0)) == .milliseconds(1300))
        #expect(settings.overlap(end: nil, start: (profile, 0)) == .seconds(5))
        #expect(settings.overlap(end: ("-60 0.05;-1 0.05;", 0), start: ("-60 0.05;-1 0.05;", 0)) == .zero)
    }

    // MARK: In real time

    /// A player in real time that is so many seconds before the end of its first song.
    private func nearEnd(_ left: Duration, seconds: UInt32, devices: Bool = false) throws -> PlayerFixture {
        let format = try #require(PCMFormat(Self.format))
        let folder = try #require(TemporaryFolder())
        var outputs = [
            OutputConfiguration(name: "file", kind: .file(path: folder.path("out.pcm"), format: format))
        ]
        if devices { outputs = [OutputConfiguration(name: "null", kind: .null)] }
        let fixture = try PlayerFixture(isTimed: true, outputs: outputs, folder: folder) { request in
            .file(request.path == "/b" ? Self.new.wav : Self.old.wav, for: request)
        }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: seconds))
        fixture.player.load(one, source(fixture, "a", Self.old), at: Self.old.duration - left, paused: false)
        fixture.player.preload(two, source(fixture, "b", Self.new))
        return fixture
    }

    @Test func mixesBySampleClockInRealTime() throws {
        let fixture = try nearEnd(.seconds(2), seconds: 1)
        defer { fixture.stop() }
        try fixture.wait { $0 == .audible(two) }
        let event = try fixture.wait { if case .position(two, _) = $0 { true } else { false } }
        guard case .position(two, let position) = event else { return }
        #expect(abs((position.elapsed - .seconds(1)).seconds) < 0.1)
        fixture.player.seek(to: Self.new.duration - .milliseconds(500))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .audible(two), .ended(two, .endOfFile)])
        let samples = try samples(fixture)
        let wanted = joined(Self.old, Self.new, overlap: Self.rate)[(19 * Self.rate)...].prefix(2 * Self.rate)
        expectEqual(Array(samples.prefix(2 * Self.rate)), Array(wanted))
    }

    @Test func aCancelWhileTheyOverlapEndsWithTheCurrentSong() throws {
        let fixture = try nearEnd(.milliseconds(1800), seconds: 1)
        defer { fixture.stop() }
        try fixture.wait { $0 == .committed(two) }
        fixture.player.cancelPreload()
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .ended(one, .endOfFile)])
        let samples = try samples(fixture)
        // No trace of the other song at the end.
        #expect(strength(of: 882, in: samples.suffix(800), rate: Self.rate) < 0.01)
        #expect(strength(of: 441, in: samples.suffix(800), rate: Self.rate) > 0.4)
    }

    @Test func pausesBothSongs() throws {
        let fixture = try nearEnd(.milliseconds(1800), seconds: 1)
        defer { fixture.stop() }
        try fixture.wait { $0 == .committed(two) }
        fixture.player.pause(true)
        try fixture.wait { event in
            if case .position(one, let position) = event {
                !position.advances && position.elapsed > .milliseconds(19_500)
            } else {
                false
            }
        }
        fixture.player.pause(false)
        try fixture.wait { $0 == .audible(two) }
        fixture.player.stop()
        try fixture.wait { $0 == .ended(two, .stopped) }
        let wanted = joined(Self.old, Self.new, overlap: Self.rate)[(19 * Self.rate + Self.rate / 5)...]
        let samples = try samples(fixture)
        #expect(samples.count > Self.rate)
        expectEqual(samples, Array(wanted.prefix(samples.count)))
    }

    @Test func aSeekBackPlansAnew() throws {
        let fixture = try nearEnd(.milliseconds(1500), seconds: 1)
        defer { fixture.stop() }
        try fixture.wait { $0 == .committed(two) }
        fixture.player.seek(to: Self.old.duration - .milliseconds(1500))
        try fixture.wait { $0 == .audible(two) }
        fixture.player.stop()
        try fixture.wait { $0 == .ended(two, .stopped) }
        #expect(fixture.storyWithCommits.filter { $0 == .committed(two) }.count == 2)
    }

    /// The second song plays on the second deck; the third one on the first again.
    @Test func fadesFromSongToSong() throws {
        let fixture = try nearEnd(.milliseconds(1500), seconds: 1)
        defer { fixture.stop() }
        try fixture.wait { $0 == .audible(two) }
        fixture.player.preload(three, source(fixture, "c", Self.old))
        fixture.player.seek(to: Self.new.duration - .milliseconds(1500))
        try fixture.wait { $0 == .committed(three) }
        fixture.player.pause(true)
        fixture.player.pause(false)
        try fixture.wait { $0 == .audible(three) }
        fixture.player.stop()
        try fixture.wait { $0 == .ended(three, .stopped) }
        #expect(fixture.story == [.started(one), .audible(two), .audible(three), .ended(three, .stopped)])
        // Half of the last second belongs to the new song.
        let end = try samples(fixture).suffix(Self.rate / 10)
        #expect(strength(of: 441, in: end, rate: Self.rate) > 0.4)
        #expect(strength(of: 882, in: end, rate: Self.rate) < 0.1)
    }

    @Test func decksChangePlacesWithoutATap() throws {
        let fixture = try nearEnd(.milliseconds(1600), seconds: 1, devices: true)
        defer { fixture.stop() }
        try fixture.wait { $0 == .audible(two) }
        fixture.player.seek(to: Self.new.duration - .milliseconds(300))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .audible(two), .ended(two, .endOfFile)])
    }

    @Test func withoutACrossfadeThereIsOneDeck() throws {
        let fixture = try nearEnd(.milliseconds(1600), seconds: 1, devices: true)
        defer { fixture.stop() }
        try fixture.wait { $0 == .audible(two) }
        fixture.player.setCrossfade(CrossfadeSettings())
        fixture.player.load(three, source(fixture, "c", Self.old), at: .seconds(20), paused: false)
        try fixture.wait { $0 == .ended(three, .endOfFile) }
    }
}
