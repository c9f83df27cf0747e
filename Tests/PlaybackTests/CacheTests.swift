import Glibc
import Logging
import SubsonicKit
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// The files in the cache, and what is asked of the server because of them.
@Suite(.serialized)
struct CacheTests {
    @Test func playsACachedSongWithoutTheServer() throws {
        let tone = Tone(441, frames: 20_000)
        let folder = try #require(TemporaryFolder())
        let size = tone.wav.count
        let first = try PlayerFixture(folder: folder) { .file(tone.wav, for: $0) }
        first.player.load(one, first.source("a/b.c", size: size), at: .zero, paused: false)
        try first.wait { $0 == .ended(one, .endOfFile) }
        first.stop()
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a%2fb%2ec+\(size).audio"])
        let second = try PlayerFixture(folder: folder) { _ in HTTPTestResponse(status: 404) }
        defer { second.stop() }
        second.player.load(two, second.source("a/b.c", size: size), at: .zero, paused: false)
        try second.wait { $0 == .ended(two, .endOfFile) }
        #expect(try second.output() == tone.pcm)
        #expect(second.server.requests.isEmpty)
    }

    @Test func goesOnWithAPartialFileAfterARestart() throws {
        let tone = Tone(441, frames: 3 * 44_100)
        let bytes = tone.wav
        let folder = try #require(TemporaryFolder())
        let gates = GateBox()
        let first = try PlayerFixture(folder: folder) { request in
            .file(bytes, for: request).interrupted(after: 200_000, by: .wait(gates.gate))
        }
        gates.set(first.server)
        first.player.load(one, first.source("a", size: bytes.count), at: .zero, paused: false)
        try first.wait { if case .starving = $0 { true } else { false } }
        first.player.stop()
        first.stop()
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a+\(bytes.count).map", "a+\(bytes.count).part"])
        let second = try PlayerFixture(folder: folder) { .file(bytes, for: $0) }
        defer { second.stop() }
        second.player.load(two, second.source("a", size: bytes.count), at: .zero, paused: false)
        try second.wait { $0 == .ended(two, .endOfFile) }
        #expect(try second.output() == tone.pcm)
        #expect(second.server.requests.map(\.rangeStart) == [200_000])
    }

