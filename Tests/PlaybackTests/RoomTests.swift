import CLinux
import Glibc
import Logging
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

private final class Flag: Sendable {
    let isSet = Atomic(false)
}

/// Several players in one process: the same files, each its own outputs, which go from one to another.
@Suite(.serialized)
struct RoomTests {
    private func file(_ name: String, in folder: TemporaryFolder) throws -> Outlet {
        let format = try #require(PCMFormat("44100:16:2"))
        return Outlet(OutputConfiguration(name: name, kind: .file(path: folder.path(name), format: format)))
    }

    private func length(_ name: String, in folder: TemporaryFolder) -> Int64 {
        CacheFiles.length(of: folder.path(name)) ?? 0
    }

    /// Where two sounds part, in words; nil where they are the same.
    private func difference(_ heard: [UInt8], _ expected: [UInt8]) -> String? {
        if heard == expected { return nil }
        let head = zip(heard, expected).prefix { $0 == $1 }.count
        return "\(heard.count) bytes for \(expected.count), the first \(head) are the same"
    }

    private static let noises = (1...3).map { Tone(noise: 2 * 44_100, seed: $0) }

    private func server(_ noises: [Tone] = Self.noises) -> @Sendable (HTTPTestRequest) -> HTTPTestResponse {
        { request in
            let index = Int(request.path.dropFirst()) ?? 0
            return noises.indices.contains(index)
                ? .file(noises[index].wav, for: request) : HTTPTestResponse(status: 404)
        }
    }

    /// Three at once, in real time, each another song; all count their songs from 1.
    @Test func eachPlaysItsOwnSong() throws {
        let first = try PlayerFixture(isTimed: true, self.server())
        defer { first.stop() }
        let others = try ["b", "c"].map { name in
            try PlayerFixture(beside: first, isTimed: true, outputs: [try file(name, in: first.folder)])
        }
        defer { for other in others { other.stop() } }
        let all = [first] + others
        for (index, room) in all.enumerated() {
            room.player.load(one, first.source(String(index)), at: .zero, paused: false)
        }
        for room in all { try room.wait { $0 == .ended(one, .endOfFile) } }
        for (index, name) in ["out.pcm", "b", "c"].enumerated() {
            #expect(try difference(first.output(name), Self.noises[index].pcm) == nil, "\(name)")
        }
    }

    /// Who opens a song while the only other one closes it is not stopped with that one.
    @Test func whoComesWhileTheLastOneLeavesGetsTheSong() throws {
        let folder = try #require(TemporaryFolder())
        let server = try #require(HTTPTestServer { .file([UInt8](repeating: 7, count: 1000), for: $0) })
        defer { server.stop() }
        let transport = try CurlTransport()
        let cache = try AudioCache(directory: folder.path("cache"), transport: transport, log: .silent)
        defer {
            transport.shutdown()
            cache.shutdown()
        }
        let url = server.url
        let (leaving, coming) = (cache.desk(), cache.desk())
        for round in 0..<200 {
            let source = AudioSource(cacheKey: "\(round)") { HTTPRequest(url: "\(url)/\(round)", rangeStart: $0) }
            let former = try leaving.open(source, for: one, isEager: false) { _ in }
            let (leaves, isWhole) = (Flag(), TestGate())
            let thread = TestThread {
                leaves.isSet.store(true, ordering: .releasing)
                leaving.close(former, for: one)
            }
            // Spins, so that both are at it in the same microsecond.
            while !leaves.isSet.load(ordering: .acquiring) {}
            let song = try coming.open(source, for: two, isEager: true) { if $0 == .complete { isWhole.open() } }
            try #require(isWhole.wait(timeout: 10_000), "round \(round)")
            thread?.join()
            coming.close(song, for: two)
        }
    }

