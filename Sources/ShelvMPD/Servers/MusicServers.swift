import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured servers, and the tasks that run for each: stars, ratings and plays are brought to all of them; the library
/// and the playlists are kept like those of the active one.
///
/// What clients want of it is done one after the other by `run`.
actor MusicServers {
    /// One block of the configuration.
    private struct Member {
        let id: ServerID
        let reference: MusicServer.Reference
        var block: ServerConfiguration
        /// Those that run as long as the block stands there; the first one is that of `plays`.
        var couriers: [Task<Void, Never>] = []
        /// Tells what is listened to.
        var plays: ScrobbleCourier?
    }

    /// What runs for the active server only.
    private struct Attendance {
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
    private let core: Core
    private let store: Store
    private let log: Log
    private let configuration: Configuration
    private var members: [Member] = []
    private var active: ServerID?
    private var attendance = Attendance()
    private var lastNumber: UInt64 = 0
    private let requests: AsyncStream<Request>
    private nonisolated let queue: AsyncStream<Request>.Continuation

    /// How long the end of the program waits for the last things to be told.
    private static let patience = Duration.seconds(2)
    /// Under which name the store keeps which server is active.
    private static let activeSetting = "active_server"

    init(_ configuration: Configuration, core: Core, store: Store, log: Log) throws {
        self.configuration = configuration
        self.core = core
        self.store = store
        self.log = log
        audioTransport = try CurlTransport()
        (requests, queue) = AsyncStream.makeStream()
    }

    // MARK: The start

    /// All that the core needs to begin with.
    struct Start: Sendable {
        /// In the order of the configuration.
        let servers: [MusicServerParts]
        let active: ServerID
        /// Of the active server.
        let library: LibrarySnapshot
        let parts: ActiveServerParts
        fileprivate let makeJournal: @Sendable () -> JournalWriter

        /// The servers as the core has them, the active one first; on the core.
        func make(_ sources: MusicSources, _ configuration: Configuration, log: Log) -> [MusicServer] {
            let journal = makeJournal()
            return servers.sorted { a, _ in a.id == active }.map { parts in
                parts.make(journal.writer(for: parts.id), sources, configuration, log: log)
            }
        }
    }

    /// Reads passwords, libraries, and what the last run left.
    /// - Throws: a sentence for the user: no server, no password of the active one.
    func open() async throws -> Start {
        let blocks = configuration.servers
        guard let first = blocks.first else {
            throw StartError("there is no subsonic_server in the configuration")
        }
        let ids = try await store.identify(blocks.map { ServerAddress(name: $0.name, url: $0.url) })
        let last = try await store.settings()[Self.activeSetting].map { ServerID(text: $0) }
        let active = last.flatMap { ids.contains($0) ? $0 : nil } ?? ids.first
        guard let active else { throw StartError("the server \(first.name) cannot be found again") }
        self.active = active
        var parts: [MusicServerParts] = []
        for (block, id) in zip(blocks, ids) {
            do {
                parts.append(try await add(block, id, mustAnswer: id == active))
            } catch {
                throw StartError("\(block.name): \(error)")
            }
        }
        guard let source = sources[active] else { throw StartError("the server cannot be asked") }
        return Start(
            servers: parts,
            active: active,
            library: source.shown.withLock { $0 },
            parts: try await ActiveServerParts.load(source, configuration),
            makeJournal: try await JournalWriter.opening(store, server: active)
        )
    }

    /// Takes a block in.
    /// - Parameter mustAnswer: whether there is no use for a server without its password.
    private func add(
        _ block: ServerConfiguration,
        _ id: ServerID,
        mustAnswer: Bool = false
    ) async throws -> MusicServerParts {
        lastNumber += 1
        let reference = MusicServer.Reference(core, number: lastNumber)
        members.append(Member(id: id, reference: reference, block: block))
        let library = try MusicSource.storedLibrary(id, block, configuration, log)
        var problem: String?
        do {
            sources.set(try await source(block, id, library), for: id)
        } catch {
            if mustAnswer { throw error }
            problem = "\(error)"
            log.error("The server \(block.name) cannot be used: \(error)")
        }
        return try await MusicServerParts.load(
            reference,
            id,
            block,
            library: library,
            problem: problem,
            from: store
        )
    }

    private func source(
        _ block: ServerConfiguration,
        _ id: ServerID,
        _ library: LibrarySnapshot
    ) async throws -> MusicSource {
        let recipe = try MusicSource.Recipe(block, id: id)
        return try await MusicSource(recipe, id: id, library: library, configuration, store: store, log: log)
    }

    // MARK: Running

    /// Starts what runs for each server, and does what clients want, until the task is cancelled.
    /// - Parameter extras: those that the active server began with.
    func run(_ extras: ListeningExtras) async {
        for index in members.indices { startCouriers(index) }
        attend(extras)
        core.post { [queue] server in
            server.changeServers = { change, whenDone in queue.yield(Request(change: change, whenDone: whenDone)) }
        }
        for await request in requests {
            do throws(ServerChangeError) {
                switch request.change {
                case .use(let name): try await use(name)
                case .reload: try await reload()
                }
                request.whenDone(.success(()))
            } catch {
                request.whenDone(.failure(error))
            }
        }
    }

    /// Lets the queue be saved for the last time, and ends everything. `run` must have ended.
    func finish() async {
        for member in members { member.plays?.queue.finish() }
        await attendance.extras?.finish()
        await leave()
        await finishPlays()
        for index in members.indices { await stopCouriers(index) }
    }

    /// Waits until it is told that nothing is heard any more, as long as that does not take too long.
    private func finishPlays() async {
        let telling = members.compactMap(\.couriers.first)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for task in telling { await task.value } }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                for task in telling { task.cancel() }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Ends all transfers and their threads.
    nonisolated func shutdown() {
        audioTransport.shutdown()
        for source in sources.all { source.shutdown() }
    }

    /// They live as long as the member: `stopCouriers` ends them.
    private func startCouriers(_ index: Int) {
        let reference = members[index].reference
        guard let source = sources[members[index].id] else { return }
        let plays = source.playCourier()
        members[index].plays = plays
        members[index].couriers = [
            Task { await plays.work(for: reference) }, Task { await source.keepMarks(reference) },
            Task { await source.learnTimeOffset() },
        ]
    }

    private func stopCouriers(_ index: Int) async {
        let tasks = members[index].couriers
        members[index].couriers = []
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Begins what runs for the active server only; `leave` ends it.
    private func attend(_ extras: ListeningExtras) {
        guard let member = members.first(where: { $0.id == active }), let source = sources[member.id] else { return }
        let reference = member.reference
        attendance = Attendance(
            tasks: [
                Task { await source.keepInSync(reference) }, Task { await source.keepPlaylists(reference) },
                Task { await extras.keepQueue(reference) },
            ],
            extras: extras
        )
    }

    private func leave() async {
        let tasks = attendance.tasks
        attendance = Attendance()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Switching

    private func use(_ name: String) async throws(ServerChangeError) {
        guard let index = members.firstIndex(where: { $0.block.name == name }) else { throw .noSuchServer }
        let id = members[index].id
        if id == active { return }
        if sources[id] == nil { try await renew(index) }
        log.notice("The server is \(name) now")
        try await activate(id)
    }

    /// Shows clients a server, and lets what runs for the one before come to its end.
    private func activate(_ id: ServerID) async throws(ServerChangeError) {
        guard let source = sources[id], let member = members.first(where: { $0.id == id }) else { throw .noSuchServer }
        // What ran for the former one, or for this one in its former form, must not be taken for what comes now.
        core.post { $0.active.playQueue?.finish() }
        await attendance.extras?.finish()
        await leave()
        while true {
            let reference = member.reference
            guard let seen = await core.ask({ Seen($0, reference) }) else { throw Self.ended }
            guard let library = seen.next else { throw .noSuchServer }
            let translation = SongTranslation(from: seen.library, to: library)
            let gone = seen.names.leaving(translation)
            let parts: ActiveServerParts
            do {
                parts = try await ActiveServerParts.load(source, configuration)
            } catch {
                throw .failed("\(error)")
            }
            let isDone = await core.ask { [sources] server in
                guard let music = reference.find(in: server), seen.isStill(server, reference) else { return false }
                server.activate(music, translation, gone: gone, lists: parts.lists)
                parts.attach(to: server, sources, isStart: false)
                return true
            }
            guard let isDone else { throw Self.ended }
            // Something was done meanwhile: once more with that.
            if !isDone { continue }
            active = id
            store.keepSetting(Self.activeSetting, id.text)
            attend(parts.extras)
            return
        }
    }

    private static let ended = ServerChangeError.failed("the server ends")

    /// What clients saw when the change to another server was prepared.
    private struct Seen: Sendable {
        let library: LibrarySnapshot
        let names: SongNames
        /// Of the server that is to be shown.
        let next: LibrarySnapshot?
        private let playlistChanges: Int

        init(_ server: Server, _ reference: MusicServer.Reference) {
            library = server.library
            names = server.songs.names
            next = reference.find(in: server)?.library
            playlistChanges = server.playlists.changes
        }

        func isStill(_ server: Server, _ reference: MusicServer.Reference) -> Bool {
            server.library === library && reference.find(in: server)?.library === next
                && server.playlists.changes == playlistChanges
        }
    }

    // MARK: The configuration

    /// Makes the connection to a server anew, from its block.
    private func renew(_ index: Int) async throws(ServerChangeError) {
        let (id, block, reference) = (members[index].id, members[index].block, members[index].reference)
        guard let library = await core.ask({ reference.find(in: $0)?.library }) ?? nil else { throw Self.ended }
        let new: MusicSource
        do {
            new = try await source(block, id, library)
        } catch {
            throw .failed("\(block.name): \(error)")
        }
        let former = sources[id]
        if let lists = former?.shelves.withLock({ $0 }) { new.shelves.withLock { if $0 != nil { $0 = lists } } }
        if id == active { await leave() }
        await stopCouriers(index)
        sources.set(new, for: id)
        former?.shutdown()
        core.post { server in
            guard let music = reference.find(in: server) else { return }
            music.name = block.name
            music.url = block.url
            music.syncReport = SyncReport()
        }
        startCouriers(index)
    }

    /// Reads the blocks again: those that are new, changed or gone take effect; the others go on undisturbed.
    private func reload() async throws(ServerChangeError) {
        let blocks: [ServerConfiguration]
        let ids: [ServerID]
        do {
            let file = try ConfigurationReader.load(configuration.file, environment: .current())
            blocks = file.configuration.servers
            ids = try await store.identify(blocks.map { ServerAddress(name: $0.name, url: $0.url) })
        } catch {
            throw .failed("\(error)")
        }
        guard let first = ids.first else { throw .failed("there is no subsonic_server in the configuration") }
        var problems: [String] = []
        for (block, id) in zip(blocks, ids) {
            do throws(ServerChangeError) {
                if let index = members.firstIndex(where: { $0.id == id }) {
                    try await take(block, index)
                } else {
                    try await takeNew(block, id)
                }
            } catch {
                if case .failed(let message) = error { problems.append(message) }
            }
        }
        if active.map({ !ids.contains($0) }) ?? true {
            let next = ids.first { sources[$0] != nil } ?? first
            try await activate(next)
        }
        for index in members.indices.reversed() where !ids.contains(members[index].id) {
            log.notice("The server \(members[index].block.name) is gone from the configuration")
            await stopCouriers(index)
            sources[members[index].id]?.shutdown()
            sources.set(nil, for: members[index].id)
            members.remove(at: index)
        }
        members.sort { a, b in
            (ids.firstIndex(of: a.id) ?? ids.endIndex) < (ids.firstIndex(of: b.id) ?? ids.endIndex)
        }
        let references = members.map(\.reference)
        core.post { server in server.setMusicServers(references.compactMap { $0.find(in: server) }) }
        if !problems.isEmpty { throw .failed(problems.joined(separator: "; ")) }
    }

    /// A block that is known, perhaps with other content.
    private func take(_ block: ServerConfiguration, _ index: Int) async throws(ServerChangeError) {
        let id = members[index].id
        members[index].block = block
        if let source = sources[id], let recipe = try? MusicSource.Recipe(block, id: id),
            recipe.isSame(as: source.made)
        {
            return
        }
        log.notice("The server \(block.name) has other settings")
        try await renew(index)
        if id == active { try await activate(id) }
    }

    private func takeNew(_ block: ServerConfiguration, _ id: ServerID) async throws(ServerChangeError) {
        let parts: MusicServerParts
        do {
            parts = try await add(block, id)
        } catch {
            members.removeAll { $0.id == id }
            throw .failed("\(block.name): \(error)")
        }
        log.notice("The server \(block.name) is new")
        core.post { [sources, log] server in
            guard let journal = server.journal else { return }
            let music = parts.make(journal.writer(for: id), sources, server.configuration, log: log)
            server.setMusicServers(server.musicServers + [music])
        }
        if let index = members.firstIndex(where: { $0.id == id }) { startCouriers(index) }
        if let problem = parts.problem { throw .failed("\(block.name): \(problem)") }
    }
}

/// Why there is no music; a sentence for the user.
struct StartError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Core {
    /// What `question` finds on the core; nil once the core has ended, or when the task is cancelled.
    nonisolated func ask<Answer: Sendable>(_ question: @escaping @Sendable (Server) -> Answer) async -> Answer? {
        let (stream, answer) = AsyncStream.makeStream(of: Answer.self)
        post { server in
            answer.yield(question(server))
            answer.finish()
        }
        for await value in stream { return value }
        return nil
    }
}