    /// Where a decoder wants the end of a file before its middle, it gets that without the middle.
    @Test(.enabled(if: RealPeer.ffmpeg.isWanted), arguments: ["m4a", "ogg", "opus"])
    func readsTheEndOfAFileBeforeItsMiddle(suffix: String) throws {
        let folder = try #require(TemporaryFolder())
        let bytes = try Tone.noise(suffix, suffix == "m4a" ? ["-c:a", "alac"] : ["-b:a", "200k"], in: folder)
        let gates = GateBox()
        // The middle comes only when the song has been heard to begin.
        let fixture = try PlayerFixture(isTimed: true, folder: folder) { request in
            let answer = HTTPTestResponse.file(bytes, for: request)
            return request.rangeStart == nil ? answer.interrupted(after: 700_000, by: .wait(gates.gate)) : answer
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        gates.gate.open()
        let starts = fixture.server.requests.map { $0.rangeStart ?? 0 }
        #expect(starts.first == 0 && starts.contains { $0 > bytes.count / 2 }, "\(starts) of \(bytes.count)")
    }

    @Test func seeksAheadWithoutWaitingForWhatIsBetween() throws {
        let tone = Tone(441, frames: 30 * 44_100)
        let bytes = tone.wav
        let gates = GateBox()
        let fixture = try PlayerFixture { request in
            let answer = HTTPTestResponse.file(bytes, for: request)
            return request.rangeStart == nil ? answer.interrupted(after: 300_000, by: .wait(gates.gate)) : answer
        }
        gates.set(fixture.server)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: bytes.count), at: .seconds(29), paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm.suffix(44_100 * 4))
    }

    @Test func letsGoOfAFileThatNobodyPlays() throws {
        let folder = try #require(TemporaryFolder())
        let server = try #require(HTTPTestServer { .file([UInt8](repeating: 7, count: 200_000), for: $0) })
        defer { server.stop() }
        let transport = try CurlTransport()
        let cache = try AudioCache(directory: folder.path("cache"), transport: transport, log: .silent)
        let url = server.url
        let source = AudioSource(cacheKey: "a") { HTTPRequest(url: "\(url)/a", rangeStart: $0) }
        weak var remembered: SparseFile?
        let gate = TestGate()
        do {
            let song = try cache.open(source, for: one, isEager: true) { if $0 == .complete { gate.open() } }
            remembered = song.file
            #expect(gate.wait(timeout: 10_000))
            cache.close(song, for: one)
        }
        transport.shutdown()
        cache.shutdown()
        #expect(remembered == nil)
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a.audio"])
    }

    @Test func namesAreSafeAndDistinct() {
        #expect(CacheFiles.name(key: "server/tr-1", size: 5) == "server%2ftr-1+5")
        #expect(CacheFiles.name(key: "../../etc/passwd", size: nil) == "%2e%2e%2f%2e%2e%2fetc%2fpasswd")
        #expect(CacheFiles.name(key: "", size: 1) == "+1")
        let long = String(repeating: "x", count: 1000)
        let names = [long, long + "a", long + "b"].map { CacheFiles.name(key: $0, size: 9) }
        #expect(Set(names).count == 3 && names.allSatisfy { $0.utf8.count < 200 })
    }

    @Test func readsBackItsMaps() {
        var map = CacheFiles.Map()
        map.intervals = IntervalSet([0..<5, 9..<12])
        map.total = 100
        map.isTotalCertain = true
        map.validators = FileValidators(entityTag: "\"a b\"", lastModified: "Mon, 30 Nov 2026 15:00:00 GMT")
        let text = CacheFiles.text(of: map)
        #expect(CacheFiles.map(from: text) == map)
        for end in text.indices { #expect(CacheFiles.map(from: String(text[..<end])) == nil) }
        #expect(CacheFiles.map(from: text.replacing("have 9", with: "have 99")) == nil)
    }
}

struct IntervalSetTests {
    @Test func mergesWhatTouches() {
        var set = IntervalSet()
        set.insert(10..<20)
        set.insert(30..<40)
        set.insert(5..<5)
        #expect(set.ranges == [10..<20, 30..<40])
        set.insert(20..<30)
        #expect(set.ranges == [10..<40])
        set.insert(0..<5)
        set.insert(50..<60)
        set.insert(3..<55)
        #expect(set.ranges == [0..<60])
    }

    @Test func findsHoles() {
        let set = IntervalSet([10..<20, 30..<40])
        #expect(set.end(from: 10) == 20 && set.end(from: 19) == 20 && set.end(from: 20) == 20 && set.end(from: 0) == 0)
        #expect(set.hole(from: 0, limit: 50) == 0..<10)
        #expect(set.hole(from: 15, limit: 50) == 20..<30)
        #expect(set.hole(from: 35, limit: 50) == 40..<50)
        #expect(set.hole(from: 35, limit: 40) == nil)
    }

    /// Against a plain array of flags.
    @Test func agreesWithAModel() {
        var seed: UInt64 = 7
        func random(_ limit: Int64) -> Int64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(seed >> 33) % limit
        }
        var set = IntervalSet()
        var model = [Bool](repeating: false, count: 200)
        for _ in 0..<500 {
            let start = random(190)
            let end = start + random(10)
            set.insert(start..<end)
            for index in start..<end { model[Int(index)] = true }
            if random(20) == 0 {
                set = IntervalSet()
                model = [Bool](repeating: false, count: 200)
            }
            #expect(set.count == Int64(model.count { $0 }))
            for position in 0..<200 {
                let end = model[position...].firstIndex(of: false) ?? 200
                #expect(set.end(from: Int64(position)) == Int64(end))
            }
        }
    }
}
