import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured servers, and the tasks that run for each: stars, ratings and plays are brought to all of them, libraries are
/// kept like those of the active and the mounted ones, and so are playlists; edits of them go to the active one.
///
/// What clients want of it is done one after the other by `run`.
actor MusicServers {
    /// One block of the configuration.
    struct Member {
        let id: ServerID
        let reference: MusicServer.Reference
        var block: ServerConfiguration
        /// Those that run as long as the block stands there; the first one is that of `plays`.
        var couriers: [Task<Void, Never>] = []
        /// Tells what is listened to.
        var plays: ScrobbleCourier?
        /// Keeps the library like the server's, as long as clients see it.
        var sync: Task<Void, Never>?
        /// Keeps the playlists of a mounted one like the server's.
        var lists: Task<Void, Never>?
    }

    /// What runs for the active server only.
    struct Attendance {
        var tasks: [Task<Void, Never>] = []
        var extras: ListeningExtras?
    }

    private struct Request: Sendable {
        let change: ServerChange
        let whenDone: @Sendable (Result<Void, ServerChangeError>) -> Void
    }

    nonisolated let sources = MusicSources()
    /// Brings the bytes of songs, whatever their server: apart from the API, so that a long answer of one never holds up the
    /// other.
    nonisolated let audioTransport: CurlTransport
    let core: Core
    let store: Store
    nonisolated let log: Log
    let configuration: Configuration
    var members: [Member] = []
    var shown: Arrangement?
    var attendance = Attendance()
    var lastNumber: UInt64 = 0
    private let requests: AsyncStream<Request>
    private nonisolated let queue: AsyncStream<Request>.Continuation

    init(_ configuration: Configuration, core: Core, store: Store, log: Log) throws {
        self.configuration = configuration
        self.core = core
        self.store = store
        self.log = log
        audioTransport = try CurlTransport()
        (requests, queue) = AsyncStream.makeStream()
    }

    /// Lets clients change which servers they see; what they want is done once `run` has begun. On the core, before a client
    /// comes.
    nonisolated func connect(to server: Server) {
        let (queue, log) = (queue, log)
        server.changeServers = { change, whenDone in
            let result = queue.yield(Request(change: change, whenDone: whenDone))
            if case .terminated = result { whenDone(.failure(Self.ended)) }
        }
        server.reloadServers = { _ in
            let whenDone: @Sendable (Result<Void, ServerChangeError>) -> Void = { result in
                if case .failure(let error) = result { log.error("Not all servers are as they shall be: \(error)") }
            }
            queue.yield(Request(change: .reload, whenDone: whenDone))
        }
    }

    /// Starts what runs for each server, and does what clients want, until the task is cancelled.
    /// - Parameter extras: those that the active server began with.
    func run(_ extras: ListeningExtras) async {
        for index in members.indices { startCouriers(index) }
        attend(extras)
        await sync()
        for await request in requests {
            do throws(ServerChangeError) {
                switch request.change {
                case .use(let name): try await use(name)
                case .mount(let path, let uri): try await mount(path, uri)
                case .unmount(let path): try await unmount(path)
                case .reload: try await reload()
                case .merge: try await arrange(nil)
                }
                request.whenDone(.success(()))
            } catch {
                request.whenDone(.failure(error))
            }
        }
    }

    /// Ends all transfers and their threads.
    nonisolated func shutdown() {
        audioTransport.shutdown()
        for source in sources.all { source.shutdown() }
    }

    static let ended = ServerChangeError.failed("the server ends")
}
