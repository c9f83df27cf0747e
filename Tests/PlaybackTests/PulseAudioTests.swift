import Glibc
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)
private let two = PlaybackID(2)

/// A real sound system: a PulseAudio of our own, whose only sink is silent and recorded.
@Suite(.serialized, .enabled(if: RealPeer.pulseaudio.isWanted, "pulseaudio, pactl or parec is not installed"))
struct PulseAudioTests {
    private final class Pulse {
        let folder: TemporaryFolder
        private(set) var daemon: TestProcess
        private let makeDaemon: () -> TestProcess?
        let recorder: TestProcess
        var server: String { "unix:\(folder.path("native"))" }
        var recording: String { folder.path("recording") }

        init() throws {
            let folder = try #require(TemporaryFolder())
            self.folder = folder
            _ = unsafe mkdir(folder.path("run"), 0o700)
            let script = folder.write(
                "script.pa",
                """
                load-module module-native-protocol-unix socket=\(folder.path("native")) auth-anonymous=1
                load-module module-null-sink sink_name=test format=s16le rate=8000 channels=1
                set-default-sink test

                """
            )
            let environment = ["PULSE_RUNTIME_PATH": folder.path("run"), "HOME": folder.path("run")]
            let options = ["--exit-idle-time=-1", "--daemonize=no", "--use-pid-file=no", "--disable-shm=yes"]
            let makeDaemon = { TestProcess(["pulseaudio", "-n", "-F", script] + options, environment: environment) }
            self.makeDaemon = makeDaemon
            daemon = try #require(makeDaemon())
            let place = folder.path("native")
            #expect(poll { unsafe access(place, R_OK) == 0 })
            let recording = folder.path("recording")
            recorder = try #require(
                TestProcess(
                    [
                        "parec", "-s", "unix:\(place)", "-d", "test.monitor", "--raw", "--rate=8000", "--channels=1",
                        "--format=s16le", "--latency-msec=50", recording,
                    ],
                    environment: environment
                )
            )
            #expect(poll { (CacheFiles.length(of: recording) ?? 0) > 0 }, "\(daemon.errors) \(recorder.errors)")
        }

        /// Comes back after it was killed, and records no more.
        func revive() throws {
            _ = unsafe unlink(folder.path("native"))
            daemon = try #require(makeDaemon())
            let place = folder.path("native")
            #expect(poll { unsafe access(place, R_OK) == 0 }, "\(daemon.errors)")
        }

        deinit {
            recorder.send(SIGKILL)
            daemon.send(SIGKILL)
        }

        /// What was recorded of a sound, from its first loud sample on.
        func sound() throws -> [Int16] {
            let samples = firstChannel(try #require(contents(of: recording)), channels: 1)
            return Array(samples.drop { abs(Int($0)) < 100 })
        }
    }

    private static let rate = 8000
    private let old = Tone(441, frames: 21 * rate, rate: rate, channels: 1)
    private let new = Tone(882, frames: 21 * rate, rate: rate, channels: 1)

    private func fixture(_ pulse: Pulse, mixer: OutputConfiguration.Mixer = .software, stops: Bool = false) throws
        -> PlayerFixture
    {
        let kind = OutputConfiguration.Kind.device(driver: "pulse", device: "test")
        let output = OutputConfiguration(name: "pulse", kind: kind, mixer: mixer, server: pulse.server)
        return try PlayerFixture(isTimed: true, outputs: [output], stopsWithoutDevice: stops) { [old, new] request in
            .file(request.path == "/b" ? new.wav : old.wav, for: request)
        }
    }

    private func level(_ frequency: Double, _ samples: ArraySlice<Int16>) -> Double {
        strength(of: frequency, in: samples, rate: Self.rate) / (16000 / 32768.0)
    }

