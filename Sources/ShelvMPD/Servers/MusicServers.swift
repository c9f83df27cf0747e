import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured servers, and the tasks that run for each: stars, ratings and plays are brought to all of them, libraries are
/// kept like those of the active and the mounted ones, and playlists like those of the active one.
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
        /// Keeps the library like the server's, as long as clients see it.
        var sync: Task<Void, Never>?
    }

    /// What clients see.
    private struct Arrangement: Equatable {
        struct Mounted: Equatable {
            var path: String
            var id: ServerID
        }

        var active: ServerID
        var mounts: [Mounted] = []

        func shows(_ id: ServerID) -> Bool { active == id || mounts.contains { $0.id == id } }
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
    private var shown: Arrangement?
    private var attendance = Attendance()
    private var lastNumber: UInt64 = 0
    private let requests: AsyncStream<Request>
    private nonisolated let queue: AsyncStream<Request>.Continuation

    /// How long the end of the program waits for the last things to be told.
    private static let patience = Duration.seconds(2)
    /// How often libraries that change meanwhile are put together for one change, and how often it is tried at all.
    private static let mostMerges = 3
    private static let mostRounds = 50
    /// Under which names the store keeps which server is active, and which ones are mounted.
    private static let activeSetting = "active_server"
    private static let mountsSetting = "mounts"

    /// Where the libraries that are shown together stand.
    private var mergedFile: String { "\(configuration.cacheDirectory)/library-mounted.image" }

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
        let mounts: [(path: String, id: ServerID)]
        /// What clients see.
        let library: LibrarySnapshot
        let parts: ActiveServerParts
        fileprivate let makeJournal: @Sendable () -> JournalWriter

        /// The servers as the core has them; on the core.
        func make(_ sources: MusicSources, _ configuration: Configuration, log: Log) -> [MusicServer] {
            let journal = makeJournal()
            return servers.map { parts in
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
        let mounts = Self.decode(try await store.settings()[Self.mountsSetting] ?? "")
            .filter { ids.contains($0.id) && $0.id != active }
        shown = Arrangement(active: active, mounts: mounts)
        var parts: [MusicServerParts] = []
        for (block, id) in zip(blocks, ids) {
            do {
                parts.append(try await add(block, id, mustAnswer: id == active))
            } catch {
                throw StartError("\(block.name): \(error)")
            }
        }
        guard let source = sources[active] else { throw StartError("the server cannot be asked") }
        var merge: [LibraryMerge.Part] = []
        for mount in mounts {
            guard let library = parts.first(where: { $0.id == mount.id })?.library else { continue }
            merge.append(LibraryMerge.Part(path: mount.path, library: library))
        }
        return Start(
            servers: parts,
            active: active,
            mounts: mounts.map { ($0.path, $0.id) },
            library: try await together(source.shown.withLock { $0 }, merge),
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
        core.post { [queue, log] server in
            server.changeServers = { change, whenDone in queue.yield(Request(change: change, whenDone: whenDone)) }
            server.reloadServers = { _ in
                let whenDone: @Sendable (Result<Void, ServerChangeError>) -> Void = { result in
                    if case .failure(let error) = result { log.error("Not all servers are as they shall be: \(error)") }
                }
                queue.yield(Request(change: .reload, whenDone: whenDone))
            }
        }
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

    /// Lets the queue be saved for the last time, and ends everything. `run` must have ended.
    func finish() async {
        for member in members { member.plays?.queue.finish() }
        await attendance.extras?.finish()
        await leave()
        await finishPlays()
        for index in members.indices {
            await stopSync(index)
            await stopCouriers(index)
        }
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

    /// Begins to keep the libraries that clients see like the servers', and ends it for the others.
    private func sync() async {
        for index in members.indices {
            let (id, reference) = (members[index].id, members[index].reference)
            if shown?.shows(id) != true {
                await stopSync(index)
            } else if members[index].sync == nil, let source = sources[id] {
                members[index].sync = Task { await source.keepInSync(reference) }
            }
        }
    }

    private func stopSync(_ index: Int) async {
        let task = members[index].sync
        members[index].sync = nil
        task?.cancel()
        await task?.value
    }

    /// Begins what runs for the active server only; `leave` ends it.
    private func attend(_ extras: ListeningExtras) {
        guard let member = members.first(where: { $0.id == shown?.active }), let source = sources[member.id] else {
            return
        }
        let reference = member.reference
        attendance = Attendance(
            tasks: [Task { await source.keepPlaylists(reference) }, Task { await extras.keepQueue(reference) }],
            extras: extras
        )
    }

    /// Lets the queue be saved for the last time, and ends what runs for the active server only.
    private func leaveActive() async {
        // Only once the core has given the queue out is there something to be saved.
        _ = await core.ask { $0.active.playQueue?.finish() }
        await attendance.extras?.finish()
        await leave()
    }

    private func leave() async {
        let tasks = attendance.tasks
        attendance = Attendance()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: What clients see

    private func use(_ name: String) async throws(ServerChangeError) {
        guard let index = members.firstIndex(where: { $0.block.name == name }), var next = shown else {
            throw .noSuchServer
        }
        let id = members[index].id
        if id == next.active { return }
        if sources[id] == nil { try await renew(index) }
        next.active = id
        next.mounts.removeAll { $0.id == id }
        try await arrange(next)
        log.notice("The server is \(name) now")
    }

    private func mount(_ path: String, _ uri: String) async throws(ServerChangeError) {
        guard var next = shown else { throw Self.ended }
        if next.mounts.contains(where: { $0.path == path }) { throw .mountPointBusy }
        guard let index = members.firstIndex(where: { $0.block.isNamed(by: uri) }) else { throw .unrecognizedURI }
        let id = members[index].id
        if next.shows(id) { throw .alreadyMounted }
        let isBusy = await core.ask { server in
            let bytes = Array(path.utf8)
            return server.library.directory(path: path) != nil || server.library.song(uri: bytes) != nil
                || Shelf.contains(path: bytes)
        }
        if isBusy ?? true { throw .mountPointBusy }
        if sources[id] == nil { try await renew(index) }
        next.mounts.append(Arrangement.Mounted(path: path, id: id))
        try await arrange(next)
        log.notice("The server \(members[index].block.name) is mounted at \(path)")
    }

    private func unmount(_ path: String) async throws(ServerChangeError) {
        guard var next = shown, let index = next.mounts.firstIndex(where: { $0.path == path }) else {
            throw .notAMountPoint
        }
        next.mounts.remove(at: index)
        try await arrange(next)
        log.notice("Nothing is mounted at \(path) any more")
    }

    /// Shows clients the libraries of other servers, or puts those that are shown together anew.
    /// - Parameters:
    ///   - wanted: nil for what is shown.
    ///   - renews: whether what only the active server has is to be read anew in any case.
    private func arrange(_ wanted: Arrangement?, renews: Bool = false) async throws(ServerChangeError) {
        guard let former = shown else { throw Self.ended }
        let next = wanted ?? former
        let isRenewed = renews || next.active != former.active
        guard let source = sources[next.active], let active = reference(to: next.active) else { throw .noSuchServer }
        // What ran for the former one, or for this one in its former form, must not be taken for what comes now.
        if isRenewed { await leaveActive() }
        do throws(ServerChangeError) {
            let parts = try await show(next, source, active, isRenewed: isRenewed)
            shown = next
            if next != former { await keep(next) }
            if let parts { attend(parts.extras) }
            await sync()
        } catch {
            if isRenewed { await goOn() }
            throw error
        }
    }

    /// Begins anew what runs for the active server only, which stays the active one though another was wanted.
    private func goOn() async {
        guard let shown, let source = sources[shown.active], let active = reference(to: shown.active) else { return }
        do {
            for _ in 1...Self.mostRounds {
                guard let changes = await core.ask({ $0.playlists.changes }) else { return }
                let parts = try await ActiveServerParts.load(source, configuration)
                let isDone = await core.ask { [sources] server in
                    // What was done to playlists meanwhile is not in what was read.
                    guard active.find(in: server)?.isActive == true, server.playlists.changes == changes else {
                        return false
                    }
                    parts.attach(to: server, sources, isStart: false)
                    return true
                }
                guard let isDone else { return }
                if isDone { return attend(parts.extras) }
            }
            throw ServerChangeError.failed("playlists change all the time")
        } catch {
            log.error("Playlists and queue are not kept at the server any more: \(error)")
        }
    }

    /// - Returns: what only the active server has, read anew; nil if it was not renewed.
    private func show(
        _ next: Arrangement,
        _ source: MusicSource,
        _ active: MusicServer.Reference,
        isRenewed: Bool
    ) async throws(ServerChangeError) -> ActiveServerParts? {
        let mounts = next.mounts.compactMap { mount in reference(to: mount.id).map { (mount.path, $0) } }
        var merged: (library: LibrarySnapshot, of: Seen)?
        for round in 1...Self.mostRounds {
            let seen = await core.ask { server in
                server.mergeBegins()
                return Seen(server, active, mounts)
            }
            guard let seen else { throw Self.ended }
            guard let own = seen.own else { throw .noSuchServer }
            // Libraries that change faster than they are put together: an older one first, and the next one after that.
            let older = round > Self.mostMerges && !mounts.isEmpty ? merged : nil
            let library: LibrarySnapshot
            var parts: ActiveServerParts?
            do {
                if let older { library = older.library } else { library = try await together(own, seen.parts) }
                if isRenewed { parts = try await ActiveServerParts.load(source, configuration) }
            } catch {
                throw .failed("\(error)")
            }
            merged = (library, of: older?.of ?? seen)
            let translation = SongTranslation(from: seen.library, to: library)
            let gone = seen.names.leaving(translation)
            let isDone = await core.ask { [sources, parts] server in
                let now = Seen(server, active, mounts)
                guard let music = active.find(in: server),
                    older == nil ? seen.isStill(now) : seen.showsStill(now)
                else { return false }
                server.arrange(
                    music,
                    mounts.compactMap { mount in mount.1.find(in: server).map { Mount(path: mount.0, music: $0) } },
                    library,
                    translation,
                    gone: gone,
                    isRenewed: isRenewed
                )
                parts?.attach(to: server, sources, isStart: false)
                if let older, !older.of.isStill(now) { server.wantMerge(hasNews: true) }
                return true
            }
            guard let isDone else { throw Self.ended }
            // Something was done meanwhile: once more with that.
            if isDone { return parts }
        }
        throw .failed("the libraries change all the time")
    }

    private func reference(to id: ServerID) -> MusicServer.Reference? { members.first { $0.id == id }?.reference }

    /// One library of those of several servers; the only one, if there is one.
    private func together(_ own: LibrarySnapshot, _ parts: [LibraryMerge.Part]) async throws -> LibrarySnapshot {
        if parts.isEmpty { return own }
        let merge = LibraryMerge(own, parts)
        if let known = merge.open(file: mergedFile) { return known }
        let result = try await merge.build(file: mergedFile)
        if result.lost > 0 {
            log.notice("\(result.lost) songs of mounted servers are not shown: others stand at their paths")
        }
        return result.snapshot
    }

    /// What was answered with `OK` is there after a kill. A failure is in the log.
    private func keep(_ arrangement: Arrangement) async {
        let mounts = arrangement.mounts.map { "\($0.id.text) \($0.path)" }.joined(separator: "\n")
        let settings = [Self.activeSetting: arrangement.active.text, Self.mountsSetting: mounts]
        try? await store.keepSettings(settings)
    }

    private static func decode(_ text: String) -> [Arrangement.Mounted] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return words.count == 2 ? Arrangement.Mounted(path: words[1], id: ServerID(text: words[0])) : nil
        }
    }

    private static let ended = ServerChangeError.failed("the server ends")

    /// What clients saw when a change was prepared.
    private struct Seen: Sendable {
        let library: LibrarySnapshot
        let names: SongNames
        /// Of the server that is to be active.
        let own: LibrarySnapshot?
        /// Of those that are to be mounted.
        let parts: [LibraryMerge.Part]
        private let playlistChanges: Int

        init(_ server: Server, _ active: MusicServer.Reference, _ mounts: [(String, MusicServer.Reference)]) {
            library = server.library
            names = server.songs.names
            own = active.find(in: server)?.library
            parts = mounts.compactMap { path, reference in
                reference.find(in: server).map { LibraryMerge.Part(path: path, library: $0.library) }
            }
            playlistChanges = server.playlists.changes
        }

        /// Whether clients still see the same, whatever it was made of.
        func showsStill(_ now: Seen) -> Bool {
            now.library === library && now.playlistChanges == playlistChanges
        }

        func isStill(_ now: Seen) -> Bool {
            showsStill(now) && now.own === own
                && now.parts.elementsEqual(parts) { $0.path == $1.path && $0.library === $1.library }
        }
    }

    // MARK: The configuration

    /// Makes the connection to a server anew, from its block.
    private func renew(_ index: Int) async throws(ServerChangeError) {
        let (id, block, reference) = (members[index].id, members[index].block, members[index].reference)
        guard let known = await core.ask({ reference.find(in: $0)?.library }) ?? nil else { throw Self.ended }
        let new: MusicSource
        do {
            new = try await source(block, id, known)
        } catch {
            throw .failed("\(block.name): \(error)")
        }
        let former = sources[id]
        if id == shown?.active { await leaveActive() }
        await stopSync(index)
        await stopCouriers(index)
        // What the sync has shown until it ended is what the next one has to go on from.
        guard let library = await core.ask({ reference.find(in: $0)?.library }) ?? nil else {
            new.shutdown()
            throw Self.ended
        }
        new.shown.withLock { $0 = library }
        if let lists = former?.shelves.withLock({ $0 }) { new.shelves.withLock { if $0 != nil { $0 = lists } } }
        sources.set(new, for: id)
        former?.shutdown()
        core.post { server in
            guard let music = reference.find(in: server) else { return }
            music.name = block.name
            music.url = block.url
            music.syncReport = SyncReport()
        }
        startCouriers(index)
        await sync()
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
                problems.append("\(error)")
            }
        }
        if let shown {
            var next = shown
            if !ids.contains(next.active) { next.active = ids.first { sources[$0] != nil } ?? first }
            next.mounts.removeAll { !ids.contains($0.id) || $0.id == next.active }
            do throws(ServerChangeError) {
                if next != shown { try await arrange(next) }
            } catch {
                problems.append("\(error)")
            }
        }
        // One that clients still see stays, until another can be shown.
        for index in members.indices.reversed()
        where !ids.contains(members[index].id) && shown?.shows(members[index].id) != true {
            log.notice("The server \(members[index].block.name) is gone from the configuration")
            await stopSync(index)
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
        if id == shown?.active { try await arrange(nil, renews: true) }
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

extension ServerConfiguration {
    /// Whether a client means this server: by `subsonic://` and the name, by the name, or by the address.
    fileprivate func isNamed(by uri: String) -> Bool {
        let scheme = "subsonic://"
        if uri == name || uri == url || (uri.hasSuffix("/") && uri.dropLast() == url[...]) { return true }
        return uri.hasPrefix(scheme) && uri.dropFirst(scheme.count) == name[...]
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
