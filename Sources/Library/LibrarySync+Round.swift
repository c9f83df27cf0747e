internal import Logging
import SubsonicKit

/// One comparison with the server: as few requests as may be.
extension LibrarySync {
    /// Asks whether anything changed; fetches what is new, or everything if that cannot tell.
    func update(_ request: Doorbell.UpdateRequest?) async throws {
        roundBegan = environment.uptime()
        if request != nil {
            handlers.event(.started)
            try await scan()
        }
        let profile = try await currentProfile()
        guard let library = shown, library.info.isComplete else {
            // The first library is shown as far as it goes, also while the server scans; the next check sees that the stamp
            // moved.
            let stamp = try await call.stamp(kind: profile.kind, former: nil) ?? SyncStamp()
            if request == nil { handlers.event(.started) }
            return try await fetch(profile, stamp: stamp, request)
        }
        guard let stamp = try await call.stamp(kind: profile.kind, former: memory.stamp) else {
            throw SyncProblem.scanning
        }
        let isDue = request?.isRescan == true || isFullPassDue
        if !isDue, stamp.matches(memory.stamp) {
            let starred = try await starred()
            try await mark(library, starred)
            await tellRefreshed(request, profile, didChange: false, starred: starred, recentlyPlayed: heard.list)
            if request != nil { handlers.event(.finished(didChange: false, through: lastRequest)) }
            return
        }
        if request == nil { handlers.event(.started) }
        if !isDue {
            switch try await findNewest(library, profile, stamp, mayWait: request == nil) {
            case .done(let didChange):
                let starred = try await starred()
                if let shown { try await mark(shown, starred) }
                await tellRefreshed(
                    request,
                    profile,
                    didChange: didChange,
                    starred: starred,
                    recentlyPlayed: heard.list
                )
                handlers.event(.finished(didChange: didChange, through: lastRequest))
                return
            case .unclear(let reason): log.info("Reading all of \(configuration.serverName): \(reason)")
            }
        }
        try await fetch(profile, stamp: stamp, request)
    }

    /// Whether everything is to be fetched for its age.
    private var isFullPassDue: Bool {
        let now = environment.wallClock()
        // Nothing is old by a clock that nobody has set yet: it would all be fetched at each start, and once more afterwards.
        guard MachineClock.isSet(now) || !MachineClock.isSet(memory.lastFull) else { return false }
        let age = now &- memory.lastFull
        let interval = configuration.fullInterval.components.seconds
        // Such a machine may go on some hours before its end; years ahead is a time that was wrong.
        if age < -interval || age >= interval { return true }
        return memory.isUnverified && age >= configuration.verifyInterval.components.seconds
    }

    /// Lets the server look for changed files, and waits until it has. Not being allowed to is no failure.
    private func scan() async throws {
        let started = try await call.ifSupported { (server) async throws(SubsonicError) in try await server.startScan()
        }
        guard started != nil else {
            log.info("\(configuration.serverName) does not let us start a scan")
            return
        }
        var pause = Duration.milliseconds(250)
        let end = environment.uptime() + .seconds(3600)
        while environment.uptime() < end {
            let status = try await call.ifSupported { (server) async throws(SubsonicError) in
                try await server.scanStatus()
            }
            guard status?.isScanning == true else { return }
            try await environment.sleep(pause)
            pause = min(pause * 2, .seconds(5))
        }
    }

    // MARK: What is new

    private enum Outcome {
        case done(didChange: Bool)
        /// Everything has to be fetched, for this reason.
        case unclear(String)
    }

