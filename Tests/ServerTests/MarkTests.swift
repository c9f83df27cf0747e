import Library
import Logging
import QueueEngine
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Stars and ratings on their way to the server and back.
@Suite("Stars and ratings")
struct MarkTests {
    /// Many are starred in pieces, each in a turn of its own; without a server there are no turns.
    @Test func manyAreStarredWithoutAServer() {
        let keeper = MarkKeeper()
        let isKept = Mutex<Bool?>(nil)
        keeper.star((0..<1_000).map { MarkKey.song("s\($0)") }, true) { result in
            if case .success = result { isKept.withLock { $0 = true } } else { isKept.withLock { $0 = false } }
        }
        #expect(isKept.withLock { $0 } == true)
        #expect(keeper.book.starred(.song).count == 1_000)
    }

    /// What one part of an act could not keep is told, though the last part was kept.
    @Test func allPartsMustBeKept() {
        let told = Mutex<[Bool]>([])
        let parts = KeptParts(3) { result in
            if case .success = result { told.withLock { $0.append(true) } } else { told.withLock { $0.append(false) } }
        }
        parts.part(.success(()))
        parts.part(.failure(StoreError(.full, "full")))
        #expect(told.withLock { $0 } == [])
        parts.part(.success(()))
        #expect(told.withLock { $0 } == [false])
    }

