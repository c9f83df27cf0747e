import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)
private let three = PlaybackID(3)

/// Parts of songs, and what is said and done while libmpv is at the next song and the listener is not.
@Suite(.serialized)
struct PartTests {
    private let tone = Tone(441, frames: 44_100)

    /// The bytes from one frame of the tone to another.
    private func frames(_ range: Range<Int>) -> [UInt8] {
        Array(tone.pcm[(range.lowerBound * 4)..<(range.upperBound * 4)])
    }

    @Test func playsAPartToItsEnd() throws {
        let fixture = try PlayerFixture { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        var source = fixture.source("a")
        source.end = .milliseconds(750)
        fixture.player.load(one, source, at: .milliseconds(250), paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == frames(11_025..<33_075))
    }

    /// Whatever comes before and after: each sample of the parts is heard once, without a gap.
    @Test func joinsPartsAndWholeSongs() throws {
        let fixture = try PlayerFixture { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        var first = fixture.source("a")
        first.end = .milliseconds(500)
        var second = fixture.source("b")
        second.start = .milliseconds(500)
        second.end = .milliseconds(800)
        fixture.player.load(one, first, at: .zero, paused: false)
        fixture.player.preload(two, second)
        try fixture.wait { $0 == .audible(two) }
        fixture.player.preload(three, fixture.source("c"))
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(try fixture.output() == frames(0..<22_050) + frames(22_050..<35_280) + tone.pcm)
    }

    @Test func seeksInAPart() throws {
        let fixture = try PlayerFixture { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        var source = fixture.source("a")
        source.end = .milliseconds(750)
        fixture.player.load(one, source, at: .zero, paused: true)
        try fixture.wait { $0 == .started(one) }
        fixture.player.seek(to: .milliseconds(500))
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output().suffix(11_025 * 4) == frames(22_050..<33_075)[...])
    }

    @Test func aPartBehindTheEndIsOverAtOnce() throws {
        let fixture = try PlayerFixture { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        var source = fixture.source("a")
        source.end = .milliseconds(500)
        fixture.player.load(one, source, at: .milliseconds(900), paused: false)
        fixture.player.preload(two, fixture.source("b"))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output().suffix(tone.pcm.count) == tone.pcm[...])
    }

    @Test(arguments: [true, false])
    func withoutATapPartsEndAtTheirTime(isLast: Bool) throws {
        let outputs = [OutputConfiguration(name: "null", kind: .null)]
        let fixture = try PlayerFixture(isTimed: true, outputs: outputs) { [tone] in .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        var part = fixture.source("a", duration: .seconds(1))
        part.start = .milliseconds(300)
        part.end = .milliseconds(600)
        fixture.player.load(one, part, at: .milliseconds(300), paused: false)
        if !isLast { fixture.player.preload(two, part) }
        try fixture.wait { $0 == .ended(isLast ? one : two, .endOfFile) }
        let positions = fixture.events.compactMap { event in
            if case .position(_, let position) = event { position.elapsed } else { nil }
        }
        #expect(!positions.isEmpty)
        #expect(positions.allSatisfy { (.milliseconds(300)...(.milliseconds(700))).contains($0) }, "\(positions)")
    }

    // MARK: The commit window

    /// A player in real time that is at the second song, while the first one is heard.
    private func committed() throws -> PlayerFixture {
        let fixture = try PlayerFixture(isTimed: true) { [tone] in .file(tone.wav, for: $0) }
        fixture.player.load(one, fixture.source("a", duration: .seconds(1)), at: .milliseconds(300), paused: false)
        fixture.player.preload(two, fixture.source("b", duration: .seconds(1)))
        try fixture.wait { $0 == .committed(two) }
        #expect(!fixture.story.contains(.audible(two)))
        return fixture
    }

    @Test func saysThatTheNextSongCannotBeAvoided() throws {
        let fixture = try committed()
        defer { fixture.stop() }
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .audible(two), .ended(two, .endOfFile)])
        #expect(try fixture.output() == frames(13_230..<44_100) + tone.pcm)
    }

    @Test func aCancelInTheWindowEndsWithTheCurrentSong() throws {
        let fixture = try committed()
        defer { fixture.stop() }
        fixture.player.cancelPreload()
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(fixture.storyWithCommits == [.started(one), .committed(two), .ended(one, .endOfFile)])
    }

    @Test func anotherPreloadInTheWindowIsWhatFollows() throws {
        let fixture = try committed()
        defer { fixture.stop() }
        fixture.player.preload(three, fixture.source("c", duration: .seconds(1)))
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(
            fixture.storyWithCommits == [
                .started(one), .committed(two), .committed(three), .audible(three), .ended(three, .endOfFile),
            ]
        )
        #expect(try fixture.output().suffix(tone.pcm.count) == tone.pcm[...])
    }

    @Test func aLoadInTheWindowReplacesBoth() throws {
        let fixture = try committed()
        defer { fixture.stop() }
        fixture.player.load(three, fixture.source("c", duration: .seconds(1)), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(
            fixture.storyWithCommits == [.started(one), .committed(two), .started(three), .ended(three, .endOfFile)]
        )
    }
}
