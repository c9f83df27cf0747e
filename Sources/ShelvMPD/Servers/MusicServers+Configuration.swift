import Library
import Logging
import Synchronization

/// The blocks of the configuration.
extension MusicServers {
    /// The identities of configured servers, in their order. Tells what waits for accounts that are not among them.
    func identify(_ blocks: [ServerConfiguration]) async throws -> [ServerID] {
        let ids = try await store.identify(
            blocks.map { ServerAddress(name: $0.name, url: $0.url, user: $0.user) }
        )
        for (address, count) in try await store.waitingChanges(except: ids) {
            let account = address.user.isEmpty ? address.name : "\(address.user) at \(address.name)"
            let changes = count == 1 ? "1 change waits" : "\(count) changes wait"
            log.notice("\(changes) for \(account), until that account is in the configuration again")
        }
        return ids
    }

    /// Takes a block in.
    /// - Parameter mustAnswer: whether there is no use for a server without its password.
    func add(
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
            sources.setProblem("\(block.name): \(error)", of: id)
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
        try await source(MusicSource.Recipe(block, id: id), id, library)
    }

    private func source(
        _ recipe: MusicSource.Recipe,
        _ id: ServerID,
        _ library: LibrarySnapshot
    ) async throws -> MusicSource {
        try await MusicSource(recipe, id: id, library: library, configuration, store: store, log: log)
    }

    /// Makes the connection to a server anew, from its block.
    /// - Parameter recipe: what was made of the block already, for a command that tells a password may open a window.
    func renew(
        _ index: Int,
        _ recipe: Result<MusicSource.Recipe, any Error>? = nil
    ) async throws(ServerChangeError) {
        let (id, block, reference) = (members[index].id, members[index].block, members[index].reference)
        guard let known = await core.ask({ reference.find(in: $0)?.library }) ?? nil else { throw Self.ended }
        let new: MusicSource
        do {
            new = try await source(recipe?.get() ?? MusicSource.Recipe(block, id: id), id, known)
        } catch {
            throw .failed("\(block.name): \(error)")
        }
        let former = sources[id]
        if id == shown?.active { await leaveActive() }
        await stopSync(index)
        await stopLists(index)
        await stopCouriers(index)
        // What the sync has shown until it ended is what the next one has to go on from.
        guard let library = await core.ask({ reference.find(in: $0)?.library }) ?? nil else {
            new.shutdown()
            throw Self.ended
        }
        // One that is still on its way has to be older.
        let number = former?.published.withLock { $0.number } ?? 0
        new.published.withLock { $0 = (library, number) }
        if let lists = former?.shelves.withLock({ $0 }) { new.shelves.withLock { if $0 != nil { $0 = lists } } }
        sources.set(new, for: id)
        former?.shutdown()
        let lists = shown?.mounts(id) == true ? try? await mountedLists(id, block) : nil
        core.post { server in
            guard let music = reference.find(in: server) else { return }
            // Whose they are depends on who asks.
            if let lists {
                music.showPlaylists(lists)
                music.playlists.changed()
            }
            music.name = block.name
            music.url = block.url
            music.syncReport = SyncReport()
        }
        startCouriers(index)
        await sync()
    }

    /// Reads the blocks again: those that are new, changed or gone take effect; the others go on undisturbed.
    func reload() async throws(ServerChangeError) {
        let blocks: [ServerConfiguration]
        let ids: [ServerID]
        do {
            let file = try ConfigurationReader.load(configuration.file, environment: .current())
            blocks = file.configuration.servers
            ids = try await identify(blocks)
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
            // Another account in a block that stays is shown where the former one was.
            func successor(of id: ServerID) -> ServerID? {
                guard let name = members.first(where: { $0.id == id })?.block.name,
                    let index = blocks.firstIndex(where: { $0.name == name })
                else { return nil }
                return sources[ids[index]] == nil ? nil : ids[index]
            }
            if !ids.contains(next.active) {
                next.active = successor(of: next.active) ?? ids.first { sources[$0] != nil } ?? first
            }
            for index in next.mounts.indices where !ids.contains(next.mounts[index].id) {
                guard let id = successor(of: next.mounts[index].id), !next.shows(id) else { continue }
                next.mounts[index].id = id
            }
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
            await stopLists(index)
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
        let recipe = Result { try MusicSource.Recipe(block, id: id) }
        if let source = sources[id], let recipe = try? recipe.get(), recipe.isSame(as: source.made) { return }
        log.notice("The server \(block.name) has other settings")
        try await renew(index, recipe)
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
