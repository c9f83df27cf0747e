import Library
import Logging
import MPDProtocol
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A Subsonic server that has pictures only, and a server of ours that takes them from it.
final class CoverServer: Sendable {
    /// Songs `A/B/song-0.flac` … in as many albums as wanted, each with the cover `art-N`.
    static func records(_ count: Int) -> [SongRecord] {
        (0..<count).map { number in
            SongRecord(
                songID: "song-\(number)",
                uri: "Artist/Album \(number)/song-\(number).flac",
                tags: [TagValue(.artist, "Artist"), TagValue(.album, "Album \(number)")],
                coverArt: "art-\(number)",
                albumID: "album-\(number)",
                artistID: "artist-1"
            )
        }
    }

    /// A picture as far as anyone looks: a signature and as many other bytes as wanted.
    static func picture(_ seed: UInt8, count: Int) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + (0..<max(0, count - 8)).map { UInt8(truncatingIfNeeded: $0) ^ seed }
    }

    static func answer(_ bytes: [UInt8], type: String = "image/png") -> HTTPTestResponse {
        HTTPTestResponse(headers: [("Content-Type", type)], body: bytes)
    }

    /// What servers say in place of a picture that they do not have.
    static let missing = HTTPTestResponse.json(
        #"{"subsonic-response":{"status":"failed","version":"1.16.1","error":{"code":70,"message":"not found"}}}"#
    )

    /// How many pictures lie in a folder, without those that are being written: whoever opens the folder next takes these away.
    static func keptCovers(in folder: String) -> Int {
        TemporaryFolder.names(in: folder).count { $0.hasSuffix(CoverFileForm.ending) }
    }

    let http: HTTPTestServer
    private let box: HandlerBox
    private let transport: CurlTransport
    private let executor: ThreadExecutor

    init?(_ handler: @escaping HTTPTestServer.Handler) {
        // The handler may be another one later.
        let current = HandlerBox(handler)
        guard let http = HTTPTestServer({ current.handler.withLock { $0 }($0) }), let transport = try? CurlTransport()
        else { return nil }
        self.http = http
        self.transport = transport
        executor = ThreadExecutor()
        box = current
    }

    /// Answers otherwise from now on.
    func answer(by handler: @escaping HTTPTestServer.Handler) { box.handler.withLock { $0 = handler } }

    /// Gives this answer from now on, once the gate is open.
    func hold(_ answer: HTTPTestResponse) -> TestGate {
        let gate = http.makeGate()
        var held = answer
        held.stepsBefore = [.wait(gate)]
        self.answer { [held] _ in held }
        return gate
    }

    /// How often a picture was asked for.
    func requests(for id: String? = nil) -> Int {
        http.requests.filter { $0.path.hasSuffix("getCoverArt.view") && (id == nil || $0.parameter("id") == id) }.count
    }

    func fetcher(size: Int? = nil, log: Log = .silent) throws -> CoverFetcher {
        let server = SubsonicServer(
            id: "test",
            name: "test",
            url: try ServerURL(http.url),
            credentials: Credentials(user: "me", password: "geheim"),
            mode: .token,
            allowsPlainPassword: false
        )
        let client = SubsonicClient(server, transport: transport, log: log)
        let policy = RetryPolicy(delays: [.milliseconds(5), .milliseconds(10)])
        return CoverFetcher(client: client, transport: transport, size: size, log: log, policy: policy)
    }

    /// Pictures of this server for a `TestServer`.
    func covers(
        files: CoverFiles? = nil,
        memory: Int = 16 << 20,
        clock: Covers.Clock = Covers.Clock(),
        size: Int? = nil
    ) throws -> CoverRecipe {
        let fetcher = try fetcher(size: size)
        let executor = executor
        return CoverRecipe { core in
            Covers(
                files: files,
                memory: memory,
                clock: clock,
                post: { action in core.post { $0.covers.map(action) } }
            ) { source, whenDone in
                Task(executorPreference: executor) { whenDone(await fetcher.fetch(source)) }
            }
        }
    }

    func stop() {
        http.stop()
        transport.shutdown()
        executor.pool.shutdown()
    }
}

/// Runs tasks on threads of their own: tests that wait keep those of the others busy.
private final class ThreadExecutor: TaskExecutor {
    let pool = WorkerPool(count: 2)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// How a `TestServer` comes to its pictures.
struct CoverRecipe: Sendable {
    let make: @Sendable (Core) -> Covers

    init(_ make: @escaping @Sendable (Core) -> Covers) { self.make = make }
}

private final class HandlerBox: Sendable {
    let handler: Mutex<HTTPTestServer.Handler>

    init(_ handler: @escaping HTTPTestServer.Handler) { self.handler = Mutex(handler) }
}

extension MPDTestClient {
    /// Reads a whole picture piece by piece.
    func picture(_ command: String, _ path: String) throws -> (bytes: [UInt8], pieces: [Int], ack: String?) {
        var bytes: [UInt8] = []
        var pieces: [Int] = []
        while true {
            send("\(command) \"\(path)\" \(bytes.count)\n")
            let (lines, piece) = try binaryReply()
            if let last = lines.last, last.hasPrefix("ACK") { return (bytes, pieces, last) }
            guard let piece, let size = lines.first.flatMap({ Int($0.dropFirst("size: ".count)) }) else {
                return (bytes, pieces, nil)
            }
            bytes += piece
            pieces.append(piece.count)
            if bytes.count >= size || piece.isEmpty { return (bytes, pieces, nil) }
        }
    }
}
