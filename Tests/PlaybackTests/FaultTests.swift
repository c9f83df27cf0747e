import Glibc
import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// What a server and the line to it can do to a song: never a missing, doubled or foreign sample, never a false end.
@Suite(.serialized)
struct FaultTests {
    @Test func resumesAtTheByteAfterCuts() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        // Each answer breaks off after 100,000 bytes.
        let fixture = try PlayerFixture { request in
            .file(bytes, for: request).interrupted(after: 100_000, by: .reset)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        let starts = fixture.server.requests.map { $0.rangeStart ?? 0 }
        #expect(starts == Array(stride(from: 0, to: bytes.count, by: 100_000)))
    }

    @Test func waitsForAStalledServerAndGoesOn() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            .file(bytes, for: request).interrupted(after: bytes.count / 2, by: .wait(gates.gate))
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
        gates.gate.open()
        try fixture.wait { $0 == .recovered(one) }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(
            fixture.story == [
                .started(one), .starving(one, message: "waiting for the server"), .recovered(one),
                .ended(one, .endOfFile),
            ]
        )
    }

    @Test func endsAStalledConnectionAndAsksAgain() throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            let answer = HTTPTestResponse.file(bytes, for: request)
            return request.number == 1 ? answer.interrupted(after: 80_000, by: .wait(gates.gate)) : answer
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        let source = fixture.source("a", size: bytes.count, stall: .seconds(1))
        fixture.player.load(one, source, at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        // A busy machine may let the next connection stall as well.
        #expect(fixture.server.requests.map(\.rangeStart).prefix(2) == [nil, 80_000])
    }

    @Test func givesUpAfterTheLimitAndKeepsThePlace() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture(starvationLimit: .milliseconds(700)) { request in
            .file(bytes, for: request).interrupted(after: bytes.count / 2, by: .wait(gates.gate))
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b", size: bytes.count))
        let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
        guard case .failed(_, .transport) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(!fixture.story.contains(.audible(two)))
    }

    /// A transcoder: no length, no ranges, a slow first byte, and cut in the middle.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: ["mp3", "opus", "flac"])
    func playsWhatIsTranscoded(suffix: String) throws {
        let folder = try #require(TemporaryFolder())
        let tone = Tone(441, frames: 6 * 44_100)
        let bytes = try tone.encoded(suffix, in: folder)
        let fixture = try PlayerFixture { request in
            var response = HTTPTestResponse(headers: [("Content-Type", "audio/\(suffix)")], body: bytes)
            response.framing = .chunked
            return request.number == 1 ? response.interrupted(after: bytes.count / 2, by: .reset) : response
        }
        defer { fixture.stop() }
        var source = fixture.source("a", duration: .seconds(6))
        source.isTranscoded = true
        fixture.player.load(one, source, at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let whole = firstChannel(try fixture.output())
        #expect(abs(whole.count - tone.frames) < 1200, "\(whole.count)")
        #expect(strength(of: 441, in: whole[100_000..<200_000]) > 0.4)
        #expect(
            !fixture.events.contains { if case .duration(_, let length) = $0 { length != .seconds(6) } else { false } }
        )
        // From the middle, without the cut: restart, and skip.
        fixture.player.load(two, source, at: .seconds(4), paused: false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        let rest = firstChannel(try fixture.output()).count - whole.count
        #expect(abs(rest - 2 * 44_100) < 2400, "\(rest)")
    }

    @Test func waitsForAServerThatIsAway() throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { .file(bytes, for: $0) }
        defer { fixture.stop() }
        // Nobody listens there: the port was free a moment ago.
        let deadPort = try #require(unusedPort())
        let address = Monitor("http://127.0.0.1:\(deadPort)/a?secret=s3cret")
        let source = AudioSource(cacheKey: "a", size: Int64(bytes.count)) { start in
            HTTPRequest(url: address.withLock { $0 }, rangeStart: start)
        }
        fixture.player.load(one, source, at: .zero, paused: false)
        let starving = try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
        #expect(!"\(starving)".contains("s3cret"))
        #expect(!"\(starving)".contains("waiting for the server"))
        address.withLock { $0 = "\(fixture.server.url)/a" }
        try fixture.wait { $0 == .recovered(one) }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    @Test(arguments: [500, 503, 429])
    func triesAgainAfterAnErrorThatMayPass(status: Int) throws {
        let tone = Tone(441, frames: 10_000)
        let fixture = try PlayerFixture { request in
            request.number == 1 ? HTTPTestResponse(status: status) : .file(tone.wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    /// A file that cannot be read, a transcoder that fails: more attempts bring nothing.
    @Test(arguments: [500, 501, 505])
    func givesASongUpAtWhichOnlyTheServerFails(status: Int) throws {
        let fixture = try PlayerFixture(patienceWhenFailing: .zero) { _ in HTTPTestResponse(status: status) }
        defer { fixture.stop() }
        var source = fixture.source("a", size: 1000)
        source.serverHealth = { .well }
        fixture.player.load(one, source, at: .zero, paused: false)
        let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
        #expect(event == .failed(one, .permanent("the server answers with HTTP \(status)")))
    }

    /// While it starts, a server may answer so to everything; one that is away or busy says something else.
    @Test(arguments: [(500, false), (502, true), (503, true), (504, true), (429, true)])
    func waitsForAServerThatFailsAtAll(status: Int, isWell: Bool) throws {
        let tone = Tone(441, frames: 10_000)
        let fixture = try PlayerFixture(patienceWhenFailing: .zero) { request in
            request.number <= 3 ? HTTPTestResponse(status: status) : .file(tone.wav, for: request)
        }
        defer { fixture.stop() }
        var source = fixture.source("a")
        source.serverHealth = { isWell ? .well : .failing }
        fixture.player.load(one, source, at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    struct Refusal: CustomTestStringConvertible {
        var testDescription: String
        var response: HTTPTestResponse
        var isPermanent: Bool
        var words: String
    }

    @Test(arguments: [
        Refusal(
            testDescription: "JSON error 70",
            response: .json(
                #"{"subsonic-response":{"status":"failed","error":{"code":70,"message":"Song not found"}}}"#
            ),
            isPermanent: true,
            words: "error 70: Song not found"
        ),
        Refusal(
            testDescription: "XML error 40",
            response: HTTPTestResponse(
                headers: [("Content-Type", "text/xml; charset=utf-8")],
                body: Array(
                    #"<subsonic-response status="failed"><error code="40" message="No"/></subsonic-response>"#.utf8
                )
            ),
            isPermanent: false,
            words: "error 40: No"
        ),
        Refusal(
            testDescription: "HTTP 404",
            response: HTTPTestResponse(status: 404),
            isPermanent: true,
            words: "HTTP 404"
        ),
        Refusal(
            testDescription: "HTTP 403",
            response: HTTPTestResponse(status: 403),
            isPermanent: false,
            words: "HTTP 403"
        ),
    ])
    func reportsARefusal(refusal: Refusal) throws {
        let fixture = try PlayerFixture { _ in refusal.response }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: 1000), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed = $0 { true } else { false } }
        guard case .failed(one, let failure) = event else { return }
        #expect(failure.message.contains(refusal.words))
        #expect(!failure.message.contains("s3cret"))
        if case .permanent = failure { #expect(refusal.isPermanent) } else { #expect(!refusal.isPermanent) }
        #expect(fixture.server.requests.count == 1)
    }

    @Test func reportsAFailureInTheMiddleAfterWhatWasThere() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { request in
            request.number == 1
                ? .file(bytes, for: request).interrupted(after: 200_044, by: .reset) : HTTPTestResponse(status: 404)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b", size: bytes.count))
        try fixture.wait { if case .failed(one, .permanent) = $0 { true } else { false } }
        #expect(!fixture.story.contains(.ended(one, .endOfFile)))
        #expect(!fixture.story.contains(.audible(two)))
    }

    @Test func skipsWithAServerThatKnowsNoRanges() throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { request in
            let whole = HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: bytes)
            return request.number == 1 ? whole.interrupted(after: 100_000, by: .reset) : whole
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    /// Also where the answer tells that the range was well.
    @Test(arguments: [(400, false), (416, false), (416, true)])
    func startsOverWhenARangeIsRefused(status: Int, tellsLength: Bool) throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { request in
            let told = tellsLength ? [("Content-Range", "bytes */\(bytes.count)")] : []
            if request.rangeStart != nil { return HTTPTestResponse(status: status, headers: told) }
            let whole = HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: bytes)
            return request.number == 1 ? whole.interrupted(after: 100_000, by: .reset) : whole
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.server.requests.count <= 4)
    }

    @Test(arguments: [-5000, 5000])
    func believesTheServerRatherThanTheCatalogAboutTheLength(difference: Int) throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { .file(bytes, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count + difference), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    @Test func playsTheNewFileWhenItWasReplacedOnTheServer() throws {
        let old = Tone(441, frames: 3 * 44_100)
        let new = Tone(882, frames: 44_100)
        let fixture = try PlayerFixture { request in
            request.number == 1
                ? .file(old.wav, for: request).interrupted(after: 100_000, by: .reset) : .file(new.wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: old.wav.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let samples = firstChannel(try fixture.output())
        #expect(strength(of: 882, in: samples.suffix(10_000)) > 0.4)
    }

    /// Whoever writes the file anew makes it short for a moment; who says so once, and something else in between, errs.
    @Test(arguments: [[2: 100_000], [2: 60_000], [2: 60_000, 4: 60_000]])
    func oneShorterLengthIsNotBelieved(lengths: [Int: Int]) throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { request in
            if let length = lengths[request.number] {
                return HTTPTestResponse(status: 416, headers: [("Content-Range", "bytes */\(length)")])
            }
            let answer = HTTPTestResponse.file(bytes, for: request)
            switch request.number {
            case 1: return answer.interrupted(after: 100_000, by: .reset)
            case 3: return answer.interrupted(after: 50_000, by: .reset)
            default: return answer
            }
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.server.requests.count { $0.rangeStart == nil } == 1)
    }

    enum PauseTrouble: CaseIterable { case close, reset, away }

    /// Servers end connections on which nothing is read for a while. Nothing waits there during a pause: the song comes
    /// whole meanwhile, and what befalls it is nobody's trouble.
    @Test(arguments: PauseTrouble.allCases)
    func whatBefallsTheLineDuringAPauseIsNotHeard(trouble: PauseTrouble) throws {
        let tone = Tone(441, frames: 4 * 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture(isTimed: true, starvationLimit: .milliseconds(300)) { request in
            let answer = HTTPTestResponse.file(bytes, for: request)
            switch request.number {
            case 1:
                return answer.interrupted(
                    after: bytes.count / 2,
                    by: .act {
                        gates.gate.wait()
                        TestGate().wait(timeout: 100)
                    }
                ).interrupted(after: bytes.count / 2 + 1000, by: trouble == .reset ? .reset : .close)
            case 2, 3:
                if trouble == .away { return HTTPTestResponse(status: 503) }
                return answer.interrupted(after: 20_000, by: trouble == .reset ? .reset : .close)
            default: return answer
            }
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        fixture.player.pause(true)
        gates.gate.open()
        #expect(poll { TemporaryFolder.names(in: fixture.folder.path("cache")) == ["a+\(bytes.count).audio"] })
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.story == [.started(one), .ended(one, .endOfFile)])
        #expect(fixture.server.requests.count == 4)
    }

    @Test func nextSongOfADeadServerStarvesAtItsTurn() throws {
        let tone = Tone(441, frames: 44_100)
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            var response = HTTPTestResponse.file(tone.wav, for: request)
            if request.path == "/b" { response.stepsBefore = [.wait(gates.gate)] }
            return response
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b", size: tone.wav.count))
        try fixture.wait { if case .starving(two, _) = $0 { true } else { false } }
        gates.gate.open()
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(
            fixture.story == [
                .started(one), .audible(two), .starving(two, message: "waiting for the server"), .recovered(two),
                .ended(two, .endOfFile),
            ]
        )
        #expect(try fixture.output() == tone.pcm + tone.pcm)
    }

    @Test func nextSongThatIsGoneFailsAtItsTurn() throws {
        let tone = Tone(441, frames: 44_100)
        let fixture = try PlayerFixture { request in
            request.path == "/b" ? HTTPTestResponse(status: 404) : .file(tone.wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b", size: tone.wav.count))
        try fixture.wait { if case .failed(two, .permanent) = $0 { true } else { false } }
        #expect(fixture.story.prefix(2) == [.started(one), .audible(two)])
        fixture.stop()
        #expect(try fixture.output() == tone.pcm)
    }
}

/// A port of loopback that nobody listens on.
private func unusedPort() -> Int? {
    let server = HTTPTestServer { _ in HTTPTestResponse() }
    defer { server?.stop() }
    return server?.port
}