    @Test func songsOverlapOnADevice() throws {
        let pulse = try Pulse()
        let fixture = try fixture(pulse)
        defer { fixture.stop() }
        fixture.player.setCrossfade(CrossfadeSettings(seconds: 2))
        fixture.player.load(one, fixture.source("a", duration: old.duration), at: .seconds(17), paused: false)
        fixture.player.preload(two, fixture.source("b", duration: new.duration))
        try fixture.wait { $0 == .audible(two) }
        #expect(!fixture.events.contains { if case .output(_, .some) = $0 { true } else { false } })
        fixture.player.stop()
        try fixture.wait { $0 == .ended(two, .stopped) }
        let samples = try pulse.sound()
        // 2 s alone, 2 s of overlap; the decks' devices start within some hundredths of a second.
        #expect(samples.count > 39 * Self.rate / 10)
        func levels(_ second: Double) -> (Double, Double) {
            let middle = Int(second * Double(Self.rate))
            let piece = samples[(middle - 400)..<(middle + 400)]
            return (level(441, piece), level(882, piece))
        }
        let (before, quarter, half, end) = (levels(1.5), levels(2.5), levels(3), levels(3.85))
        #expect(before.0 > 0.95 && before.1 < 0.02, "\(before)")
        #expect(abs(quarter.0 - 0.854) < 0.1 && abs(half.0 - 0.5) < 0.15 && end.0 < 0.1, "\(quarter) \(half) \(end)")
        // A silent sink works in large blocks, so the new song's device may begin some tenths of a second late.
        #expect(quarter.1 < 0.25 && half.1 < 0.65 && end.1 > 0.6, "\(quarter) \(half) \(end)")
        #expect(half.1 > quarter.1 && end.1 > half.1, "\(quarter) \(half) \(end)")
    }

    @Test(arguments: [false, true])
    func aDeviceThatGoesAwayIsTold(stops: Bool) throws {
        let pulse = try Pulse()
        let fixture = try fixture(pulse, stops: stops)
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", duration: old.duration), at: .seconds(19), paused: false)
        try fixture.wait { $0 == .started(one) }
        pulse.daemon.send(SIGKILL)
        try fixture.wait { $0 == .output(index: 0, problem: "no audio device found, playing silence") }
        if stops {
            try fixture.wait { $0 == .failed(one, .transport("the audio device has gone")) }
        } else {
            try fixture.wait { $0 == .ended(one, .endOfFile) }
        }
    }

    /// What was not heard is not left out when it is back.
    @Test func aDeviceThatIsBackGoesOnWhereItWasLost() throws {
        let pulse = try Pulse()
        let fixture = try fixture(pulse, stops: true)
        defer { fixture.stop() }
        func positions(_ id: PlaybackID) -> [PlaybackPosition] {
            fixture.events.compactMap { if case .position(id, let position) = $0 { position } else { nil } }
        }
        fixture.player.load(one, fixture.source("a", duration: old.duration), at: .seconds(5), paused: false)
        try fixture.wait { if case .position(one, let position) = $0 { position.advances } else { false } }
        pulse.daemon.send(SIGKILL)
        try fixture.wait { $0 == .failed(one, .transport("the audio device has gone")) }
        let place = try #require(positions(one).last)
        #expect(!place.advances && place.elapsed >= .seconds(5) && place.elapsed < .seconds(10))
        fixture.player.load(two, fixture.source("a", duration: old.duration), at: place.elapsed, paused: false)
        try fixture.wait { $0 == .failed(two, .transport("the audio device has gone")) }
        #expect(positions(two).last?.elapsed == place.elapsed)
        try pulse.revive()
        let three = PlaybackID(3)
        fixture.player.load(three, fixture.source("a", duration: old.duration), at: place.elapsed, paused: false)
        try fixture.wait { if case .position(three, let position) = $0 { position.advances } else { false } }
        let first = try #require(positions(three).first { $0.advances })
        #expect(first.elapsed >= place.elapsed)
        try fixture.wait {
            if case .position(three, let position) = $0 {
                position.elapsed > place.elapsed + .seconds(1)
            } else {
                false
            }
        }
    }

    /// A song of another rate has the device opened anew, and libmpv has none for a moment.
    @Test func aDeviceThatIsOpenedAnewIsNotLost() throws {
        let pulse = try Pulse()
        let kind = OutputConfiguration.Kind.device(driver: "pulse", device: "test")
        let output = OutputConfiguration(name: "pulse", kind: kind, server: pulse.server)
        let tones = [Tone(441, frames: 8000 * 4, rate: 8000, channels: 1), Tone(441, frames: 44_100 * 4)]
        let fixture = try PlayerFixture(isTimed: true, outputs: [output], stopsWithoutDevice: true) { request in
            .file(tones[request.path == "/b" ? 1 : 0].wav, for: request)
        }
        defer { fixture.stop() }
        fixture.player.load(one, fixture.source("a", duration: tones[0].duration), at: .seconds(1), paused: false)
        fixture.player.preload(two, fixture.source("b", duration: tones[1].duration))
        try fixture.wait(for: 20) { $0 == .ended(two, .endOfFile) }
        #expect(fixture.story == [.started(one), .audible(two), .ended(two, .endOfFile)])
        for id in [one, two] {
            let places = fixture.events.compactMap { if case .position(id, let place) = $0 { place } else { nil } }
            // Nothing is told to have been before what was told to be now.
            for (place, next) in zip(places, places.dropFirst()) {
                #expect(next.elapsed + .milliseconds(100) >= place.elapsed, "\(places)")
            }
        }
    }