    /// A device that another player still holds is tried again soon, and then seldom.
    @Test func aDeviceThatWasPutIsTriedAgainSoon() throws {
        func device(_ name: String) -> Outlet {
            Outlet(OutputConfiguration(name: name, kind: .device(driver: "alsa", device: name)))
        }
        var board = OutputBoard([device("a")], tap: nil, isTimed: true) { _, _ in }
        func wait() -> Duration { .nanoseconds(Int64(board.retryDue) - Int64(monotonicNow())) }
        var problem = board.driverIs("null")
        #expect(problem != nil && wait() > .seconds(20))
        let put = device("b")
        var isOther = board.put((put, put.claim()), at: 1, true, [])
        #expect(!isOther)
        isOther = board.put(nil, at: 0, false, [])
        #expect(isOther && board.retryDue == .max)
        problem = board.driverIs("null")
        #expect(problem?.index == 1)
        for (index, limit) in OutputBoard.firstRetries.enumerated() {
            #expect(wait() <= limit && !board.isLost)
            #expect((board.lossDue != .max) == (index == OutputBoard.firstRetries.count - 1))
            board.retry([])
            // libmpv may tell again what it has told.
            problem = board.driverIs("null")
            #expect(problem == nil)
        }
        #expect(wait() > .seconds(20) && !board.isLost)
        board.noteLoss()
        #expect(board.isLost)
        problem = board.driverIs("alsa")
        #expect(problem != nil && board.retryDue == .max && !board.isLost)
        // Who pulls a plug wants silence at once.
        problem = board.driverIs("null")
        #expect(problem != nil && board.isLost)
    }

    /// Where a device that goes away shall end the song, one that is not there yet has its time to come first.
    @Test func aDeviceThatWasPutHasTimeToCome() throws {
        let song = Tone(441, frames: 30 * 8000, rate: 8000, channels: 1).wav
        let fixture = try PlayerFixture(isTimed: true, outputs: [], stopsWithoutDevice: true) { .file(song, for: $0) }
        defer { fixture.stop() }
        let device = OutputConfiguration(name: "away", kind: .device(driver: "alsa", device: "not-there"))
        fixture.player.putOutput(Outlet(device), at: 0, enabled: true)
        fixture.player.load(one, fixture.source("a", duration: .seconds(30)), at: .zero, paused: false)
        try fixture.wait { if case .output(0, .some) = $0 { true } else { false } }
        let begin = monotonicMilliseconds()
        try fixture.wait { $0 == .failed(one, .transport("the audio device has gone")) }
        #expect(monotonicMilliseconds() - begin > 3000)
    }

    /// A device that is looked for takes nothing out of the song: that is never further than the time that has passed.
    @Test func aSongDoesNotRunAheadWhileItsDeviceIsLookedFor() throws {
        let song = Tone(441, frames: 60 * 8000, rate: 8000, channels: 1).wav
        let fixture = try PlayerFixture(isTimed: true, outputs: []) { .file(song, for: $0) }
        defer { fixture.stop() }
        func places() -> [PlaybackPosition] {
            fixture.events.compactMap { if case .position(one, let place) = $0 { place } else { nil } }
        }
        fixture.player.load(one, fixture.source("a", duration: .seconds(60)), at: .seconds(10), paused: false)
        try fixture.wait { if case .position(one, let place) = $0 { place.advances } else { false } }
        let begin = try #require(places().first { $0.advances })
        let device = OutputConfiguration(name: "away", kind: .device(driver: "alsa", device: "not-there"))
        fixture.player.putOutput(Outlet(device), at: 0, enabled: true)
        // Behind the four attempts that come soon.
        try fixture.wait { if case .position(one, let place) = $0 { place.elapsed > .seconds(16) } else { false } }
        for place in places() where place.time > begin.time {
            let passed = Duration.nanoseconds(Int64(place.time - begin.time))
            #expect(place.elapsed - begin.elapsed < passed + .milliseconds(500), "\(place) \(begin)")
        }
        #expect(!fixture.story.contains { if case .failed = $0 { true } else { false } })
    }

