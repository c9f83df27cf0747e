import CLinux
import Glibc
import Support
import Testing

@testable import ShelvMPD

/// The real program with several Subsonic servers, whose songs have the same ids and partly the same paths.
@Suite(.serialized)
struct SeveralServersTests {
    /// The program, its configuration and what it left.
    private final class Program {
        let folder: TemporaryFolder
        let port: Int
        private(set) var process: TestProcess?

        init(_ servers: [(name: String, url: String)]) throws {
            folder = try #require(TemporaryFolder())
            port = try #require(freePort())
            try configure(servers)
        }

        /// - Parameter locked: the server whose password cannot be had.
        func configure(_ servers: [(name: String, url: String)], locked: String? = nil) throws {
            let blocks = servers.map { server in
                """
                subsonic_server {
                    name "\(server.name)"
                    url "\(server.url)"
                    user "u"
                    \(server.name == locked ? "password_file \"/nonexistent/secret\"" : "password \"p\"")
                }
                """
            }
            let path = folder.write(
                "conf",
                """
                bind_to_address "127.0.0.1"
                port "\(port)"
                log_level "verbose"
                state_directory "\(folder.path("state"))"
                cache_directory "\(folder.path("cache"))"
                queue_mode "mpd"
                mixes "no"
                \(blocks.joined(separator: "\n"))
                audio_output {
                    type "file"
                    name "Samples"
                    path "\(folder.path("samples"))"
                    format "44100:16:2"
                }

                """
            )
            unsafe chmod(path, 0o600)
        }

        func start() throws -> MPDTestClient {
            let process = try #require(TestProcess([KilledServer.program, "--config", folder.path("conf")]))
            self.process = process
            var client: MPDTestClient?
            _ = waitUntil(milliseconds: 30_000) {
                client = try? MPDTestClient(port: port, timeout: 30)
                return client != nil || !process.isRunning
            }
            return try #require(client, "\(process.errors)")
        }

        func kill() {
            process?.send(SIGKILL)
            _ = process?.wait()
        }

        /// With all that is to be kept.
        func end() {
            process?.send(SIGTERM)
            _ = process?.wait()
        }

        var log: String { process?.errors ?? "" }
        func stop() { process?.stop() }
    }

    private func hasSongs(_ client: MPDTestClient, _ artist: String) -> Bool {
        waitUntil(milliseconds: 30_000) {
            // Not a part of it, which goes when the server changes.
            (try? client.value("state", of: "shelv_sync")) == "idle"
                && (try? client.ask("listall").contains("file: \(artist)/Album/1.wav")) == true
        }
    }

    private func list(_ client: MPDTestClient) throws -> [String] {
        var rows: [String] = []
        for line in try client.ask("shelv_server list").dropLast() {
            guard let colon = line.firstRange(of: ": ") else { continue }
            let (key, value) = (line[..<colon.lowerBound], line[colon.upperBound...])
            if key == "server" { rows.append(String(value)) }
            if ["active", "songs", "state"].contains(key) { rows[rows.count - 1] += " \(value)" }
        }
        return rows
    }

