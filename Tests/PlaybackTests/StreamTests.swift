import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)
private let three = PlaybackID(3)

/// Remote streams, which libmpv fetches itself: what is heard of them, what they tell, and how they fail.
@Suite(.serialized)
struct StreamTests {
    private static let tone = Tone(440, frames: 30_000)

    private static func source(_ fixture: PlayerFixture, _ path: String) throws -> AudioSource {
        AudioSource(stream: try #require(StreamAddress("\(fixture.server.url)/\(path)".utf8)))
    }

    private static func isStarving(_ event: PlayerEvent, _ text: String) -> Bool {
        if case .starving(_, let message) = event { message.contains(text) } else { false }
    }

    // MARK: Finite streams

    @Test func playsAFileOfTheNetworkToItsEnd() throws {
        let fixture = try PlayerFixture { .file(Self.tone.wav, for: $0, type: "audio/wav") }
        defer { fixture.stop() }
        // Held until all is told: faster than real time it may be over before.
        fixture.player.load(one, try Self.source(fixture, "a.wav?token=s3cret"), at: .zero, paused: true)
        try fixture.wait { $0 == .seekable(one, true) }
        try fixture.wait { $0 == .duration(one, .milliseconds(680)) }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Self.tone.pcm)
        #expect(fixture.server.requests.first?.value(of: "user-agent") == "ShelvMPD/0.1")
    }

