import Glibc
import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)

/// Bodies that end before their length: mostly a server in trouble, seldom a length that was told wrong.
@Suite(.serialized)
struct EarlyEndTests {
    struct Trouble: CustomTestStringConvertible {
        var testDescription: String
        /// Where it begins, in sixteenths of the song.
        var place: Int
        var knowsRanges = true
        var isSizeKnown = false
    }

    /// A server whose disk is away says what it would send, and ends the connection. Who has told the length twice is
    /// never thought to have been wrong, without any patience.
    @Test(arguments: [
        Trouble(testDescription: "in the middle", place: 8, isSizeKnown: true),
        Trouble(testDescription: "near the end", place: 15),
        Trouble(testDescription: "near the end, without ranges", place: 15, knowsRanges: false, isSizeKnown: true),
    ])
    func aServerThatIsAwayForAWhileCutsNoSong(trouble: Trouble) throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = tone.wav
        let place = bytes.count * trouble.place / 16
        let fixture = try PlayerFixture(patienceAtEarlyEnds: .zero) { request in
            let whole = Self.answer(bytes, request, knowsRanges: trouble.knowsRanges)
            guard request.number <= attempts else { return whole }
            let start = trouble.knowsRanges ? request.rangeStart ?? 0 : 0
            return whole.interrupted(after: max(0, place - start), by: .close)
        }
        defer { fixture.stop() }
        let size = trouble.isSizeKnown ? bytes.count : nil
        fixture.player.load(one, fixture.source("a", size: size), at: .zero, paused: false)
        try fixture.wait { if case .ended(one, _) = $0 { true } else if case .failed = $0 { true } else { false } }
        #expect(fixture.story.last == .ended(one, .endOfFile))
        #expect(try fixture.output() == tone.pcm)
    }

    /// Nobody else has told the length, but a while is not always.
    @Test func anEarlyEndIsNotBelievedSoon() throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture { request in
            let whole = Self.answer(bytes, request, knowsRanges: false)
            return request.number <= attempts ? whole.interrupted(after: bytes.count - 20_000, by: .close) : whole
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { if case .ended(one, _) = $0 { true } else { false } }
        #expect(try fixture.output() == tone.pcm)
    }

    /// What is before it comes well meanwhile: nothing of that is thrown away, and it does not hurry the attempts.
    @Test func thePlaceOfASeekIsNoEnd() throws {
        let tone = Tone(441, frames: 700_000)
        let bytes = tone.wav
        let recovery = Mutex<UInt64?>(nil)
        let fixture = try PlayerFixture(patienceAtEarlyEnds: .zero) { request in
            var answer = Self.answer(bytes, request, knowsRanges: true)
            guard let start = request.rangeStart else {
                answer.steps = Self.slowly(bytes)
                return answer
            }
            // The length is told by the first answer only.
            answer.headers.removeAll { $0.name == "Content-Range" }
            answer.headers.append(("Content-Range", "bytes \(start)-\(bytes.count - 1)/*"))
            let isAway = monotonicNow() < Self.due(recovery, after: .milliseconds(2800))
            return isAway ? answer.interrupted(after: 0, by: .close) : answer
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        fixture.player.seek(to: .milliseconds(15_500))
        try fixture.wait { if case .ended(one, _) = $0 { true } else { false } }
        let rest = tone.pcm[(683_550 * 4)...]
        #expect(try fixture.output().suffix(rest.count) == rest)
        #expect(fixture.server.requests.count { $0.rangeStart == nil } == 1)
        #expect(fixture.server.requests.count { $0.rangeStart != nil } <= 5)
    }

    /// What it sends again from the start is there already, and brings nobody further.
    @Test(arguments: [100_044, nil])
    func aServerWithoutRangesIsNotFlooded(next: Int?) throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = tone.wav
        let recovery = Mutex<UInt64?>(nil)
        let fixture = try PlayerFixture { request in
            var whole = Self.answer(bytes, request, knowsRanges: false)
            let due = Self.due(recovery, after: .seconds(2))
            if request.number <= 2 { return whole.interrupted(after: 100_000 * (request.number + 1), by: .close) }
            if monotonicNow() >= due { return whole }
            if let next { return whole.interrupted(after: next, by: .close) }
            // A proxy whose server starts anew.
            whole.stepsBefore = [.close]
            return whole
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.server.requests.count <= 7)
    }

    /// The length was told by one answer only; a long time later that is believed to have been wrong, and the rest lost.
    @Test func aPlaceThatAServerNeverGetsPastIsTheLast() throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture(patienceAtEarlyEnds: .zero) { request in
            Self.answer(bytes, request, knowsRanges: false).interrupted(after: 200_044, by: .close)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed(one, .permanent) = $0 { true } else { false } }
        #expect("\(event)".contains("200044 of \(bytes.count) bytes"))
        #expect(fixture.server.requests.count <= 6)
    }

    /// Where two have told the length, more must be thought to come: the song stands, and what the listener does next goes on.
    @Test func aFileThatIsCutOffForGoodIsNeitherEndedNorPassedOver() throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let bytes = tone.wav
        let fixture = try PlayerFixture(starvationLimit: .milliseconds(700), patienceAtEarlyEnds: .zero) { request in
            let whole = Self.answer(bytes, request, knowsRanges: true)
            guard request.path == "/a" else { return whole }
            return whole.interrupted(after: max(0, 200_044 - (request.rangeStart ?? 0)), by: .close)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        fixture.player.preload(PlaybackID(2), fixture.source("b", size: bytes.count))
        let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
        guard case .failed(_, .transport(let message)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(!message.isEmpty && message != "waiting for the server")
        #expect(tone.pcm.starts(with: try fixture.output()))
        let three = PlaybackID(3)
        fixture.player.load(three, fixture.source("b", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(three, .endOfFile) }
        #expect(try fixture.output().suffix(tone.pcm.count) == tone.pcm[...])
    }

    /// Near the end that is the end; but the file is not taken for a whole one later.
    @Test(arguments: [true, false])
    func theEndIsWhereTheServerAlwaysEndsNearIt(knowsRanges: Bool) throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let folder = try #require(TemporaryFolder())
        let fixture = try PlayerFixture(folder: folder, patienceAtEarlyEnds: .zero) { request in
            let start = knowsRanges ? min(request.rangeStart ?? 0, bytes.count) : 0
            var answer = HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: Array(bytes[start...]))
            if start > 0 {
                answer.status = 206
                answer.headers.append(("Content-Range", "bytes \(start)-\(bytes.count + 9999)/*"))
            }
            answer.contentLength = bytes.count - start + 10_000
            answer.steps.append(.close)
            return answer
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
        #expect(fixture.server.requests.count <= 6)
        fixture.stop()
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a.map", "a.part"])
    }

    /// When the server is well again: so long after the first call.
    private static func due(_ recovery: borrowing Mutex<UInt64?>, after time: Duration) -> UInt64 {
        recovery.withLock { due in
            let known = due ?? monotonicNow().advanced(by: time)
            due = known
            return known
        }
    }

    private static func slowly(_ bytes: [UInt8]) -> [HTTPTestResponse.Step] {
        stride(from: 0, to: bytes.count, by: 66_000).flatMap { start -> [HTTPTestResponse.Step] in
            let pause = HTTPTestResponse.Step.act { TestGate().wait(timeout: 150) }
            return [.bytes(Array(bytes[start..<min(start + 66_000, bytes.count)])), pause]
        }
    }

    private static func answer(_ bytes: [UInt8], _ request: HTTPTestRequest, knowsRanges: Bool) -> HTTPTestResponse {
        knowsRanges
            ? .file(bytes, for: request, type: "audio/wav")
            : HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: bytes)
    }
}

/// So many answers end early until the server is well.
private let attempts = 3
