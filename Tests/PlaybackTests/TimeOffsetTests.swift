import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Songs that the server makes when they are asked for, and can make from a second on.
@Suite(.serialized)
struct TimeOffsetTests {
    private static let rate = 8000
    private static let first = Tone(441, frames: 30 * rate, rate: rate, channels: 1)
    private static let second = Tone(882, frames: 30 * rate, rate: rate, channels: 1)
    private static let samples = first.samples + second.samples

    /// The song from a second on, as who makes it on the way writes it: without its length.
    private static func file(from second: Int) -> [UInt8] {
        var tone = first
        tone.samples = Array(samples[(second * rate)...])
        var bytes = tone.wav
        for place in Array(4..<8) + Array(40..<44) { bytes[place] = 0xFF }
        return bytes
    }

    private static func second(of request: HTTPTestRequest) -> Int {
        let offset = request.query.split(separator: "&").first { $0.hasPrefix("timeOffset=") }
        return offset.flatMap { Int($0.dropFirst(11)) } ?? 0
    }

    /// - Parameter gate: what the first answer waits for after half of the song; else it comes at once.
    private func fixture(
        isTimed: Bool = false,
        outputs: [OutputConfiguration]? = nil,
        files: [Int: [UInt8]] = [:],
        gate: GateBox? = nil
    ) throws -> PlayerFixture {
        let fixture = try PlayerFixture(isTimed: isTimed, outputs: outputs, format: "8000:16:1") { request in
            let second = Self.second(of: request)
            let bytes = files[second] ?? Self.file(from: second)
            var response = HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: bytes)
            if let gate, request.number == 1 {
                response = response.interrupted(after: bytes.count / 2, by: .wait(gate.gate))
            }
            response.framing = .chunked
            return response
        }
        gate?.set(fixture.server)
        return fixture
    }

    private func source(_ fixture: PlayerFixture) -> AudioSource {
        var source = fixture.source("a", duration: .seconds(60))
        source.isTranscoded = true
        let url = fixture.server.url
        source.requestFromSecond = { HTTPRequest(url: "\(url)/a?timeOffset=\($0)") }
        return source
    }

    private func offsets(_ fixture: PlayerFixture) -> [Int] { fixture.server.requests.map(Self.second) }

    @Test func asksForASongFromTheSecondOnWhereItBegins() throws {
        let fixture = try fixture()
        defer { fixture.stop() }
        var source = source(fixture)
        source.end = .seconds(50)
        fixture.player.load(one, source, at: .milliseconds(40_500), paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(offsets(fixture) == [40])
        let heard = firstChannel(try fixture.output(), channels: 1)
        #expect(heard[...] == Self.samples[(40 * Self.rate + Self.rate / 2)..<(50 * Self.rate)])
        for case .position(_, let position) in fixture.events {
            #expect(position.elapsed >= .milliseconds(40_500) && position.elapsed <= .seconds(50))
        }
        #expect(
            !fixture.events.contains { if case .duration(_, let length) = $0 { length != .seconds(60) } else { false } }
        )
    }

    /// With a device libmpv seeks by itself, unless the bytes are none of those at hand.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: [true, false])
    func seeksForthAndBack(hasTap: Bool) throws {
        let null = [OutputConfiguration(name: "null", kind: .null)]
        let folder = try #require(TemporaryFolder())
        var files: [Int: [UInt8]] = [:]
        for second in [0, 40, 59] {
            var tone = Self.first
            tone.samples = Array(Self.samples[(second * Self.rate)...])
            files[second] = try tone.encoded("mp3", in: folder)
        }
        let fixture = try fixture(isTimed: true, outputs: hasTap ? nil : null, files: files, gate: GateBox())
        defer { fixture.stop() }
        fixture.player.load(one, source(fixture), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        func expectPosition(_ wanted: Duration) throws {
            try fixture.wait {
                guard case .position(_, let position) = $0, position.advances else { return false }
                return wanted...(wanted + .seconds(1)) ~= position.elapsed
            }
        }
        // Half of it is there: the server is asked for the place itself, and what follows it comes by then.
        fixture.player.seek(to: .seconds(40))
        try expectPosition(.seconds(40))
        fixture.player.seek(to: .seconds(43))
        try expectPosition(.seconds(43))
        fixture.player.seek(to: .seconds(2))
        try expectPosition(.seconds(2))
        fixture.player.seek(to: .milliseconds(59_500))
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(fixture.story == [.started(one), .ended(one, .endOfFile)])
        let offsets = offsets(fixture)
        #expect(offsets.first == 0 && offsets.contains(40) && !offsets.contains(43), "\(offsets)")
    }
}
