import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)
private let three = PlaybackID(3)

/// What is played, in what order, with which samples. The outputs run as fast as songs decode.
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

    @Test func tellsTheFormatOfSongsThatLookAlike() throws {
        let (tone, last) = (Tone(440, frames: 5_000), Tone(440, frames: 100_000))
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            // The last one is held before its end: faster than real time it may be over before libmpv tells of it.
            request.path == "/c"
                ? .file(last.wav, for: request).interrupted(after: 300_000, by: .wait(gates.gate))
                : .file(tone.wav, for: request)
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        let format = DecodedFormat(sampleRate: 44100, bits: "16", channels: 2)
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: true)
        try fixture.wait { $0 == .format(one, format) }
        fixture.player.load(two, fixture.source("b"), at: .zero, paused: true)
        fixture.player.preload(three, fixture.source("c"))
        try fixture.wait { $0 == .format(two, format) }
        fixture.player.pause(false)
        try fixture.wait { $0 == .format(three, format) }
        gates.gate.open()
        try fixture.wait { $0 == .ended(three, .endOfFile) }
    }

    @Test func playsAnUnknownLength() throws {
        let tone = Tone(440, frames: 30_000)
        let fixture = try PlayerFixture { request in
            var response = HTTPTestResponse.file(tone.wav, for: request, type: "audio/wav")
            response.framing = .chunked
            return response
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    /// One sine cut into files: any missing, doubled or foreign sample would show in the bytes.
    @Test func joinsWAVWithoutAGap() throws {
        try joins(parts.map(\.wav))
    }

    @Test(.enabled(if: RealPeer.ffmpeg.isWanted))
    func joinsFLACWithoutAGap() throws {
        let folder = try #require(TemporaryFolder())
        try joins(parts.map { try $0.encoded("flac", in: folder) })
    }

    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: ["m4a", "aiff", "wv"])
    func joinsOtherLosslessFormatsWithoutAGap(suffix: String) throws {
        let folder = try #require(TemporaryFolder())
        let options = suffix == "m4a" ? ["-c:a", "alac"] : []
        try joins(parts.map { try $0.encoded(suffix, options, in: folder) })
    }

    /// The codecs pad; what they add is not heard. Between songs the wave goes on.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: ["mp3", "opus"])
    func joinsLossyFormatsWithoutAGap(suffix: String) throws {
        let folder = try #require(TemporaryFolder())
        let samples = firstChannel(try playInARow(parts.map { try $0.encoded(suffix, in: folder) }))
        #expect(abs(samples.count - 90_021) <= 1)
        for border in [30_007, 60_014] {
            let around = samples[(border - 1000)..<(border + 1000)]
            #expect(strength(of: 441, in: around) > 0.45, "at \(border)")
        }
    }

    private let parts = (0..<3).map { Tone(441, frames: 30_007, offset: $0 * 30_007) }

    private func joins(_ files: [[UInt8]]) throws {
        #expect(try playInARow(files) == Tone(441, frames: 3 * 30_007).pcm)
    }

    /// Plays three files, each preloaded while the one before plays; returns what was heard.
    private func playInARow(_ files: [[UInt8]]) throws -> [UInt8] {
        let fixture = try PlayerFixture { request in
            .file(files[Int(String(request.path.dropFirst())) ?? 0], for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0", size: files[0].count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("1", size: files[1].count))
        try fixture.wait { $0 == .audible(two) }
        fixture.player.preload(three, fixture.source("2", size: files[2].count))
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(fixture.story == [.started(one), .audible(two), .audible(three), .ended(three, .endOfFile)])
        return try fixture.output()
    }

    @Test func playsAHundredShortSongsOnceEach() throws {
        // Shorter than what libmpv decodes ahead: it is through with a song before the listener hears it.
        let tone = Tone(441, frames: 2205)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        let ids = (1...100).map { PlaybackID($0) }
        fixture.player.load(ids[0], fixture.source("1", size: tone.wav.count), at: .zero, paused: false)
        for id in ids.dropFirst() {
            fixture.player.preload(id, fixture.source("\(id.rawValue)", size: tone.wav.count))
            // Whether a song was preloaded in time or the one before ended first, depends on the machine.
            let event = try fixture.wait { $0 == .audible(id) || $0 == .ended(PlaybackID(id.rawValue - 1), .endOfFile) }
            if event != .audible(id) {
                fixture.player.load(
                    id,
                    fixture.source("\(id.rawValue)", size: tone.wav.count),
                    at: .zero,
                    paused: false
                )
            }
        }
        try fixture.wait { $0 == .ended(ids[99], .endOfFile) }
        #expect(try fixture.output().count == 100 * tone.pcm.count)
    }

    @Test func convertsEverySongToTheFormatOfTheOutput() throws {
        let songs = [
            Tone(1000, frames: 48_000, rate: 48000), Tone(2000, frames: 22_050, rate: 22050, channels: 1),
            Tone(3000, frames: 44_100),
        ]
        let fixture = try PlayerFixture { request in
            .file(songs[Int(String(request.path.dropFirst())) ?? 0].wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("1"))
        try fixture.wait { $0 == .audible(two) }
        fixture.player.preload(three, fixture.source("2"))
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        #expect(abs(samples.count - 3 * 44_100) <= 2)
        for (index, frequency) in [1000.0, 2000, 3000].enumerated() {
            let middle = samples[(index * 44_100 + 10_000)..<(index * 44_100 + 30_000)]
            #expect(strength(of: frequency, in: middle) > 0.3, "song \(index)")
            #expect(strength(of: frequency + 500, in: middle) < 0.01, "song \(index)")
        }
    }

    @Test func appliesTheGainOfTheSong() throws {
        let tone = Tone(441, frames: 44_100)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", gain: -6.02), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let ratio =
            strength(of: 441, in: firstChannel(try fixture.output())[...])
            / strength(of: 441, in: firstChannel(tone.pcm)[...])
        #expect(abs(ratio - 0.5) < 0.001)
    }

    @Test func appliesTheVolumeWhereTheOutputWantsIt() throws {
        let tone = Tone(441, frames: 44_100)
        let folder = try #require(TemporaryFolder())
        let format = try #require(PCMFormat("44100:16:2"))
        let outputs = ["loud", "soft"].map { name in
            OutputConfiguration(
                name: name,
                kind: .file(path: folder.path(name), format: format),
                appliesVolume: name == "soft"
            )
        }
        let fixture = try PlayerFixture(outputs: outputs, folder: folder) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.setVolume(50)
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output("loud") == tone.pcm)
        let ratio =
            strength(of: 441, in: firstChannel(try fixture.output("soft"))[...])
            / strength(of: 441, in: firstChannel(tone.pcm)[...])
        #expect(abs(ratio - OutputBoard.gain(ofVolume: 50)) < 0.001)
        #expect(abs(ratio - 0.119) < 0.001)
    }

    @Test func startsWhereItIsTold() throws {
        let tone = Tone(441, frames: 44_100)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .milliseconds(250), paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Array(tone.pcm[(11_025 * 4)...]))
    }

    /// Servers tell whole seconds, so a place behind the last sound is easily named.
    @Test(arguments: ["wav", "ogg"])
    func endsASongThatIsStartedBehindItsLastSound(suffix: String) throws {
        let song = try shortSong(suffix)
        let fixture = try PlayerFixture { .file(song, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .seconds(3), paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        fixture.player.load(two, fixture.source("b"), at: .seconds(3), paused: false)
        fixture.player.preload(three, fixture.source("c"))
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(fixture.events.contains(.audible(three)))
        #expect(!fixture.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test(arguments: ["wav", "ogg"])
    func staysBehindTheLastSoundWhilePaused(suffix: String) throws {
        let song = try shortSong(suffix)
        let fixture = try PlayerFixture { .file(song, for: $0) }
        defer { fixture.stop() }
        let source = fixture.source("a")
        fixture.player.load(one, source, at: .seconds(3), paused: true)
        // Commands are obeyed in order: what this song does to the first one has happened.
        try fixture.wait { if case .duration(one, _) = $0 { true } else { false } }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(fixture.story.last == .ended(one, .endOfFile))
    }

    /// A tenth of a second.
    private func shortSong(_ suffix: String) throws -> [UInt8] {
        let tone = Tone(441, frames: 4_410)
        if suffix == "wav" { return tone.wav }
        let folder = try #require(TemporaryFolder())
        return try tone.encoded(suffix, in: folder)
    }

    @Test func remembersPauseAndSeekWhileTheSongLoads() throws {
        let tone = Tone(441, frames: 44_100)
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            var response = HTTPTestResponse.file(tone.wav, for: request)
            response.stepsBefore = [.wait(gates.gate)]
            return response
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        fixture.player.pause(true)
        fixture.player.seek(to: .milliseconds(500))
        gates.gate.open()
        try fixture.wait { $0 == .started(one) }
        let standing = PlaybackPosition(elapsed: .milliseconds(500), time: 0, advances: false)
        try fixture.wait { event in
            if case .position(one, let position) = event {
                position.elapsed == standing.elapsed && !position.advances
            } else {
                false
            }
        }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Array(tone.pcm[(22_050 * 4)...]))
    }

    @Test func dropsEventsOfReplacedSongs() throws {
        let tone = Tone(441, frames: 4_410)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        for number in 1...20 {
            fixture.player.load(PlaybackID(UInt64(number)), fixture.source("a"), at: .zero, paused: false)
        }
        let last = PlaybackID(20)
        try fixture.wait { $0 == .ended(last, .endOfFile) }
        #expect(fixture.story == [.started(last), .ended(last, .endOfFile)])
    }

    @Test func playsASongThatFollowsItself() throws {
        let tone = Tone(441, frames: 20_000)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("a"))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == tone.pcm + tone.pcm)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func forgetsACancelledPreload() throws {
        let tone = Tone(441, frames: 44_100)
        let fixture = try PlayerFixture { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: true)
        fixture.player.preload(two, fixture.source("b"))
        try fixture.wait { $0 == .started(one) }
        fixture.player.cancelPreload()
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    @Test func stopsAtOnceWhileTheServerHangs() throws {
        let gates = GateBox()
        let fixture = try PlayerFixture { _ in
            var response = HTTPTestResponse()
            response.stepsBefore = [.wait(gates.gate)]
            return response
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
        let begin = monotonicNow()
        fixture.player.stop()
        try fixture.wait { $0 == .ended(one, .stopped) }
        fixture.player.shutdown()
        try fixture.wait { $0 == .closed }
        #expect(monotonicNow() - begin < 1_000_000_000)
    }

    @Test func refusesWhatIsNoAudio() throws {
        let fixture = try PlayerFixture { .file(Array(repeating: 0x2A, count: 100_000), for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b"))
        try fixture.wait { if case .failed(one, .permanent) = $0 { true } else { false } }
        #expect(!fixture.story.contains(.started(one)))
        // It does not run on to the next song by itself.
        #expect(fixture.server.requests.allSatisfy { $0.path == "/a" })
    }

    /// Of subtitles libmpv knows what they are, and that nothing of them can be heard.
    @Test(arguments: [Duration.zero, .seconds(2)])
    func refusesWhatHasNoSoundWhereverItIsBegun(position: Duration) throws {
        let text = (1...9).map { "\($0)\n00:00:0\($0),000 --> 00:00:0\($0),900\nwords\n\n" }.joined()
        let fixture = try PlayerFixture { .file(Array(text.utf8), for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", duration: .seconds(9)), at: position, paused: false)
        try fixture.wait {
            switch $0 {
            case .ended(one, _), .failed(one, _): true
            default: false
            }
        }
        #expect(fixture.events.contains { if case .failed(one, .permanent) = $0 { true } else { false } })
    }
}

/// A gate that a server's closure needs before the server is there.
final class GateBox: Sendable {
    private let box = Monitor<TestGate?>(nil)

    func set(_ server: HTTPTestServer) { box.update { $0 = server.makeGate() } }

    var gate: TestGate { box.wait { $0 } ?? TestGate() }
}
