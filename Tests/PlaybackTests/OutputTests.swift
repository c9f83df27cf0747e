import CLinux
import Glibc
import Logging
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// Where the sound goes.
@Suite(.serialized)
struct OutputTests {
    /// Here and in a machine without sound: silence that keeps time, and one notice.
    @Test func playsSilenceWithoutADevice() throws {
        let tone = Tone(441, frames: 22_050)
        let device = OutputConfiguration(name: "default", kind: .device(driver: nil, device: nil))
        let fixture = try PlayerFixture(outputs: [device]) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        // Held until it is told: faster than real time, the song may be over before libmpv tells its driver.
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: true)
        try fixture.wait { if case .output = $0 { true } else { false } }
        fixture.player.pause(false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(
            fixture.events.filter { if case .output = $0 { true } else { false } }
                == [.output(index: 0, problem: "no audio device found, playing silence")]
        )
    }

    @Test func tellsThatTheTapLibraryIsMissing() throws {
        let folder = try #require(TemporaryFolder())
        let format = try #require(PCMFormat("44100:16:2"))
        let configuration = PlayerConfiguration(
            outputs: [
                Outlet(OutputConfiguration(name: "file", kind: .file(path: folder.path("out"), format: format)))
            ],
            tapLibrary: folder.path("nowhere.so")
        )
        let cache = try AudioCache(directory: folder.path("cache"), transport: UnusedTransport(), log: .silent)
        #expect(throws: PlayerError("libshelvtap.so is missing, looked for at \(folder.path("nowhere.so"))")) {
            _ = try MPVPlayer(configuration, cache: cache, log: .silent) { _ in }
        }
    }

    @Test func findsTheTapInAFolderWithAnyName() throws {
        let folder = try #require(TemporaryFolder())
        let library = try #require(contents(of: try PlayerFixture.tapLibrary.get()))
        let odd = folder.write("it's [odd], a:b;c \\ name.so", library)
        let tone = Tone(441, frames: 10_000)
        let fixture = try PlayerFixture(folder: folder, tapLibrary: odd) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        #expect(try fixture.output() == tone.pcm)
    }

    @Test func givesAFIFOWhatItsReaderTakes() throws {
        let tone = Tone(441, frames: 10_000)
        let folder = try #require(TemporaryFolder())
        let path = folder.path("fifo")
        let format = try #require(PCMFormat("44100:16:2"))
        let fifo = OutputConfiguration(name: "fifo", kind: .fifo(path: path, format: format))
        let fixture = try PlayerFixture(outputs: [fifo], folder: folder) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        try fixture.wait { $0 == .output(index: 0, problem: nil) }
        let reader = unsafe shelv_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
        defer { close(reader) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(reader, &bytes, bytes.count)
        #expect(Array(bytes.prefix(max(0, count))) == tone.pcm)
    }

    @Test func neverWaitsForAFIFOThatNobodyReads() throws {
        let tone = Tone(441, frames: 2 * 44_100)
        let folder = try #require(TemporaryFolder())
        let path = folder.path("fifo")
        let format = try #require(PCMFormat("44100:16:2"))
        let fifo = OutputConfiguration(name: "fifo", kind: .fifo(path: path, format: format))
        let fixture = try PlayerFixture(outputs: [fifo], folder: folder) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        // What is left in it is the end, on a border of frames.
        let reader = unsafe shelv_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
        defer { close(reader) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(reader, &bytes, bytes.count)
        #expect(count > 0 && Array(bytes.prefix(max(0, count))) == tone.pcm.suffix(max(0, count)))
    }

    @Test func refusesToReplaceAFileByAFIFO() throws {
        let folder = try #require(TemporaryFolder())
        folder.write("precious", [1, 2, 3])
        let format = try #require(PCMFormat("44100:16:2"))
        let fifo = OutputConfiguration(name: "fifo", kind: .fifo(path: folder.path("precious"), format: format))
        let fixture = try PlayerFixture(outputs: [fifo], folder: folder) { _ in HTTPTestResponse() }
        defer { fixture.stop() }
        try fixture.wait { event in
            event == .output(index: 0, problem: "\(folder.path("precious")) exists and is no FIFO")
        }
        #expect(contents(of: folder.path("precious")) == [1, 2, 3])
    }

    @Test func switchesOutputsWhilePlaying() throws {
        let tone = Tone(441, frames: 44_100)
        let folder = try #require(TemporaryFolder())
        let format = try #require(PCMFormat("44100:16:2"))
        let outputs = ["first", "second"].map { name in
            OutputConfiguration(
                name: name,
                kind: .file(path: folder.path(name), format: format),
                enabled: name == "first"
            )
        }
        let fixture = try PlayerFixture(outputs: outputs, folder: folder) { .file(tone.wav, for: $0) }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(one, .endOfFile) }
        fixture.player.setOutput(1, enabled: true)
        fixture.player.setOutput(0, enabled: false)
        fixture.player.setOutput(7, enabled: true)
        try fixture.wait { $0 == .output(index: 1, problem: nil) }
        fixture.player.load(two, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .ended(two, .endOfFile) }
        #expect(try fixture.output("first") == tone.pcm)
        #expect(try fixture.output("second") == tone.pcm)
    }

    /// Two files and a FIFO, in real time; one of the files is off for a while in the middle of the song.
    @Test func outputsGetTheSameSamples() throws {
        let noise = Tone(noise: 4 * 44_100)
        let folder = try #require(TemporaryFolder())
        let format = try #require(PCMFormat("44100:16:2"))
        let kinds: [OutputConfiguration.Kind] = [
            .file(path: folder.path("whole"), format: format),
            .file(path: folder.path("switched"), format: format),
            .fifo(path: folder.path("fifo"), format: format),
        ]
        let outputs = kinds.enumerated().map { OutputConfiguration(name: "\($0)", kind: $1) }
        let fixture = try PlayerFixture(isTimed: true, outputs: outputs, folder: folder) { .file(noise.wav, for: $0) }
        defer { fixture.stop() }
        for index in kinds.indices { try fixture.wait { $0 == .output(index: index, problem: nil) } }
        let reader = unsafe shelv_open(folder.path("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
        defer { close(reader) }
        // Room for the whole song, so that it does not matter when it is read: F_SETPIPE_SZ, which Glibc does not show.
        #expect(fcntl(reader, 1031, Int32(1 << 20)) >= noise.pcm.count)

        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        func wait(untilFrames frames: Int) -> Bool {
            poll { CacheFiles.length(of: folder.path("whole")) ?? 0 >= 4 * frames }
        }
        #expect(wait(untilFrames: 44_100))
        fixture.player.setOutput(1, enabled: false)
        #expect(wait(untilFrames: 2 * 44_100))
        fixture.player.setOutput(1, enabled: true)
        try fixture.wait { $0 == .ended(one, .endOfFile) }

        #expect(try fixture.output("whole") == noise.pcm)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe read(reader, &bytes, bytes.count)
        #expect(Array(bytes.prefix(max(0, count))) == noise.pcm)
        // The song but for one piece in the middle.
        let switched = try fixture.output("switched")
        let head = zip(switched, noise.pcm).prefix { $0 == $1 }.count / 4 * 4
        #expect(head >= 44_100 && switched.count < noise.pcm.count - 4 * 11_025, "\(head) of \(switched.count)")
        #expect(switched.dropFirst(head) == noise.pcm.suffix(switched.count - head))
    }

    @Test func volumeFollowsMPDsLaw() {
        #expect(OutputBoard.gain(ofVolume: 100) == 1)
        #expect(OutputBoard.gain(ofVolume: 0) == 0)
        #expect(OutputBoard.gain(ofVolume: -5) == 0)
        #expect(OutputBoard.gain(ofVolume: 500) == 1)
        #expect(abs(OutputBoard.mpvVolume(ofGain: 0.125) - 50) < 1e-9)
    }
}
