import Library
import Logging
import SubsonicKit

/// Keeps the queue at one server, in its own way. Used for one job at a time.
actor PlayQueueCourier {
    private let server: any SubsonicCalling
    private let log: Log
    /// Keeps what tells our own queue from another's.
    private let keepMark: @Sendable (String) -> Void
    private var mark: String
    private var abilities: ServerAbilities?
    /// What need not be saved.
    private var known: PlayQueue?
    private let jobs: AsyncStream<PlayQueueJob>
    nonisolated let queue: AsyncStream<PlayQueueJob>.Continuation

    /// Under which name the mark of the queue that was saved last is kept.
    static let markFact = "play_queue"
    /// Ids that go into an address, where the server reads no forms: those around the current song.
    private static let mostInQuery = 100

    /// - Parameter mark: what the last run kept.
    init(
        _ server: any SubsonicCalling,
        mark: String,
        log: Log,
        keepMark: @escaping @Sendable (String) -> Void
    ) {
        self.server = server
        self.mark = mark
        self.log = log
        self.keepMark = keepMark
        (jobs, queue) = AsyncStream.makeStream()
    }

    /// Fetches what another device has saved as its queue. `whenDone` is told in any case, on any thread.
    nonisolated func fetch(_ whenDone: @escaping @Sendable (Result<PlayQueue?, SubsonicError>) -> Void) {
        if case .terminated = queue.yield(.fetch(whenDone)) { whenDone(.failure(Self.ended)) }
    }

    private static let ended = SubsonicError.transport(TransportError(.cancelled, "the server is not asked any more"))

    /// Carries out what the core's keeper wants, one job at a time, until the queue of jobs is finished; once the task is
    /// cancelled nothing is asked any more.
    nonisolated func work(for home: MusicServer.Reference) async {
        home.post { [queue] in $0.playQueue?.connect { queue.yield($0) } }
        // A cancelled one still gets what was in the queue: somebody waits for the answer.
        for await job in jobs {
            if Task.isCancelled, case .fetch(let whenDone) = job {
                whenDone(.failure(Self.ended))
                continue
            }
            do throws(SubsonicError) {
                try await carryOut(job, home)
            } catch {
                home.post { $0.playQueue?.isNotSupported() }
            }
        }
    }

    /// - Throws: when the server keeps no queues.
    private func carryOut(_ job: PlayQueueJob, _ home: MusicServer.Reference) async throws(SubsonicError) {
        switch job {
        case .know(let moment): known = moment.playQueue()
        case .save(let moment):
            var result = Result<PlayQueueSaving, SubsonicError>.success(PlayQueueSaving())
            if let queue = moment.playQueue(), queue != known {
                let replaced = try await looked { () throws(SubsonicError) in try await foreign() }
                if case .failure(let error) = replaced {
                    result = .failure(error)
                } else {
                    result = await saved(queue, replaced: (try? replaced.get()) ?? nil)
                }
            }
            home.post { [result] in $0.playQueue?.wasSaved(result) }
        case .look(let isStart):
            let result = try await looked { () throws(SubsonicError) in try await foreign() }
            home.post { $0.playQueue?.looked(result, isStart: isStart) }
        case .fetch(let whenDone):
            do throws(SubsonicError) {
                // What was saved from here is no other device's, which it may have replaced.
                whenDone(.success(try await foreign()))
            } catch {
                whenDone(.failure(error))
            }
        }
    }

    private func saved(_ queue: PlayQueue, replaced: PlayQueue?) async -> Result<PlayQueueSaving, SubsonicError> {
        do throws(SubsonicError) {
            try await save(queue)
            known = queue
            return .success(PlayQueueSaving(replaced: replaced))
        } catch {
            return .failure(error)
        }
    }

    /// A look at what the server has.
    /// - Throws: when it does not know such a thing. It need not be asked again.
    private func looked(
        _ look: () async throws(SubsonicError) -> PlayQueue?
    ) async throws(SubsonicError) -> Result<PlayQueue?, SubsonicError> {
        do throws(SubsonicError) {
            return .success(try await look())
        } catch {
            switch error {
            case .server(let failure) where failure.code == 70: return .success(nil)
            case .server(let failure) where [0, 30].contains(failure.code): throw error
            case .http(let status, _) where [404, 410, 501].contains(status): throw error
            default: return .failure(error)
            }
        }
    }

    private func queueThere() async throws(SubsonicError) -> PlayQueue? {
        try await server.playQueue(byIndex: learn().extensions.contains("indexBasedQueue"))
    }

    /// The queue that the server has, if it was not saved from here.
    private func foreign() async throws(SubsonicError) -> PlayQueue? {
        guard let queue = try await queueThere(), Self.mark(of: queue) != mark else { return nil }
        return queue
    }

    private func save(_ queue: PlayQueue) async throws(SubsonicError) {
        let abilities = try await learn()
        let kind = ServerKind(abilities.server)
        let takesForms = abilities.extensions.contains("formPost") || (kind != .unknown && kind != .funkwhale)
        var queue = queue
        if !takesForms, queue.songIDs.count > Self.mostInQuery {
            let start = min(max(0, queue.current - Self.mostInQuery / 4), queue.songIDs.count - Self.mostInQuery)
            queue.songIDs = Array(queue.songIDs[start..<start + Self.mostInQuery])
            queue.current -= start
        }
        // Known before it is there: an answer may be lost.
        mark = Self.mark(of: queue)
        keepMark(mark)
        try await server.savePlayQueue(
            queue,
            byIndex: abilities.extensions.contains("indexBasedQueue"),
            post: takesForms && queue.songIDs.count > Self.mostInQuery
        )
    }

    private func learn() async throws(SubsonicError) -> ServerAbilities {
        if let abilities { return abilities }
        let found = try await server.abilities()
        abilities = found
        return found
    }

    /// A number of the songs in their order: what another device saves has another one, unless it is the same queue.
    private static func mark(of queue: PlayQueue) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for id in queue.songIDs {
            for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16)
    }
}
