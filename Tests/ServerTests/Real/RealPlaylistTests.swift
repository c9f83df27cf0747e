import Glibc
import QueueEngine
import SubsonicKit
import Support
import Testing

@testable import ShelvMPD

/// Stored playlists between MPD clients and real programs, seen by another client of the Subsonic server.
@Suite(.serialized)
struct RealPlaylistTests {
    private static let isLong = unsafe getenv("SHELV_SOAK") != nil

    /// The titles of all playlists of the model, as `OtherClient` has them.
    private func text(_ model: PlaylistModel, _ titles: [String: String], hidesEmpty: Bool = false) -> [String] {
        model.lists.filter { !hidesEmpty || !$0.value.isEmpty }
            .map { "\($0): \($1.map { titles[$0] ?? "?" }.joined(separator: "|"))" }.sorted()
    }

    /// Waits until the other client sees what the model has.
    private func expect(
        _ wanted: [String],
        at other: OtherClient,
        _ label: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var there: [String] = []
        _ = waitUntil(milliseconds: 40_000) {
            there = (try? other.playlists()) ?? []
            return there == wanted
        }
        #expect(there == wanted, "\(label)", sourceLocation: location)
    }

    @Test(.enabled(if: RealPeer.supysonic.isWanted, RealStage<SupysonicServer>.needs))
    func anotherClientSeesTheSame() throws {
        let library = try #require(ToneLibrary.shared)
        let stage = try RealStage(library)
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let client = try instance.client()
        for command in [
            "add \"Queue/Ten\"", "save Evening", "save Evening append", "playlistmove Evening 0:3 17",
            "playlistdelete Evening 5:8", "playlistadd Evening \"Queue/Ten/01 - Ten 01.ogg\" 0",
            "rename Evening \"Ëvening/\"",
        ] {
            let isBad = command.hasPrefix("rename")
            #expect(try client.ask(command).last == (isBad ? "ACK [2@0] {rename} Bad playlist name" : "OK"))
        }
        #expect(try client.ask("rename Evening \"Ëvening 日本\"") == ["OK"])
        let titles = try client.ask("listplaylistinfo \"Ëvening 日本\"").filter { $0.hasPrefix("Title: ") }
            .map { String($0.dropFirst("Title: ".count)) }
        #expect(titles.count == 18)
        try expect(["Ëvening 日本: \(titles.joined(separator: "|"))"], at: other, "after edits")

        // The other client turns it around; this one is told.
        let listener = try instance.client()
        let id = try other.id(of: "Ëvening 日本")
        let songs = try other.call("getPlaylist", [("id", id)]).content[.playlist].flatMap { PlaylistContent($0) }
        let turned = try #require(songs).songIDs.reversed().map { ("songId", $0) }
        listener.send("idle stored_playlist\n")
        try other.call("createPlaylist", [("playlistId", id)] + turned)
        #expect(try client.ask("update").last == "OK")
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        let after = try client.ask("listplaylistinfo \"Ëvening 日本\"").filter { $0.hasPrefix("Title: ") }
        #expect(after.map { String($0.dropFirst("Title: ".count)) } == titles.reversed())
        // What Home Assistant does with it.
        for command in ["clear", "load \"Ëvening 日本\"", "play"] { #expect(try client.ask(command) == ["OK"]) }
        #expect(try client.value("Title", of: "currentsong") == titles.last)
        #expect(try client.ask("rm \"Ëvening 日本\"") == ["OK"])
        try expect([], at: other, "after rm")
    }

    @Test(.enabled(if: RealPeer.supysonic.isWanted && RealPeer.mpc.isWanted, RealStage<SupysonicServer>.needs))
    func theListsOfAMountedServerAreItsOwn() throws {
        let library = try #require(ToneLibrary.shared)
        let friend = try #require(SupysonicServer(music: library.path))
        defer { friend.stop() }
        let stage = try RealStage(
            library,
            options: """
                subsonic_server {
                    name     "friend"
                    url      "\(friend.url)"
                    user     "\(friend.user)"
                    password "\(friend.password)"
                }

                """
        )
        let (server, instance) = (stage.server, stage.instance)
        defer { server.stop() }
        let other = OtherClient(url: friend.url, user: friend.user, password: friend.password)
        let client = try instance.client()
        for command in ["add \"Queue/Ten\"", "save Evening", "mount Friend subsonic://friend"] {
            #expect(try client.ask(command) == ["OK"])
        }
        let songs = try ["Ten 03", "Ten 01"].map { ("songId", try other.song($0).id) }
        try other.call("createPlaylist", [("name", "Evening")] + songs)
        let uris = ["Friend/Queue/Ten/03 - Ten 03.ogg", "Friend/Queue/Ten/01 - Ten 01.ogg"]
        #expect(
            waitUntil(milliseconds: 40_000) {
                _ = try? client.ask("update")
                return (try? client.entries(of: "Friend: Evening")) == uris
                    && (try? client.value("songs", of: "stats")) == "\(2 * library.songs.count)"
            },
            "\(instance.log.suffix(2000))"
        )
        #expect(try client.entries(of: "Evening").count == 10)
        // It plays with the client that many use.
        for words in [["clear"], ["load", "Friend: Evening"], ["play"]] {
            #expect(TestProcess.run(["mpc", "-h", "127.0.0.1", "-p", "\(instance.port)"] + words)?.end == .exited(0))
        }
        #expect(try client.value("Title", of: "currentsong") == "Ten 03")
        // Turned around there, it is so here; here it cannot be.
        let listener = try instance.client()
        listener.send("idle stored_playlist\n")
        try other.call("createPlaylist", [("playlistId", try other.id(of: "Evening"))] + songs.reversed())
        #expect(try client.ask("update").last == "OK")
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        #expect(try client.entries(of: "Friend: Evening") == uris.reversed())
        #expect(try client.ask("rm \"Friend: Evening\"").last?.hasPrefix("ACK [4@0] {rm}") == true)
        #expect(try other.playlists() == ["Evening: Ten 01|Ten 03"])
        #expect(try stage.other.playlists().count == 1)
    }

