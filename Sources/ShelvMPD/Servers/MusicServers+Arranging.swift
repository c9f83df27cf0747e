import Library
import Logging

/// Which servers clients see changes, or the libraries that they see together.
extension MusicServers {
    func use(_ name: String) async throws(ServerChangeError) {
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

    func mount(_ path: String, _ uri: String) async throws(ServerChangeError) {
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

    func unmount(_ path: String) async throws(ServerChangeError) {
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
    func arrange(_ wanted: Arrangement?, renews: Bool = false) async throws(ServerChangeError) {
        guard let former = shown else { throw Self.ended }
        let next = wanted ?? former
        let isRenewed = renews || next.active != former.active
        guard let source = sources[next.active], let active = reference(to: next.active) else { throw .noSuchServer }
        // What ran for the former one, or for this one in its former form, must not be taken for what comes now.
        if isRenewed { await leaveActive() }
        // The store has what was seen of them last, then.
        if former.mounts(next.active), let index = members.firstIndex(where: { $0.id == next.active }) {
            await stopLists(index)
        }
        do throws(ServerChangeError) {
            let lists = try await listsOfNew(next, former)
            let parts = try await show(next, source, active, lists, isRenewed: isRenewed)
            shown = next
            if next != former { await keep(next) }
            if let parts { attend(parts.extras) }
            await sync()
        } catch {
            if isRenewed { await goOn() }
            await sync()
            throw error
        }
    }

    /// The playlists of the servers that are mounted anew. Nobody changes them meanwhile.
    private func listsOfNew(
        _ next: Arrangement,
        _ former: Arrangement
    ) async throws(ServerChangeError) -> [ServerID: PlaylistShelf.Saved] {
        var lists: [ServerID: PlaylistShelf.Saved] = [:]
        do {
            for member in members where next.mounts(member.id) && !former.mounts(member.id) {
                lists[member.id] = try await mountedLists(member.id, member.block)
            }
        } catch {
            throw .failed("\(error)")
        }
        return lists
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
        _ lists: [ServerID: PlaylistShelf.Saved],
        isRenewed: Bool
    ) async throws(ServerChangeError) -> ActiveServerParts? {
        let mounts = next.mounts.compactMap { mount in reference(to: mount.id).map { (mount.path, $0) } }
        var merged: (library: LibrarySnapshot, of: SeenLibraries)?
        for round in 1...Self.mostRounds {
            let seen = await core.ask { server in
                server.mergeBegins()
                return SeenLibraries(server, active, mounts)
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
            var result = Attempt.isLate
            for attempt in 1...Self.mostAttempts where result == .isLate {
                guard let names = await core.ask({ $0.songs.names }) else { throw Self.ended }
                let replacement = SongReplacement(names, translation)
                let answer = await core.ask { [sources, parts] server -> Attempt in
                    let now = SeenLibraries(server, active, mounts)
                    guard let music = active.find(in: server),
                        older == nil ? seen.isStill(now) : seen.showsStill(now)
                    else { return .isOver }
                    // Songs are added faster than it is prepared: the core does the rest in the end.
                    let isLast = attempt == Self.mostAttempts
                    if !isLast, replacement?.isOutdated(for: server.songs) ?? false { return .isLate }
                    server.arrange(
                        music,
                        mounts.compactMap { mount in mount.1.find(in: server).map { Mount(path: mount.0, music: $0) } },
                        library,
                        translation,
                        replacement,
                        lists: lists,
                        isRenewed: isRenewed
                    )
                    parts?.attach(to: server, sources, isStart: false)
                    if let older, !older.of.isStill(now) { server.wantMerge(hasNews: true) }
                    return .isDone
                }
                guard let answer else { throw Self.ended }
                result = answer
            }
            // Else something was done meanwhile: once more with that.
            if result == .isDone { return parts }
        }
        throw .failed("the libraries change all the time")
    }

    private func reference(to id: ServerID) -> MusicServer.Reference? { members.first { $0.id == id }?.reference }

    /// One library of those of several servers; the only one, if there is one.
    func together(_ own: LibrarySnapshot, _ parts: [LibraryMerge.Part]) async throws -> LibrarySnapshot {
        if parts.isEmpty { return own }
        let merge = LibraryMerge(own, parts)
        if let known = merge.open(file: mergedFile) { return known }
        let result = try await merge.build(preferring: mergedFile)
        if let problem = result.problem {
            log.notice("The library of several servers is in memory, and made anew at the next start: \(problem)")
        }
        if result.hidden > 0 {
            log.notice("\(result.hidden) songs of the active server are hidden by folders of mounted ones")
        }
        if result.lost > 0 {
            log.error("\(result.lost) songs have no usable URI in the library of several servers")
        }
        return result.snapshot
    }

    /// What was answered with `OK` is there after a kill. A failure is in the log.
    private func keep(_ arrangement: Arrangement) async {
        try? await store.keepSettings(arrangement.settings)
    }

    /// How often libraries that change meanwhile are put together for one change, and how often it is tried at all.
    private static let mostMerges = 3
    private static let mostRounds = 50
    private static let mostAttempts = 4

    private enum Attempt { case isDone, isOver, isLate }

    /// Where the libraries that are shown together stand.
    private var mergedFile: String { "\(configuration.cacheDirectory)/library-mounted.image" }
}

extension ServerConfiguration {
    /// Whether a client means this server: by `subsonic://` and the name, by the name, or by the address.
    fileprivate func isNamed(by uri: String) -> Bool {
        let scheme = "subsonic://"
        if uri == name || uri == url || (uri.hasSuffix("/") && uri.dropLast() == url[...]) { return true }
        return uri.hasPrefix(scheme) && uri.dropFirst(scheme.count) == name[...]
    }
}