    private func withoutDevice() throws -> PlayerFixture {
        let song = Tone(441, frames: 30 * 8000, rate: 8000, channels: 1).wav
        let device = OutputConfiguration(name: "away", kind: .device(driver: "alsa", device: "not-there"))
        return try PlayerFixture(isTimed: true, outputs: [device], stopsWithoutDevice: true) { .file(song, for: $0) }
    }

    @Test func aLostDeviceIsToldAtEverySong() throws {
        let fixture = try withoutDevice()
        defer { fixture.stop() }
        for id in [one, two, PlaybackID(3)] {
            fixture.player.load(id, fixture.source("a", duration: .seconds(30)), at: .zero, paused: false)
            try fixture.wait { $0 == .failed(id, .transport("the audio device has gone")) }
        }
    }

    @Test func aDeviceThatIsLostDuringAPauseIsToldAfterIt() throws {
        let fixture = try withoutDevice()
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", duration: .seconds(30)), at: .zero, paused: true)
        try fixture.wait { if case .output(0, .some) = $0 { true } else { false } }
        try fixture.wait { $0 == .started(one) }
        #expect(!fixture.events.contains { if case .failed = $0 { true } else { false } })
        fixture.player.pause(false)
        try fixture.wait { $0 == .failed(one, .transport("the audio device has gone")) }
        // Another song takes the place of one that stands paused: libmpv has the device no more than before.
        fixture.player.load(two, fixture.source("a", duration: .seconds(30)), at: .zero, paused: true)
        try fixture.wait { $0 == .started(two) }
        fixture.player.load(PlaybackID(3), fixture.source("a", duration: .seconds(30)), at: .zero, paused: false)
        try fixture.wait { $0 == .failed(PlaybackID(3), .transport("the audio device has gone")) }
    }

    /// The song is fetched once, and neither's end takes it from the other, though there is no room for any song.
    @Test func thePlayersShareTheFileOfASong() throws {
        let gates = GateBox()
        let song = Self.noises[0]
        let first = try PlayerFixture(cacheLimit: 0) {
            .file(song.wav, for: $0).interrupted(after: 100_000, by: .wait(gates.gate))
        }
        gates.set(first.server)
        defer { first.stop() }
        let second = try PlayerFixture(beside: first, outputs: [try file("b", in: first.folder)])
        defer { second.stop() }
        first.player.load(one, first.source("0", size: song.wav.count), at: .zero, paused: false)
        second.player.load(one, first.source("0", size: song.wav.count), at: .zero, paused: false)
        for room in [first, second] { try room.wait { if case .starving = $0 { true } else { false } } }
        first.player.stop()
        try first.wait { $0 == .ended(one, .stopped) }
        gates.gate.open()
        try second.wait { $0 == .ended(one, .endOfFile) }
        #expect(try difference(first.output("b"), song.pcm) == nil)
        #expect(first.server.requests.count == 1)
        #expect(poll { TemporaryFolder.names(in: first.folder.path("cache")).isEmpty })
    }

