import Glibc
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)

// With the other tests of outputs, because of which none runs beside it: it changes this process's environment.
extension OutputTests {
    /// A real PipeWire of our own, whose only sink is silent and recorded.
    @Test(.enabled(if: RealPeer.pipewire.isWanted, "pipewire, its tools, wireplumber or dbus-daemon is not installed"))
    func aSinkOfPipeWireGetsTheSong() throws {
        let folder = try #require(TemporaryFolder())
        _ = unsafe mkdir(folder.path("run"), 0o700)
        let bus = "unix:path=\(folder.path("run/bus"))"
        let environment = [
            "XDG_RUNTIME_DIR": folder.path("run"), "HOME": folder.path("run"), "DBUS_SESSION_BUS_ADDRESS": bus,
        ]
        // libmpv looks for the server by these, in this very process.
        let before = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) }
        unsafe setenv("XDG_RUNTIME_DIR", folder.path("run"), 1)
        defer {
            if let before { unsafe setenv("XDG_RUNTIME_DIR", before, 1) } else { unsafe unsetenv("XDG_RUNTIME_DIR") }
        }
        let daemon = try #require(TestProcess(["dbus-daemon", "--session", "--nofork", "--address=\(bus)"]))
        defer { daemon.send(SIGKILL) }
        #expect(poll { unsafe access(folder.path("run/bus"), R_OK) == 0 })
        let server = try #require(TestProcess(["pipewire"], environment: environment))
        defer { server.send(SIGKILL) }
        #expect(poll { unsafe access(folder.path("run/pipewire-0"), R_OK) == 0 }, "\(server.errors)")
        let manager = try #require(TestProcess(["wireplumber"], environment: environment))
        defer { manager.send(SIGKILL) }
        let sink =
            "{ factory.name=support.null-audio-sink node.name=silent node.description=Silent media.class=Audio/Sink "
            + "object.linger=true audio.position=[FL FR] monitor.channel-volumes=true }"
        let made = TestProcess.run(["pw-cli", "create-node", "adapter", sink], environment: environment)
        #expect(made?.end == .exited(0), "\(made?.errors ?? "")")

        let tone = Tone(441, frames: 20 * 48_000, rate: 48_000)
        let kind = OutputConfiguration.Kind.device(driver: "pipewire", device: "silent")
        let output = OutputConfiguration(name: "pipewire", kind: kind)
        let fixture = try PlayerFixture(isTimed: true, outputs: [output], findsDevices: true) {
            .file(tone.wav, for: $0)
        }
        defer { fixture.stop() }
        try fixture.wait {
            if case .devices(let found) = $0 { found.contains { $0.name == "pipewire/silent" } } else { false }
        }
        let recording = folder.path("recording.wav")
        let words = ["pw-record", "--target", "silent", "-P", "{ stream.capture.sink=true }", "--rate", "48000"]
        let recorder = try #require(
            TestProcess(words + ["--channels", "2", "--format", "s16", recording], environment: environment)
        )
        defer { recorder.send(SIGKILL) }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        // Pieces of a twentieth of a second: on a busy machine the sound has holes.
        var strong = 0
        let isHeard = waitUntil(milliseconds: 15_000) {
            let samples = firstChannel(Array((contents(of: recording) ?? []).dropFirst(44).suffix(400_000)))
            strong = stride(from: 0, to: samples.count - 2400, by: 2400).count { start in
                strength(of: 441, in: samples[start..<(start + 2400)], rate: 48_000) > 0.4
            }
            return strong >= 10
        }
        #expect(isHeard, "\(strong) pieces: \(recorder.errors) \(server.errors) \(fixture.events)")
    }
}
