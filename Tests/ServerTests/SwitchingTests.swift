import Glibc
import Library
import Playback
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What happens while servers are switched, mounted and read again, and when that fails.
@Suite(.serialized)
struct SwitchingTests {
    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    private static func start(
        _ names: [String],
        options: String = ""
    ) async throws -> (SwitchingServer, [SmallMusicServer], MPDTestClient) {
        let remotes = try names.map { try #require(SmallMusicServer($0, seconds: 1)) }
        let server = try await SwitchingServer(
            zip(names, remotes).map { SwitchingServer.block($0, $1.url) },
            options: options,
            remotes
        )
        let client = try server.client()
        try #require(shows(client, names[0]), "\(server.log)")
        return (server, remotes, client)
    }

    /// Whether the library of a server is there, and nothing is under way.
    private static func shows(_ client: MPDTestClient, _ artist: String, below root: String = "") -> Bool {
        waitUntil(milliseconds: 30_000) {
            (try? client.ask("shelv_sync"))
                .map { $0.contains { $0 == "state: syncing" || $0.hasPrefix("updating_db: ") } } == false
                && (try? client.ask("listall").contains("file: \(root)\(artist)/Album/1.wav")) == true
        }
    }

    @Test func theQueueThatWasNotSavedYetIsSavedBeforeAnotherServerIsUsed() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert"], options: "play_queue_sync \"save\"")
        #expect(try client.ask("add Anna/Album/2.wav") == ["OK"])
        // Long before the queue is old enough to be saved by itself.
        #expect(try client.ask("shelv_server use Bert") == ["OK"])
        #expect(remotes[0].queue == ["2"])
        await server.end()
    }

    @Test func aMergeThatFailsLeavesEverythingAtWork() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert", "Carl"])
        remotes[0].setPlaylist("Of Anna", ["2"])
        #expect(try client.ask("mount b Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        // An image cannot take the place of a folder that is not empty.
        let image = server.folder.path("cache/library-mounted.image")
        unsafe unlink(image)
        server.folder.write("cache/library-mounted.image/x", "")
        #expect(try client.ask("shelv_server use Carl").last?.hasPrefix("ACK [52@0] {shelv_server}") == true)
        #expect(Self.shows(client, "Anna"))
        #expect(try client.ask("update").last == "OK")
        #expect(
            waitUntil(milliseconds: 30_000) { (try? client.ask("listplaylists").contains("playlist: Of Anna")) == true }
        )
        #expect(try client.ask("playlistadd \"Of Anna\" Anna/Album/3.wav") == ["OK"])
        #expect(waitUntil(milliseconds: 30_000) { remotes[0].playlists["Of Anna"] == ["2", "3"] }, "\(server.log)")
        unsafe unlink("\(image)/x")
        unsafe rmdir(image)
        #expect(try client.ask("shelv_server use Carl") == ["OK"])
        #expect(Self.shows(client, "Carl") && Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        await server.end()
    }

    private static func playlists(_ client: MPDTestClient) -> [String] {
        ((try? client.ask("listplaylists")) ?? []).filter { $0.hasPrefix("playlist: ") }.map {
            String($0.dropFirst(10))
        }
    }

    @Test func aUseThatFailsLeavesThePlaylistsOfAMountedServerAtWork() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert", "Carl"])
        remotes[1].setPlaylist("First", ["2"])
        #expect(try client.ask("mount b Bert") == ["OK"])
        #expect(try client.ask("mount c Carl") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        try #require(Self.shows(client, "Carl", below: "c/"), "\(server.log)")
        #expect(waitUntil(milliseconds: 30_000) { Self.playlists(client) == ["b: First"] }, "\(server.log)")
        // An image cannot take the place of a folder that is not empty.
        let image = server.folder.path("cache/library-mounted.image")
        unsafe unlink(image)
        server.folder.write("cache/library-mounted.image/x", "")
        #expect(try client.ask("shelv_server use Bert").last?.hasPrefix("ACK [52@0] {shelv_server}") == true)
        #expect(Self.playlists(client) == ["b: First"])
        remotes[1].setPlaylist("Second", ["3"])
        #expect(try client.ask("update").last == "OK")
        let both = ["b: First", "b: Second"]
        #expect(waitUntil(milliseconds: 30_000) { Self.playlists(client) == both }, "\(server.log)")
        unsafe unlink("\(image)/x")
        unsafe rmdir(image)
        #expect(try client.ask("shelv_server use Bert") == ["OK"])
        #expect(Self.playlists(client) == ["First", "Second"])
        #expect(try client.ask("playlistadd First Bert/Album/3.wav") == ["OK"])
        #expect(waitUntil(milliseconds: 30_000) { remotes[1].playlists["First"] == ["2", "3"] }, "\(server.log)")
        await server.end()
    }

    @Test func aMountedServersPlaylistsLeaveTheJournalAlone() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert"])
        remotes[0].setPlaylist("Edited", ["1"])
        remotes[0].setPlaylist("Removed", ["2"])
        #expect(try client.ask("update").last == "OK")
        #expect(
            waitUntil(milliseconds: 30_000) { Self.playlists(client) == ["Edited", "Removed"] },
            "\(server.log)"
        )
        remotes[0].setDown(true)
        for command in ["playlistadd Edited Anna/Album/3.wav", "rm Removed"] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(try client.ask("shelv_server use Bert") == ["OK"])
        let id = try #require(server.servers.sources.all.first { $0.made.block.name == "Anna" }).id.text
        func journal() async throws -> [JournalEntry] {
            try await server.store.read { database throws(StoreError) in
                try Journal.entries(of: .playlist, for: id, in: database)
            }
        }
        let waiting = try await journal()
        #expect(waiting.count == 2)
        #expect(try client.ask("mount a Anna") == ["OK"])
        #expect(Self.playlists(client) == ["a: Edited"])
        // Both have gone from the server meanwhile, which is seen.
        for name in ["Edited", "Removed"] { remotes[0].removePlaylist(name) }
        remotes[0].setPlaylist("Last", ["5"])
        remotes[0].setDown(false)
        #expect(try client.ask("update").last == "OK")
        let shown = ["a: Edited", "a: Last"]
        #expect(waitUntil(milliseconds: 30_000) { Self.playlists(client) == shown }, "\(server.log)")
        #expect(try client.entries(of: "a: Edited") == ["a/Anna/Album/1.wav", "a/Anna/Album/3.wav"])
        #expect(try await journal() == waiting)
        #expect(try client.ask("shelv_server use Anna") == ["OK"])
        let wanted = ["Edited": ["1", "3"], "Last": ["5"]]
        #expect(waitUntil(milliseconds: 30_000) { remotes[0].playlists == wanted }, "\(server.log)")
        await server.end()
    }

    @Test func whosePlaylistsOfAMountedServerAreDependsOnItsUser() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert"])
        remotes[1].setPlaylist("List", ["2"])
        #expect(try client.ask("playlistadd \"b: List\" Anna/Album/1.wav") == ["OK"])
        #expect(try client.ask("mount b Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        let both = ["b: List", "b: List (2)"]
        #expect(waitUntil(milliseconds: 30_000) { Self.playlists(client) == both }, "\(server.log)")
        // It has its own name again once that is free.
        #expect(try client.ask("rename \"b: List\" Other") == ["OK"])
        #expect(Self.playlists(client) == ["Other", "b: List"])
        #expect(try client.entries(of: "b: List") == ["b/Bert/Album/2.wav"])
        #expect(try client.ask("rm \"b: List\"").last?.contains("mounted server Bert") == true)
        server.configure([
            SwitchingServer.block("Anna", remotes[0].url),
            SwitchingServer.block("Bert", remotes[1].url).replacing("user \"u\"", with: "user \"other\""),
        ])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(server.log)")
        #expect(waitUntil(milliseconds: 30_000) { Self.playlists(client) == ["Other", "b: List"] }, "\(server.log)")
        let refusal = ["ACK [4@0] {rm} The playlist belongs to u"]
        #expect(
            waitUntil(milliseconds: 30_000) { (try? client.ask("rm \"b: List\"")) == refusal },
            "\(server.log)"
        )
        // Gone from the configuration, it has none.
        server.configure([SwitchingServer.block("Anna", remotes[0].url)])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(server.log)")
        #expect(Self.playlists(client) == ["Other"])
        await server.end()
    }

    /// Songs of the queue whose server is not shown are their own server's, whatever asks for them by their URIs.
    @Test func songsOfAServerThatIsNotShownAreReachedByTheirURIs() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert"])
        for command in ["add Anna/Album/1.wav", "add Same/Place/6.wav", "play 0", "shelv_server use Bert"] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        try #require(Self.shows(client, "Bert"), "\(server.log)")
        let path = "Anna/Album/1.wav"
        for command in ["albumart", "readpicture"] {
            #expect(try client.picture(command, path).bytes == Array("picture of Anna 1".utf8), "\(command)")
        }
        #expect(try client.ask("readcomments \(path)").contains("TITLE: Anna 1"))
        #expect(try client.ask("sticker list song \(path)") == ["OK"])
        for (name, value) in [("rating", "8"), ("like", "2"), ("note", "a b")] {
            #expect(try client.ask("sticker set song \(path) \(name) \"\(value)\"") == ["OK"], "\(name)")
            #expect(try client.ask("sticker get song \(path) \(name)") == ["sticker: \(name)=\(value)", "OK"])
        }
        #expect(waitUntil { remotes[0].ratings == ["1": "4"] && remotes[0].stars == ["1"] }, "\(server.log)")
        #expect(try client.ask("sticker inc song \(path) count 2") == ["OK"])
        #expect(try client.ask("sticker delete song \(path) note") == ["OK"])
        #expect(try client.ask("sticker list song \(path)").count == 5)
        for query in [
            "playlistfind \"(Title == 'Anna 1')\"", "playlistsearch \"(any contains 'anna 1')\"",
            "playlistfind \"(file == '\(path)')\"", "playlistfind \"(AlbumArtist == 'Anna')\" window 0:1",
        ] {
            let files = try client.ask(query).filter { $0.hasPrefix("file: ") }
            #expect(files == ["file: \(path)"], "\(query)")
        }
        #expect(try client.ask("playlistfind \"(Title == 'Anna 2')\"") == ["OK"])
        #expect(try client.ask("playlistfind \"(Artist == 'Anna')\" sort Title").count { $0.hasPrefix("file: ") } == 2)
        // What nobody has put into the queue is not there.
        #expect(try client.ask("sticker set song Anna/Album/2.wav rating 8").last?.hasPrefix("ACK [50@0]") == true)
        #expect(try client.ask("readcomments Anna/Album/2.wav").last?.hasPrefix("ACK [50@0]") == true)

        // A path that both have is the current song's while one plays, else that of the server that is shown.
        let both = "Same/Place/6.wav"
        #expect(try client.ask("sticker set song \(both) rating 2") == ["OK"])
        #expect(waitUntil { remotes[1].ratings == ["6": "1"] }, "\(server.log)")
        #expect(try client.picture("albumart", both).bytes == Array("picture of Bert 6".utf8))
        #expect(try client.ask("play 1") == ["OK"])
        #expect(try client.ask("sticker get song \(both) rating").first?.hasPrefix("ACK") == true)
        #expect(try client.ask("sticker set song \(both) rating 10") == ["OK"])
        #expect(waitUntil { remotes[0].ratings["6"] == "5" }, "\(server.log)")
        #expect(try client.ask("readcomments \(both)").contains("TITLE: Anna 6"))
        #expect(try client.picture("albumart", both).bytes == Array("picture of Anna 6".utf8))
        #expect(try client.ask("play 0") == ["OK"])
        #expect(try client.ask("sticker get song \(both) rating") == ["sticker: rating=2", "OK"])
        #expect(remotes[1].ratings == ["6": "1"])
        await server.end()
    }

    @Test func aLocalPlaylistLoadsSongsOfServersThatAreNotShown() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert"])
        func files() throws -> [String] {
            try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") || $0.hasPrefix("Title: ") }
        }
        #expect(try client.ask("mount b Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        for path in ["Anna/Album/1.wav", "b/Bert/Album/2.wav", "b/Bert/Album/2.wav"] {
            #expect(try client.ask("add \(path)") == ["OK"])
        }
        for command in ["save Both", "clear", "unmount b", "load Both", "load Both 1:2"] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        let bert = ["file: Bert/Album/2.wav", "Title: Bert 2"]
        #expect(try files() == ["file: Anna/Album/1.wav", "Title: Anna 1"] + bert + bert + bert)
        #expect(try client.ask("play 1") == ["OK"])
        #expect(try client.value("error", of: "status") == nil)
        #expect(try client.ask("mount c Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "c/"), "\(server.log)")
        #expect(try files().filter { $0 == "file: c/Bert/Album/2.wav" }.count == 3)
        await server.end()
    }

    /// Another name, or the same: what one account was told, the other one's server never hears.
    @Test(arguments: ["home", "bob"])
    func anotherAccountGetsNothingThatWaits(_ name: String) async throws {
        let remote = try #require(SmallMusicServer("Anna", seconds: 1))
        let alice = SwitchingServer.block("home", remote.url, user: "alice")
        let other = SwitchingServer.block("last", "http://127.0.0.1:9")
        let server = try await SwitchingServer([other, alice], [remote])
        let client = try server.client()
        #expect(try client.ask("shelv_server use home") == ["OK"])
        try #require(Self.shows(client, "Anna"), "\(server.log)")
        remote.setDown(true)
        for command in [
            "sticker set song Anna/Album/1.wav rating 10", "sticker set song Anna/Album/2.wav starred 1",
            "sticker set song Anna/Album/3.wav note private", "playlistadd Diary Anna/Album/4.wav",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        server.configure([other, SwitchingServer.block(name, remote.url, user: "bob")])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(server.log)")
        #expect(server.log.contains("wait for alice at home"), "\(server.log)")
        remote.setDown(false)
        if name == "home" {
            let list = try client.ask("shelv_server list")
            #expect(list.firstIndex(of: "active: 1") ?? 0 > list.firstIndex(of: "server: home") ?? .max)
        } else {
            #expect(try client.ask("shelv_server use bob") == ["OK"])
        }
        try #require(Self.shows(client, "Anna"), "\(server.log)")
        #expect(try client.ask("sticker get song Anna/Album/3.wav note").last?.hasPrefix("ACK [50@0]") == true)
        // What is bob's own comes after all that would have come before.
        for command in [
            "sticker set song Same/Place/6.wav rating 2", "sticker set song Same/Place/6.wav starred 1",
            "playlistadd Own Same/Place/6.wav",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        #expect(waitUntil { remote.ratings["6"] == "1" && remote.stars == ["6"] }, "\(server.log)")
        #expect(waitUntil { remote.playlists["Own"] == ["6"] }, "\(server.log)")
        #expect(remote.ratings == ["6": "1"] && remote.playlists == ["Own": ["6"]])
        // Once alice is back, her server hears it.
        server.configure([other, alice])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(server.log)")
        #expect(try client.ask("shelv_server use home") == ["OK"])
        #expect(waitUntil { remote.ratings["1"] == "5" && remote.stars.contains("2") }, "\(server.log)")
        #expect(waitUntil { remote.playlists["Diary"] == ["4"] }, "\(server.log)")
        #expect(waitUntil { (try? client.ask("sticker get song Anna/Album/3.wav note").count) == 2 }, "\(server.log)")
        await server.end()
    }

    /// Nothing else changes afterwards that would be a reason to put them together.
    @Test func aMergeThatFailsIsTriedAgain() async throws {
        let remotes = try ["Anna", "Bert"].map { try #require(SmallMusicServer($0)) }
        remotes[1].setCount(5)
        let blocks = zip(["Anna", "Bert"], remotes).map { SwitchingServer.block($0, $1.url) }
        let server = try await SwitchingServer(blocks, remotes)
        let client = try server.client()
        try #require(Self.shows(client, "Anna"), "\(server.log)")
        #expect(try client.ask("mount b Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        // An image cannot take the place of a folder that is not empty.
        let image = server.folder.path("cache/library-mounted.image")
        unsafe unlink(image)
        server.folder.write("cache/library-mounted.image/x", "")
        remotes[1].setCount(6)
        #expect(try client.ask("update").last == "OK")
        #expect(waitUntil { server.log.contains("cannot be put together") }, "\(server.log)")
        #expect(waitUntil { (try? client.value("updating_db", of: "status")) == .some(nil) }, "\(server.log)")
        let listener = try server.client()
        listener.send("idle database\n")
        #expect(try client.ask("listall").contains("file: b/Same/Place/6.wav") == false)
        unsafe unlink("\(image)/x")
        unsafe rmdir(image)
        #expect(try listener.reply() == ["changed: database", "OK"])
        #expect(try client.ask("listall").contains("file: b/Same/Place/6.wav"), "\(server.log)")
        await server.end()
    }

    @Test func aReloadGoesOnAfterABlockThatCannotBeUsed() async throws {
        let (server, remotes, client) = try await Self.start(["Anna", "Bert", "Carl"])
        let noPassword = "password_file \"/nonexistent/secret\""
        // The first one is gone, and the next cannot be used.
        server.configure([
            SwitchingServer.block("new", "http://127.0.0.1:9", password: noPassword),
            SwitchingServer.block("Bert", remotes[1].url, password: noPassword),
            SwitchingServer.block("Carl", remotes[2].url, password: "password \"other\""),
            SwitchingServer.block("last", "http://127.0.0.1:10"),
        ])
        let answer = try client.ask("shelv_server reload").last ?? ""
        #expect(answer.hasPrefix("ACK [52@0] {shelv_server}") && answer.contains("new: ") && answer.contains("Bert: "))
        let names = try client.ask("shelv_server list").filter { $0.hasPrefix("server: ") }
        #expect(names == ["server: new", "server: Bert", "server: Carl", "server: last"])
        await server.end()
    }

    /// It may open a window in which somebody has to type.
    @Test(arguments: ["", "; false"])
    func aPasswordCommandRunsOnceForEachReload(_ end: String) async throws {
        let (server, remotes, client) = try await Self.start(["Anna"])
        let count = server.folder.path("count")
        let command = "echo x >> \(count); echo other\(end)"
        server.configure([SwitchingServer.block("Anna", remotes[0].url, password: "password_command \"\(command)\"")])
        #expect(try client.ask("shelv_server reload").last?.hasPrefix(end.isEmpty ? "OK" : "ACK [52@0]") == true)
        #expect(contents(of: count) == Array("x\n".utf8), "\(server.log)")
        await server.end()
    }

    /// Lets something change in each turn of the core.
    private static func churn(_ core: Core, until flag: Flag, _ change: @escaping @Sendable (Server) -> Void) {
        core.post { server in
            guard !flag.isSet else { return }
            change(server)
            churn(server.core, until: flag, change)
        }
    }

    @Test func whatChangesAllTheTimeIsNotTriedForEver() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert"])
        let isOver = Flag()
        Self.churn(server.core, until: isOver) { $0.playlists.changed() }
        let answer = try client.ask("shelv_server use Bert")
        isOver.set()
        #expect(answer == ["ACK [52@0] {shelv_server} the libraries change all the time"])
        #expect(try client.ask("shelv_server use Bert") == ["OK"])
        await server.end()
    }

    @Test func librariesThatChangeAllTheTimeAreShownAllTheSame() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert", "Carl"])
        for name in ["Bert", "Carl"] {
            #expect(try client.ask("shelv_server use \(name)") == ["OK"])
            try #require(Self.shows(client, name), "\(server.log)")
        }
        // Another snapshot of the same each time.
        let isOver = Flag()
        let images = Mutex(0)
        Self.churn(server.core, until: isOver) { server in
            guard let music = server.musicServers.first(where: { $0.name == "Bert" }) else { return }
            let count = images.withLock { count in
                count += 1
                return count
            }
            var builder = LibraryBuilder()
            for place in 0..<music.library.songCount {
                builder.add(music.library.record(SongIndex(rawValue: UInt32(place))))
            }
            var info = music.library.info
            info.lastSync += Int64(count)
            guard let new = try? builder.build(info: info, file: nil) else { return }
            music.follow(new, SongTranslation(from: music.library, to: new))
        }
        #expect(try client.ask("mount b Bert") == ["OK"])
        isOver.set()
        #expect(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        await server.end()
    }

    @Test func whoComesAtOnceWaitsUntilServersCanBeSwitched() async throws {
        let remote = try #require(SmallMusicServer("Anna"))
        let block = SwitchingServer.block("Anna", remote.url)
        let server = try await SwitchingServer([block], begins: false, [remote])
        let client = try server.client()
        // Read at once.
        client.send("ping\nshelv_server reload\n")
        #expect(try client.reply() == ["OK"])
        server.begin()
        #expect(try client.reply() == ["OK"])
        await server.end()
    }

    @Test func whoWantsAnotherServerWhenAllEndsIsAnswered() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert"])
        await server.stopChanges()
        #expect(try client.ask("shelv_server use Bert") == ["ACK [52@0] {shelv_server} the server ends"])
        await server.end()
    }

    @Test func songsOfAServerThatIsNotShownKeepTheirLoudnessAndSize() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert"])
        let player = server.players["default"]
        #expect(try client.ask("replay_gain_mode track") == ["OK"])
        #expect(try client.ask("add Anna/Album/3.wav") == ["OK"])
        #expect(try client.ask("shelv_server use Bert") == ["OK"])
        try #require(Self.shows(client, "Bert"), "\(server.log)")
        #expect(try client.ask("add Bert/Album/3.wav") == ["OK"])
        _ = player.takeCalls()
        var sources: [AudioSource] = []
        for place in 0..<2 {
            #expect(try client.ask("play \(place)") == ["OK"])
            for case .load(let id, _, _, _) in player.takeCalls() { sources += player.source(id).map { [$0] } ?? [] }
        }
        try #require(sources.count == 2)
        #expect(sources[0].gain != nil && sources[0].gain == sources[1].gain)
        #expect(sources[0].size == 176_444 && sources[1].size == sources[0].size)
        #expect(sources[0].duration == .seconds(1) && sources[0].cacheKey != sources[1].cacheKey)
        // The mode changes while it plays.
        #expect(try client.ask("play 0") == ["OK"])
        _ = player.takeCalls()
        #expect(try client.ask("replay_gain_mode off") == ["OK"])
        let changes = player.takeCalls().contains { call in
            if case .gain(_, nil) = call { true } else { false }
        }
        #expect(changes)
        await server.end()
    }

    @Test func allAttachedServersAreTold() async throws {
        let (server, _, client) = try await Self.start(["Anna", "Bert"])
        #expect(try client.ask("mount b Bert") == ["OK"])
        try #require(Self.shows(client, "Bert", below: "b/"), "\(server.log)")
        let lines = try client.ask("shelv_sync").filter { !$0.hasPrefix("db_update: ") }
        #expect(
            lines == [
                "server: Anna", "state: idle", "songs: 6", "server: Bert", "mounted: b", "state: idle", "songs: 6",
                "OK",
            ]
        )
        await server.end()
    }

    // MARK: Without servers

    private static func files(_ client: MPDTestClient) throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }

    @Test(arguments: [[2, 1], [1, 2], [2], [3, 1, 2], [3, 2, 1], [1, 3, 2]])
    func librariesThatComeOutOfOrderDoNotMixSongs(order: [Int]) throws {
        let server = try TestServer((1...4).map { SongRecord(songID: "id\($0)", uri: "\($0)") })
        let client = try server.client()
        for song in 1...4 { #expect(try client.ask("add \(song)") == ["OK"]) }
        // Each has other songs in front, so that the numbers of all are others.
        let songs = (1...4).map { SongRecord(songID: "id\($0)", uri: "\($0)") }
        let libraries = try (1...3).map { number in
            var builder = LibraryBuilder()
            for place in 0..<2 * number { builder.add(SongRecord(songID: "new\(place)", uri: "00\(place)")) }
            for song in songs.dropFirst(number == 2 ? 1 : 0) { builder.add(song) }
            return try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        }
        server.core.post { server in
            var former = server.library
            var published: [PublishedLibrary] = []
            for (number, library) in libraries.enumerated() {
                published.append(
                    PublishedLibrary(
                        library: library,
                        number: UInt64(number + 1),
                        translation: SongTranslation(from: former, to: library),
                        hasChanged: true
                    )
                )
                former = library
            }
            for number in order { server.active.take(published[number - 1]) }
        }
        let last = order.max() ?? 0
        #expect(waitUntil { (try? client.value("songs", of: "stats")) == String(libraries[last - 1].songCount) })
        #expect(try Self.files(client) == ["1", "2", "3", "4"])
        // Nothing older comes afterwards.
        let isLast = Flag()
        let gate = TestGate()
        server.core.post { server in
            if server.library === libraries[last - 1], server.active.library === server.library { isLast.set() }
            gate.open()
        }
        gate.wait(timeout: 20_000)
        #expect(isLast.isSet)
    }

    @Test func aLibraryThatWasNotPreparedForALongQueueIsShownALittleLater() throws {
        let records = (0...SongReplacement.fewKeys).map { SongRecord(songID: "\($0)", uri: "\(100_000 + $0)") }
        let server = try TestServer(records)
        let client = try server.client()
        #expect(try client.ask("add \"\"") == ["OK"])
        let libraries = try (1...3).map { number in
            var builder = LibraryBuilder()
            for record in records.dropFirst(number) { builder.add(record) }
            return try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        }
        /// Whether it is shown in the same turn.
        func isShown(_ number: Int, isPrepared: Bool) -> Bool {
            let shown = Flag()
            let gate = TestGate()
            server.core.post { server in
                let translation = SongTranslation(from: server.library, to: libraries[number])
                server.active.take(
                    PublishedLibrary(
                        library: libraries[number],
                        number: UInt64(number + 1),
                        translation: translation,
                        hasChanged: false,
                        replacement: isPrepared ? SongReplacement(server.songs.names, translation) : nil
                    )
                )
                if server.library === libraries[number] { shown.set() }
                gate.open()
            }
            gate.wait(timeout: 20_000)
            return shown.isSet
        }
        #expect(isShown(0, isPrepared: true))
        #expect(!isShown(1, isPrepared: false))
        // Who is told can see it.
        #expect(try client.ask("idle database") == ["changed: database", "OK"])
        #expect(try client.value("songs", of: "stats") == String(records.count - 2))
        #expect(isShown(2, isPrepared: true))
        #expect(try Self.files(client) == records.map(\.uri))
    }

    /// The end of the job comes while the library is on its way round by a worker.
    @Test func aLibraryThatIsTranslatedAnewIsToldWhenItIsThere() throws {
        let server = try TestServer([SongRecord(songID: "1", uri: "1")])
        let (client, listener, gate) = (try server.client(), try server.client(), TestGate())
        defer { gate.open() }
        func library(_ songs: Int) throws -> LibrarySnapshot {
            var builder = LibraryBuilder()
            for song in 1...songs { builder.add(SongRecord(songID: "\(song)", uri: "\(song)")) }
            return try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        }
        let (other, new) = (try library(2), try library(3))
        #expect(try client.ask("update") == ["updating_db: 1", "OK"])
        listener.send("idle database\n")
        server.core.post { server in
            for _ in 0..<2 { server.workers.submit { gate.wait(timeout: 60_000) } }
            let translation = SongTranslation(from: other, to: new)
            server.active.take(
                PublishedLibrary(library: new, number: 1, translation: translation, hasChanged: false)
            )
            server.syncEnded(server.active, didChange: true, through: 0)
        }
        #expect(try listener.reply() == ["changed: database", "OK"])
        listener.send("idle database\n")
        #expect(try client.value("songs", of: "stats") == "1")
        #expect(try client.value("updating_db", of: "status") == "1")
        gate.open()
        #expect(try listener.reply() == ["changed: database", "OK"])
        #expect(try client.value("songs", of: "stats") == "3")
        #expect(waitUntil { (try? client.value("updating_db", of: "status")) == .some(nil) })
    }

    @Test func anAddInTheMiddleOfASwitchTakesNoSongsOfAnotherServer() throws {
        let records = (0..<20_000).map { SongRecord(songID: "\($0)", uri: "\(100_000 + $0).flac") }
        let server = try TestServer(records)
        let client = try server.client()
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        let other = try builder.build(info: LibraryInfo(serverID: "other", serverName: "other"), file: nil)
        let countThen = Mutex(0)
        @Sendable func switchAmidst(_ server: Server) {
            let count = server.defaultPartition.queue.count
            guard count > 0 else { return server.core.post(switchAmidst) }
            countThen.withLock { $0 = count }
            server.show(other, SongTranslation(from: server.library, to: other))
        }
        server.core.post(switchAmidst)
        #expect(try client.ask("add \"\"").last != nil)
        let count = countThen.withLock { $0 }
        try #require(count > 0 && count < records.count)
        let gate = TestGate()
        let owners = Mutex<Set<String>>([])
        server.core.post { server in
            let names = server.songs.names
            let all = server.defaultPartition.queue.entries.compactMap { names.identity($0.key)?.serverID }
            owners.withLock { $0 = Set(all) }
            gate.open()
        }
        gate.wait(timeout: 20_000)
        #expect(owners.withLock { $0 } == ["test"])
    }
}