    /// Speech is often sent without a length. It is over at its end, and not begun again.
    @Test func whatHasNoLengthEndsToo() throws {
        let fixture = try PlayerFixture { _ in
            var response = HTTPTestResponse(headers: [("Content-Type", "audio/wav")], body: Self.tone.wav)
            response.framing = .chunked
            return response
        }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Self.tone.pcm)
        #expect(fixture.events.contains(.seekable(one, false)))
        #expect(fixture.server.requests.count == 1)
    }

    @Test func followsASongWithoutAGap() throws {
        let whole = Tone(440, frames: 90_000)
        let parts = [0, 30_000, 60_000].map { Tone(440, frames: 30_000, offset: $0) }
        let fixture = try PlayerFixture { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return .file(parts[number % 3].wav, for: request, type: "audio/wav")
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("0", size: parts[0].wav.count), at: .zero, paused: true)
        fixture.player.preload(two, try Self.source(fixture, "1"))
        try fixture.wait { $0 == .started(one) }
        fixture.player.pause(false)
        try fixture.wait { $0 == .audible(two) }
        fixture.player.preload(three, fixture.source("2", size: parts[2].wav.count))
        try fixture.wait { $0 == .ended(three, .endOfFile) || $0 == .ended(two, .endOfFile) }
        let output = try fixture.output()
        #expect(output.starts(with: whole.pcm[..<(60_000 * 4)]))
    }

    @Test func beginsAtAPlaceWhereThatCanBe() throws {
        let fixture = try PlayerFixture { .file(Self.tone.wav, for: $0, type: "audio/wav") }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "a.wav"), at: .milliseconds(500), paused: true)
        try fixture.wait { $0 == .started(one) }
        try fixture.wait { event in
            if case .position(one, let position) = event { position.elapsed == .milliseconds(500) } else { false }
        }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output().suffix(4 * 7_950).elementsEqual(Self.tone.pcm.suffix(4 * 7_950)))
    }

    // MARK: Radio

    /// Sends a tone with a title between its pieces, then waits.
    private static func radio(
        _ request: HTTPTestRequest,
        titles: [String],
        then gate: TestGate?
    ) -> HTTPTestResponse {
        let interval = 16_000
        // Enough to be recognized, and to be heard for a while.
        let titles = titles + Array(repeating: "", count: 60)
        let sound = Tone(440, frames: interval / 4 * (titles.count + 1)).wav
        var body: [UInt8] = []
        for (number, title) in titles.enumerated() {
            body += sound[(number * interval)..<((number + 1) * interval)]
            var text = title.isEmpty ? [] : Array("StreamTitle='\(title)';".utf8)
            while text.count % 16 > 0 { text.append(0) }
            body += [UInt8(text.count / 16)] + text
        }
        var response = HTTPTestResponse(
            headers: [
                ("Content-Type", "audio/wav"), ("icy-name", "Test Radio"), ("icy-metaint", "\(interval)"),
                ("icy-genre", "Noise"),
            ],
            body: body
        )
        response.framing = .untilClose
        if let gate { response.steps.append(.wait(gate)) }
        return response
    }

    @Test func aRadioTellsItsNameAndTitles() throws {
        let gates = Mutex<TestGate?>(nil)
        let fixture = try PlayerFixture { request in
            #expect(request.value(of: "icy-metadata") == "1")
            return Self.radio(request, titles: ["", "C’est ça"], then: gates.withLock { $0 })
        }
        defer { fixture.stop() }
        gates.withLock { $0 = fixture.server.makeGate() }
        fixture.player.load(one, try Self.source(fixture, "radio"), at: .zero, paused: false)
        try fixture.wait { event in
            if case .tags(one, let tags) = event { tags.contains(StreamTag("icy-title", "C’est ça")) } else { false }
        }
        let told = fixture.events.compactMap { event -> [StreamTag]? in
            if case .tags(one, let tags) = event { tags } else { nil }
        }
        #expect(told.allSatisfy { $0.contains(StreamTag("icy-name", "Test Radio")) })
        #expect(fixture.events.contains(.seekable(one, false)))
        #expect(!fixture.events.contains { if case .duration = $0 { true } else { false } })
        // Moving is not possible, and harms nothing.
        fixture.player.seek(to: .seconds(30))
        fixture.player.stop()
        try fixture.wait { $0 == .ended(one, .stopped) }
    }

    @Test func aRadioThatIsCutIsOpenedAgain() throws {
        let gates = Mutex<TestGate?>(nil)
        let fixture = try PlayerFixture { request in
            // An hour later somebody has restarted it, and first it is not there.
            switch request.number {
            case 1: Self.radio(request, titles: ["first", "", ""], then: nil)
            case 2, 3: HTTPTestResponse(status: 404)
            default: Self.radio(request, titles: ["second", "", ""], then: gates.withLock { $0 })
            }
        }
        defer { fixture.stop() }
        gates.withLock { $0 = fixture.server.makeGate() }
        fixture.player.load(one, try Self.source(fixture, "radio"), at: .zero, paused: false)
        fixture.player.preload(two, try Self.source(fixture, "never"))
        try fixture.wait { Self.isStarving($0, "the stream was cut") }
        try fixture.wait { Self.isStarving($0, "status 404") }
        try fixture.wait { $0 == .recovered(one) }
        try fixture.wait { event in
            if case .tags(one, let tags) = event { tags.contains(StreamTag("icy-title", "second")) } else { false }
        }
        #expect(!fixture.server.requests.contains { $0.path == "/never" })
        #expect(!fixture.events.contains { if case .ended = $0 { true } else { false } })
        // The time that it has been heard goes on.
        let positions = fixture.events.compactMap { event -> Duration? in
            if case .position(one, let position) = event { position.elapsed } else { nil }
        }
        #expect(positions == positions.sorted())
    }

    // MARK: Failures

    @Test(arguments: [404, 410, 401])
    func aRefusalIsFinal(_ status: Int) throws {
        let fixture = try PlayerFixture { _ in HTTPTestResponse(status: status) }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "a?token=s3cret"), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed = $0 { true } else { false } }
        guard case .failed(one, .permanent(let message)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(message.contains("status \(status)") && !message.contains("s3cret"))
    }

    @Test func whatIsNoSoundIsNotPlayed() throws {
        let fixture = try PlayerFixture { _ in .html("<html>Please log in</html>") }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "a"), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed = $0 { true } else { false } }
        guard case .failed(one, .permanent(let message)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(message.contains("can't be played"))
    }

    @Test func whatCannotBeReachedIsTriedAgain() throws {
        let fixture = try PlayerFixture { request in
            // Each attempt asks twice: libmpv, and who wants to know why it failed.
            request.number <= 2
                ? HTTPTestResponse(status: 503) : .file(Self.tone.wav, for: request, type: "audio/wav")
        }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "a.wav"), at: .zero, paused: false)
        try fixture.wait { Self.isStarving($0, "status 503") }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Self.tone.pcm)
        #expect(fixture.events.contains(.recovered(one)))
    }

    @Test func aRefusedConnectionIsTroubleOnly() throws {
        let fixture = try PlayerFixture { _ in HTTPTestResponse() }
        defer { fixture.stop() }
        let closed = try #require(HTTPTestServer { _ in HTTPTestResponse() })
        closed.stop()
        let address = try #require(StreamAddress("\(closed.url)/a".utf8))
        fixture.player.load(one, AudioSource(stream: address), at: .zero, paused: false)
        try fixture.wait { Self.isStarving($0, "connecting failed") }
        fixture.player.stop()
        try fixture.wait { $0 == .ended(one, .stopped) }
        #expect(!fixture.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test(arguments: [
        ("stream: Failed to open http://u:pw@h/a?token=x.", "stream: Failed to open http://h/a"),
        ("ffmpeg: 'https://u@h/a' and rtsp://h", "ffmpeg: 'https://h/a' and rtsp://h"),
        ("no address: ?", "no address: ?"),
    ])
    func logLinesKeepSecrets(_ line: String, _ shown: String) {
        #expect(StreamAddress.withoutSecrets(line) == shown)
    }

    // MARK: Playlists

    /// Each path has a text or the tone.
    private static func playlists(_ texts: [String: String]) throws -> PlayerFixture {
        try PlayerFixture { request in
            if let text = texts[request.path] {
                return HTTPTestResponse(headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
            }
            guard request.path.hasSuffix(".wav") else { return HTTPTestResponse(status: 404) }
            let part = Tone(440, frames: 15_000, offset: request.path.hasSuffix("2.wav") ? 15_000 : 0)
            return .file(part.wav, for: request, type: "audio/wav")
        }
    }

    @Test(
        arguments: [
            "/list.m3u", "/list.pls", "/list.xspf", "/list.asx", "/hidden?what=x",
        ]
    )
    func playsTheRowsOfAPlaylist(_ path: String) throws {
        let fixture = try Self.playlists([
            "/list.m3u": "#EXTM3U\n#EXTINF:1,x\nsub/1.wav\nfile:///etc/passwd\n/2.wav\n",
            "/list.pls": "[playlist]\nFile1=gone\nFile2=1.wav\nFile3=2.wav\n",
            "/list.xspf":
                "<?xml version=\"1.0\"?><playlist><trackList><track><location>1.wav</location></track><track><location>2.wav</location></track></trackList></playlist>",
            "/list.asx": "<asx><entry><ref href=\"1.wav\"/></entry><entry><ref href=\"2.wav\"/></entry></asx>",
            "/hidden": "#EXTM3U\nlist.m3u\n",
        ])
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, String(path.dropFirst())), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == Self.tone.pcm)
        #expect(fixture.story.filter { $0 == .started(one) }.count == 1)
    }

    @Test func aPlaylistMayBeNext() throws {
        let fixture = try Self.playlists(["/list.m3u": "2.wav\n"])
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "1.wav"), at: .zero, paused: true)
        fixture.player.preload(two, try Self.source(fixture, "list.m3u"))
        try fixture.wait { $0 == .started(one) }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == Self.tone.pcm)
    }

    @Test(arguments: [
        ("/loop.m3u", "#EXTM3U\nloop.m3u\n", "without an end"), ("/empty.m3u", "#EXTM3U\n", "names nothing"),
    ])
    func playlistsThatLeadNowhere(_ path: String, _ text: String, _ wanted: String) throws {
        let fixture = try Self.playlists([path: text])
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, String(path.dropFirst())), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed = $0 { true } else { false } }
        guard case .failed(one, .permanent(let message)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(message.contains(wanted))
    }

    // MARK: HLS

    @Test(.enabled(if: RealPeer.ffmpeg.isWanted))
    func playsHLS() throws {
        let folder = try #require(TemporaryFolder())
        let piece = try Tone(440, frames: 44_100).encoded("aac", in: folder)
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\npiece.aac\n#EXTINF:1,\npiece.aac\n#EXT-X-ENDLIST\n"
        let fixture = try PlayerFixture { request in
            request.path == "/piece.aac"
                ? .file(piece, for: request, type: "audio/aac")
                : HTTPTestResponse(headers: [("Content-Type", "application/vnd.apple.mpegurl")], body: Array(text.utf8))
        }
        defer { fixture.stop() }
        fixture.player.load(one, try Self.source(fixture, "live.m3u8"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output().count > 80_000 * 4)
        #expect(fixture.server.requests.contains { $0.path == "/piece.aac" })
    }

    /// What comes from the network must not reach a file of this machine.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted))
    func hlsReachesNoLocalFile() throws {
        let folder = try #require(TemporaryFolder())
        let piece = try Tone(440, frames: 44_100).encoded("aac", in: folder)
        let local = folder.write("piece.aac", piece)
        let fixture = try PlayerFixture { request in
            let place = request.path == "/plain.m3u8" ? local : "file://\(local)"
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n\(place)\n#EXT-X-ENDLIST\n"
            return HTTPTestResponse(headers: [("Content-Type", "audio/x-mpegurl")], body: Array(text.utf8))
        }
        defer { fixture.stop() }
        for (id, path) in [(one, "file.m3u8"), (two, "plain.m3u8")] {
            fixture.player.load(id, try Self.source(fixture, path), at: .zero, paused: false)
            try fixture.wait { event in
                if case .failed(id, .permanent) = event { true } else { event == .ended(id, .endOfFile) }
            }
        }
        #expect(!fixture.events.contains(.started(one)) && !fixture.events.contains(.started(two)))
    }
}
