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

    /// What came whole is whole, whatever the catalog says; only what it says anew counts.
    @Test(arguments: [-5000, 5000])
    func aWholeFileIsFoundAgainWhereTheCatalogErrs(difference: Int) throws {
        let tone = Tone(441, frames: 44_100)
        let bytes = tone.wav
        let folder = try #require(TemporaryFolder())
        let size = bytes.count + difference
        func requests(toPlay size: Int) throws -> Int {
            let fixture = try PlayerFixture(folder: folder) { .file(bytes, for: $0) }
            defer { fixture.stop() }
            fixture.player.load(one, fixture.source("a", size: size), at: .zero, paused: false)
            try fixture.wait { $0 == .ended(one, .endOfFile) }
            let heard = try fixture.output()
            #expect(heard.suffix(tone.pcm.count) == tone.pcm[...])
            fixture.stop()
            return fixture.server.requests.count
        }
        #expect(try requests(toPlay: size) > 0)
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a+\(size).audio", "a+\(size).map"])
        #expect(try requests(toPlay: size) == 0)
        #expect(try requests(toPlay: bytes.count) > 0)
        #expect(try requests(toPlay: size) == 0)
        // A file that was cut off is none.
        #expect(unsafe truncate(folder.path("cache/a+\(size).audio"), off_t(bytes.count - 1)) == 0)
        #expect(try requests(toPlay: size) > 0)
        #expect(try requests(toPlay: size) == 0)
    }

    /// Whoever cleans up caches may remove the folder at any time.
    @Test func aFolderThatWasRemovedIsMadeAnew() throws {
        let tone = Tone(441, frames: 20_000)
        let folder = try #require(TemporaryFolder())
        let fixture = try PlayerFixture(folder: folder) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        let size = tone.wav.count
        fixture.player.load(one, fixture.source("a", size: size), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        try #require(unsafe rename(folder.path("cache"), folder.path("gone")) == 0)
        fixture.player.load(two, fixture.source("b", size: size), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == tone.pcm + tone.pcm)
        #expect(TemporaryFolder.names(in: folder.path("cache")).contains { $0.hasPrefix("b+") })
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
        let desk = cache.desk()
        weak var remembered: SparseFile?
        let gate = TestGate()
        do {
            let song = try desk.open(source, for: one, isEager: true) { if $0 == .complete { gate.open() } }
            remembered = song.file
            #expect(gate.wait(timeout: 10_000))
            desk.close(song, for: one)
        }
        transport.shutdown()
        cache.shutdown()
        #expect(remembered == nil)
        #expect(TemporaryFolder.names(in: folder.path("cache")) == ["a.audio"])
    }

    // MARK: Room

    @Test func removesWhatWasNotPlayedForTheLongestTime() throws {
        let folder = try #require(TemporaryFolder())
        let cacheFolder = folder.path("cache")
        _ = try AudioCache(directory: cacheFolder, transport: UnusedTransport(), log: .silent)
        // A minute apart; `b` is used again, `c` is pinned.
        for (age, name) in ["e", "d", "c", "b", "a"].enumerated() {
            let path = folder.write("cache/\(name)+100000.audio", [UInt8](repeating: 1, count: 100_000))
            var times = [timeval(), timeval()]
            for index in 0..<2 { times[index].tv_sec = time(nil) - 60 * (age + 1) }
            #expect(unsafe utimes(path, &times) == 0)
        }
        func source(_ key: String) -> AudioSource {
            AudioSource(cacheKey: key, size: 100_000) { HTTPRequest(url: "http://127.0.0.1:1/", rangeStart: $0) }
        }
        let cache = try AudioCache(directory: cacheFolder, limit: 420_000, transport: UnusedTransport(), log: .silent)
        func names() -> [String] { TemporaryFolder.names(in: cacheFolder).map { String($0.prefix(1)) } }
        #expect(poll { names() == ["b", "c", "d", "e"] })
        #expect(cache.holds(source("b")) && !cache.holds(source("a")))
        // Players do not forget each other's.
        let (desk, other) = (cache.desk(), cache.desk())
        desk.pin([source("c")])
        other.pin([source("d")])
        other.pin([])
        let song = try desk.open(source("b"), for: one, isEager: false) { _ in }
        let again = try other.open(source("b"), for: one, isEager: false) { _ in }
        #expect(song === again)
        other.close(song, for: one)
        let path = folder.write("cache/f+100000.audio", [UInt8](repeating: 1, count: 100_000))
        #expect(CacheFiles.length(of: path) == 100_000)
        desk.close(song, for: one)
        #expect(poll { names() == ["b", "c", "e", "f"] })
        cache.shutdown()
    }

    /// A disk may be full before the limit is reached; what was heard goes rather than what is to be heard.
    @Test func givesOldSongsUpOnAFullDisk() throws {
        let folder = try #require(TemporaryFolder())
        let bytes = [UInt8](repeating: 1, count: 100_000)
        let old = folder.write("cache/old+100000.audio", bytes)
        // A file on a disk that is always full.
        #expect(unsafe symlink("/dev/full", folder.path("cache/new+100000.part")) == 0)
        let fixture = try PlayerFixture(folder: folder) { .file(bytes, for: $0) }
        defer { fixture.stop() }
        #expect(CacheFiles.length(of: old) == 100_000)
        fixture.player.load(one, fixture.source("new", size: 100_000), at: .zero, paused: false)
        let event = try fixture.wait { if case .failed(one, _) = $0 { true } else { false } }
        guard case .failed(_, .transport(let message)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(message.contains("No space left on device"))
        #expect(CacheFiles.length(of: old) == nil)
        // There might have been room meanwhile.
        #expect(fixture.server.requests.count == Fetcher.fullDiskLimit + 1)
    }

    @Test func keepsWhatIsPlayedBeyondTheLimit() throws {
        let tone = Tone(441, frames: 20_000)
        let fixture = try PlayerFixture(cacheLimit: 0) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .zero, paused: false)
        fixture.player.preload(two, fixture.source("b", size: tone.wav.count))
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output() == tone.pcm + tone.pcm)
        #expect(poll { TemporaryFolder.names(in: fixture.folder.path("cache")).isEmpty })
    }

    /// What has come is known again after the machine has lost its power: the note is written meanwhile.
    @Test func notesWhatIsThereWhileItGrows() throws {
        let bytes = [UInt8](repeating: 7, count: 12 << 20)
        let gates = GateBox()
        let server = try #require(
            HTTPTestServer { .file(bytes, for: $0).interrupted(after: 10 << 20, by: .wait(gates.gate)) }
        )
        gates.set(server)
        defer { server.stop() }
        let folder = try #require(TemporaryFolder())
        let transport = try CurlTransport()
        let cache = try AudioCache(directory: folder.path("cache"), transport: transport, log: .silent)
        let url = server.url
        let source = AudioSource(cacheKey: "a") { HTTPRequest(url: "\(url)/a", rangeStart: $0) }
        let desk = cache.desk()
        let song = try desk.open(source, for: one, isEager: true) { _ in }
        func noted() -> IntervalSet? { CacheFiles.readMap(folder.path("cache/a.map"))?.intervals }
        #expect(poll { (noted()?.count ?? 0) >= 8 << 20 })
        let map = try #require(noted())
        #expect(map.ranges.count == 1 && map.count <= song.file.monitor.withLock { $0.intervals.count })
        desk.close(song, for: one)
        transport.shutdown()
        cache.shutdown()
    }

    // MARK: Ahead

    @Test func fetchesSongsAheadOneByOne() throws {
        let tone = Tone(441, frames: 40_000)
        let fixture = try PlayerFixture(isTimed: true) { request in
            request.path == "/gone" ? HTTPTestResponse(status: 404) : .file(tone.wav, for: request)
        }
        defer { fixture.stop() }
        let keys = ["a", "b", "gone", "c", "d"]
        func source(_ key: String) -> AudioSource { fixture.source(key, size: tone.wav.count) }
        func complete() -> Int {
            TemporaryFolder.names(in: fixture.folder.path("cache")).count { $0.hasSuffix(".audio") }
        }
        fixture.player.load(one, source("a"), at: .zero, paused: true)
        fixture.player.preload(two, source("b"))
        fixture.player.fetchAhead(keys.dropFirst(2).map(source))
        #expect(poll { complete() == 4 })
        #expect(fixture.server.requests.map { String($0.path.dropFirst()) } == keys)
        // Another plan: only what is new is asked for.
        fixture.player.fetchAhead(["d", "e"].map(source))
        #expect(poll { complete() == 5 })
        #expect(fixture.server.requests.map { String($0.path.dropFirst()) } == keys + ["e"])
        fixture.server.stop()
        fixture.player.load(PlaybackID(3), source("d"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(PlaybackID(3), .endOfFile) }
    }

    @Test func asksForNothingTwiceWhenItSeeksBack() throws {
        let tone = Tone(441, frames: 5 * 44_100)
        let fixture = try PlayerFixture(isTimed: true) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", size: tone.wav.count), at: .seconds(4), paused: true)
        try fixture.wait { $0 == .started(one) }
        for second in [3, 0, 2] { fixture.player.seek(to: .seconds(second)) }
        fixture.player.seek(to: .milliseconds(4800))
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        let brought = fixture.server.requests.reduce(0) { $0 + tone.wav.count - ($1.rangeStart ?? 0) }
        #expect(fixture.server.requests.count <= 2 && brought < tone.wav.count * 2)
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
        var numbers = SeededNumbers(seed: SeededNumbers.seed(usually: 7))
        func random(_ limit: Int) -> Int64 { Int64(numbers.roll(limit)) }
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
