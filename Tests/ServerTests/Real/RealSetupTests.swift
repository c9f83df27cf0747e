import CLinux
import Glibc
import Support
import Testing

@testable import ShelvMPD

/// The built program's subcommands, with a real Subsonic server and at a real terminal.
@Suite(.serialized, .enabled(if: RealPeer.supysonic.isWanted)) struct RealSetupTests {
    private static func run(_ words: [String], home: String) throws -> (
        end: TestProcess.End, output: String, errors: String
    ) {
        let environment = ["HOME": home, "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": "", "LC_ALL": "C.UTF-8"]
        guard let result = TestProcess.run([RealInstance.program] + words, environment: environment) else {
            throw RealFailure("\(words) does not end")
        }
        return result
    }

    @Test(.enabled(if: RealPeer.ncmpcpp.isWanted))
    func aTerminalIsAsked() throws {
        let server = try #require(SharedServer.supysonic)
        let folder = try #require(TemporaryFolder())
        let script = folder.write(
            "run.sh",
            "HOME=\(folder.path) XDG_CONFIG_HOME= \(RealInstance.program) setup; echo \"status $?\"; sleep 60\n"
        )
        for password in ["wrong", "demo"] {
            let terminal = try #require(Terminal(["sh", script], columns: 160, lines: 50))
            defer { terminal.stop() }
            for (question, answer) in [
                ("Address of the server", server.url), ("A name for it [home]", ""), ("User", "demo"),
                ("Password", password),
            ] {
                try terminal.await(question)
                terminal.type(answer)
                terminal.press("Enter")
            }
            if password == "wrong" {
                try terminal.await("[FAIL] The login is refused", "Try again with other answers? [Y/n]")
                #expect(!terminal.screen.contains { $0.contains("wrong") && $0.contains("Password:") })
                terminal.type("n")
                terminal.press("Enter")
                try terminal.await("Use these nevertheless? [y/N]")
                terminal.press("Enter")
                try terminal.await("Nothing was written", "status 1")
            } else {
                try terminal.await("perhaps supysonic", "A song's first bytes come", "Write \(folder.path)/.config")
                terminal.press("Enter")
                try terminal.await("status 0", "Start it:        shelvmpd")
            }
        }
        #expect(contents(of: folder.path(".config/shelvmpd/home.password")) == Array("demo\n".utf8))
        let check = try Self.run(["--check-config"], home: folder.path)
        #expect(check.end == .exited(0) && check.errors.isEmpty, "\(check)")
        let test = try Self.run(["server", "test"], home: folder.path)
        #expect(test.end == .exited(0) && test.output.contains("the server knows no tokens"), "\(test)")
    }

    @Test(.enabled(if: RealPeer.ncmpcpp.isWanted), arguments: ["", "half of it"])
    func theKeyThatInterruptsEndsTheQuestion(typed: String) throws {
        let server = try #require(SharedServer.supysonic)
        let folder = try #require(TemporaryFolder())
        let words = "setup --url \(server.url) --user demo --name home"
        let script = folder.write(
            "run.sh",
            "HOME=\(folder.path) XDG_CONFIG_HOME= \(RealInstance.program) \(words); echo \"status $?\"; stty -a; sleep 60\n"
        )
        let terminal = try #require(Terminal(["sh", script], columns: 160, lines: 50))
        defer { terminal.stop() }
        try terminal.await("Password:")
        terminal.type(typed)
        terminal.press("C-c")
        // As if the key had ended it at any other question, and the terminal is as it was.
        try terminal.await("status 130", "isig icanon", " echo ")
        #expect(!terminal.screen.contains { $0.contains("FAIL") || $0.contains("again") })
    }

    @Test(.enabled(if: RealPeer.ncmpcpp.isWanted)) func aKeyWithoutItsPasswordAsksNobody() throws {
        let server = try #require(SharedServer.supysonic)
        let port = try #require(server.url.split(separator: ":").last.flatMap { Int($0) })
        let front = try #require(TLSFront(to: port, wantsClient: true))
        defer { front.stop() }
        let folder = try #require(TemporaryFolder())
        let conf = folder.write(
            "c.conf",
            """
            subsonic_server {
                url                 "\(front.url)"
                user                "demo"
                password            "demo"
                ca_file             "\(front.file("ca.pem"))"
                client_certificate  "\(front.file("client.pem"))"
                client_key          "\(front.file("client.key"))"
            }
            """
        )
        // At a terminal, where OpenSSL could ask.
        let script = folder.write(
            "run.sh",
            """
            \(RealInstance.program) server test --config \(conf); echo "status $?"; sleep 60
            """
        )
        let terminal = try #require(Terminal(["sh", script], columns: 160, lines: 50))
        defer { terminal.stop() }
        try terminal.await("There is no trusted connection", "the password of the key", "status 1")
        #expect(!terminal.screen.contains { $0.contains("pass phrase") })
    }

    @Test(.enabled(if: RealPeer.mpd.isWanted)) func theDoctorKnowsWhatRuns() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        let words = ["doctor", "--config", instance.configuration]
        let before = try Self.run(words, home: instance.folder.path)
        #expect(before.end == .exited(0), "\(before)")
        for line in [
            "It is understood", "A song's first bytes come", "Output \"Silence\" is silent", "MiB free",
            "It does not run",
            "Free: 127.0.0.1, port \(instance.port)", "Nothing is broken",
        ] { #expect(before.output.contains(line), "\(line): \(before.output)") }
        try instance.start()
        let running = try Self.run(words, home: instance.folder.path)
        #expect(running.output.contains("It runs: "), "\(running.output)")
        #expect(running.output.contains("Served: 127.0.0.1, port \(instance.port)"), "\(running.output)")
        #expect(running.end == .exited(0))

        // Another configuration, whose port an mpd has, with a wrong password that everybody can read.
        let other = try RealInstance(SharedServer.supysonic)
        let mpd = other.folder.write(
            "mpd.conf",
            """
            bind_to_address "127.0.0.1"
            port "\(other.port)"
            music_directory "\(other.folder.path)"
            audio_output {
                type "null"
                name "x"
            }
            """
        )
        let process = try #require(TestProcess(["mpd", "--no-daemon", "--stderr", mpd]))
        defer { process.stop() }
        #expect(waitUntil { (try? MPDTestClient(port: other.port)) != nil }, "\(process.errors)")
        let text = String(decoding: contents(of: other.configuration) ?? [], as: UTF8.self)
        _ = other.folder.write("shelvmpd.conf", text.replacing("password \"demo\"", with: "password \"wrong\""))
        unsafe chmod(other.configuration, 0o644)
        let broken = try Self.run(["doctor", "--config", other.configuration], home: other.folder.path)
        #expect(broken.end == .exited(1))
        for line in [
            "every user of this machine can read it", "The login is refused",
            "What answers is another server, such as mpd",
            "In use by mpd or another server for its clients: 127.0.0.1, port \(other.port)", "3 things fail",
        ] { #expect(broken.output.contains(line), "\(line): \(broken.output)") }
        let nothing = try Self.run(["doctor"], home: other.folder.path("none"))
        #expect(nothing.end == .exited(1) && nothing.output.contains("shelvmpd setup makes one"))
    }

    @Test func anMPDIsTakenOver() throws {
        let library = try #require(ToneLibrary.shared)
        // One of its own, because it gets ratings and a playlist.
        let server = try #require(SupysonicServer(music: library.path))
        defer { server.stop() }
        let instance = try RealInstance(server)
        defer { instance.stop() }
        try instance.startAndSync(songs: library.songs.count)
        let folder = instance.folder
        let songs = library.songs.prefix(3).map(\.path)
        let database = try Database(path: folder.path("sticker.sql"))
        try database.script("CREATE TABLE sticker (type VARCHAR, uri VARCHAR, name VARCHAR, value VARCHAR)")
        for (uri, name, value) in [
            (songs[0], "rating", "8"), ("old/\(songs[1])", "playCount", "2"), (songs[1], "my note", "x y"),
            ("gone.flac", "rating", "1"),
        ] {
            try database.run("INSERT INTO sticker VALUES ('song', ?, ?, ?)", .text(uri), .text(name), .text(value))
        }
        _ = folder.write("playlists/Evening.m3u", "\(songs[2])\n#x\n\(songs[0])\nhttp://127.0.0.1/radio\ngone.flac\n")
        _ = folder.write("mpd-state", "state: play\nplaylist_begin\n0:\(songs[1])\n1:\(songs[1])\nplaylist_end\n")
        _ = folder.write(
            "mpd.conf",
            """
            playlist_directory "\(folder.path("playlists"))"
            sticker_file "\(folder.path("sticker.sql"))"
            state_file "\(folder.path("mpd-state"))"
            db_file "/nowhere"
            """
        )
        _ = folder.write("playlists/Favorites.m3u", "\(songs[0])\n")
        _ = folder.write("playlists/Nothing.m3u", "#EXTM3U\n")
        let words = ["import", "--config", instance.configuration, "--from", folder.path("mpd.conf")]
        let dry = try Self.run(words + ["--dry-run"], home: folder.path)
        #expect(dry.end == .exited(0) && dry.output.contains("would be taken over"), "\(dry)")
        let client = try instance.client()
        #expect(try client.ask("listplaylists").count == 1)
        let done = try Self.run(words, home: folder.path)
        #expect(done.end == .exited(0) && done.errors.isEmpty, "\(done)")
        for line in [
            "Stickers: 1 my note, 1 playCount, 1 rating taken over", "Playlist Evening: 3 of 4 songs taken over",
            "Playlist Favorites: 1 of 1 songs taken over", "Playlist Nothing: it is empty",
            "Queue: 2 of 2 entries taken over", "1 song found by: end of the path", "1 song not found:\n  gone.flac",
        ] { #expect(done.output.contains(line), "\(line): \(done.output)") }
        #expect(try client.ask("sticker get song \"\(songs[0])\" rating") == ["sticker: rating=8", "OK"])
        #expect(try client.ask("listplaylist Favorites") == ["file: \(songs[0])", "OK"])
        #expect(try client.ask("listplaylist Evening").first == "file: \(songs[2])")
        #expect(try client.ask("playlistinfo").count { $0 == "file: \(songs[1])" } == 2)
        let again = try Self.run(words + ["--dry-run"], home: folder.path)
        #expect(again.output.contains("3 were there already") && again.output.contains("it stays"), "\(again.output)")
        #expect(again.output.contains("Favorites: 0 of 1 songs would be taken over; 1 were there already"))

        // A name that cannot be used here is told before.
        let long = String(repeating: "x", count: 245)
        _ = folder.write("playlists/\(long).m3u", "\(songs[0])\n")
        let refused = try Self.run(words + ["--dry-run"], home: folder.path)
        #expect(refused.end == .exited(1) && refused.errors.contains("Playlist \(long): none can be called so here"))
    }

    @Test(.enabled(if: RealPeer.mpd.isWanted)) func anMPDIsNoPlaceForAnMPD() throws {
        let folder = try #require(TemporaryFolder())
        let port = try #require(freePort())
        let common = "bind_to_address \"127.0.0.1\"\nport \"\(port)\"\n"
        let music = "music_directory \"\(folder.path)\"\naudio_output {\n    type \"null\"\n    name \"x\"\n}\n"
        let process = try #require(
            TestProcess(["mpd", "--no-daemon", "--stderr", folder.write("mpd.conf", common + music)])
        )
        defer { process.stop() }
        #expect(waitUntil { (try? MPDTestClient(port: port)) != nil }, "\(process.errors)")
        let block = "subsonic_server {\n    url \"http://127.0.0.1:1\"\n    user \"x\"\n    password \"x\"\n}\n"
        let ours = folder.write("c.conf", common + block)
        let list = folder.write("list.m3u", "a.flac\n")
        let result = try Self.run(["import", "--config", ours, "--playlists", list], home: folder.path)
        #expect(result.end == .exited(1) && result.errors.contains("another server, such as mpd"), "\(result)")
    }

    @Test func theRunningServerIsToldOfItsServers() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.start()
        let base = ["--config", instance.configuration]
        let list = try Self.run(["server", "list"] + base, home: instance.folder.path)
        #expect(list.end == .exited(0) && list.output.hasPrefix("*  home  http://"), "\(list)")
        let words = ["server", "add", "second", "--url", instance.folder.path, "--no-test"]
        #expect(try Self.run(words + base, home: instance.folder.path).end == .exited(1))
        let edit = ["server", "edit", "home", "--set", "stall_timeout=20"]
        let done = try Self.run(edit + base, home: instance.folder.path)
        #expect(done.end == .exited(0) && done.output.contains("The running server has read it"), "\(done)")
        let secret = instance.folder.write("second", "demo\n")
        let add = [
            "server", "add", "second", "--url",
            SharedServer.supysonic?.url.replacing("127.0.0.1", with: "localhost") ?? "",
            "--user", "demo", "--password-file", secret,
        ]
        let added = try Self.run(add + base, home: instance.folder.path)
        #expect(added.end == .exited(0) && added.output.contains("The running server has read it"), "\(added)")
        // Who runs by another file has not read it.
        let other = instance.folder.write("other.conf", "include \"\(instance.configuration)\"\n")
        let elsewhere = ["server", "edit", "home", "--set", "stall_timeout=30", "--config", other]
        let missed = try Self.run(elsewhere, home: instance.folder.path)
        #expect(missed.end == .exited(0) && missed.output.contains("runs by another configuration"), "\(missed)")
        #expect(missed.output.contains(instance.configuration) && !missed.output.contains("has read it"), "\(missed)")
        let use = try Self.run(["server", "use", "second"] + base, home: instance.folder.path)
        #expect(use.end == .exited(0) && use.output == "second is used\n", "\(use)")
        let both = try Self.run(["server", "list"] + base, home: instance.folder.path)
        #expect(both.output.contains("\n*  second  http://localhost"), "\(both)")
        instance.stop()
        #expect(try Self.run(["server", "use", "home"] + base, home: instance.folder.path).end == .exited(1))
    }
}
