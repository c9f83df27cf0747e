internal import Logging
import SubsonicKit

/// Fetching a whole library, and showing parts of it meanwhile.
extension LibrarySync {
    /// - Parameters:
    ///   - stamp: the server's state now.
    ///   - request: who asked for it, to be told.
    func fetch(
        _ profile: ServerProfile,
        stamp: SyncStamp,
        _ request: Doorbell.UpdateRequest?
    ) async throws {
        let begin = environment.uptime()
        let began = environment.wallClock()
        let former = shown?.info.isComplete == true ? shown : nil
        // The first page is shown while the next requests are under way.
        let firstPage = former == nil ? await firstPage(profile) : nil
        let preview = Task { if let firstPage { await show(firstPage, of: profile) } }
        var pass = fullPass(profile, showsParts: former == nil, after: preview)
        var outcome: FullPass.Outcome
        do {
            outcome = try await pass.run(stamp: stamp)
        } catch {
            await preview.value
            throw error
        }
        await preview.value
        // Not needed for the library itself.
        async let stars = starred()
        var stamp = stamp
        // A scan in between may have moved pages under our hands: once more, and then take what there is.
        for _ in 0..<2 {
            guard let later = try await call.stamp(kind: profile.kind, former: stamp), !later.matches(stamp) else {
                break
            }
            log.info("\(configuration.serverName) changed while it was read; reading it again")
            stamp = later
            outcome.spool.remove()
            outcome = try await pass.run(stamp: stamp)
        }
        let songs = outcome.spool.songCount
        let couldBeEmpty = former.map { $0.songCount == 0 } ?? true
        let isVerified = outcome.missing == 0 && !outcome.isDoubtful && (songs > 0 || couldBeEmpty)
        if !isVerified { try believe(outcome, former: former) }

        let assembly = LibraryAssembly(
            former: former,
            folderNames: profile.roots.map(\.name),
            kept: configuration.formerURIs
        )
        var news = SyncMemory()
        news.stamp = stamp
        news.lastFull = environment.wallClock()
        news.lastFullBegan = began
        if profile.countsSongs { news.surplus = stamp.scanCount.map { $0 &- songs } }
        let info = info(isComplete: true, news, lastSync: environment.wallClock())
        let result = try await assembly.build(
            outcome.spool.view,
            draft: outcome.spool.takeDraft(),
            info: info,
            file: configuration.imageFile
        )
        outcome.spool.remove()
        let starred = try await stars
        if result.lost > 0 { log.error("\(result.lost) songs of \(configuration.serverName) have no usable URI") }
        memory = news
        unbelieved = nil
        let didChange = try await replace(former, by: result, info)
        lastPass = environment.uptime() - begin
        log.info("\(configuration.serverName): \(result.snapshot.songCount) songs in \(lastPass.components.seconds) s")
        await tellRefreshed(
            request,
            profile,
            didChange: didChange,
            starred: starred,
            successors: result.successors
        )
        handlers.event(.finished(didChange: didChange, through: lastRequest))
    }

    /// Shows a new library unless it is the former one; whether clients can see a difference.
    private func replace(
        _ former: LibrarySnapshot?,
        by result: LibraryAssembly.Result,
        _ info: LibraryInfo
    ) async throws -> Bool {
        guard let former else {
            await show(result.snapshot)
            return result.snapshot.songCount > 0
        }
        if !result.successors.isEmpty {
            log.info("\(result.successors.count) songs of \(configuration.serverName) have other ids now")
        }
        let difference = LibraryDifference.between(former, result.snapshot)
        if difference == .content {
            await show(result.snapshot)
            return true
        }
        // What clients see is as old as it was.
        let info = keepingRules(
            self.info(isComplete: true, memory, lastSync: former.info.lastSync),
            of: result.snapshot
        )
        let same = try ImagePatch(result.snapshot).write(info: info, file: configuration.imageFile)
        if difference == .annotations { await show(same) } else { shown = same }
        return false
    }