    /// Looks at the newest albums, and adds what they have.
    /// - Parameter mayWait: whether a change that is nowhere to be seen may be looked for later.
    private func findNewest(
        _ library: LibrarySnapshot,
        _ profile: ServerProfile,
        _ stamp: SyncStamp,
        mayWait: Bool
    ) async throws -> Outcome {
        let albums: [LibraryAddition.AlbumSongs]
        switch try await NewestAlbums(call: call, profile: profile, former: library).find() {
        case .unclear(let reason): return .unclear(reason)
        case .albums(let found): albums = found
        }
        var news = memory
        news.stamp = stamp
        news.isUnverified = true
        if albums.isEmpty {
            guard memory.agrees(stamp, songs: library.songCount) else { return .unclear("its count of songs differs") }
            // Something else has changed, or nothing but the time of the last scan. Full passes take a twentieth of the
            // time at most.
            let age = environment.wallClock() &- memory.lastFull
            guard mayWait, (0..<max(0, lastPass.components.seconds &* 20)).contains(age) else {
                return .unclear("something changed")
            }
            memory = news
            return .done(didChange: false)
        }
        let addition = LibraryAddition(former: library)
        let info = info(isComplete: true, news, lastSync: environment.wallClock())
        guard let result = try await addition.build(albums, info: info, file: nil) else {
            return .unclear("paths are in each other's way")
        }
        guard memory.agrees(stamp, songs: result.songCount) else { return .unclear("its count of songs differs") }
        // Written only now, so that nothing is stored that the next start would have to take back.
        let stored = try ImagePatch(result).write(info: info, file: configuration.imageFile)
        memory = news
        let count = result.songCount &- library.songCount
        log.info("\(configuration.serverName): \(count) songs added in \(albums.count) albums")
        await show(stored)
        return .done(didChange: true)
    }

    // MARK: Stars

    /// What the user has starred; nil where the server does not tell.
    func starred() async throws(SubsonicError) -> SearchResult? {
        try await call.ifSupported { (server) async throws(SubsonicError) in try await server.starred2() }
    }

    /// Brings the ratings and plays of songs that are starred or were played up to date without fetching all songs.
    private func mark(_ library: LibrarySnapshot, _ starred: SearchResult?) async throws {
        var heard = heard
        let played = try await heard.find(call, library)
        if starred == nil, played.isEmpty { return self.heard = heard }
        var patch = ImagePatch(library)
        for song in played + (starred?.songs ?? []) {
            guard let index = library.song(id: song.id) else { continue }
            // One that is not told has been taken back, as in a full pass.
            let rating = song.userRating.flatMap { UInt8(exactly: $0) } ?? 0
            let count = song.playCount.flatMap { UInt32(exactly: $0) }
            patch.mark(index, SongMarks(userRating: rating, playCount: count, played: song.played))
        }
        if patch.hasMarks {
            let info = info(isComplete: true, memory, lastSync: library.info.lastSync)
            await show(try patch.write(info: keepingRules(info, of: library), file: configuration.imageFile))
        }
        self.heard = heard
    }

    // MARK: Showing

    func show(_ library: LibrarySnapshot) async {
        shown = library
        await handlers.publish(library)
    }

    /// Gives others the time to fetch what belongs to the library.
    func tellRefreshed(
        _ request: Doorbell.UpdateRequest?,
        _ profile: ServerProfile,
        didChange: Bool,
        starred: SearchResult?,
        recentlyPlayed: [String]? = nil,
        successors: [String: String] = [:]
    ) async {
        guard let shown else { return }
        let cause: LibraryRefresh.Cause = request.map { $0.isRescan ? .rescan : .update } ?? .check
        await handlers.refreshed(
            LibraryRefresh(
                cause: cause,
                kind: profile.kind,
                library: shown,
                didChange: didChange,
                starred: starred,
                recentlyPlayed: recentlyPlayed,
                duration: environment.uptime() - roundBegan,
                successors: successors
            )
        )
    }

    /// What a library says of itself.
    func info(isComplete: Bool, _ memory: SyncMemory, lastSync: Int64) -> LibraryInfo {
        var state = memory.encoded
        state["rules"] = Self.rules(configuration)
        return LibraryInfo(
            serverID: configuration.serverID,
            serverName: configuration.serverName,
            lastSync: lastSync,
            isComplete: isComplete,
            syncState: state
        )
    }

    /// The same with what a library remembers of its URIs and ids.
    func keepingRules(_ info: LibraryInfo, of library: LibrarySnapshot) -> LibraryInfo {
        var info = info
        for (key, value) in library.info.syncState where key.hasPrefix("rule.") || key == "ids" {
            info.syncState[key] = value
        }
        return info
    }
}