    /// In the middle of two songs a file goes over to the other player. Nobody else notices, and the file has the first
    /// song up to a border of frames and the second one from somewhere on, without a gap on either side of it.
    @Test func anOutputThatIsMovedGoesOnAtOnce() throws {
        let folder = try #require(TemporaryFolder())
        let first = try PlayerFixture(isTimed: true, outputs: [], folder: folder, self.server())
        defer { first.stop() }
        let host = try PlayerFixture(beside: first, isTimed: true)
        let guest = try PlayerFixture(beside: first, isTimed: true)
        defer { for room in [host, guest] { room.stop() } }
        let moved = try file("moved", in: folder)
        host.player.putOutput(try file("a", in: folder), at: 0, enabled: true)
        host.player.putOutput(moved, at: 1, enabled: true)
        guest.player.putOutput(try file("b", in: folder), at: 0, enabled: true)
        for (index, room) in [host, guest].enumerated() {
            room.player.load(one, first.source(String(index)), at: .zero, paused: false)
        }
        #expect(poll { length("moved", in: folder) > 4 * 22_050 && length("b", in: folder) > 0 })
        host.player.putOutput(nil, at: 1, enabled: false)
        guest.player.putOutput(moved, at: 1, enabled: true)
        try guest.wait { $0 == .output(index: 1, problem: nil) }
        for room in [host, guest] { try room.wait { $0 == .ended(one, .endOfFile) } }
        let songs = Self.noises.map(\.pcm)
        #expect(try difference(first.output("a"), songs[0]) == nil)
        #expect(try difference(first.output("b"), songs[1]) == nil)
        let heard = try first.output("moved")
        let head = zip(heard, songs[0]).prefix { $0 == $1 }.count / 4 * 4
        #expect(head >= 4 * 22_050)
        #expect(heard.count > head && songs[1].suffix(heard.count - head) == heard.dropFirst(head))
        // As long as the two songs, but for how long the one began before the other.
        #expect(abs(heard.count - songs[0].count) < 4 * 22_050, "\(heard.count)")
    }

    /// Back and forth many times, faster than anybody can follow: in the end it is where it was put last.
    @Test func theLastMoveCounts() throws {
        let first = try PlayerFixture(self.server())
        defer { first.stop() }
        let second = try PlayerFixture(beside: first)
        defer { second.stop() }
        let moved = try file("moved", in: first.folder)
        for _ in 0..<200 {
            second.player.putOutput(nil, at: 0, enabled: false)
            first.player.putOutput(moved, at: 1, enabled: true)
            first.player.putOutput(nil, at: 1, enabled: false)
            second.player.putOutput(moved, at: 0, enabled: true)
        }
        try second.wait { $0 == .output(index: 0, problem: nil) }
        first.player.load(one, first.source("0"), at: .zero, paused: false)
        second.player.load(one, first.source("1"), at: .zero, paused: false)
        for room in [first, second] { try room.wait { $0 == .ended(one, .endOfFile) } }
        #expect(try difference(first.output("moved"), Self.noises[1].pcm) == nil)
        #expect(try difference(first.output(), Self.noises[0].pcm) == nil)
    }

    /// What others are connected to stays open: a snapserver, and who listens over HTTP.
    @Test func connectionsComeAlong() throws {
        let listener = try SampleListener()
        let format = try #require(PCMFormat("44100:16:2"))
        let port = try unusedPort()
        let connected = Outlet(
            OutputConfiguration(name: "snapcast", kind: .tcp(host: "127.0.0.1", port: listener.port, format: format))
        )
        let httpd = Outlet(
            OutputConfiguration(
                name: "httpd",
                kind: .stream(StreamOutput(host: "127.0.0.1", port: port, codec: .wave, format: format))
            )
        )
        let first = try PlayerFixture(self.server())
        defer { first.stop() }
        let second = try PlayerFixture(beside: first)
        defer { second.stop() }
        first.player.putOutput(connected, at: 1, enabled: true)
        first.player.putOutput(httpd, at: 2, enabled: true)
        #expect(listener.accept())
        for index in 1...2 { try first.wait { $0 == .output(index: index, problem: nil) } }
        let browser = try Socket.connect(to: "127.0.0.1", port: port, timeout: .seconds(5)).get()
        defer { Socket.close(browser) }
        _ = Socket.send(Array("GET / HTTP/1.0\r\n\r\n".utf8)[...], to: browser)
        var stream: [UInt8] = []
        func hears(_ isThere: ([UInt8]) -> Bool) -> Bool {
            poll {
                while let piece = Socket.receive(from: browser, limit: 65_536), !piece.isEmpty { stream += piece }
                return isThere(stream)
            }
        }
        #expect(hears { $0.count > 40 && $0.starts(with: "HTTP/1.1 200".utf8) })
        first.player.load(one, first.source("0"), at: .zero, paused: false)
        try first.wait { $0 == .ended(one, .endOfFile) }
        let song = Self.noises[0].pcm
        #expect(difference(listener.read(song.count), song) == nil)
        // The encoder keeps a little back; it comes with what follows.
        #expect(hears { $0.count > song.count - 65_536 })

        first.player.putOutput(nil, at: 1, enabled: false)
        first.player.putOutput(nil, at: 2, enabled: false)
        second.player.putOutput(connected, at: 0, enabled: true)
        second.player.putOutput(httpd, at: 1, enabled: true)
        for index in 0...1 { try second.wait { $0 == .output(index: index, problem: nil) } }
        second.player.load(one, first.source("1"), at: .zero, paused: false)
        try second.wait { $0 == .ended(one, .endOfFile) }
        let other = Self.noises[1].pcm
        #expect(difference(listener.read(other.count), other) == nil)
        #expect(hears { $0.count > song.count + other.count - 65_536 })
        let begin = try #require(stream.indices.first { stream[$0...].starts(with: song.prefix(64)) })
        #expect((song + other).starts(with: stream[begin...]))
    }

