import Library
import Logging
import Synchronization

/// What the last run left.
extension MusicServers {
    /// All that the core needs to begin with.
    struct Start: Sendable {
        /// In the order of the configuration.
        let servers: [MusicServerParts]
        let active: ServerID
        let mounts: [(path: String, id: ServerID)]
        /// What clients see.
        let library: LibrarySnapshot
        let parts: ActiveServerParts
        let makeJournal: @Sendable () -> JournalWriter

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
        let ids = try await identify(blocks)
        guard let arrangement = Arrangement(kept: try await store.settings(), among: ids) else {
            throw StartError("the server \(first.name) cannot be found again")
        }
        let (active, mounts) = (arrangement.active, arrangement.mounts)
        shown = arrangement
        var parts: [MusicServerParts] = []
        for (block, id) in zip(blocks, ids) {
            do {
                var part = try await add(block, id, mustAnswer: id == active)
                if arrangement.mounts(id) { part.lists = try await mountedLists(id, block) }
                parts.append(part)
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
            library: try await together(source.published.withLock { $0.library }, merge),
            parts: try await ActiveServerParts.load(source, configuration),
            makeJournal: try await JournalWriter.opening(store, server: active)
        )
    }
}
