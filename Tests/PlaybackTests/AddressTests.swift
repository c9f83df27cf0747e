import SubsonicKit
import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// A server with two addresses, while a song plays.
@Suite(.serialized)
struct AddressTests {
    @Test("The song goes on from the other address, and the next one from the first again; no sample is lost")
    func songGoesOn() throws {
        let tones = [Tone(441, frames: 60_000), Tone(882, frames: 60_000)]
        let box = Mutex<[CuttingProxy]>([])
        let cuts = Mutex<Set<String>>([])
        let fixture = try PlayerFixture { request in
            let id = request.parameter("id") ?? ""
            let file = HTTPTestResponse.file(tones[id == "b" ? 1 : 0].wav, for: request, type: "audio/wav")
            guard cuts.withLock({ $0.insert(id).inserted }) else { return file }
            return file.interrupted(
                after: 100_000,
                by: .act {
                    let lines = box.withLock { $0 }
                    // During the first song the first address goes, during the second one it is back and the other goes.
                    lines[id == "b" ? 1 : 0].die()
                    if id == "a" { return }
                    lines[0].revive()
                }
            )
        }
        defer { fixture.stop() }
        let lines = try (0..<2).map { _ in try #require(CuttingProxy(to: fixture.server.port)) }
        defer { for line in lines { line.stop() } }
        box.withLock { $0 = lines }
        var server = SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL(lines[0].url),
            credentials: Credentials(user: "me", password: "sesame")
        )
        server.alternatives = [try ServerURL(lines[1].url)]
        let client = SubsonicClient(server, transport: fixture.transport)
        let sources = ["a", "b"].map { id in
            AudioSource(cacheKey: id, size: Int64(tones[0].wav.count)) { start in
                client.streamRequest(songID: id, rangeStart: start)
            }
        }
        fixture.player.load(one, sources[0], at: .zero, paused: false)
        fixture.player.preload(two, sources[1])
        try fixture.wait(for: 30) { $0 == .ended(two, .endOfFile) }
        let heard = try fixture.output()
        #expect(heard == tones[0].pcm + tones[1].pcm)
        #expect(client.streamRequest(songID: "a").url.hasPrefix(lines[0].url))
        #expect(cuts.withLock { $0 } == ["a", "b"])
    }
}