    /// Those of a server that leaves the configuration between two pieces.
    @Test func whoStarsManySongsHearsOfThemInAnyCase() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        defer { server.kill() }
        #expect(try server.client().ask("ping") == ["OK"])
        let gate = TestGate()
        let failed = Mutex<Bool?>(nil)
        server.onCore { server in
            let music = MusicServer(
                MusicServer.Reference(server.core, number: 1_000),
                id: ServerID(text: "gone"),
                name: "gone",
                url: "http://gone",
                library: server.library
            )
            music.marks.star((0..<1_000).map { MarkKey.song("s\($0)") }, true) { result in
                if case .failure = result { failed.withLock { $0 = true } } else { failed.withLock { $0 = false } }
                gate.open()
            }
        }
        gate.wait(timeout: 20_000)
        #expect(failed.withLock { $0 } == true)
    }

    private func item(_ key: MarkKey, _ act: MarkAct, base: UInt8 = 0) -> MarkDelivery.Item {
        MarkDelivery.Item(key: key, act: act, through: 1, base: base)
    }

    private func deliver(
        _ items: [MarkDelivery.Item],
        _ remote: ScriptedMarks,
        _ log: LogLines = LogLines()
    ) async -> [String] {
        await MarkCourier(remote, log: log.log).deliver(MarkDelivery(items: items)).map { receipt in
            switch receipt {
            case .arrived: "arrived"
            case .refused(_, let isCertain): isCertain ? "refused" : "refused perhaps"
            case .failed: "failed"
            }
        }
    }

    // MARK: The courier

    @Test func starsGoTogetherAndInOrder() async {
        let remote = ScriptedMarks()
        remote.star("c")
        let keys: [MarkKey] = [.song("b"), .album("al-x"), .artist("Artist q"), .song("c"), .song("a")]
        let receipts = await deliver(keys.map { item($0, .star(true)) }, remote)
        #expect(receipts == Array(repeating: "arrived", count: 5))
        #expect(remote.changes == ["star id=b albumId=al-x artistId=ar-q id=a"])
        #expect(remote.stars == ["c", "b", "al-x", "ar-q", "a"])
    }

    @Test func whatArrivedWithoutAnAnswerIsNotSentAgain() async {
        let remote = ScriptedMarks()
        let items = [item(.song("a"), .star(true)), item(.song("a"), .rate(7))]
        let courier = MarkCourier(remote, log: .silent)
        remote.onCall { _, method in method == "star" ? .after : nil }
        #expect(await courier.deliver(MarkDelivery(items: items)).count == 1)
        remote.onCall { _, method in method == "setRating" ? .after : nil }
        #expect(await courier.deliver(MarkDelivery(items: items)).count == 2)
        remote.onCall { _, _ in nil }
        #expect(await courier.deliver(MarkDelivery(items: items)).count == 2)
        #expect(remote.changes == ["star id=a", "setRating id=a rating=4"])
        #expect(remote.ratings == ["a": 4])
    }

    @Test func oneThatIsRefusedSpoilsNoOthers() async {
        var habits = ScriptedMarks.Habits()
        habits.refusesSecondStar = true
        habits.starsAlbums = false
        let remote = ScriptedMarks(habits)
        let keys: [MarkKey] = [.song("a"), .song("unknown"), .album("al-x"), .artist("nobody"), .song("b")]
        let receipts = await deliver(keys.map { item($0, .star(true)) }, remote)
        #expect(receipts == ["arrived", "refused", "refused", "refused", "arrived"])
        #expect(remote.stars == ["a", "b"])
    }

    @Test func aYesWithoutEffectIsNone() async {
        var habits = ScriptedMarks.Habits()
        habits.swallowsUnknown = true
        #expect(await deliver([item(.song("unknown"), .star(true))], ScriptedMarks(habits)) == ["refused perhaps"])
    }

    @Test func ratingsInTheServersWays() async {
        var habits = ScriptedMarks.Habits()
        habits.type = "ampache"
        habits.dropsZero = true
        let ampache = ScriptedMarks(habits)
        ampache.rate("a", 3)
        #expect(await deliver([item(.song("a"), .rate(0), base: 3)], ampache) == ["arrived"])
        #expect(ampache.ratings.isEmpty)
        habits.ratesAlbums = false
        #expect(await deliver([item(.album("al-a"), .rate(3))], ScriptedMarks(habits)) == ["refused"])
        habits.rates = false
        #expect(await deliver([item(.song("a"), .rate(3))], ScriptedMarks(habits)) == ["refused perhaps"])
    }

    @Test func theLastActWinsAndIsToldOf() async {
        let remote = ScriptedMarks()
        let log = LogLines()
        remote.rate("a", 2)
        #expect(await deliver([item(.song("a"), .rate(10), base: 4)], remote, log) == ["arrived"])
        #expect(remote.ratings == ["a": 5])
        #expect(log.lines.contains { $0.contains("changed elsewhere to 2") })
        // What others have brought to the same is no conflict.
        #expect(await deliver([item(.song("a"), .rate(9), base: 1)], remote, log) == ["arrived"])
        #expect(log.lines.count { $0.contains("elsewhere") } == 1)
    }

    // MARK: The whole

    @Test func commandsReachTheServer() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await MarkServer(folder, ScriptedMarks())
        defer { server.kill() }
        let client = try server.client()
        for command in [
            "sticker set song b like 2", "sticker set song a rating 7", "playlistadd Favorites a",
            "sticker set filter \"((Album == 'Album c') AND (Artist == 'Artist c'))\" starred 1",
            "sticker set Artist \"Artist d\" like 2", "sticker set Album \"Album e\" rating 10",
            "searchaddpl Favorites \"(Title == 'Title z')\"",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        #expect(await server.settle())
        #expect(server.remote.stars == ["b", "a", "al-c", "ar-d", "z"])
        #expect(server.remote.ratings == ["a": 4, "al-e": 5])
        #expect(try client.entries(of: "Favorites") == ["b", "a", "z"])
        #expect(try client.ask("listplaylists").first == "playlist: Favorites")
        #expect(
            try client.ask("listfiles Shelves/Favorites").filter { !$0.hasPrefix("size") && !$0.hasPrefix("Last") }
                == ["file: a", "file: b", "file: z", "directory: Artist c - Album c", "directory: Artist d", "OK"]
        )
        for command in ["playlistdelete Favorites 1", "sticker set album \"Album c\" like 0"] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(await server.settle())
        #expect(server.remote.stars == ["b", "ar-d", "z"])
        #expect(try client.ask("playlistclear Favorites") == ["OK"])
        #expect(await server.settle())
        #expect(server.remote.stars == ["ar-d"])
        #expect(try !client.ask("listplaylists").contains("playlist: Favorites"))
    }

    @Test func favoritesTakesNoOtherEdits() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await MarkServer(folder, ScriptedMarks())
        defer { server.kill() }
        let client = try server.client()
        #expect(try client.ask("playlistadd Favorites b") == ["OK"])
        #expect(try client.ask("playlistadd Favorites a 0") == ["OK"])
        let refusal = "Favorites is what is starred; songs can be added and removed, no more"
        for command in [
            "rename Favorites Other", "rm Favorites", "playlistmove Favorites 0 1", "save Favorites replace",
        ] {
            _ = try client.ask("add c")
            let name = command.prefix { $0 != " " }
            #expect(try client.ask(command) == ["ACK [4@0] {\(name)} \(refusal)"])
        }
        #expect(try client.ask("save Favorites") == ["ACK [56@0] {save} Playlist already exists"])
        #expect(try client.ask("save Favorites append") == ["OK"])
        #expect(try client.entries(of: "Favorites") == ["b", "a", "c"])
        #expect(
            try client.ask("playlistadd Favorites http://localhost/x").first
                == "ACK [2@0] {playlistadd} A playlist of the server can only hold its own songs"
        )
        #expect(try client.ask("sticker set playlist Favorites mood calm") == ["OK"])
        #expect(
            try client.ask("sticker find playlist \"\" mood") == ["playlist: Favorites", "sticker: mood=calm", "OK"]
        )
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("load Favorites 1:") == ["OK"])
        #expect(try client.ask("playlist") == ["0:file: a", "1:file: c", "OK"])
    }

    @Test func whatIsUndoneIsNotSent() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedMarks()
        remote.onCall { _, _ in .before }
        let server = try await MarkServer(folder, remote)
        defer { server.kill() }
        let client = try server.client()
        for command in [
            "sticker set song a like 2", "sticker set song a like 1", "sticker set song b rating 8",
            "sticker set song b rating 2", "sticker set song b rating 3",
        ] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(try client.ask("sticker get song b rating") == ["sticker: rating=3", "OK"])
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.changes.filter { !$0.hasSuffix("rating=1") } == ["setRating id=b rating=2"])
        #expect(remote.stars.isEmpty)
    }

    @Test func changesElsewhereAreShownAndToldOf() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await MarkServer(folder, ScriptedMarks())
        defer { server.kill() }
        let client = try server.client()
        #expect(try client.ask("sticker set song b like 2") == ["OK"])
        #expect(await server.settle())
        let listener = try server.client()
        listener.send("idle sticker stored_playlist\n")
        server.remote.star("c")
        server.remote.star("b", false)
        server.remote.star("al-d")
        await server.refresh()
        #expect(try listener.reply() == ["changed: stored_playlist", "changed: sticker", "OK"])
        #expect(try client.entries(of: "Favorites") == ["c"])
        #expect(try client.ask("sticker get album \"Album d\" like") == ["sticker: like=2", "OK"])
        // Nothing new, nothing told.
        listener.send("idle sticker stored_playlist\n")
        await server.refresh()
        listener.send("noidle\n")
        let reply = try listener.reply()
        #expect(reply == ["OK"])
    }

    @Test func refreshesDoNotUndoWhatIsUnderWay() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedMarks()
        remote.star("a")
        remote.onCall { _, method in method == "getStarred2" ? nil : .before }
        let server = try await MarkServer(folder, remote)
        defer { server.kill() }
        let client = try server.client()
        await server.refresh()
        for command in ["sticker set song a like 0", "sticker set song b like 2", "sticker set song c rating 9"] {
            #expect(try client.ask(command) == ["OK"])
        }
        await server.refresh()
        try await server.readLibrary(ratings: ["c": 1], began: MarkKeeper.wallClock + 100)
        #expect(try client.entries(of: "Favorites") == ["b"])
        #expect(try client.ask("sticker get song a like") == ["sticker: like=0", "OK"])
        #expect(try client.ask("sticker get song c rating") == ["sticker: rating=9", "OK"])
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.stars == ["b"])
        // A library that was read before says nothing; a later one does.
        try await server.readLibrary(ratings: ["c": 1], began: MarkKeeper.wallClock - 100)
        #expect(try client.ask("sticker get song c rating") == ["sticker: rating=9", "OK"])
        try await server.readLibrary(ratings: ["c": 5], began: MarkKeeper.wallClock + 100)
        #expect(try client.ask("sticker get song c rating") == ["sticker: rating=9", "OK"])
        try await server.readLibrary(ratings: ["c": 2], began: MarkKeeper.wallClock + 100)
        #expect(try client.ask("sticker get song c rating") == ["sticker: rating=4", "OK"])
    }

    @Test func whatTheServerDoesNotTakeIsKeptHere() async throws {
        let folder = try #require(TemporaryFolder())
        var habits = ScriptedMarks.Habits()
        habits.starsAlbums = false
        habits.rates = false
        let server = try await MarkServer(folder, ScriptedMarks(habits))
        defer { server.kill() }
        let client = try server.client()
        for command in [
            "sticker set album \"Album a\" like 2", "sticker set album \"Album b\" like 2",
            "sticker set song a rating 6", "sticker set song b rating 4",
        ] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(await server.settle())
        await server.refresh()
        try await server.readLibrary(ratings: [:], began: MarkKeeper.wallClock + 100)
        #expect(try client.ask("sticker get album \"Album a\" like") == ["sticker: like=2", "OK"])
        #expect(try client.ask("sticker get song a rating") == ["sticker: rating=6", "OK"])
        for what in ["stars of albums", "ratings of songs"] {
            #expect(server.log.lines.count { $0.contains("does not take \(what)") && !$0.hasSuffix(")") } == 1)
        }
    }

    @Test func songsWithOtherIDsKeepTheirStickers() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedMarks()
        var server = try await MarkServer(folder, remote)
        for command in [
            "sticker set song a mood calm", "sticker set song b mood wild", "sticker set song a like 2",
            "sticker set song b rating 7",
        ] {
            #expect(try server.client().ask(command) == ["OK"])
        }
        #expect(await server.settle())
        // While it runs …
        let news = MarkServer.records(["a": "n1", "b": "n2"])
        try server.server.replaceLibrary(news)
        let isFollowed = waitUntil {
            (try? server.client().ask("sticker list song a").count) == 4
                && (try? server.client().ask("sticker get song b rating").first) == "sticker: rating=7"
        }
        #expect(isFollowed)
        server.kill()
        // … and while it does not.
        server = try await MarkServer(folder, remote, ids: ["a": "m1", "b": "n2"])
        defer { server.kill() }
        let isFound = waitUntil { (try? server.client().ask("sticker get song a mood").first) == "sticker: mood=calm" }
        #expect(isFound)
        #expect(try server.client().ask("sticker get song b mood") == ["sticker: mood=wild", "OK"])
        #expect(waitUntil { (try? server.client().entries(of: "Favorites")) == ["a"] })
    }

    /// Acts by chance, a server that does not answer by chance, ends without a word: what the user did is on the server.
    @Test func nothingIsLostByChance() async throws {
        for round in 0..<12 {
            let seed = SeededNumbers.seed()
            try await run(rounds: 6, seed: seed, "round \(round), SHELV_SEED=\(seed)")
        }
    }

    private func run(rounds: Int, seed: UInt64, _ label: String) async throws {
        var random = SeededRandom(seed: seed)
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedMarks()
        var server = try await MarkServer(folder, remote)
        var stars: [String] = []
        var ratings: [String: Int] = [:]
        let songs = ["a", "b", "c", "d", "e"]
        for _ in 0..<rounds {
            let salt = UInt64.random(in: 0...(.max), using: &random)
            let isAway = Bool.random(using: &random)
            remote.onCall { number, _ in
                var random = SeededRandom(seed: salt &+ UInt64(number))
                if isAway { return .before }
                return switch Int.random(in: 0..<8, using: &random) {
                case 0: .before
                case 1: .after
                case 2: .error(.http(status: 503, retryAfter: nil))
                default: nil
                }
            }
            let client = try server.client()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let song = songs.randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let rating = Int.random(in: 0...10, using: &random)
                    #expect(try client.ask("sticker set song \(song) rating \(rating)") == ["OK"], "\(label)")
                    ratings[song] = rating == 0 ? nil : rating
                case 1:
                    #expect(try client.ask("sticker set song \(song) like 1") == ["OK"], "\(label)")
                    stars.removeAll { $0 == song }
                default:
                    #expect(try client.ask("playlistadd Favorites \(song)") == ["OK"], "\(label)")
                    if !stars.contains(song) { stars.append(song) }
                }
                if Int.random(in: 0..<3, using: &random) == 0 { await server.refresh() }
            }
            #expect(try client.entries(of: "Favorites") == stars, "\(label)")
            if Bool.random(using: &random) {
                server.kill()
                server = try await MarkServer(folder, remote)
                #expect(try server.client().entries(of: "Favorites") == stars, "\(label)")
            }
        }
        remote.onCall { _, _ in nil }
        #expect(await server.settle(), "\(label)")
        #expect(remote.stars.sorted() == stars.sorted(), "\(label)")
        #expect(remote.ratings == ratings.mapValues { ($0 + 1) / 2 }, "\(label)")
        for (song, rating) in ratings {
            #expect(try server.client().ask("sticker get song \(song) rating") == ["sticker: rating=\(rating)", "OK"])
        }
        server.kill()
    }
}
