import CLinux
import Glibc
import Support
import Testing

@testable import Playback

private let one = PlaybackID(1)

/// A real AirPlay receiver: shairport-sync, to which a sink of PulseAudio sends, and which writes what it plays to a pipe.
///
/// It announces itself by Avahi, so there are a bus and an Avahi of the test's own, on loopback alone.
@Suite(.enabled(if: RealPeer.airplay.isWanted, "shairport-sync, avahi-daemon, dbus-daemon or pulseaudio is missing"))
struct AirPlayTests {
    @Test func aReceiverHearsTheSong() throws {
        let folder = try #require(TemporaryFolder())
        let port = try #require(freePort())
        let avahi = PrivateAvahi(in: folder)
        defer { avahi.stop() }
        #expect(avahi.startBus() && avahi.startDaemon(), "\(avahi.errors)")

        let heard = folder.path("heard")
        #expect(unsafe mkfifo(heard, 0o600) == 0)
        // Read and written, so that the receiver finds a reader at once.
        let reader = unsafe shelv_open(heard, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0)
        defer { close(reader) }
        let receiving = folder.write(
            "shairport.conf",
            """
            general = { name = "Test"; port = \(port); interface = "lo"; output_backend = "pipe"; mdns_backend = "avahi";
                ignore_volume_control = "yes"; };
            pipe = { name = "\(heard)"; };
            """
        )
        let words = ["shairport-sync", "-v", "-c", receiving]
        let receiver = try #require(TestProcess(words, environment: avahi.environment))
        defer { receiver.send(SIGKILL) }
        #expect(poll { LoopbackPort.listens(port) }, "\(receiver.errors)")

        let socket = folder.path("native")
        let script = folder.write(
            "script.pa",
            """
            load-module module-native-protocol-unix socket=\(socket) auth-anonymous=1
            load-module module-raop-sink sink_name=air server=127.0.0.1:\(port) protocol=UDP codec=ALAC encryption=none

            """
        )
        _ = unsafe mkdir(folder.path("run"), 0o700)
        let playing = ["pulseaudio", "-n", "-F", script, "--exit-idle-time=-1", "--daemonize=no", "--use-pid-file=no"]
        let environment = ["PULSE_RUNTIME_PATH": folder.path("run"), "HOME": folder.path("run")]
        let pulse = try #require(TestProcess(playing + ["--disable-shm=yes"], environment: environment))
        defer { pulse.send(SIGKILL) }
        #expect(poll { unsafe access(socket, R_OK) == 0 }, "\(pulse.errors)")

        let tone = Tone(441, frames: 40 * 44_100)
        let kind = OutputConfiguration.Kind.device(driver: "pulse", device: "air")
        let output = OutputConfiguration(name: "AirPlay", kind: kind, server: "unix:\(socket)")
        let fixture = try PlayerFixture(isTimed: true, outputs: [output], findsDevices: true) {
            .file(tone.wav, for: $0)
        }
        defer { fixture.stop() }
        // It is one of the devices that are found.
        try fixture.wait {
            if case .devices(let found) = $0 { found.contains { $0.name == "pulse/air" } } else { false }
        }
        fixture.player.load(one, fixture.source("a"), at: .zero, paused: false)
        try fixture.wait { $0 == .started(one) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var last = 0.0
        let isHeard = waitUntil(milliseconds: 20_000) {
            while true {
                let count = unsafe read(reader, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            last = strength(of: 441, in: firstChannel(Array(bytes.suffix(88_200)))[...])
            return bytes.count > 4 * 88_200 && last > 0.4
        }
        #expect(
            isHeard,
            "\(bytes.count) bytes, strength \(last): \(receiver.errors.suffix(2000)) \(pulse.errors.suffix(1000))"
        )
    }
}

/// Looks whether somebody listens.
enum LoopbackPort {
    static func listens(_ port: Int) -> Bool {
        guard let peer = try? Socket.connect(to: "127.0.0.1", port: UInt16(clamping: port), timeout: .seconds(1)).get()
        else { return false }
        Socket.close(peer)
        return true
    }
}
