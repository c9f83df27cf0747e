import Library
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Stored playlists between clients and a scripted server.
@Suite struct PlaylistTests {
    typealias List = ScriptedPlaylists.List

    @Test func serverListsAreShown() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(
            .navidrome,
            [
                List(id: "1", name: "Mix", songs: ["a", "b", "a"]),
                List(id: "2", name: "Mix", songs: ["c"], owner: "anna", isPublic: true),
                List(id: "3", name: "hidden", songs: ["d"], owner: "anna"),
                List(id: "4", name: "AC/DC\nlive", songs: ["e", "nowhere"]),
                List(id: "5", name: "Rules", songs: ["f"], isReadonly: true),
            ]
        )
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        #expect(
            try client.playlists() == [
                "AC_DC live: e song:nowhere", "Mix: a b a", "Mix (anna): c", "Rules: f",
            ]
        )
        #expect(
            try client.ask("listplaylistinfo Rules") == [
                "file: f", "Title: Title f", "Time: 60", "duration: 60.000", "OK",
            ]
        )
        #expect(try client.ask("playlistlength \"AC_DC live\"") == ["songs: 2", "playtime: 60", "OK"])
        #expect(
            try client.ask("playlistadd Rules a") == [
                "ACK [4@0] {playlistadd} The server makes the playlist itself; it cannot be edited"
            ]
        )
        #expect(
            try client.ask("rm \"Mix (anna)\"") == ["ACK [4@0] {rm} The playlist belongs to anna"]
        )
        // What is not in the library is passed over.
        #expect(try client.ask("load \"AC_DC live\"") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "1")
        // The root lists them behind everything else, unless the client does not want that.
        #expect(try client.ask("lsinfo").filter { $0.hasPrefix("playlist: ") }.count == 4)
        #expect(try client.ask("protocol enable hide_playlists_in_root") == ["OK"])
        #expect(try client.ask("lsinfo").filter { $0.hasPrefix("playlist: ") }.isEmpty)
        server.kill()
    }

    @Test func changesElsewhereAreTold() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a", "b"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        let listener = try server.client()
        #expect(try client.playlists() == ["Mix: a b"])
        listener.send("idle stored_playlist\n")
        remote.change { lists in
            lists[0].songs = ["b", "a"]
            lists.append(List(id: "2", name: "New", songs: ["z"]))
        }
        #expect(await server.refresh())
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        #expect(try client.playlists() == ["Mix: b a", "New: z"])
        // Nothing new: nothing is told, and nothing is read that is known.
        remote.forgetCalls()
        #expect(await server.refresh())
        #expect(remote.calls == ["getPlaylists"])
        remote.change { $0.remove(at: 0) }
        listener.send("idle stored_playlist\n")
        #expect(await server.refresh())
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        #expect(try client.playlists() == ["New: z"])
        server.kill()
    }

    /// supysonic does not tell of changes: another order shows when the list is read again.
    /// Its stickers are nowhere, though the server has it still.
    @Test func removedListsHaveNoStickerNames() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a", "b"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        #expect(try client.ask("sticker set playlist Mix mood calm") == ["OK"])
        #expect(try client.ask("stickernamestypes playlist") == ["name: mood", "type: playlist", "OK"])
        remote.onCall { _, _ in .unreachable }
        #expect(try client.ask("rm Mix") == ["OK"])
        #expect(try client.ask("stickernames") == ["OK"])
        #expect(try client.ask("stickernamestypes") == ["OK"])
        #expect(try client.ask("sticker find playlist \"\" mood") == ["OK"])
        #expect(remote.lists.count == 1)
        server.kill()
    }

    @Test func silentChangesAreFoundOnUse() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.supysonic, [List(id: "1", name: "Mix", songs: ["a", "b"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        remote.change { $0[0].songs = ["b", "a"] }
        let client = try server.client()
        server.server.onCore { server in
            for key in server.playlists.records.keys { server.playlists.records[key]?.readAt = nil }
        }
        // Answered from the copy, which is looked at again behind.
        #expect(try client.entries(of: "Mix") == ["a", "b"])
        #expect(await server.settle())
        #expect(try client.entries(of: "Mix") == ["b", "a"])
        server.kill()
    }

    @Test(arguments: ScriptedPlaylists.Habits.all.indices)
    func editsReachTheServer(_ index: Int) async throws {
        let (name, habits) = ScriptedPlaylists.Habits.all[index]
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(
            habits,
            [
                List(id: "1", name: "Public", songs: ["a", "b", "c"], isPublic: true),
                List(id: "2", name: "Private", songs: ["a", "b", "c"]),
            ]
        )
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle(), "\(name)")
        let client = try server.client()
        for command in [
            "playlistadd New a", "playlistadd New b", "playlistadd New a", "playlistmove New 0 1",
            "playlistadd Public z 0", "playlistdelete Private 0", "rename Private Own", "playlistadd Gone x", "rm Gone",
            "playlistadd Emptied x", "playlistclear Emptied",
        ] { #expect(try client.ask(command) == ["OK"], "\(name): \(command)") }
        let expected = ["Emptied: ", "New: b a a", "Own: b c", "Public: z a b c"]
        #expect(try client.playlists() == expected, "\(name)")
        #expect(await server.settle(), "\(name)")
        #expect(try client.playlists() == expected, "\(name)")
        let lists = remote.lists.sorted { $0.name < $1.name }
        #expect(lists.map { "\($0.name): \($0.songs.joined(separator: " "))" } == expected, "\(name)")
        #expect(lists.first { $0.name == "Public" }?.isPublic == true, "\(name)")
        #expect(lists.first { $0.name == "Own" }?.isPublic == false, "\(name)")
        #expect(remote.connectionsBroken == 0, "\(name)")
        // And emptied again, where that needs a way of its own.
        #expect(try client.ask("playlistclear Public") == ["OK"])
        #expect(await server.settle(), "\(name)")
        #expect(remote.lists.first { $0.name == "Public" }?.songs == [], "\(name)")
        server.kill()
    }

    @Test(arguments: ScriptedPlaylists.Habits.all.indices)
    func longListsReachTheServer(_ index: Int) async throws {
        let (name, habits) = ScriptedPlaylists.Habits.all[index]
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(habits)
        let server = try await PlaylistServer(folder, remote)
        let client = try server.client()
        for _ in 0..<50 { #expect(try client.ask("add /") == ["OK"]) }
        #expect(try client.ask("save Long") == ["OK"])
        #expect(await server.settle(), "\(name)")
        var expected = Array(repeating: PlaylistServer.songs, count: 50).flatMap(\.self)
        #expect(remote.lists.map(\.songs) == [expected], "\(name)")
        #expect(try client.ask("playlistmove Long 1299 0") == ["OK"])
        expected.insert(expected.removeLast(), at: 0)
        #expect(try client.ask("save Long append") == ["OK"])
        expected += Array(repeating: PlaylistServer.songs, count: 50).flatMap(\.self)
        #expect(await server.settle(), "\(name)")
        #expect(remote.lists.map(\.songs) == [expected], "\(name)")
        // No address is longer than servers and proxies take.
        #expect(remote.longestQuery <= 103, "\(name)")
        server.kill()
    }

    @Test func editsElsewhereAndHereAreBothKept() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a", "b", "c"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        remote.onCall { _, _ in .before }
        #expect(try client.ask("playlistdelete Mix 0") == ["OK"])
        #expect(try client.ask("playlistadd Mix m") == ["OK"])
        remote.change { $0[0].songs = ["a", "b", "c", "t"] }
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.lists[0].songs == ["b", "c", "t", "m"])
        #expect(try client.entries(of: "Mix") == ["b", "c", "t", "m"])
        // Removed elsewhere while it was edited here: nothing is lost.
        remote.onCall { _, _ in .before }
        #expect(try client.ask("playlistadd Mix n") == ["OK"])
        remote.change { $0.removeAll() }
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.lists.map(\.songs) == [["b", "c", "t", "m", "n"]])
        #expect(try client.playlists() == ["Mix: b c t m n"])
        server.kill()
    }

    /// Lets one call arrive whose answer is lost, and nothing after it.
    private func loseAnswers(_ remote: ScriptedPlaylists, to lost: String) {
        let isLost = Mutex(false)
        remote.onCall { _, method in
            isLost.withLock { isLost in
                if isLost { return .before }
                isLost = method == lost
                return isLost ? .after : nil
            }
        }
    }

    @Test func titlesComeThroughLostAnswers() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.supysonic, [List(id: "1", name: "Mix", songs: ["a"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        // Renamed there without our knowing, and renamed back here.
        loseAnswers(remote, to: "updatePlaylist")
        #expect(try client.ask("rename Mix New") == ["OK"])
        #expect(waitUntil { remote.lists[0].name == "New" })
        #expect(try client.ask("rename New Mix") == ["OK"])
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.lists.map(\.name) == ["Mix"])
        #expect(try client.playlists() == ["Mix: a"])
        server.kill()
    }

    /// Renamed back while the new title is on its way to the server.
    @Test func aTitleThatComesBackMeanwhileCounts() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        let port = server.server.port
        let isBack = Mutex<[String]?>(nil)
        remote.onCall { _, method in
            isBack.withLock { reply in
                guard method == "updatePlaylist", reply == nil else { return }
                reply = (try? MPDTestClient(port: port).ask("rename New Mix")) ?? ["no answer"]
            }
            return nil
        }
        #expect(try client.ask("rename Mix New") == ["OK"])
        #expect(await server.settle())
        #expect(isBack.withLock { $0 } == ["OK"])
        #expect(remote.lists.map(\.name) == ["Mix"])
        #expect(try client.playlists() == ["Mix: a"])
        server.kill()
    }

    @Test(arguments: [true, false])
    func listsOfOneNameAreNotTakenForEachOther(_ isRemoved: Bool) async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.supysonic)
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        loseAnswers(remote, to: "createPlaylist")
        #expect(try client.ask("playlistadd Mix a") == ["OK"])
        #expect(waitUntil { remote.lists.count == 1 })
        #expect(try client.ask(isRemoved ? "rm Mix" : "rename Mix Old") == ["OK"])
        #expect(try client.ask("playlistadd Mix b") == ["OK"])
        #expect(try client.ask("playlistadd Mix c") == ["OK"])
        loseAnswers(remote, to: "createPlaylist")
        _ = waitUntil(milliseconds: 300) {
            server.server.onCore { $0.playlists.pace.serverAnswers() }
            return remote.lists.contains { $0.songs.contains("b") }
        }
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        let wanted = isRemoved ? ["Mix: b c"] : ["Mix: b c", "Old: a"]
        #expect(remote.lists.map { "\($0.name): \($0.songs.joined(separator: " "))" }.sorted() == wanted)
        #expect(await server.refresh())
        #expect(try client.playlists() == wanted)
        server.kill()
    }

    @Test func whatTheServerRefusesIsTakenBack() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a", "b", "c"])])
        let server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        let client = try server.client()
        // The server says so only when it is asked to.
        remote.onCall { _, method in
            ["createPlaylist", "updatePlaylist"].contains(method)
                ? .error(.server(ServerFailure(code: 50, message: "not allowed"))) : nil
        }
        #expect(try client.ask("playlistdelete Mix 0") == ["OK"])
        #expect(try client.ask("playlistadd New a") == ["OK"])
        #expect(await server.settle())
        #expect(try client.playlists() == ["Mix: a b c"])
        // Who may make no lists is told so from then on, until the next comparison with the server.
        let refusal = "ACK [4@0] {playlistadd} The server does not let me make playlists"
        #expect(try client.ask("playlistadd New a") == [refusal])
        #expect(try client.ask("playlistadd Streams http://x.org/y") == ["OK"])
        #expect(try client.ask("rm Streams") == ["OK"])
        remote.onCall { _, _ in nil }
        #expect(await server.refresh())
        #expect(try client.ask("playlistadd New a") == ["OK"])
        #expect(try client.ask("rm New") == ["OK"])
        // Songs that the server does not know are left out; the others are there.
        remote.forgetSong("x")
        for song in ["x", "y", "x", "z"] { #expect(try client.ask("playlistadd Mix \(song)") == ["OK"]) }
        #expect(await server.settle())
        #expect(remote.lists[0].songs == ["a", "b", "c", "y", "z"])
        #expect(try client.entries(of: "Mix") == ["a", "b", "c", "y", "z"])
        server.kill()
    }

    @Test func urlsStayHere() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [List(id: "1", name: "Mix", songs: ["a"])])
        var server = try await PlaylistServer(folder, remote)
        #expect(await server.settle())
        var client = try server.client()
        #expect(
            try client.ask("playlistadd Mix http://x.org/y") == [
                "ACK [2@0] {playlistadd} A playlist of the server can only hold its own songs"
            ]
        )
        #expect(try client.ask("playlistadd \"[Radio Streams]\" http://x.org/y") == ["OK"])
        #expect(try client.ask("playlistadd \"[Radio Streams]\" http://x.org/z 0") == ["OK"])
        #expect(try client.ask("playlistadd \"[Radio Streams]\" b") == ["OK"])
        #expect(try client.ask("add http://x.org/y") == ["OK"])
        #expect(try client.ask("add a") == ["OK"])
        #expect(try client.ask("save mixed") == ["OK"])
        let expected = ["Mix: a", "[Radio Streams]: http://x.org/z http://x.org/y b", "mixed: http://x.org/y a"]
        #expect(try client.playlists() == expected)
        #expect(
            try client.ask("searchplaylist \"[Radio Streams]\" \"(file contains 'ORG/Y')\"") == [
                "file: http://x.org/y", "Pos: 1", "OK",
            ]
        )
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("load mixed") == ["OK"])
        #expect(
            try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") } == ["file: http://x.org/y", "file: a"]
        )
        #expect(await server.settle())
        #expect(remote.lists.map(\.name) == ["Mix"])
        server.kill()
        server = try await PlaylistServer(folder, remote)
        client = try server.client()
        #expect(try client.playlists() == expected)
        #expect(try client.ask("rm mixed") == ["OK"])
        server.kill()
        server = try await PlaylistServer(folder, remote)
        #expect(try server.client().playlists() == Array(expected.dropLast()))
        server.kill()
    }

    @Test func listsHaveALimit() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PlaylistServer(folder, ScriptedPlaylists(), maximumLength: 3)
        let client = try server.client()
        let ack = "Stored playlist is too large"
        for _ in 0..<3 { #expect(try client.ask("playlistadd Mix a") == ["OK"]) }
        #expect(try client.ask("playlistadd Mix a") == ["ACK [51@0] {playlistadd} \(ack)"])
        #expect(try client.ask("searchaddpl Other title title") == ["ACK [51@0] {searchaddpl} \(ack)"])
        #expect(try client.playlists() == ["Mix: a a a"])
        server.kill()
    }

    @Test func withoutPlaylistsNothingIsThere() async throws {
        let server = try TestServer()
        let client = try server.client()
        _ = try client.ask("ping")
        server.core.post { $0.playlists = PlaylistShelf(PlaylistShelf.Settings(isEnabled: false)) }
        #expect(try client.ask("listplaylists") == ["OK"])
        #expect(try client.ask("save x") == ["ACK [5@0] {save} Stored playlists are disabled"])
        #expect(try client.ask("load x") == ["ACK [50@0] {load} No such playlist"])
        let commands = try client.ask("commands")
        #expect(!commands.contains("command: save") && !commands.contains("command: listplaylists"))
        #expect(commands.contains("command: load"))
    }
}
