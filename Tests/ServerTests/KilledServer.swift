import Glibc
import Library
import Logging
import MPDProtocol
import Support

@testable import ShelvMPD

/// The real program on a stored library, with a server that has the sound of its songs, to be killed and started again.
final class KilledServer: Sendable {
    let folder: TemporaryFolder
    private let audio: HTTPTestServer
    let port: Int

    /// Songs stand in folders of fifty.
    static let folders = (0..<8).map { "Artist \($0)/Album" }

    /// The program that was built with these tests.
    static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/shelvmpd"
    }

    /// - Parameter outputs: names of silent outputs.
    init?(outputs: [String] = ["null"]) async throws {
        let sound = Self.silence(seconds: 600)
        guard let folder = TemporaryFolder(),
            let audio = HTTPTestServer({ request in
                // Nothing but sound: the library is the stored one.
                request.path.hasPrefix("/rest/stream")
                    ? .file(sound, for: request, type: "audio/x-wav") : .html("away", status: 503)
            }), let spare = HTTPTestServer({ _ in .html("") })
        else { return nil }
        self.folder = folder
        self.audio = audio
        port = spare.port
        spare.stop()
        let store = try Store(path: folder.path("state/store.sqlite"), log: .silent)
        let id = try await store.identify([ServerAddress(name: "test", url: audio.url)])[0]
        store.close()
        folder.write("cache/x", "")
        var builder = LibraryBuilder()
        for (number, path) in Self.folders.enumerated() {
            for track in 1...50 {
                let record = SongRecord(
                    songID: "song-\(number)-\(track)",
                    uri: "\(path)/\(track).wav",
                    tags: [TagValue(.artist, "Artist \(number)"), TagValue(.title, "Title \(track)")],
                    duration: 600_000,
                    size: Int64(sound.count),
                    suffix: "wav"
                )
                builder.add(record)
            }
        }
        let info = LibraryInfo(serverID: id.text, serverName: "test")
        _ = try builder.build(info: info, file: folder.path("cache/library-\(id.text).image"))
        folder.write(
            "conf",
            """
            bind_to_address "127.0.0.1"
            port "\(port)"
            state_directory "\(folder.path("state"))"
            cache_directory "\(folder.path("cache"))"
            subsonic_server {
                name "test"
                url "\(audio.url)"
                user "u"
                password "p"
            }
            """
                + outputs.map { "\naudio_output {\n    type \"null\"\n    name \"\($0)\"\n}" }.joined()
        )
    }

    /// Starts the program; nil when it does not.
    /// - Parameter environment: variables beside those of the tests.
    func start(_ environment: [String: String] = [:]) -> TestProcess? {
        TestProcess([Self.program, "--config", folder.path("conf")], environment: environment)
    }

    /// A client, once the program listens.
    func client(_ process: TestProcess) -> MPDTestClient? {
        var client: MPDTestClient?
        _ = waitUntil(milliseconds: 30_000) {
            client = try? MPDTestClient(port: port)
            return client != nil || !process.isRunning
        }
        return client
    }

    func stop() { audio.stop() }

    /// A WAV file of 8,000 silent samples a second.
    private static func silence(seconds: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let length = seconds * 8000
        let format = little(1, 2) + little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2) + little(8, 2)
        return Array("RIFF".utf8) + little(36 + length, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8) + little(length, 4) + [UInt8](repeating: 128, count: length)
    }
}