    /// Accepts a result that does not add up when there is nothing better, or when a second pass says the same.
    private func believe(_ outcome: FullPass.Outcome, former: LibrarySnapshot?) throws {
        let songs = outcome.spool.songCount
        if former == nil || unbelieved.map({ $0 == (songs, outcome.missing) }) == true {
            if outcome.missing > 0 {
                log.notice(
                    "\(configuration.serverName) has \(songs) songs, though its albums promise \(outcome.missing) more"
                )
            }
            return
        }
        unbelieved = (songs, outcome.missing)
        outcome.spool.remove()
        throw SyncProblem.incomplete(songs: songs, missing: outcome.missing)
    }

    // MARK: Showing parts

    /// How many songs the last part shown held, and when it was shown.
    private struct Parts {
        var songs = 0
        var time = Duration.zero
    }

    /// Whether so many songs are to be shown: the rest takes longer than some seconds, as fast as it goes. A part stands in
    /// memory beside the library that it is a part of, so it must be a small one.
    static func isWorthAPart(_ songs: Int, of expected: Int?, after time: Duration) -> Bool {
        guard let expected else { return true }
        return songs < expected / 4 && time * (expected - songs) >= .seconds(5) * songs
    }

    /// - Parameter preview: what has been shown before the parts.
    private func fullPass(_ profile: ServerProfile, showsParts: Bool, after preview: Task<Void, Never>) -> FullPass {
        let log = log
        let name = configuration.serverName
        let handlers = handlers
        let begin = environment.uptime()
        var parts = Parts(songs: 500, time: begin)
        let uptime = environment.uptime
        let info = info(isComplete: false, SyncMemory(), lastSync: environment.wallClock())
        let folderNames = profile.roots.map(\.name)
        return FullPass(
            call: call,
            profile: profile,
            directory: configuration.directory,
            serverID: configuration.serverID,
            log: { log.info("\(name): \($0)") },
            progress: { handlers.event(.progress(songs: $0, expected: $1)) },
            beside: { spool, expected in
                // Each part is at least four times the last one, so all of them cost a third of the whole; and none is made
                // where the whole will be there soon.
                guard showsParts, spool.songCount >= 4 * parts.songs, uptime() - parts.time >= .seconds(2),
                    Self.isWorthAPart(spool.songCount, of: expected, after: uptime() - begin)
                else { return nil }
                parts = Parts(songs: spool.songCount, time: uptime())
                let view = spool.view
                return {
                    await preview.value
                    let assembly = LibraryAssembly(former: nil, folderNames: folderNames)
                    // A part that cannot be built is no loss: the whole comes later.
                    guard let draft = try? view.draft(),
                        let part = try? await assembly.build(view, draft: draft, info: info, file: nil)
                    else { return }
                    await handlers.publish(part.snapshot)
                }
            }
        )
    }

    /// The songs of the first page, fetched before anything else; nil where there is no such list, or it cannot be had yet.
    private func firstPage(_ profile: ServerProfile) async -> SongList? {
        guard case .search(let query) = profile.plan, let root = profile.roots.first else { return nil }
        let page = SearchPage(query: query, songs: 0..<profile.pageSize, musicFolder: root.id)
        do {
            return try await call { (server) async throws(SubsonicError) in try await server.songs(page) }
        } catch {
            // The pass that follows meets the same failure and reports it.
            log.debug("No first page: \(Self.message(error))")
            return nil
        }
    }

    /// Shows the first page, without what albums and artists would add.
    private func show(_ firstPage: SongList, of profile: ServerProfile) async {
        let path = "\(configuration.directory)/sync-\(configuration.serverID).preview"
        do {
            var spool = try SongSpool(path: path, purpose: "preview \(environment.wallClock())")
            defer { spool.remove() }
            try spool.append(profile.mapping.block(key: "", songs: firstPage, folder: 0, facts: LibraryFacts()))
            guard spool.songCount > 0 else { return }
            let assembly = LibraryAssembly(former: nil, folderNames: profile.roots.map(\.name))
            let info = info(isComplete: false, SyncMemory(), lastSync: environment.wallClock())
            let part = try await assembly.build(spool.view, draft: spool.takeDraft(), info: info, file: nil)
            shown = part.snapshot
            await handlers.publish(part.snapshot)
        } catch {
            // It is no loss: the whole comes later.
            log.debug("The first page is not shown: \(Self.message(error))")
        }
    }
}