    @Test func theMusicGoesOnWhenTheServerChanges() throws {
        let anna = try #require(SmallMusicServer("Anna"))
        let bert = try #require(SmallMusicServer("Bert"))
        defer {
            anna.stop()
            bert.stop()
        }
        anna.setPlaylist("Of Anna", ["2", "1"])
        bert.setPlaylist("Of Bert", ["3"])
        let program = try Program([("first", anna.url), ("second", bert.url)])
        defer { program.stop() }
        var client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        #expect(waitUntil { (try? client.ask("listplaylists").contains("playlist: Of Anna")) == true })
        #expect(try list(client) == ["first 1 6 idle", "second 0 0 idle"])
        // One of each, and the one that both have a path for.
        for command in [
            "add Anna/Album/1.wav", "add Same/Place/6.wav", "playlistadd Mine http://127.0.0.1:9/x",
            "playlistadd Mine Anna/Album/2.wav", "sticker set song Anna/Album/2.wav rating 4",
            "sticker set song Anna/Album/2.wav note old", "play",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        _ = try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 0.5 }

        let listener = try MPDTestClient(port: program.port, timeout: 30)
        listener.send("idle database\n")
        #expect(try client.ask("shelv_server use nobody") == ["ACK [50@0] {shelv_server} No such server"])
        #expect(try client.ask("shelv_server use second") == ["OK"])
        #expect(try listener.reply() == ["changed: database", "OK"])
        #expect(try client.value("state", of: "status") == "play")
        // However long the rest takes, it does not come to the end of the queue before there is more.
        #expect(try client.ask("pause 1") == ["OK"])
        try #require(hasSongs(client, "Bert"), "\(program.log)")
        #expect(try client.ask("listall Anna").last?.hasPrefix("ACK [50@0]") == true)
        #expect(waitUntil { (try? list(client)) == ["first 0 6 idle", "second 1 6 idle"] })
        let entries = try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") || $0.hasPrefix("Title: ") }
        #expect(entries == ["file: Anna/Album/1.wav", "Title: Anna 1", "file: Same/Place/6.wav", "Title: Anna 6"])
        #expect(waitUntil { (try? client.ask("listplaylists").contains("playlist: Of Bert")) == true })
        #expect(try !client.ask("listplaylists").contains("playlist: Of Anna"))
        #expect(try client.entries(of: "Mine") == ["http://127.0.0.1:9/x", "song:2"])
        // The same id, another song.
        #expect(try client.ask("sticker get song Bert/Album/2.wav rating").first?.hasPrefix("ACK [50@0]") == true)
        #expect(try client.ask("sticker set song Bert/Album/3.wav rating 8") == ["OK"])
        #expect(waitUntil { bert.ratings == ["3": "4"] })
        #expect(waitUntil { anna.ratings == ["2": "2"] })
        for command in ["add Same/Place/6.wav", "pause 0"] { #expect(try client.ask(command) == ["OK"]) }

        // Each song is its own server's.
        _ = try client.status { $0["state"] == "stop" }
        #expect(try client.value("error", of: "status") == nil)
        let wanted = anna.samples(1) + anna.samples(6) + bert.samples(6)
        let samples = allSamples(try #require(contents(of: program.folder.path("samples"))))
        #expect(samples == wanted, "\(samples.count) of \(wanted.count)")

        // Killed, the queue is that of both, and the server is the one that was chosen.
        program.kill()
        client = try program.start()
        #expect(waitUntil { (try? list(client)) == ["first 0 6 idle", "second 1 6 idle"] })
        let files = try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") || $0.hasPrefix("Title: ") }
        #expect(files == entries + ["file: Same/Place/6.wav", "Title: Bert 6"])
        #expect(try client.ask("play 1") == ["OK"])
        #expect(try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 0.2 } != nil)
        #expect(try client.value("error", of: "status") == nil)
        #expect(try client.ask("stop") == ["OK"])

        // What was said to a server that is away reaches it, whichever is shown.
        bert.setDown(true)
        #expect(try client.ask("sticker set song Bert/Album/1.wav rating 10") == ["OK"])
        #expect(try client.ask("playlistadd \"Of Bert\" Bert/Album/4.wav") == ["OK"])
        #expect(try client.ask("shelv_server use first") == ["OK"])
        #expect(try client.ask("sticker get song Anna/Album/2.wav note") == ["sticker: note=old", "OK"])
        #expect(try client.entries(of: "Mine") == ["http://127.0.0.1:9/x", "Anna/Album/2.wav"])
        #expect(try client.entries(of: "Of Anna") == ["Anna/Album/2.wav", "Anna/Album/1.wav"])
        let shown = try client.ask("playlistinfo 0").filter { $0.hasPrefix("file: ") || $0.hasPrefix("Title: ") }
        #expect(shown == ["file: Anna/Album/1.wav", "Title: Anna 1"])
        bert.setDown(false)
        #expect(waitUntil(milliseconds: 30_000) { bert.ratings["1"] == "5" }, "\(program.log)")
        #expect(bert.playlists["Of Bert"] == ["3"])
        #expect(try client.ask("shelv_server use second") == ["OK"])
        #expect(waitUntil(milliseconds: 30_000) { bert.playlists["Of Bert"] == ["3", "4"] }, "\(program.log)")
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    @Test func blocksAreReadAgain() throws {
        let anna = try #require(SmallMusicServer("Anna"))
        let bert = try #require(SmallMusicServer("Bert"))
        defer {
            anna.stop()
            bert.stop()
        }
        let program = try Program([("first", anna.url)])
        defer { program.stop() }
        let client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        #expect(try client.ask("sticker set song Anna/Album/2.wav note old") == ["OK"])
        #expect(try client.ask("add Anna") == ["OK"])
        // A new one, and another name for the old one.
        try program.configure([("second", bert.url), ("renamed", anna.url)])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(program.log)")
        #expect(try list(client).map { String($0.prefix { $0 != " " }) } == ["second", "renamed"])
        #expect(try client.ask("sticker get song Anna/Album/2.wav note") == ["sticker: note=old", "OK"])
        // What is wrong changes nothing.
        try program.configure([("second", "nonsense")])
        #expect(try client.ask("shelv_server reload").last?.hasPrefix("ACK [52@0] {shelv_server}") == true)
        #expect(try list(client).count == 2)
        // The active one goes: the next one is shown, and the queue stays.
        try program.configure([("second", bert.url)])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(program.log)")
        try #require(hasSongs(client, "Bert"), "\(program.log)")
        #expect(try list(client).count == 1)
        #expect(try client.value("playlistlength", of: "status") == "5")
        // Its things wait for it.
        try program.configure([("second", bert.url), ("first", anna.url)])
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(program.log)")
        #expect(try client.ask("shelv_server use first") == ["OK"])
        #expect(try client.ask("sticker get song Anna/Album/2.wav note") == ["sticker: note=old", "OK"])
        #expect(try client.ask("play 2") == ["OK"])
        #expect(try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 0.2 } != nil)
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    @Test func songsOfAServerWithoutItsPasswordWait() throws {
        let anna = try #require(SmallMusicServer("Anna"))
        let bert = try #require(SmallMusicServer("Bert"))
        defer {
            anna.stop()
            bert.stop()
        }
        let servers = [("first", anna.url), ("second", bert.url)]
        let program = try Program(servers)
        defer { program.stop() }
        var client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        for command in ["add Anna/Album", "play 1"] { #expect(try client.ask(command) == ["OK"], "\(command)") }
        #expect(try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 1.5 } != nil)
        for command in ["pause 1", "shelv_server use second"] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        try #require(hasSongs(client, "Bert"), "\(program.log)")
        program.end()
        try program.configure(servers, locked: "first")
        client = try program.start()
        #expect(try client.ask("play") == ["OK"])
        let waiting = try client.status { $0["state"] == "pause" }
        #expect(waiting?["song"] == "1", "\(program.log)")
        #expect(waiting?["elapsed"].flatMap { Double($0) } ?? 0 > 1.4)
        let reason = waiting?["error"] ?? ""
        #expect(reason.contains("first: ") && reason.contains("/nonexistent/secret"), "\(reason)")
        // Asked again, it waits again.
        #expect(try client.ask("pause 0") == ["OK"])
        #expect(try client.status { $0["state"] == "pause" }?["song"] == "1", "\(program.log)")
        #expect(!program.log.contains("not on the server"), "\(program.log)")
        try program.configure(servers)
        #expect(try client.ask("shelv_server reload") == ["OK"], "\(program.log)")
        #expect(try client.ask("pause 0") == ["OK"])
        #expect(try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 1.7 }?["song"] == "1", "\(program.log)")
        #expect(try client.value("error", of: "status") == nil)
    }

    private func files(_ client: MPDTestClient, _ command: String = "listall") throws -> [String] {
        try client.ask(command).filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }

    @Test func aMountedServerIsAFolder() throws {
        let anna = try #require(SmallMusicServer("Anna", seconds: 1))
        let bert = try #require(SmallMusicServer("Bert", seconds: 1))
        let gone = try #require(SmallMusicServer("Gone"))
        gone.stop()
        defer {
            anna.stop()
            bert.stop()
        }
        anna.setPlaylist("Of Anna", ["2", "1"])
        let program = try Program([("first", anna.url), ("second", bert.url), ("third", gone.url)])
        defer { program.stop() }
        var client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        for (command, message) in [
            ("mount \"\" subsonic://second", "Bad mount point"), ("mount a/b subsonic://second", "Bad mount point"),
            ("mount Anna subsonic://second", "Mount point busy"), ("mount Shelves second", "Mount point busy"),
            ("mount b nosuch://x", "Unrecognized storage URI"),
            ("mount b subsonic://first", "This storage is already mounted"), ("unmount \"\"", "Bad mount point"),
            ("unmount b", "Not a mount point"),
        ] {
            let name = command.prefix { $0 != " " }
            #expect(try client.ask(command) == ["ACK [2@0] {\(name)} \(message)"], "\(command)")
        }
        #expect(try client.ask("listmounts") == ["mount: ", "storage: \(anna.url)", "OK"])
        let neighbors = try client.ask("listneighbors")
        #expect(
            neighbors == [
                "neighbor: subsonic://second", "name: second", "neighbor: subsonic://third", "name: third", "OK",
            ]
        )
        let listener = try MPDTestClient(port: program.port, timeout: 30)
        listener.send("idle mount\n")
        #expect(try client.ask("mount b subsonic://second") == ["OK"])
        #expect(try listener.reply() == ["changed: mount", "OK"])
        #expect(waitUntil(milliseconds: 30_000) { (try? files(client).contains("b/Bert/Album/1.wav")) == true })
        #expect(try client.ask("mount b third") == ["ACK [2@0] {mount} Mount point busy"])
        #expect(try client.ask("mount c \(bert.url)") == ["ACK [2@0] {mount} This storage is already mounted"])
        let mounts = ["mount: ", "storage: \(anna.url)", "mount: b", "storage: \(bert.url)", "OK"]
        #expect(try client.ask("listmounts") == mounts)

        // One library.
        let all = try files(client)
        #expect(all.count == 12)
        #expect(try client.value("songs", of: "stats") == "12")
        #expect(try files(client, "find title \"Bert 3\"") == ["b/Bert/Album/3.wav"])
        #expect(try client.ask("list artist") == ["Artist: Anna", "Artist: Bert", "OK"])
        #expect(try client.ask("lsinfo b").filter { $0.hasPrefix("directory: ") }.count == 2)
        #expect(try client.ask("lsinfo").contains("directory: b"))

        // Each song belongs to its server, though they are called alike there.
        for command in [
            "sticker set song b/Bert/Album/1.wav rating 8", "sticker set song Anna/Album/1.wav rating 4",
            "sticker set song b/Bert/Album/2.wav note old", "sticker set song b/Bert/Album/3.wav like 2",
            "playlistadd New b/Bert/Album/1.wav", "add Same/Place/6.wav", "add b/Same/Place/6.wav",
            "add b/Bert/Album/2.wav", "play",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        #expect(waitUntil { bert.ratings == ["1": "4"] && anna.ratings == ["1": "2"] && bert.stars == ["3"] })
        let rated = try client.ask("sticker find song \"\" rating sort value_int")
        #expect(
            rated == [
                "file: Anna/Album/1.wav", "sticker: rating=4", "file: b/Bert/Album/1.wav", "sticker: rating=8", "OK",
            ]
        )
        #expect(try client.ask("sticker find song b note") == ["file: b/Bert/Album/2.wav", "sticker: note=old", "OK"])
        #expect(try client.ask("sticker get song Anna/Album/2.wav note").first?.hasPrefix("ACK [50@0]") == true)
        #expect(try client.entries(of: "New") == ["b/Bert/Album/1.wav"])
        #expect(anna.playlists["New"] == nil)
        #expect(try client.ask("playlistadd \"Of Anna\" b/Bert/Album/1.wav").first?.hasPrefix("ACK [2@0]") == true)
        _ = try client.status { $0["state"] == "stop" }
        let samples = allSamples(try #require(contents(of: program.folder.path("samples"))))
        #expect(samples == anna.samples(6) + bert.samples(6) + bert.samples(2))

        // Killed, all of it is there at once, with another one that is dead.
        program.kill()
        client = try program.start()
        #expect(try client.ask("listmounts") == mounts)
        #expect(try files(client) == all)
        #expect(try files(client, "playlistinfo").suffix(2) == ["b/Same/Place/6.wav", "b/Bert/Album/2.wav"])
        #expect(try client.ask("mount c subsonic://third") == ["OK"])
        #expect(try files(client) == all)
        #expect(try client.ask("listneighbors") == ["OK"])

        // Taken away, its entries stay and play.
        #expect(try client.ask("unmount b") == ["OK"])
        #expect(try files(client).count == 6)
        #expect(try client.ask("unmount b") == ["ACK [2@0] {unmount} Not a mount point"])
        #expect(try files(client, "playlistinfo").suffix(2) == ["b/Same/Place/6.wav", "b/Bert/Album/2.wav"])
        #expect(try client.ask("play 2") == ["OK"])
        #expect(try client.status { $0["elapsed"].flatMap { Double($0) } ?? 0 > 0.2 } != nil)
        #expect(try client.value("error", of: "status") == nil)
        // At another place, it is the same.
        #expect(try client.ask("mount elsewhere second") == ["OK"])
        #expect(try files(client, "playlistinfo").suffix(1) == ["elsewhere/Bert/Album/2.wav"])
        let note = try client.ask("sticker get song elsewhere/Bert/Album/2.wav note")
        #expect(note == ["sticker: note=old", "OK"])
        #expect(try client.entries(of: "New") == ["elsewhere/Bert/Album/1.wav"])
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    private func playlists(_ client: MPDTestClient) throws -> [String] {
        try client.ask("listplaylists").filter { $0.hasPrefix("playlist: ") }.map { String($0.dropFirst(10)) }
    }

    @Test func playlistsOfAMountedServerAreShownAndLoaded() throws {
        let anna = try #require(SmallMusicServer("Anna", seconds: 1))
        let bert = try #require(SmallMusicServer("Bert", seconds: 1))
        defer {
            anna.stop()
            bert.stop()
        }
        anna.setPlaylist("Of Anna", ["2", "1"])
        anna.setPlaylist("b: Mine", ["3"])
        bert.setPlaylist("Of Bert", ["3", "9", "1"])
        bert.setPlaylist("Mine", ["1"])
        bert.setPlaylist("a/b", ["2"])
        let program = try Program([("first", anna.url), ("second", bert.url)])
        defer { program.stop() }
        var client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        let own = ["Of Anna", "b: Mine"]
        #expect(waitUntil { (try? playlists(client)) == own }, "\(program.log)")
        let listener = try MPDTestClient(port: program.port, timeout: 30)
        listener.send("idle stored_playlist\n")
        #expect(try client.ask("mount b subsonic://second") == ["OK"])
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        #expect(waitUntil(milliseconds: 30_000) { (try? files(client).contains("b/Bert/Album/1.wav")) == true })
        // What is called so already is called so.
        let all = ["Of Anna", "b: Mine", "b: Mine (2)", "b: Of Bert", "b: a_b"]
        #expect(waitUntil(milliseconds: 30_000) { (try? playlists(client)) == all }, "\(program.log)")
        #expect(try client.entries(of: "b: Mine") == ["Anna/Album/3.wav"])
        #expect(try client.entries(of: "b: Mine (2)") == ["b/Bert/Album/1.wav"])
        let root = try client.ask("lsinfo").filter { $0.hasPrefix("playlist: ") }.map { String($0.dropFirst(10)) }
        #expect(root == all)

        // Looked at and loaded, with ranges and positions.
        let songs = ["b/Bert/Album/3.wav", "song:9", "b/Bert/Album/1.wav"]
        #expect(try client.entries(of: "b: Of Bert") == songs)
        let titles = try client.ask("listplaylistinfo \"b: Of Bert\" 2:").filter { $0.hasPrefix("Title: ") }
        #expect(titles == ["Title: Bert 1"])
        #expect(try client.ask("playlistlength \"b: Of Bert\"") == ["songs: 3", "playtime: 2", "OK"])
        #expect(try files(client, "searchplaylist \"b: Of Bert\" title \"bert 1\"") == [songs[2]])
        #expect(try client.ask("load \"b: Of Bert\"") == ["OK"])
        #expect(try client.ask("load \"b: a_b\" 0:1 1") == ["OK"])
        #expect(try client.value("lastloadedplaylist", of: "status") == "b: a_b")
        #expect(try files(client, "playlistinfo") == [songs[0], "b/Bert/Album/2.wav", songs[2]])
        #expect(try client.ask("load \"b: Nothing\"") == ["ACK [50@0] {load} No such playlist"])

        // Not edited; nothing of it reaches anybody.
        for command in [
            "playlistclear \"b: Of Bert\"", "playlistadd \"b: Of Bert\" b/Bert/Album/2.wav",
            "playlistdelete \"b: Of Bert\" 0", "playlistmove \"b: Of Bert\" 0 1", "rm \"b: Of Bert\"",
            "rename \"b: Of Bert\" other", "save \"b: Of Bert\" append", "save \"b: Of Bert\" replace",
            "searchaddpl \"b: Of Bert\" title 2",
        ] {
            let name = command.prefix { $0 != " " }
            let why = "The playlist belongs to the mounted server second; to edit it: shelvmpd server use \"second\""
            #expect(try client.ask(command) == ["ACK [4@0] {\(name)} \(why)"])
        }
        #expect(try client.ask("save \"b: Of Bert\"") == ["ACK [56@0] {save} Playlist already exists"])
        let renamed = try client.ask("rename \"Of Anna\" \"b: Of Bert\"")
        #expect(renamed == ["ACK [56@0] {rename} Playlist exists already"])
        #expect(bert.playlists == ["Of Bert": ["3", "9", "1"], "Mine": ["1"], "a/b": ["2"]])
        #expect(anna.playlists == ["Of Anna": ["2", "1"], "b: Mine": ["3"]])
        #expect(try client.ask("sticker set playlist \"b: Of Bert\" mood calm") == ["OK"])
        let calm = ["playlist: b: Of Bert", "sticker: mood=calm", "OK"]
        #expect(try client.ask("sticker find playlist \"\" mood") == calm)

        // What others do at the server shows with a comparison.
        let later = try MPDTestClient(port: program.port, timeout: 30)
        later.send("idle stored_playlist\n")
        bert.setPlaylist("New", ["4"])
        #expect(try client.ask("update").last == "OK")
        #expect(try later.reply() == ["changed: stored_playlist", "OK"])
        #expect(try client.entries(of: "b: New") == ["b/Bert/Album/4.wav"])
        // Answered when the store has it, and what came before.
        #expect(try client.ask("sticker set playlist \"b: Of Bert\" mood calm") == ["OK"])

        // Killed, all of it is there, whether the servers are or not.
        program.kill()
        for server in [anna, bert] { server.setDown(true) }
        client = try program.start()
        #expect(try playlists(client) == ["Of Anna", "b: Mine", "b: Mine (2)", "b: New", "b: Of Bert", "b: a_b"])
        #expect(try client.entries(of: "b: Of Bert") == songs)
        #expect(try client.ask("load \"b: New\"") == ["OK"])
        #expect(try files(client, "playlistinfo").last == "b/Bert/Album/4.wav")

        // Elsewhere, and nowhere.
        let second = try MPDTestClient(port: program.port, timeout: 30)
        second.send("idle stored_playlist\n")
        #expect(try client.ask("unmount b") == ["OK"])
        #expect(try second.reply() == ["changed: stored_playlist", "OK"])
        #expect(try playlists(client) == own)
        #expect(try client.ask("load \"b: New\"") == ["ACK [50@0] {load} No such playlist"])
        #expect(try client.ask("sticker find playlist \"\" mood") == ["OK"])
        #expect(try client.ask("mount c second") == ["OK"])
        #expect(try playlists(client) == ["Of Anna", "b: Mine", "c: Mine", "c: New", "c: Of Bert", "c: a_b"])
        #expect(try client.entries(of: "c: Of Bert") == ["c/Bert/Album/3.wav", "song:9", "c/Bert/Album/1.wav"])

        // Where it is the active one, they are ordinary ones.
        #expect(try client.ask("shelv_server use second") == ["OK"])
        #expect(try playlists(client) == ["Mine", "New", "Of Bert", "a_b"])
        #expect(try client.ask("sticker get playlist \"Of Bert\" mood") == ["sticker: mood=calm", "OK"])
        #expect(try client.ask("playlistadd New Bert/Album/5.wav") == ["OK"])
        for server in [anna, bert] { server.setDown(false) }
        #expect(waitUntil(milliseconds: 30_000) { bert.playlists["New"] == ["4", "5"] }, "\(program.log)")
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    @Test func editsWaitWhileTheirServerIsOnlyMounted() throws {
        let anna = try #require(SmallMusicServer("Anna", seconds: 1))
        let bert = try #require(SmallMusicServer("Bert", seconds: 1))
        defer {
            anna.stop()
            bert.stop()
        }
        anna.setPlaylist("List", ["1"])
        bert.setPlaylist("List", ["2"])
        bert.setPlaylist("Gone", ["3"])
        let program = try Program([("first", anna.url), ("second", bert.url)])
        defer { program.stop() }
        var client = try program.start()
        try #require(hasSongs(client, "Anna"), "\(program.log)")
        #expect(waitUntil { (try? playlists(client)) == ["List"] }, "\(program.log)")
        anna.setDown(true)
        for command in [
            "playlistadd List Anna/Album/4.wav", "playlistadd Made Anna/Album/5.wav",
            "playlistadd Local http://127.0.0.1:9/x",
        ] { #expect(try client.ask(command) == ["OK"]) }
        #expect(try client.ask("shelv_server use second") == ["OK"])
        try #require(hasSongs(client, "Bert"), "\(program.log)")
        #expect(try client.ask("mount a first") == ["OK"])
        // As it would be shown as the active one's; those that no server has are there once.
        let all = ["Gone", "List", "Local", "a: List", "a: Made"]
        #expect(waitUntil { (try? playlists(client)) == all }, "\(program.log)")
        #expect(try client.entries(of: "a: List") == ["a/Anna/Album/1.wav", "a/Anna/Album/4.wav"])
        #expect(try client.entries(of: "a: Made") == ["a/Anna/Album/5.wav"])
        // It comes back, is looked at, and is told nothing. Both get further lists meanwhile, which one store has.
        anna.setDown(false)
        for (number, server) in [anna, bert, anna, bert].enumerated() {
            server.setPlaylist("New \(number)", ["\(number + 1)"])
        }
        let more = ["Gone", "List", "Local", "New 1", "New 3", "a: List", "a: Made", "a: New 0", "a: New 2"]
        #expect(
            waitUntil(milliseconds: 30_000) {
                _ = try? client.ask("update")
                return (try? playlists(client)) == more
            },
            "\(program.log)"
        )
        #expect(anna.playlists == ["List": ["1"], "New 0": ["1"], "New 2": ["3"]])
        // Removed elsewhere, which leaves an edit to be told.
        anna.removePlaylist("List")
        anna.setPlaylist("Last", ["1"])
        let withLast = [
            "Gone", "List", "Local", "New 1", "New 3", "a: Last", "a: List", "a: Made", "a: New 0", "a: New 2",
        ]
        #expect(
            waitUntil(milliseconds: 30_000) {
                _ = try? client.ask("update")
                return (try? playlists(client)) == withLast
            },
            "\(program.log)"
        )
        // Answered when the store has it, and what came before.
        #expect(try client.ask("sticker set playlist \"a: List\" mood calm") == ["OK"])
        program.kill()
        client = try program.start()
        #expect(try playlists(client) == withLast)
        #expect(try client.entries(of: "a: New 2") == ["a/Anna/Album/3.wav"])
        #expect(try client.entries(of: "New 3") == ["Bert/Album/4.wav"])
        #expect(try client.entries(of: "Gone") == ["Bert/Album/3.wav"])
        // Once it is the active one again, each edit arrives once.
        #expect(try client.ask("shelv_server use first") == ["OK"])
        let wanted = ["List": ["1", "4"], "Made": ["5"], "New 0": ["1"], "New 2": ["3"], "Last": ["1"]]
        #expect(waitUntil(milliseconds: 30_000) { anna.playlists == wanted }, "\(anna.playlists) \(program.log)")
        #expect(try playlists(client) == ["Last", "List", "Local", "Made", "New 0", "New 2"])
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    /// Servers are switched, mounted and unmounted at random, and it is looked at what clients see. `SHELV_SOAK` makes it two
    /// thousand steps.
    @Test func whatIsShownIsWhatWasAskedFor() throws {
        let names = ["Anna", "Bert", "Carl"]
        let servers = try names.map { try #require(SmallMusicServer($0, seconds: 1)) }
        for (name, server) in zip(names, servers) { server.setPlaylist("Of \(name)", ["1"]) }
        defer { for server in servers { server.stop() } }
        let program = try Program(zip(names, servers).map { ($0, $1.url) })
        defer { program.stop() }
        var client = try program.start()
        // Each has its library on disk then.
        for name in names {
            #expect(try client.ask("shelv_server use \(name)") == ["OK"])
            try #require(hasSongs(client, name), "\(program.log)")
            try #require(waitUntil { (try? playlists(client)) == ["Of \(name)"] }, "\(program.log)")
        }
        var lists = Dictionary(uniqueKeysWithValues: names.map { ($0, ["1"]) })
        let seed = Self.seed
        var numbers = SeededNumbers(seed: seed)
        var active = "Carl"
        var mounts: [String: String] = [:]
        var queue: [String] = []
        // The queue is written a moment after an edit; the others are kept once they are answered.
        var isQueueKept = true
        let isLong = unsafe getenv("SHELV_SOAK") != nil
        for step in 0..<(isLong ? 2_000 : 60) {
            let name = names[Int(numbers.next() % 3)]
            let path = ["x", "y"][Int(numbers.next() % 2)]
            let command: String
            var isPossible = true
            switch numbers.next() % 9 {
            case 0, 1:
                command = "shelv_server use \(name)"
                active = name
                mounts = mounts.filter { $0.value != name }
            case 2, 3:
                command = "mount \(path) subsonic://\(name)"
                isPossible = mounts[path] == nil && active != name && !mounts.values.contains(name)
                if isPossible { mounts[path] = name }
            case 4:
                command = "unmount \(path)"
                isPossible = mounts.removeValue(forKey: path) != nil
            case 5, 6:
                command = "add \(active)/Album/\(1 + numbers.next() % 5).wav"
                queue.append("\(active) \(command.suffix(5).prefix(1))")
                isQueueKept = false
            case 7:
                let song = "\(1 + numbers.next() % 5)"
                command = "playlistadd \"Of \(active)\" \(active)/Album/\(song).wav"
                lists[active, default: []].append(song)
            default:
                if step % 4 == 0 {
                    if isQueueKept { program.kill() } else { program.stop() }
                    isQueueKept = true
                    client = try program.start()
                }
                command = "shelv_server reload"
            }
            let reply = try client.ask(command)
            #expect((reply == ["OK"]) == isPossible, "\(command): \(reply), seed \(seed), step \(step)")
            var wanted = files(of: active, below: "")
            for (path, name) in mounts { wanted += files(of: name, below: "\(path)/") }
            #expect(try Set(files(client)) == Set(wanted), "\(command), seed \(seed), step \(step)")
            let titles = try client.ask("playlistinfo").filter { $0.hasPrefix("Title: ") }
            #expect(titles == queue.map { "Title: \($0)" }, "\(command), seed \(seed), step \(step)")
            var shown = ["Of \(active)": (lists[active] ?? []).map { "\(active)/Album/\($0).wav" }]
            for (path, name) in mounts {
                shown["\(path): Of \(name)"] = (lists[name] ?? []).map { "\(path)/\(name)/Album/\($0).wav" }
            }
            #expect(try playlists(client) == shown.keys.sorted(), "\(command), seed \(seed), step \(step)")
            for (list, songs) in shown {
                #expect(try client.entries(of: list) == songs, "\(list), \(command), seed \(seed), step \(step)")
            }
        }
        // Each edit has arrived, once.
        for (name, server) in zip(names, servers) {
            #expect(try client.ask("shelv_server use \(name)") == ["OK"])
            let hasArrived = waitUntil(milliseconds: 30_000) { server.playlists["Of \(name)"] == lists[name] }
            #expect(hasArrived, "\(name): \(server.playlists), seed \(seed)")
        }
        #expect(!program.log.contains("error:"), "\(program.log)")
    }

    private static var seed: UInt64 {
        SeededNumbers.seed(usually: .random(in: 1...9_999))
    }

    private func files(of name: String, below root: String) -> [String] {
        (1...5).map { "\(root)\(name)/Album/\($0).wav" } + ["\(root)Same/Place/6.wav"]
    }
}

/// The samples of a raw file, both channels.
private func allSamples(_ bytes: [UInt8]) -> [Int16] {
    stride(from: 0, to: bytes.count - 1, by: 2).map { index in
        Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
    }
}
