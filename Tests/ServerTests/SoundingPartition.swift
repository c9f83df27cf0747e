import Library
import Logging
import Playback
import QueueEngine
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A partition with a real player, which plays from a scripted server without a sound card. The thread of the test is
/// its core: it takes what the player tells while it waits.
final class SoundingPartition {
    let partition: Partition
    let server: HTTPTestServer
    private let folder: TemporaryFolder
    private let transport: CurlTransport
    private let cache: AudioCache
    private let events: Events

    private final class Events: Sendable {
        private let list = Mutex<[PlayerEvent]>([])

        func append(_ event: PlayerEvent) { list.withLock { $0.append(event) } }

        func take() -> [PlayerEvent] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    /// Has the songs of the library of tests in its queue that are told to last 60 s.
    init(
        _ output: OutputConfiguration.Kind = .null,
        stopsWithoutDevice: Bool = false,
        _ handler: @escaping HTTPTestServer.Handler
    ) throws {
        guard let folder = TemporaryFolder(), let server = HTTPTestServer(handler) else { throw Failure.noServer }
        let events = Events()
        (self.folder, self.server, self.events) = (folder, server, events)
        transport = try CurlTransport()
        cache = try AudioCache(directory: folder.path("cache"), transport: transport, log: .silent)
        let configuration = PlayerConfiguration(
            outputs: [Outlet(OutputConfiguration(name: "test", kind: output))],
            stopsWithoutDevice: stopsWithoutDevice
        )
        let player = try MPVPlayer(configuration, cache: cache, log: .silent) { events.append($0) }
        var builder = LibraryBuilder()
        for record in LibraryFixture.records.prefix(3) { builder.add(record) }
        let library = try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        let songs = SongTable(library: library)
        let url = server.url
        partition = Partition(
            id: PartitionID("test"),
            queue: Queue(seed: 1),
            player: player,
            outputs: [OutputState(name: "test", plugin: "null", isEnabled: true, isDevice: true)],
            volume: 100,
            songs: songs,
            log: .silent,
            source: { song, library in
                AudioSource(cacheKey: library.songID(song), duration: .seconds(60)) { start in
                    HTTPRequest(url: "\(url)/song", rangeStart: start)
                }
            },
            schedule: { _, _ in }
        )
        let keys = (0..<UInt32(3)).map { songs.key(for: SongIndex(rawValue: $0)) }
        _ = try partition.add { queue throws(QueueError) in try queue.append(contentsOf: keys) }
    }

    enum Failure: Error { case noServer }

    /// Waits for something that follows from what the player tells.
    func wait(_ holds: (Partition) -> Bool) -> Bool {
        waitUntil {
            for event in events.take() { partition.handle(event) }
            return holds(partition)
        }
    }

    /// Ends everything. Call it in the test's `defer`.
    func stop() {
        partition.player.shutdown()
        _ = waitUntil { events.take().contains(.closed) }
        cache.shutdown()
        server.stop()
        transport.shutdown()
    }

    /// A WAV file of silence.
    static func silence(seconds: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let size = seconds * 16_000
        return Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(1, 2) + little(8000, 4) + little(16_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
            + little(size, 4) + [UInt8](repeating: 0, count: size)
    }
}
