import Glibc
import Support
import Synchronization
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Each fault at each place of a song: each sample is heard once, and no song is skipped.
@Suite(.serialized)
struct FaultMatrixTests {
    enum Place: String, CaseIterable {
        case start, middle
        case lastSecond = "last second"
        case seek = "during a seek"
        case prefetch = "while the next song is fetched"
    }

    /// A song as a file and as samples.
    private struct Song {
        let file: [UInt8]
        let sound: [UInt8]

        init(_ tone: Tone) {
            file = tone.wav
            sound = tone.pcm
        }
    }

    private static let songs = [Song(Tone(441, frames: 50_000)), Song(Tone(882, frames: 12_000))]
    /// Of this one, what is behind `target` is asked for rather than waited for, when it is held at `held`.
    private static let long = Song(Tone(441, frames: 250_000))
    private static let held = 300_000
    /// 4.9 s, in bytes of samples.
    private static let target = 216_090 * 4

    @Test(arguments: Place.allCases)
    func noSampleIsLost(place: Place) {
        let faults = ServerFault.allCases
        // Several at the same time: they mostly wait.
        let failures = TestThread.concurrently(faults.count, threads: 9) { index -> String? in
            do {
                return try Self.run(faults[index], place)
            } catch {
                return "\(faults[index]): \(error)"
            }
        }
        #expect(failures.compactMap { $0 } == [])
    }

    private static func plan(_ fault: ServerFault, _ place: Place, _ files: [[UInt8]]) -> [String: [FaultyServer.Step]]
    {
        let (path, byte) =
            switch place {
            case .start, .seek: ("/a", 0)
            case .middle: ("/a", files[0].count / 2)
            case .lastSecond: ("/a", files[0].count - 40_000)
            case .prefetch: ("/b", files[1].count / 2)
            }
        // What has no place in a body befalls the request after a cut at that place.
        let cut = FaultyServer.Step(fault: .cut, place: byte)
        let step = FaultyServer.Step(fault: fault, place: place == .seek ? files[0].count - 50_000 : byte)
        return [path: byte > 0 && !fault.isInBody ? [cut, step] : [step]]
    }

    /// What was wrong, or nil.
    private static func run(_ fault: ServerFault, _ place: Place) throws -> String? {
        let songs = place == .seek ? [long, songs[1]] : songs
        let files = songs.map(\.file)
        let box = Mutex<FaultyServer?>(nil)
        let fixture = try PlayerFixture { request in
            box.withLock { $0 }?.answer(request) ?? HTTPTestResponse(status: 404)
        }
        let line = try FaultyServer(
            files: ["/a": files[0], "/b": files[1]],
            plans: plan(fault, place, files),
            server: fixture.server
        )
        box.withLock { $0 = line }
        defer {
            line.stop()
            fixture.stop()
        }
        let gate = fixture.server.makeGate()
        if place == .seek { line.hold("/a", at: held, gate) }
        let sources = [("a", 0), ("b", 1)].map { path, index in
            var source = fixture.source(path, size: files[index].count, stall: .seconds(3), at: line.url)
            source.serverHealth = { .well }
            return source
        }
        fixture.player.load(one, sources[0], at: .zero, paused: false)
        fixture.player.preload(two, sources[1])
        if place == .seek {
            try fixture.wait { if case .starving(one, _) = $0 { true } else { false } }
            fixture.player.seek(to: .milliseconds(4900))
        }
        try fixture.wait(for: 30) { $0 == .ended(two, .endOfFile) }
        let told = fixture.story.filter { event in
            switch event {
            case .starving, .recovered: false
            default: true
            }
        }
        let label = "\(fault) \(place.rawValue)"
        guard told == [.started(one), .audible(two), .ended(two, .endOfFile)] else { return "\(label): \(told)" }
        let heard = try fixture.output()
        if place == .seek {
            let rest = songs[0].sound[target...] + songs[1].sound
            guard isSame(heard.suffix(rest.count), rest),
                isSame(heard.dropLast(rest.count), songs[0].sound.prefix(max(0, heard.count - rest.count)))
            else { return "\(label): \(heard.count) bytes" }
        } else {
            let wanted = songs[0].sound + songs[1].sound
            guard isSame(heard[...], wanted[...]) else { return "\(label): \(heard.count) of \(wanted.count) bytes" }
        }
        return nil
    }

    /// As `==`, in a moment also where nothing is optimized.
    private static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe a.withUnsafeBytes { a in
            unsafe b.withUnsafeBytes { b in
                guard let start = a.baseAddress, let other = b.baseAddress else { return true }
                return unsafe memcmp(start, other, a.count) == 0
            }
        }
    }
}
