import CLinux
import Glibc
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Outputs that others hear over the network.
@Suite(.serialized)
struct NetworkOutputTests {
    // MARK: Raw samples over TCP

    private func tcpOutput(_ port: UInt16) throws -> OutputConfiguration {
        let format = try #require(PCMFormat("44100:16:2"))
        return OutputConfiguration(name: "snapcast", kind: .tcp(host: "127.0.0.1", port: port, format: format))
    }

    @Test func sendsSamplesToWhoListens() throws {
        let tone = Tone(441, frames: 10_000)
        let listener = try SampleListener()
        let fixture = try PlayerFixture(outputs: [try tcpOutput(listener.port)]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        #expect(listener.accept())
        try fixture.wait { $0 == .output(index: 0, problem: nil) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(listener.read(tone.pcm.count) == tone.pcm)
    }

    @Test func comesBackToAServerThatWasAway() throws {
        let tone = Tone(441, frames: 20_000)
        var listener: SampleListener? = try SampleListener()
        let port = try #require(listener?.port)
        let fixture = try PlayerFixture(isTimed: true, outputs: [try tcpOutput(port)]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        #expect(listener?.accept() == true)
        listener = nil
        // It is only noticed by one who sends.
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { if case .output(0, .some) = $0 { true } else { false } }
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let again = try SampleListener(port: port)
        #expect(again.accept())
        fixture.player.load(two, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(again.read(tone.pcm.count) == tone.pcm)
    }

    /// A real snapserver, and a client of it that writes what it hears to a file.
    @Test(.enabled(if: RealPeer.snapcast.isWanted, "snapserver or snapclient is not installed"))
    func aSnapclientHearsTheSong() throws {
        let folder = try #require(TemporaryFolder())
        let (source, clients) = (try unusedPort(), try unusedPort())
        let place = "tcp://127.0.0.1:\(source)?name=test&mode=server&sampleformat=48000:16:2"
        let configuration = folder.write(
            "snapserver.conf",
            """
            [server]
            datadir = \(folder.path("state"))
            [http]
            enabled = false
            [tcp]
            enabled = false
            [stream]
            bind_to_address = 127.0.0.1
            port = \(clients)
            source = \(place)
            codec = pcm
            buffer = 400

            """
        )
        _ = unsafe mkdir(folder.path("state"), 0o755)
        let server = try #require(TestProcess(["snapserver", "-c", configuration]))
        // They take their time to end when asked.
        defer { server.send(SIGKILL) }
        let format = try #require(PCMFormat("48000:16:2"))
        let kind = OutputConfiguration.Kind.tcp(host: "127.0.0.1", port: source, format: format)
        let tone = Tone(480, frames: 30 * 48_000, rate: 48_000)
        let output = OutputConfiguration(name: "snapcast", kind: kind)
        let fixture = try PlayerFixture(isTimed: true, outputs: [output]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        try fixture.wait(for: 20) { $0 == .output(index: 0, problem: nil) }
        let heard = folder.path("heard.pcm")
        let words = ["snapclient", "-h", "127.0.0.1", "-p", String(clients), "--hostID", "test"]
        let client = try #require(TestProcess(words + ["--player", "file:filename=\(heard)", "--logsink", "null"]))
        defer { client.send(SIGKILL) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        // Some seconds, of which the first may be silence.
        #expect(poll { CacheFiles.length(of: heard) ?? 0 > 900_000 }, "\(server.output) \(server.errors)")
        let samples = firstChannel(contents(of: heard) ?? [])
        #expect(strength(of: 480, in: samples.suffix(24_000), rate: 48_000) > 0.4)
    }

    // MARK: A stream over HTTP

    private func stream(_ codec: StreamCodec, _ port: UInt16, listeners: Int = 10) throws -> OutputConfiguration {
        let stream = StreamOutput(
            host: "127.0.0.1",
            port: port,
            codec: codec,
            format: try #require(PCMFormat("44100:16:2")),
            bitRate: 128_000,
            maximumListeners: listeners
        )
        return OutputConfiguration(name: "stream", kind: .stream(stream))
    }

    /// Two listeners, of whom the second comes later.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: StreamCodec.allCases)
    func listenersHearTheSong(codec: StreamCodec) throws {
        let folder = try #require(TemporaryFolder())
        let port = try unusedPort()
        let tone = Tone(441, frames: 30 * 44_100)
        let fixture = try PlayerFixture(isTimed: true, outputs: [try stream(codec, port)]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        try fixture.wait { $0 == .output(index: 0, problem: nil) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        let listening =
            "ffmpeg -v error -y -analyzeduration 300000 -i http://127.0.0.1:\(port)/mpd -t 1 -ar 44100 -f s16le"
        let both = "\(listening) \(folder.path("one")) & sleep 0.4; \(listening) \(folder.path("two")); wait"
        let result = TestProcess.run(["sh", "-c", both])
        #expect(result?.end == .exited(0), "\(result?.errors ?? "")")
        for name in ["one", "two"] {
            let samples = firstChannel(contents(of: folder.path(name)) ?? [])
            #expect(samples.count > 40_000, "\(name)")
            #expect(strength(of: 441, in: samples.suffix(22_050)) > 0.4, "\(name)")
        }
    }

    /// A player as people have it.
    @Test(.enabled(if: RealPeer.ffplay.isWanted, "ffplay is not installed"), arguments: [StreamCodec.wave, .opus])
    func ffplayPlaysTheStream(codec: StreamCodec) throws {
        let port = try unusedPort()
        let tone = Tone(441, frames: 30 * 44_100)
        let fixture = try PlayerFixture(isTimed: true, outputs: [try stream(codec, port)]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        try fixture.wait { $0 == .output(index: 0, problem: nil) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        let words = ["ffplay", "-nodisp", "-autoexit", "http://127.0.0.1:\(port)/mpd"]
        let player = try #require(TestProcess(words, environment: ["SDL_AUDIODRIVER": "dummy"]))
        defer { player.stop() }
        // Its clock, which it writes again and again, runs from the first sound on.
        func clock() -> Double {
            let lines = player.errors.split { $0.isNewline }.filter { $0.contains("M-A:") }
            return lines.last?.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        let first = poll { clock() > 0 } ? clock() : 0
        #expect(first > 0 && poll { clock() > first + 0.5 }, "\(player.errors)")
        #expect(player.isRunning)
    }

    @Test func answersWhoAsksForSomethingElse() throws {
        let port = try unusedPort()
        let fixture = try PlayerFixture(outputs: [try stream(.wave, port, listeners: 1)]) { _ in HTTPTestResponse() }
        defer { fixture.stop() }
        try fixture.wait { $0 == .output(index: 0, problem: nil) }
        func ask(_ request: String) throws -> (String, Int32) {
            let peer = try Socket.connect(to: "127.0.0.1", port: port, timeout: .seconds(5)).get()
            // In pieces, as a slow line has it.
            for byte in request.utf8 { _ = Socket.send([byte], to: peer) }
            var answer: [UInt8] = []
            #expect(
                poll {
                    if let bytes = Socket.receive(from: peer, limit: 4096) { answer += bytes }
                    return String(decoding: answer, as: UTF8.self).contains("\r\n\r\n")
                }
            )
            return (String(decoding: answer, as: UTF8.self), peer)
        }
        let (head, first) = try ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\n"))
        let (refusal, second) = try ask("DELETE / HTTP/1.1\r\n\r\n")
        #expect(refusal.hasPrefix("HTTP/1.1 405 "))
        let (stream, third) = try ask("GET /x HTTP/1.0\n\n")
        #expect(stream.contains("\r\n\r\nRIFF"))
        let (full, fourth) = try ask("GET / HTTP/1.0\r\n\r\n")
        #expect(full.hasPrefix("HTTP/1.1 503 "))
        for peer in [first, second, third, fourth] { Socket.close(peer) }
        // The place is free again.
        #expect(
            poll {
                let (again, peer) = (try? ask("GET / HTTP/1.0\r\n\r\n")) ?? ("", -1)
                Socket.close(peer)
                return again.hasPrefix("HTTP/1.1 200 ")
            }
        )
    }

    @Test func tellsThatThePortIsTaken() throws {
        let taken = try SampleListener()
        let output = try stream(.wave, taken.port)
        let fixture = try PlayerFixture(outputs: [output]) { _ in HTTPTestResponse() }
        defer { fixture.stop() }
        let event = try fixture.wait { if case .output(0, .some) = $0 { true } else { false } }
        #expect("\(event)".contains("cannot listen at port \(taken.port)"))
    }
}