    /// The program is killed, and the server stops and comes back, while a client edits. `SHELV_SOAK` makes it two hundred
    /// times.
    @Test(.enabled(if: RealPeer.supysonic.isWanted, RealStage<SupysonicServer>.needs))
    func nothingIsLostOrDoubledByKills() throws {
        let library = try #require(ToneLibrary.shared)
        let stage = try RealStage(library)
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let songs = library.songs.filter { !$0.title.isEmpty && !$0.path.contains("\"") && !$0.path.contains("\\") }
        let titles = Dictionary(songs.map { ($0.path, $0.title) }) { $1 }
        // Few, so that many come twice.
        var model = PlaylistModel(songs: songs.map(\.path).sorted().suffix(9))
        let seed = SeededNumbers.seed()
        var random = SeededRandom(seed: seed)
        for round in 0..<(Self.isLong ? 200 : 10) {
            var client = try instance.client()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let command = model.edit(&random)
                #expect(try client.ask(command) == ["OK"], "round \(round), SHELV_SEED=\(seed): \(command)")
                if Int.random(in: 0..<8, using: &random) == 0 { usleep(.random(in: 0..<30_000, using: &random)) }
            }
            // Right after it has answered, or in the middle of sending.
            if Bool.random(using: &random) { usleep(.random(in: 0..<60_000, using: &random)) }
            let isAway = round % 3 == 1
            if isAway { server.stop() }
            instance.kill()
            try instance.start()
            client = try instance.client()
            #expect(try client.playlists() == model.text, "round \(round), SHELV_SEED=\(seed)")
            if isAway {
                #expect(try client.ask(model.edit(&random)) == ["OK"])
                #expect(server.restart())
            }
        }
        instance.kill()
        try instance.start()
        try expect(text(model, titles), at: other, "SHELV_SEED=\(seed): \(instance.log.suffix(2000))")
    }

    @Test(
        .enabled(if: SyntheticServer.script != nil, RealStage<SyntheticServer>.needs),
        arguments: SyntheticServer.habits.profiles
    )
    func profilesKeepWhatIsEdited(_ profile: String) throws {
        let stage = try RealStage(
            profile: profile,
            ["--songs", "200", "--preset", "--playlists", "2", "--playlist-size", "5"]
        )
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let client = try instance.client()
        let all = try client.ask("listallinfo")
        var titles: [String: String] = [:]
        var uri = ""
        for line in all {
            if line.hasPrefix("file: ") { uri = String(line.dropFirst(6)) }
            if line.hasPrefix("Title: ") { titles[uri] = String(line.dropFirst(7)) }
        }
        let usable = titles.keys.filter { !$0.contains("\"") && !$0.contains("\\") }.sorted()
        // Those that were there are shown.
        let preset = try other.playlists()
        #expect(try client.ask("listplaylists").count { $0.hasPrefix("playlist: ") } >= preset.count)
        let seed = SeededNumbers.seed()
        var random = SeededRandom(seed: seed)
        // Few, so that many come twice.
        var model = PlaylistModel(songs: Array(usable.prefix(9)))
        for round in 0..<(Self.isLong ? 300 : 40) {
            if round % 10 == 5 {
                // Changes are refused for a while, or their answers are lost.
                let action = ["status&code=503", "truncate&at=0.5", "reset"].randomElement(using: &random) ?? "reset"
                let match = ["createPlaylist", "updatePlaylist", "getPlaylist"].randomElement(using: &random) ?? ""
                server.control("fault?match=\(match)&action=\(action)&n=2")
            }
            let command = model.edit(&random)
            #expect(try client.ask(command) == ["OK"], "\(profile), SHELV_SEED=\(seed): \(command)")
            if Int.random(in: 0..<4, using: &random) == 0 { usleep(.random(in: 0..<40_000, using: &random)) }
        }
        server.control("faults/clear")
        let wanted = (text(model, titles, hidesEmpty: profile == "funkwhale") + preset).sorted()
        try expect(wanted, at: other, "\(profile), SHELV_SEED=\(seed): \(instance.log.suffix(2000))")
    }
}
