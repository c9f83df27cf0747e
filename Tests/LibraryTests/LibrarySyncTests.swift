import Glibc
import Logging
import SubsonicKit
import Synchronization
import Testing

@testable import Library

/// Whole syncs against a scripted server, on a clock that never waits.
struct LibrarySyncTests {
    private typealias Folder = SyncFolder

    private func run(
        _ server: ScriptedServer,
        in folder: SyncFolder,
        stored: LibrarySnapshot? = nil,
        rounds: Int = 1,
        musicFolders: [String] = [],
        formerURIs: [String: String] = [:],
        request: Bool = false,
        change: @escaping @Sendable (_ round: Int) -> Void = { _ in }
    ) async -> SyncWitness {
        var configuration = LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path)
        configuration.musicFolders = musicFolders
        configuration.formerURIs = formerURIs
        return await SyncWitness.run(
            server,
            configuration,
            stored: stored,
            rounds: rounds,
            request: request ? .some(false) : nil,
            change: change
        )
    }

    private func ids(_ snapshot: LibrarySnapshot?) -> Set<String> {
        guard let snapshot else { return [] }
        return Set((0..<snapshot.statistics.songs).map { snapshot.songID(SongIndex(rawValue: UInt32($0))) })
    }

    private func expected(_ count: Int) -> Set<String> { Set((0..<count).map { "so-\($0)" }) }

    // MARK: First syncs

    @Test(arguments: [0, 1, 499, 500, 501, 1750])
    func fetchesEverySong(count: Int) async throws {
        let folder = Folder()
        let witness = await run(ScriptedServer(.init(songs: count)), in: folder)
        let last = try #require(witness.published.last)
        #expect(ids(last) == expected(count))
        #expect(last.info.isComplete)
        #expect(witness.results == [.started, .finished(didChange: count > 0)] || count == 0)
        #expect(folder.files == ["library-id.image"], "nothing else is left behind")
        let stored = try LibrarySnapshot.open(file: folder.path + "/library-id.image")
        #expect(ids(stored) == expected(count))
    }

    @Test func aFolderThatWasRemovedIsMadeAnew() async throws {
        let folder = Folder()
        try #require(unsafe rmdir(folder.path) == 0)
        let witness = await run(ScriptedServer(.init(songs: 20)), in: folder)
        #expect(witness.results.last == .finished(didChange: true))
        #expect(folder.files == ["library-id.image"])
    }

    @Test func formerURIsOutliveALostImage() async throws {
        let kept = ["as it was/ä.flac": "so-7", "gone.flac": "nobody"]
        let witness = await run(ScriptedServer(.init(songs: 20)), in: Folder(), formerURIs: kept)
        let last = try #require(witness.published.last)
        #expect(last.song(uri: "as it was/ä.flac").map(last.songID) == "so-7")
        #expect(last.song(uri: "gone.flac") == nil)
    }

    @Test func showsTheFirstPageAtOnce() async throws {
        let server = ScriptedServer(.init(songs: 1750))
        let witness = await run(server, in: Folder())
        let first = try #require(witness.published.first)
        #expect(!first.info.isComplete)
        #expect(first.statistics.songs == 500)
        #expect(server.peak > 1, "pages are fetched several at once")
    }

    @Test(
        arguments: [
            ("navidrome", ["", "\"\""], Int.max), ("ampache", ["\"\""], .max), ("supysonic", [""], .max),
            ("funkwhale", [""], 100),
            ("lms", [""], .max), ("airsonic", [], .max), ("something", [], 500), ("nextcloud", [""], 200),
        ] as [(String, Set<String>, Int)]
    )
    func fetchesFromEveryKindOfServer(type: String, queries: Set<String>, most: Int) async throws {
        var habits = ScriptedServer.Habits()
        habits.type = type
        habits.emptyQueries = queries
        habits.mostItems = most
        habits.hasAlbumsByName = type != "funkwhale"
        let witness = await run(ScriptedServer(.init(songs: 1234), habits), in: Folder())
        #expect(ids(witness.published.last) == expected(1234))
        #expect(witness.published.last?.info.isComplete == true)
    }

    @Test func asksAlbumByAlbumForWhatMovedBetweenPages() async throws {
        var habits = ScriptedServer.Habits()
        habits.shift = 7
        let witness = await run(ScriptedServer(.init(songs: 1200), habits), in: Folder())
        #expect(ids(witness.published.last) == expected(1200))
    }

    /// They are in nothing that is listed, whether songs are asked for all at once or album by album.
    @Test(arguments: [Set(["", "\"\""]), []])
    func albumsWithoutSongsAndTheirArtistsDoNoHarm(emptyQueries: Set<String>) async throws {
        var library = ScriptedServer.Library(songs: 60)
        for number in [0, 2, 3] { library.albums[number].songs = [] }
        var habits = ScriptedServer.Habits()
        habits.emptyQueries = emptyQueries
        let server = ScriptedServer(library, habits)
        let witness = await run(server, in: Folder())
        #expect(ids(witness.published.last) == Set(library.songs.map { "so-\($0.number)" }))
        #expect(witness.published.last?.info.isComplete == true)
        #expect(server.calls.allSatisfy { !$0.hasPrefix("getCoverArt") })
    }

    @Test func aServerThatIgnoresOffsetsDoesNotKeepUsForever() async throws {
        var habits = ScriptedServer.Habits()
        habits.ignoresOffset = true
        let witness = await run(ScriptedServer(.init(songs: 700), habits), in: Folder())
        #expect(witness.published.last?.info.isComplete == true)
        #expect(ids(witness.published.last).count >= 500)
    }

    @Test func musicFoldersStandAtTheTopWhenSeveralHoldSongs() async throws {
        var library = ScriptedServer.Library(songs: 40)
        for number in 2..<4 { library.albums[number].folder = "2" }
        var habits = ScriptedServer.Habits()
        habits.folders = [("1", "One"), ("2", "Two"), ("3", "Empty")]
        let both = await run(ScriptedServer(library, habits), in: Folder())
        let last = try #require(both.published.last)
        #expect(ids(last) == expected(40))
        #expect(last.directory(path: Array("One/Artist 0".utf8)) != nil)
        #expect(last.directory(path: Array("Two/Artist 1".utf8)) != nil)
        let one = await run(ScriptedServer(library, habits), in: Folder(), musicFolders: ["Two"])
        #expect(ids(one.published.last) == Set((20..<40).map { "so-\($0)" }))
        #expect(one.published.last?.directory(path: Array("Artist 1".utf8)) != nil)
        habits.tellsFoldersApart = false
        let blind = await run(ScriptedServer(library, habits), in: Folder())
        #expect(ids(blind.published.last) == expected(40))
        #expect(blind.published.last?.directory(path: Array("Artist 0".utf8)) != nil)
    }

    // MARK: Faults

    /// The n-th request fails, for n = 1, 2, … until the sync needs no more requests.
    @Test(arguments: [
        SubsonicError.http(status: 503, retryAfter: nil), .transport(TransportError(.receive, "reset")),
        .decoding("cut"),
        .server(ServerFailure(code: 0, message: "odd")),
    ])
    func oneFailedRequestCostsNothing(error: SubsonicError) async throws {
        var number = 1
        while number < 100 {
            let failing = number
            var habits = ScriptedServer.Habits()
            habits.mostItems = 10
            let server = ScriptedServer(.init(songs: 35), habits)
            server.onRequest { at, _ in at == failing ? .error(error) : nil }
            let witness = await run(server, in: Folder())
            #expect(ids(witness.published.last) == expected(35), "request \(number)")
            if server.calls.count < number { break }
            number += 1
        }
        #expect(number > 8)
        #expect(number < 100)
    }

    /// From the n-th request on the server is away for a while; the old library stays until the next attempt has it all.
    @Test func anOutageKeepsTheOldLibrary() async throws {
        let folder = Folder()
        let old = await run(ScriptedServer(.init(songs: 30)), in: folder)
        let stored = try #require(old.published.last)
        for failing in stride(from: 1, through: 14, by: 1) {
            var library = ScriptedServer.Library(songs: 45)
            library.lastScan = 100 + failing
            var habits = ScriptedServer.Habits()
            habits.mostItems = 10
            let server = ScriptedServer(library, habits)
            let isAway = Mutex(true)
            server.onRequest { at, _ in
                at >= failing && isAway.withLock { $0 }
                    ? .error(.transport(TransportError(.connect, "refused"))) : nil
            }
            let witness = await run(server, in: Folder(), stored: stored, rounds: 2) { _ in
                isAway.withLock { $0 = false }
            }
            guard case .failed? = witness.results.first(where: { $0 != .started }) else { continue }
            #expect(ids(witness.published.last) == expected(45), "away from request \(failing)")
            #expect(witness.published.count == 1)
        }
    }

    @Test func wrongCredentialsAreNotTriedAgainAtOnce() async {
        let server = ScriptedServer(.init(songs: 30))
        server.onRequest { _, _ in .error(.server(ServerFailure(code: 40, message: "no"))) }
        let witness = await run(server, in: Folder(), rounds: 3)
        #expect(server.calls.count == 3, "one request a round")
        #expect(witness.sleeps.filter { $0 >= .seconds(59) }.count >= 2)
        #expect(witness.published.isEmpty)
    }

    @Test func aKilledSyncGoesOnWhereItWas() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 3000))
        let pages = Mutex(0)
        server.onRequest { _, method in
            guard method == "search3" else { return nil }
            return pages.withLock { pages in
                pages += 1
                return pages > 12 ? .error(.transport(TransportError(.connect, "gone"))) : nil
            }
        }
        let killed = await run(server, in: folder)
        #expect(killed.published.last?.info.isComplete == false)
        #expect(folder.files == ["sync-id.partial"])
        server.onRequest { _, _ in nil }
        server.forgetCalls()
        let resumed = await run(server, in: folder)
        #expect(ids(resumed.published.last) == expected(3000))
        let asked = server.calls.filter { $0.contains("songCount=500") }.count
        #expect(asked < 8, "\(asked) pages of songs were asked for again")
        #expect(folder.files == ["library-id.image"])
    }

    // MARK: Refreshing

    @Test func nothingIsFetchedWhileTheStampStands() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.forgetCalls()
        let second = await run(server, in: folder, stored: first.published.last, request: true)
        #expect(server.calls.map { $0.prefix { $0 != " " } }.filter { $0 == "search3" }.count <= 2, "the probe only")
        #expect(second.published.isEmpty)
        #expect(second.results == [.started, .finished(didChange: false, through: 1)])
    }

    @Test func aRoundAnswersOnlyWhoAskedBeforeIt() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let configuration = LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path)
        let (rounds, ended) = AsyncStream<Void>.makeStream()
        let witness = SyncWitness { witness, event in
            guard case .finished(_, let request) = event, request == 3 else { return }
            witness.state.withLock { $0.isOver = true }
            ended.finish()
        }
        let sync = LibrarySync(
            configuration,
            server: server,
            stored: nil,
            handlers: witness.handlers,
            environment: witness.environment
        )
        // The first round has begun when it asks; then two come for the next one, and one for the one after it.
        let asked = Mutex<[UInt64]>([])
        server.afterCall { method, _ in
            asked.withLock { asked in
                if method == "ping", asked.isEmpty { asked = [sync.requestUpdate(), sync.requestUpdate(rescan: true)] }
                if method == "startScan", asked.count == 2 { asked.append(sync.requestUpdate()) }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await sync.run() }
            group.addTask { for await _ in rounds {} }
            await group.next()
            group.cancelAll()
        }
        #expect(asked.withLock { $0 } == [1, 2, 3])
        let ends = witness.results.compactMap { event in
            if case .finished(_, let request) = event { request } else { nil as UInt64? }
        }
        #expect(ends == [0, 2, 3])
    }

    @Test func otherMusicFoldersAreFetchedThoughTheStampStands() async throws {
        var library = ScriptedServer.Library(songs: 40)
        for number in 2..<4 { library.albums[number].folder = "2" }
        var habits = ScriptedServer.Habits()
        habits.folders = [("1", "One"), ("2", "Two")]
        let folder = Folder()
        let server = ScriptedServer(library, habits)
        let both = await run(server, in: folder)
        let one = await run(server, in: folder, stored: both.published.last, musicFolders: ["One"])
        #expect(ids(one.published.last) == expected(20))
    }

    @Test func changesArriveAndOldURIsStayValid() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.change { library in
            library.lastScan = 2
            library.albums[0].songs[0].path = "New/Place.mp3"
            library.albums[2].songs.removeLast()
        }
        let second = await run(server, in: folder, stored: first.published.last)
        let last = try #require(second.published.last)
        #expect(ids(last) == expected(29))
        let moved = try #require(last.song(id: "so-0"))
        #expect(last.uri(moved) == Array("New/Place.mp3".utf8))
        #expect(last.song(uri: Array("Artist 0/Album 0/0 Song.mp3".utf8)) == moved)
        #expect(second.results == [.started, .finished(didChange: true)])
        let third = await run(server, in: folder, stored: last, request: true)
        #expect(third.published.isEmpty)
    }

    @Test func playsAloneAreNoChangeOfTheDatabase() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.change { library in
            library.lastScan = 2
            library.albums[0].songs[0].playCount = 5
        }
        let second = await run(server, in: folder, stored: first.published.last)
        #expect(second.published.count == 1)
        #expect(second.results.last == .finished(didChange: false))
    }

    @Test func aServerWithoutScanStatusIsAskedForItsIndexes() async throws {
        let folder = Folder()
        var habits = ScriptedServer.Habits()
        habits.type = nil
        habits.version = "1.12.0"
        habits.hasScanStatus = false
        habits.mayScan = false
        habits.lastModified = 1_700_000_000_000
        let server = ScriptedServer(.init(songs: 30), habits)
        let first = await run(server, in: folder)
        server.forgetCalls()
        let second = await run(server, in: folder, stored: first.published.last, request: true)
        #expect(second.published.isEmpty)
        #expect(server.calls.contains("getIndexes ifModifiedSince=1700000000000"))
        server.changeHabits { $0.lastModified = 1_700_000_999_000 }
        server.change { $0.albums[0].songs.removeLast() }
        let third = await run(server, in: folder, stored: first.published.last)
        #expect(ids(third.published.last).count == 29)
    }

    @Test func aLibraryThatShrinksWithoutReasonIsBelievedTheSecondTime() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.change { library in
            library.lastScan = 2
            library.albums[0].songs.removeLast()
            library.albums[0].claimedSongs = 10
        }
        let second = await run(server, in: folder, stored: first.published.last, rounds: 2)
        guard case .failed? = second.results.dropFirst().first else {
            Issue.record("believed at once: \(second.results)")
            return
        }
        #expect(ids(second.published.last).count == 29)
    }

    /// A machine without a clock of its own starts in 1970, or where it was switched off: nothing is old by that.
    @Test(arguments: [
        (1000, false), (1_700_000_000 - 7200, false), (1_700_000_000 + 90_000, true), (1_600_000_000, true),
    ])
    func whatIsNewIsNotFetchedAnewByAClockThatIsNotSet(wall: Int64, isDue: Bool) async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.forgetCalls()
        _ = await SyncWitness.run(
            server,
            LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path),
            stored: first.published.last,
            request: false,
            environment: { witness in
                var environment = witness.environment
                environment.wallClock = { wall }
                return environment
            }
        )
        // One more finds out what the server can do.
        #expect((server.calls.filter { $0.hasPrefix("search3") }.count > 1) == isDue)
    }

    @Test func aLibraryThatIsKnownToBeEmptyIsBelievedAtOnce() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        server.change { library in
            library.lastScan = 2
            library.albums = []
        }
        let second = await run(server, in: folder, stored: first.published.last, rounds: 2)
        let emptied = try #require(second.published.last)
        #expect(emptied.songCount == 0)
        let third = await run(server, in: folder, stored: emptied, request: true)
        #expect(third.results == [.started, .finished(didChange: false, through: 1)])
    }

    @Test func aLibraryThatChangesWhileItIsReadIsReadAgain() async throws {
        let server = ScriptedServer(.init(songs: 600))
        let isFirst = Mutex(true)
        server.afterCall { method, library in
            guard method == "search3", library.albums.count == 60, isFirst.withLock({ $0 }) else { return }
            let more = ScriptedServer.Library(songs: 640).albums
            if library.lastScan == 1 { library.albums = more }
            library.lastScan = 2
            isFirst.withLock { $0 = false }
        }
        let witness = await run(server, in: Folder())
        #expect(ids(witness.published.last) == expected(640))
    }

    @Test func anUpdateWaitsForTheServersScan() async throws {
        let folder = Folder()
        let server = ScriptedServer(.init(songs: 30))
        let first = await run(server, in: folder)
        let polls = Mutex(0)
        server.afterCall { method, library in
            if method == "startScan" {
                library.isScanning = true
            } else if method == "getScanStatus", library.isScanning {
                polls.withLock { $0 += 1 }
                if polls.withLock({ $0 }) == 3 {
                    library.isScanning = false
                    library.lastScan = 2
                    library.albums = ScriptedServer.Library(songs: 50).albums
                }
            }
        }
        let second = await run(server, in: folder, stored: first.published.last, request: true)
        #expect(ids(second.published.last) == expected(50))
        #expect(second.results == [.started, .finished(didChange: true, through: 1)])
    }
}

