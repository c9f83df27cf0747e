import Library
import MPDProtocol
import QueueEngine
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Mixes, music without end, radio stations, and the shelf Radio.
@Suite struct MoreMusicTests {
    private static func server(
        _ remote: ScriptedListener = ScriptedListener(),
        configure: @escaping @Sendable (Server) -> Void = { _ in }
    ) async throws -> (ListeningServer, TemporaryFolder) {
        let folder = try #require(TemporaryFolder())
        return (try await ListeningServer(folder, remote, scrobbles: false, configure: configure), folder)
    }

    private static func until(_ condition: () throws -> Bool) async rethrows -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            if try condition() { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    private static func queue(_ server: ListeningServer) throws -> [String] {
        try server.client.ask("playlist").dropLast().map { String($0.split(separator: " ").last ?? "") }
    }

    // MARK: Mixes

    @Test func aMixIsShuffledEachTimeThatItIsLoaded() async throws {
        let (server, _) = try await Self.server { server in
            for mix in Mix.allCases { server.playlists.add(virtual: MixPlaylist(mix)) }
        }
        defer { server.kill() }
        let names = try server.client.ask("listplaylists").filter { $0.hasPrefix("playlist: ") }
        #expect(names == Mix.allCases.map(\.rawValue).sorted().map { "playlist: \($0)" })
        let shown = try server.client.ask("listplaylist \"Mix: Shuffle All\"").dropLast()
        #expect(shown == ListeningServer.songs.map { "file: \($0)" }[...])
        var orders: Set<[String]> = []
        for _ in 0..<3 {
            #expect(try server.ask("clear"))
            #expect(try server.ask("load \"Mix: Shuffle All\""))
            let order = try Self.queue(server)
            #expect(order.sorted() == ListeningServer.songs)
            orders.insert(order)
        }
        #expect(orders.count > 1)
        #expect(try server.client.value("songs", of: "playlistlength \"Mix: Shuffle All\"") == "26")
        let found = try server.client.ask("searchplaylist \"Mix: Shuffle All\" title \"title b\"")
        #expect(found.first == "file: b")
        #expect(try server.client.ask("rm \"Mix: Shuffle All\"").last?.hasPrefix("ACK [4@0]") == true)
        #expect(try server.ask("clear"))
        #expect(try server.ask("load \"Mix: Shuffle All\" 0:5"))
        #expect(try Self.queue(server).count == 5)
    }

    // MARK: Without end

    @Test func theQueueGoesOnWithWhatTheServerNames() async throws {
        let remote = ScriptedListener()
        remote.setSimilar(["a", "k", "unknown", "l", "k", "m"], to: "ar-1")
        let (server, _) = try await Self.server(remote) { $0.playOn() }
        defer { server.kill() }
        #expect(try server.ask("add a"))
        #expect(try server.ask("play"))
        #expect(try await Self.until { try Self.queue(server).count == 1 + InfinitePlay.batch })
        let queue = try Self.queue(server)
        // First what the server named, without what was there; then such as the library has.
        #expect(queue.prefix(4) == ["a", "k", "l", "m"])
        #expect(Set(queue).count == queue.count)
        let sections = try server.client.ask("shelv_queue")
        #expect(!sections.contains { $0.contains("user") })
    }

    @Test(arguments: ["repeat 1", "single 1"])
    func notWhereSomethingElseIsWanted(_ option: String) async throws {
        let remote = ScriptedListener()
        let (server, _) = try await Self.server(remote) { $0.playOn() }
        defer { server.kill() }
        for command in [option, "add a", "play"] { #expect(try server.ask(command)) }
        #expect(remote.calls.isEmpty)
        #expect(try server.ask(option.replacing("1", with: "0")))
        #expect(try await Self.until { try Self.queue(server).count > 1 })
        #expect(try server.ask("clear"))
        #expect(try Self.queue(server).isEmpty)
    }

    @Test func aUserQueueStaysLast() async throws {
        let remote = ScriptedListener()
        let (server, _) = try await Self.server(remote) { $0.playOn() }
        defer { server.kill() }
        for command in ["add a", "add b", "add c", "add d", "play", "add z"] { #expect(try server.ask(command)) }
        #expect(try server.ask("next"))
        #expect(try server.ask("next"))
        #expect(try await Self.until { try Self.queue(server).count > 5 })
        #expect(try Self.queue(server).prefix(5) == ["a", "b", "c", "d", "z"])
    }

    @Test func nothingComesAgainWithinTheWindow() throws {
        var builder = LibraryBuilder()
        for number in 0..<500 {
            builder.add(
                SongRecord(songID: "s\(number)", uri: "s\(number)", tags: [TagValue(.artist, "Anna")], duration: 60_000)
            )
        }
        let library = try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        var random = SeededRandom(seed: 1)
        let local = LocalSimilar(SongIndex(rawValue: 0), in: library)
        let named = (0..<40).map { "s\($0)" }
        var heard = ["s0"]
        while heard.count < 1_000 {
            let excluded = Array(heard.suffix(InfinitePlay.window))
            let songs = InfinitePlay.choose(named, local, Self.identities(excluded), using: &random)
                .map { library.songID($0) }
            #expect(songs.count == InfinitePlay.batch)
            #expect(Set(songs).count == songs.count)
            #expect(Set(songs).isDisjoint(with: excluded))
            heard += songs
        }
    }

    @Test func aSmallLibraryRepeatsWhatWasHeardLongestAgo() throws {
        var builder = LibraryBuilder()
        for number in 0..<8 {
            builder.add(SongRecord(songID: "s\(number)", uri: "s\(number)", tags: [TagValue(.artist, "Anna")]))
        }
        let library = try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        var random = SeededRandom(seed: 1)
        let local = LocalSimilar(SongIndex(rawValue: 0), in: library)
        let heard = (0..<8).map { "s\($0)" }
        let songs = InfinitePlay.choose([], local, Self.identities(heard), using: &random).map { library.songID($0) }
        #expect(!songs.isEmpty)
        #expect(Set(songs).isDisjoint(with: heard.suffix(4)))
    }

    @Test func aSongThatNothingGoesWithIsFollowedByAny() throws {
        var builder = LibraryBuilder()
        for number in 0..<30 {
            builder.add(SongRecord(songID: "s\(number)", uri: "s\(number)", tags: [TagValue(.artist, "A\(number)")]))
        }
        let library = try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        var random = SeededRandom(seed: 1)
        let local = LocalSimilar(SongIndex(rawValue: 0), in: library)
        let songs = InfinitePlay.choose([], local, Self.identities(["s0"]), using: &random).map { library.songID($0) }
        #expect(songs.count == InfinitePlay.batch)
        #expect(Set(songs).count == songs.count && !songs.contains("s0"))
    }

    @Test func songsOfMountedServersAreNotRepeatedEither() async throws {
        func library(_ server: String) throws -> LibrarySnapshot {
            var builder = LibraryBuilder()
            for number in 0..<10 {
                builder.add(SongRecord(songID: "s\(number)", uri: "s\(number)", tags: [TagValue(.artist, "Anna")]))
            }
            return try builder.build(info: LibraryInfo(serverID: server, serverName: server), file: nil)
        }
        let merge = try LibraryMerge(library("test"), [.init(path: "m", library: library("other"))])
        let both = try await merge.build(file: nil).snapshot
        let seed = SongIdentity(serverID: "other", songID: "s0")
        let local = LocalSimilar(try #require(both.song(seed)), in: both)
        let heard = (0..<10).map { SongIdentity(serverID: "other", songID: "s\($0)") }
        var random = SeededRandom(seed: 1)
        let songs = InfinitePlay.choose([], local, heard, using: &random).map { both.identity($0) }
        #expect(Set(songs) == Set(Self.identities((0..<10).map { "s\($0)" })))
    }

    private static func identities(_ ids: [String]) -> [SongIdentity] {
        ids.map { SongIdentity(serverID: "test", songID: $0) }
    }

    // MARK: Radio

    @Test func stationsAreAPlaylist() async throws {
        let remote = ScriptedListener()
        remote.add(RadioStation(id: "1", name: "Jazz", address: "http://127.0.0.1/jazz"))
        remote.add(RadioStation(id: "2", name: "News", address: "http://127.0.0.1/news"))
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        let client = server.client
        #expect(
            try await server.answer("listplaylistinfo \"Radio Stations\"") == [
                "file: http://127.0.0.1/jazz", "Name: Jazz", "file: http://127.0.0.1/news", "Name: News", "OK",
            ]
        )
        #expect(try client.ask("listplaylists").contains("playlist: Radio Stations"))
        #expect(try await server.answer("load \"Radio Stations\" 1:") == ["OK"])
        #expect(try client.value("Name", of: "playlistinfo") == "News")

        #expect(try await server.answer("playlistadd \"Radio Stations\" http://127.0.0.1/rock#Rock") == ["OK"])
        #expect(remote.stations.last == RadioStation(id: "new-1", name: "Rock", address: "http://127.0.0.1/rock"))
        #expect(try await server.answer("playlistdelete \"Radio Stations\" 0") == ["OK"])
        #expect(remote.stations.map(\.name) == ["News", "Rock"])
        #expect(
            try await server.answer("playlistadd \"Radio Stations\" a")
                == ["ACK [2@0] {playlistadd} Only URLs of radio stations can be added"]
        )
        #expect(try await server.answer("playlistclear \"Radio Stations\"").last?.hasPrefix("ACK [4@0]") == true)
    }

    @Test func whoMayNotChangeThemIsTold() async throws {
        var habits = ScriptedListener.Habits.navidrome
        habits.isAdmin = false
        let remote = ScriptedListener(habits)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        let answer = try await server.answer("playlistadd \"Radio Stations\" http://127.0.0.1/rock").last ?? ""
        #expect(answer.hasPrefix("ACK"))
        #expect(answer.contains("not allowed"))
        #expect(!(try server.client.ask("listplaylists").contains("playlist: Radio Stations")))
    }

    @Test func radioOfAnArtistAndOfASong() async throws {
        let remote = ScriptedListener()
        remote.setSimilar(["x", "y", "unknown"], to: "ar-1")
        remote.setSimilar(["z"], to: "b")
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        let client = server.client
        #expect(try client.ask("lsinfo Shelves").contains("directory: Shelves/Radio"))
        #expect(
            try client.ask("lsinfo Shelves/Radio")
                == ["directory: Shelves/Radio/Anna", "directory: Shelves/Radio/Bert", "OK"]
        )
        let folders = try client.ask("lsinfo Shelves/Radio/Anna")
        #expect(
            folders.prefix(2) == [
                "playlist: Shelves/Radio/Anna/Radio: Anna", "playlist: Shelves/Radio/Anna/Similar: Title a",
            ]
        )
        #expect(folders.count == 15)
        let radio = try await server.answer("lsinfo \"Shelves/Radio/Anna/Radio: Anna\"").filter {
            $0.hasPrefix("file: ")
        }
        #expect(radio == ["file: x", "file: y"])
        #expect(
            try await server.answer("listplaylist \"Shelves/Radio/Anna/Radio: Anna\"") == ["file: x", "file: y", "OK"]
        )
        #expect(try await server.answer("load \"Shelves/Radio/Anna/Radio: Anna\" 1:") == ["OK"])
        #expect(try Self.queue(server) == ["y"])
        #expect(try server.ask("clear"))
        let missing = ["ACK [50@0] {load} No such playlist"]
        for path in ["Shelves/Radio/Anna", "Shelves/Radio/Anna/Similar: Nothing", "Shelves/Random", "Shelves/x"] {
            #expect(try await server.answer("load \"\(path)\"") == missing)
        }
        #expect(try await server.answer("add \"Shelves/Radio/Anna/Radio: Anna\"") == ["OK"])
        #expect(try await server.answer("add Shelves/Radio/Anna") == ["OK"])
        #expect(try await server.answer("add \"Shelves/Radio/Anna/Similar: Title b\" 0") == ["OK"])
        #expect(try Self.queue(server) == ["z", "x", "y", "x", "y"])
        // Where the server knows nothing, the library does.
        #expect(try server.ask("clear"))
        #expect(try await server.answer("add \"Shelves/Radio/Bert/Similar: Title o\"") == ["OK"])
        let songs = try Self.queue(server)
        #expect(songs.count > 10)
        #expect(!songs.contains("o"))
        #expect(try client.ask("add Shelves/Radio/Nobody").last?.hasPrefix("ACK [50@0]") == true)
        #expect(
            try await server.answer("lsinfo \"Shelves/Radio/Anna/Similar: Nothing\"").last?.hasPrefix("ACK [50@0]")
                == true
        )
    }
}
