import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Answers that may be meant for one song, or say that the server is in trouble: what else it says of itself tells.
@Suite(.serialized)
struct DenialTests {
    /// A kind of such answers.
    struct Denial: Sendable {
        var name: String
        var response: HTTPTestResponse

        init(_ name: String, _ response: HTTPTestResponse) {
            self.name = name
            self.response = response
        }

        static func status(_ status: Int) -> Denial { Denial("HTTP \(status)", HTTPTestResponse(status: status)) }
    }

    private static let errorZero = Denial(
        "error 0",
        .json(#"{"subsonic-response":{"status":"failed","error":{"code":0,"message":"cannot start ffmpeg"}}}"#)
    )
    private static let empty = Denial("empty", HTTPTestResponse(headers: [("Content-Type", "audio/mpeg")]))
    private static let emptyPieces: Denial = {
        var response = HTTPTestResponse(headers: [("Content-Type", "audio/mpeg")])
        response.framing = .chunked
        return Denial("empty, of untold length", response)
    }()
    private static let page = Denial("a page", .html("<!DOCTYPE html><html><title>Oops</title></html>"))
    private static let vague = [errorZero, empty, emptyPieces, page]
    private static let denials = vague + [403, 404, 410, 451, 402, 421].map(Denial.status)

    /// Several at the same time: they mostly wait. Returns what was wrong.
    private static func failures(_ denials: [Denial], _ run: @escaping @Sendable (Denial) throws -> String?) -> [String]
    {
        TestThread.concurrently(denials.count, threads: 5) { index -> String? in
            do {
                return try run(denials[index]).map { "\(denials[index].name): \($0)" }
            } catch {
                return "\(denials[index].name): \(error)"
            }
        }.compactMap { $0 }
    }

    private static func fixture(_ tone: Tone, _ denial: Denial, times: Int, patience: Duration = .seconds(15)) throws
        -> PlayerFixture
    {
        let bytes = tone.wav
        return try PlayerFixture(patienceWhenFailing: patience) { request in
            request.number <= times ? denial.response : .file(bytes, for: request, type: "audio/wav")
        }
    }

    private static func playsToItsEnd(
        _ denial: Denial,
        times: Int,
        patience: Duration = .seconds(15),
        health: ServerHealth
    ) throws -> String? {
        let tone = Tone(441, frames: 10_000)
        let fixture = try fixture(tone, denial, times: times, patience: patience)
        defer { fixture.stop() }
        var source = fixture.source("a", size: tone.wav.count)
        source.serverHealth = { health }
        fixture.player.load(one, source, at: .zero, paused: false)
        try fixture.wait(for: 30) {
            if case .ended(one, _) = $0 { true } else if case .failed = $0 { true } else { false }
        }
        guard fixture.story.last == .ended(one, .endOfFile) else { return "\(fixture.story)" }
        return try fixture.output() == tone.pcm ? nil : "other samples"
    }

    /// A server that is started anew, or whose transcoder cannot be, is well again after some seconds.
    @Test func aBadMomentLosesNoSong() {
        #expect(Self.failures(Self.denials) { try Self.playsToItsEnd($0, times: 4, health: .well) } == [])
    }

    /// A proxy whose server is away says many things, and to everybody.
    @Test func aServerThatIsNotWellIsWaitedFor() {
        let failures = Self.failures(Self.denials) {
            try Self.playsToItsEnd($0, times: 4, patience: .zero, health: .failing)
        }
        #expect(failures == [])
    }

    /// More attempts bring nothing where all is well but this song.
    @Test func aSongThatAloneIsDeniedIsPassedOver() {
        let failures = Self.failures(Self.denials) { denial in
            let fixture = try Self.fixture(Tone(441, frames: 100), denial, times: .max, patience: .zero)
            defer { fixture.stop() }
            var source = fixture.source("a", size: 1000)
            source.serverHealth = { .well }
            fixture.player.load(one, source, at: .zero, paused: false)
            let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
            if case .failed(_, .permanent) = event { return nil }
            return "\(event)"
        }
        #expect(failures == [])
    }

    /// Who is let in nowhere is told so soon, whatever is said of the song.
    @Test func whoIsLetInNowhereIsToldSo() {
        let failures = Self.failures([403, 404, 451].map(Denial.status)) { denial in
            let fixture = try Self.fixture(Tone(441, frames: 100), denial, times: .max)
            defer { fixture.stop() }
            var source = fixture.source("a", size: 1000)
            source.serverHealth = { .refuses("Wrong username or password") }
            fixture.player.load(one, source, at: .zero, paused: false)
            let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
            guard case .failed(_, .transport(let message)) = event else { return "\(event)" }
            guard message == "the server refuses access: Wrong username or password" else { return message }
            return fixture.server.requests.count <= 3 ? nil : "\(fixture.server.requests.count) requests"
        }
        #expect(failures == [])
    }

    /// Some servers have a status for their errors, too: the document says more.
    @Test(arguments: [(404, 70, true), (401, 40, false), (403, 50, false), (400, 70, true)])
    func aDocumentSaysMoreThanItsStatus(status: Int, code: Int, isPermanent: Bool) throws {
        let text = #"{"subsonic-response":{"status":"failed","error":{"code":\#(code),"message":"No"}}}"#
        let fixture = try PlayerFixture { _ in .json(text, status: status) }
        defer { fixture.stop() }
        var source = fixture.source("a", size: 1000)
        source.serverHealth = { .well }
        fixture.player.load(one, source, at: .zero, paused: false)
        let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
        guard case .failed(_, let failure) = event else { return }
        #expect(failure.message.contains("error \(code): No"))
        if case .permanent = failure { #expect(isPermanent) } else { #expect(!isPermanent) }
        #expect(fixture.server.requests.count == 1)
    }

    /// What was denied while the song before it played may be well at its turn.
    @Test func aSongThatWasDeniedBeforehandIsAskedForAtItsTurn() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let denials = Mutex((isOn: true, count: 0))
        let fixture = try PlayerFixture(isTimed: true, patienceWhenFailing: .zero) { request in
            let isDenied = denials.withLock { denials in
                guard request.path == "/b", denials.isOn else { return false }
                denials.count += 1
                return true
            }
            return isDenied ? HTTPTestResponse(status: 500) : .file(bytes, for: request)
        }
        defer { fixture.stop() }
        var next = fixture.source("b", size: bytes.count)
        next.serverHealth = { .well }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        fixture.player.preload(two, next)
        // It was given up by then.
        #expect(poll { denials.withLock { $0.count } >= 2 })
        denials.withLock { $0.isOn = false }
        try fixture.wait { if case .ended(two, _) = $0 { true } else if case .failed = $0 { true } else { false } }
        #expect(fixture.story == [.started(one), .audible(two), .ended(two, .endOfFile)])
    }
}