/// A server that answers nothing but this.
private struct FailingServer: SubsonicCalling {
    let error: SubsonicError

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        throw error
    }
}

/// What users read when a server was never reached.
@Suite struct SyncComplaintTests {
    @Test(arguments: [
        (
            SubsonicError.server(ServerFailure(code: 40, message: "Wrong username or password")), "http://box:4533",
            "logging in failed: Wrong username or password (Subsonic error 40)"
        ),
        (
            .http(status: 404, retryAfter: nil), "http://box:4533",
            "no Subsonic server answers there: HTTP status 404"
        ),
        (
            .transport(TransportError(.receive, "box:4533: receiving failed: Recv failure: Connection reset by peer")),
            "http://box:4533",
            "box:4533: receiving failed: Recv failure: Connection reset by peer; perhaps it wants https://"
        ),
        (
            .transport(TransportError(.tls, "box:4533: TLS failed: wrong version number")), "https://box:4533",
            "box:4533: TLS failed: wrong version number; perhaps it wants http://"
        ),
        (
            .transport(TransportError(.tls, "box:4533: TLS failed: self-signed certificate")), "https://box:4533",
            "box:4533: TLS failed: self-signed certificate"
        ),
    ])
    func serverAndStepAreNamed(error: SubsonicError, address: String, message: String) async throws {
        let lines = Mutex<[String]>([])
        let messages = Mutex<[String]>([])
        let log = Log(level: .notice) { _, line in lines.withLock { $0.append(line) } }
        let (stream, ended) = AsyncStream<Void>.makeStream()
        let configuration = LibrarySyncConfiguration(
            serverID: "1",
            serverName: "home",
            serverAddress: address,
            directory: "/nonexistent"
        )
        let handlers = LibrarySyncHandlers(publish: { _ in }) { _ in
        } event: { event in
            guard case .failed(let message, _, _) = event else { return }
            messages.withLock { $0.append(message) }
            ended.yield()
        }
        var environment = SyncEnvironment.system
        environment.sleep = { _ in
            // Once it has been told, nothing more shall be.
            if messages.withLock({ !$0.isEmpty }) { try await Task.sleep(for: .seconds(600)) }
        }
        let sync = LibrarySync(
            configuration,
            server: FailingServer(error: error),
            stored: nil,
            handlers: handlers,
            log: log,
            environment: environment
        )
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await sync.run() }
            group.addTask { for await _ in stream { break } }
            await group.next()
            group.cancelAll()
        }
        #expect(messages.withLock { $0 } == [message])
        let line = try #require(lines.withLock { $0.first })
        #expect(line.hasPrefix("Cannot fetch the library of home (\(address)): \(message); again in "))
        #expect(line.hasSuffix("; shelvmpd doctor tells more"))
    }
}