    /// A room without outputs keeps time, and hears itself from where it is when an output comes.
    @Test func anOutputMayComeLater() throws {
        let first = try PlayerFixture(self.server())
        defer { first.stop() }
        let room = try PlayerFixture(beside: first, isTimed: true)
        defer { room.stop() }
        room.player.load(one, first.source("0"), at: .zero, paused: false)
        try room.wait { event in
            if case .position(one, let position) = event { position.elapsed > .milliseconds(500) } else { false }
        }
        room.player.putOutput(try file("late", in: first.folder), at: 0, enabled: true)
        try room.wait { $0 == .ended(one, .endOfFile) }
        let heard = try first.output("late")
        let song = Self.noises[0].pcm
        #expect(!heard.isEmpty && heard.count < song.count && song.suffix(heard.count) == heard[...])
    }

    /// A device that goes and comes back is opened anew, and libmpv decodes again; files and the like get each sample once.
    @Test func aDeviceThatIsMovedIsNoGapForOthers() throws {
        let folder = try #require(TemporaryFolder())
        let first = try PlayerFixture(isTimed: true, outputs: [], folder: folder, self.server())
        defer { first.stop() }
        let room = try PlayerFixture(beside: first, isTimed: true)
        defer { room.stop() }
        let device = Outlet(OutputConfiguration(name: "device", kind: .device(driver: "null", device: "x")))
        room.player.putOutput(try file("a", in: folder), at: 0, enabled: true)
        room.player.putOutput(device, at: 1, enabled: true)
        room.player.load(one, first.source("0"), at: .zero, paused: false)
        #expect(poll { length("a", in: folder) > 4 * 22_050 })
        room.player.putOutput(nil, at: 1, enabled: false)
        #expect(poll { length("a", in: folder) > 4 * 44_100 })
        room.player.putOutput(device, at: 1, enabled: true)
        try room.wait { $0 == .ended(one, .endOfFile) }
        #expect(try difference(first.output("a"), Self.noises[0].pcm) == nil)
    }

    /// A player that is started later tells with its songs what keeps it from playing.
    @Test func whatCannotStartTellsSo() throws {
        let first = try PlayerFixture(self.server())
        defer { first.stop() }
        let room = try PlayerFixture(beside: first, tapLibrary: first.folder.path("nowhere.so"))
        room.player.load(two, first.source("0"), at: .zero, paused: false)
        let place = first.folder.path("nowhere.so")
        let reason = "libshelvtap.so is missing, looked for at \(place)"
        #expect(try room.wait { if case .failed = $0 { true } else { false } } == .failed(two, .transport(reason)))
        room.stop()
        #expect(room.events.last == .closed)
    }
}