    /// A device that comes, plays, goes and comes back, while the song goes on.
    @Test func devicesAreFoundAndComeBack() throws {
        let pulse = try Pulse()
        let kind = OutputConfiguration.Kind.device(driver: "pulse", device: "test")
        let output = OutputConfiguration(name: "pulse", kind: kind, server: pulse.server)
        let long = Tone(441, frames: 100 * Self.rate, rate: Self.rate, channels: 1).wav
        let fixture = try PlayerFixture(isTimed: true, outputs: [output], findsDevices: true) { [long] request in
            .file(long, for: request)
        }
        defer { fixture.stop() }
        func control(_ words: String...) -> String {
            TestProcess.run(["pactl", "-s", pulse.server] + words)?.output ?? ""
        }
        func devices(_ names: String...) throws {
            let areThere = poll {
                for case .devices(let found) in fixture.events.reversed() { return found.map(\.device) == names }
                return false
            }
            try #require(areThere, "\(names): \(fixture.events)")
        }
        try devices("test")
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        let words = "sink_name=second sink_properties=device.description=Second"
        let number = control("load-module", "module-null-sink", words).filter(\.isNumber)
        try devices("test", "second")
        let second = OutputConfiguration.Kind.device(driver: "pulse", device: "second")
        let outlet = Outlet(OutputConfiguration(name: "second", kind: second, enabled: false, server: pulse.server))
        fixture.player.putOutput(outlet, at: 1, enabled: false)
        fixture.player.setOutput(1, enabled: true)
        fixture.player.setOutput(0, enabled: false)
        #expect(poll { control("list", "sink-inputs").contains("Sink: 1") }, "\(control("list", "sink-inputs"))")
        // It goes: PulseAudio has the song heard elsewhere, and there again when it is back.
        _ = control("unload-module", number)
        #expect(poll { control("list", "sink-inputs").contains("Sink: 0") }, "\(control("list", "sink-inputs"))")
        // One that is back before libmpv has looked has not been away for it.
        try devices("test")
        _ = control("load-module", "module-null-sink", words)
        let isBack = poll { control("list", "sink-inputs").contains("Sink: 2") }
        #expect(isBack, "\(control("list", "sink-inputs")) \(control("list", "short", "sinks")) \(fixture.events)")
        #expect(!fixture.story.contains { if case .failed = $0 { true } else { false } })
    }

    @Test(arguments: [OutputConfiguration.Mixer.software, .hardware, OutputConfiguration.Mixer.none])
    func theMixerIsTheChosenOne(mixer: OutputConfiguration.Mixer) throws {
        let pulse = try Pulse()
        let fixture = try fixture(pulse, mixer: mixer)
        defer { fixture.stop() }
        fixture.player.setVolume(50)
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait {
            if case .position(_, let position) = $0 { position.elapsed > .milliseconds(1900) } else { false }
        }
        let sinks = TestProcess.run(["pactl", "-s", pulse.server, "list", "sink-inputs"])?.output ?? ""
        let volume = sinks.split(separator: "\n").first { $0.contains("Volume:") }.map(String.init) ?? ""
        #expect(volume.contains(mixer == .hardware ? " 50%" : "100%"), "\(sinks)")
        #expect(poll { ((try? pulse.sound().count) ?? 0) > Self.rate * 5 / 2 })
        // The loudest piece: on a busy machine the sound has holes.
        let samples = try pulse.sound()
        let found =
            stride(from: 2000, to: samples.count - 2000, by: 1000).map { start in
                level(441, samples[start..<(start + 2000)])
            }.max() ?? 0
        // PulseAudio's own scale is the cube.
        let wanted = mixer == .none ? 1 : mixer == .hardware ? 0.125 : OutputBoard.gain(ofVolume: 50)
        #expect(abs(found - wanted) < 0.02, "\(found)")
    }
}
