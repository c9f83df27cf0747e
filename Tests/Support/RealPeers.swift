import Glibc
import Synchronization

/// Programs that some tests need. A test that needs one is enabled by `.enabled(if: RealPeer.mpd.isWanted)`: it is
/// skipped, visibly, where the program is missing, and fails instead when `SHELV_REQUIRE_REAL` is set.
public enum RealPeer: Sendable {
    case mpd, mpc, ncmpcpp, visualizer, supysonic, ffmpeg, ffplay, snapcast, pulseaudio, pipewire, airplay, avahi

    private var programs: [String] {
        switch self {
        case .mpd: ["mpd"]
        case .mpc: ["mpc"]
        case .ncmpcpp, .visualizer: ["ncmpcpp", "tmux"]
        case .supysonic: ["supysonic-cli", "gunicorn", "ffmpeg"]
        case .ffmpeg: ["ffmpeg"]
        case .ffplay: ["ffplay"]
        case .pulseaudio: ["pulseaudio", "pactl", "parec"]
        case .pipewire: ["pipewire", "wireplumber", "pw-cli", "pw-record", "dbus-daemon"]
        case .airplay: ["pulseaudio", "shairport-sync", "avahi-daemon", "dbus-daemon"]
        case .avahi: ["avahi-daemon", "avahi-browse", "dbus-daemon"]
        case .snapcast: ["snapserver", "snapclient"]
        }
    }

    /// Whether a test with this program shall run.
    public var isWanted: Bool {
        unsafe getenv("SHELV_REQUIRE_REAL") != nil || programs.allSatisfy { TestProcess.find($0) != nil } && isWhole
    }

    /// Whether the program was built with the part that is wanted of it.
    private var isWhole: Bool {
        guard case .visualizer = self else { return true }
        return TestProcess.run(["ncmpcpp", "--version"])?.output.contains("- visualizer") == true
    }
}

/// Paths of this package.
public enum PackageFolder {
    /// The package's root, without a final slash.
    public static let path = String(#filePath.dropLast("/Tests/Support/RealPeers.swift".count))

    /// The path of something in the package.
    public static func path(_ name: String) -> String { "\(path)/\(name)" }
}

/// The library of `Scripts/make-library --set tests`: short tones under known names.
public final class ToneLibrary: Sendable {
    /// A file of the library.
    public struct Song: Sendable, Equatable {
        /// Relative to the library's folder.
        public var path: String
        /// Hz of its tone.
        public var frequency: Double
        public var seconds: Double
        public var title: String
    }

    /// The one library of this process; nil when it cannot be made.
    public static let shared = ToneLibrary()

    /// The folder of music.
    public let path: String
    public let songs: [Song]

    private init?() {
        // Kept beside what the compiler keeps: making it takes seconds, and it is made again when the script changes.
        let path = PackageFolder.path(".build/tone-library")
        let making = TestProcess.run(
            [PackageFolder.path("Scripts/make-library"), path, "--set", "tests"],
            milliseconds: 300_000
        )
        guard making?.end == .exited(0), let manifest = contents(of: "\(path)/manifest.tsv") else { return nil }
        self.path = path
        songs = String(decoding: manifest, as: UTF8.self).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 4, let frequency = Double(parts[1]), let seconds = Double(parts[2]) else { return nil }
            return Song(path: String(parts[0]), frequency: frequency, seconds: seconds, title: String(parts[3]))
        }
    }

    /// The song at a path, or nil.
    public func song(_ path: String) -> Song? { songs.first { $0.path == path } }
}

/// A real Subsonic server: Debian's supysonic under gunicorn, on a free port of loopback, with user and password "demo".
public final class SupysonicServer: Sendable {
    /// `http://127.0.0.1:PORT`
    public let url: String
    public let user = "demo"
    public let password = "demo"
    private let music: String
    private let folder: TemporaryFolder
    private let process: Mutex<TestProcess?>

    /// Starts it on a folder of music and waits until it has scanned that and answers; nil when it does not.
    public init?(music: String) {
        guard let folder = TemporaryFolder(), let (process, url) = SupysonicServer.start(folder, music, port: nil)
        else {
            return nil
        }
        self.url = url
        self.music = music
        self.folder = folder
        self.process = Mutex(process)
    }

    /// Ends it; its port refuses connections from then on.
    public func stop() {
        let process = process.withLock { process in
            defer { process = nil }
            return process
        }
        process?.stop()
    }

    /// Starts it again at the same address; false when that fails.
    public func restart() -> Bool {
        stop()
        let port = url.split(separator: ":").last.map(String.init)
        guard let (started, _) = SupysonicServer.start(folder, music, port: port) else { return false }
        process.withLock { $0 = started }
        return true
    }

    private static func start(_ folder: TemporaryFolder, _ music: String, port: String?) -> (TestProcess, String)? {
        let script = PackageFolder.path("Scripts/subsonic_server.py")
        let command = ["/usr/bin/python3", "-B", script, folder.path("state"), music] + (port.map { [$0] } ?? [])
        guard let process = TestProcess(command) else { return nil }
        _ = waitUntil(milliseconds: 60_000) { process.output.contains("\n") || !process.isRunning }
        let words = process.output.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0] == "READY" else { return nil }
        return (process, String(words[1]))
    }
}
