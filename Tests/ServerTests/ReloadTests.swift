import Glibc
import Logging
import Playback
import Support
import Synchronization
import Testing

@testable import ShelvMPD
@testable import SubsonicKit

/// Reading the configuration again while the server runs.
@Suite struct ReloadTests {
    private static let environment = Environment(["HOME": "/home/me"])

    private func result(_ text: String) throws -> ConfigurationReader.Result {
        let whole = text + "\n" + ConfigurationTests.server
        let file = ConfigFile.parse("f") { _ throws(SystemError) in Array(whole.utf8) }
        return try ConfigurationReader.read(file, path: "f", environment: Self.environment)
    }

    private func reload(_ old: String, _ new: String) throws -> ConfigurationReload {
        let source = ConfigurationSource(path: "f", environment: Self.environment, file: try result(old).file)
        return try ConfigurationReload.merge(source, result(new))
    }

    @Test func whatCanChangeChangesAndTheRestWaits() throws {
        let reload = try reload(
            "port 6601\nlog_level info\npassword \"a@read\"\nconnection_timeout 5\naudio_output {\n type null\n name a\n}",
            "port 6602\nlog_level debug\npassword \"a@read\"\npassword \"b@read\"\nshelves no\nmusic_directory \"/x\"\naudio_output {\n type null\n name b\n}"
        )
        #expect(reload.changed == ["connection_timeout", "log_level", "password"])
        #expect(reload.waiting == ["audio_output", "port", "shelves"])
        #expect(!reload.changesServers)
        let configuration = reload.configuration
        #expect(configuration.port == 6601)
        #expect(configuration.showsShelves)
        #expect(configuration.outputs.map(\.name) == ["a"])
        #expect(configuration.logLevel == .debug)
        #expect(configuration.passwords.map(\.password.revealed) == ["a", "b"])
        #expect(configuration.connectionTimeout == .seconds(60))
        #expect(reload.notices.contains { $0.contains("music_directory is not used") })
        // What waits is named the next time, too.
        let again = try ConfigurationReload.merge(reload.source, result("port 6602\nlog_level debug"))
        #expect(again.changed == ["password"])
        #expect(again.waiting == ["audio_output", "port"])
    }

    @Test func anotherPlaceInTheFileIsNoChange() throws {
        let reload = try reload("port 6601\nshelves no", "# later\n\nshelves no\nport 6601")
        #expect(reload.changed.isEmpty && reload.waiting.isEmpty && !reload.changesServers)
    }

    @Test func serversGoToWhoeverTakesThem() throws {
        let old = try result("")
        let text = ConfigurationTests.server.replacing("secret", with: "other")
        let file = ConfigFile.parse("f") { _ throws(SystemError) in Array(text.utf8) }
        let new = try ConfigurationReader.read(file, path: "f", environment: Self.environment)
        let source = ConfigurationSource(path: "f", environment: Self.environment, file: old.file)
        let reload = try ConfigurationReload.merge(source, new)
        #expect(reload.changesServers && reload.waiting.isEmpty && reload.changed.isEmpty)
        #expect(reload.configuration.servers.first?.password == .literal(Secret("other")))
    }

    /// A file with a password is another one under the same name, and a server may be there by now.
    @Test func serversAreLookedAtEachTime() async throws {
        let folder = try #require(TemporaryFolder())
        let server = try await PersistentServer(folder)
        defer { server.kill() }
        #expect(try server.client().ask("ping") == ["OK"])
        let text = try result("")
        let source = ConfigurationSource(path: "f", environment: Self.environment, file: text.file)
        let reload = try ConfigurationReload.merge(source, text)
        #expect(!reload.changesServers)
        let names = server.onCore { server in
            let asked = Mutex<[String]>([])
            server.reloadServers = { blocks in asked.withLock { $0 += blocks.map(\.name) } }
            server.reload(reload, AccessRules(reload.configuration))
            server.reloadServers = nil
            return asked.withLock { $0 }
        }
        #expect(names == reload.configuration.servers.map(\.name) && names?.isEmpty == false)
    }

    /// The real program: rules change under its clients, mistakes change nothing, and the log moves to a new file.
    @Test func signalsAreObeyed() async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let log = server.folder.path("log")
        let text = String(decoding: contents(of: server.folder.path("conf")) ?? [], as: UTF8.self)
        func configure(_ more: String) { server.folder.write("conf", text + "\nlog_file \"\(log)\"\n" + more) }
        func logged(_ path: String) -> String { String(decoding: contents(of: path) ?? [], as: UTF8.self) }
        configure("")
        let process = try #require(server.start())
        defer { process.stop() }
        let client = try #require(server.client(process))
        #expect(try client.ask("stop") == ["OK"])
        #expect(logged(log).contains(" notice: Listening on 127.0.0.1:\(server.port)\n"))

        configure("default_permissions \"read\"\nshelves \"no\"\nmax_connections 1")
        #expect(unsafe rename(log, log + ".1") == 0)
        process.send(SIGHUP)
        #expect(waitUntil { logged(log).contains("take effect after a restart: shelves") }, "\(logged(log))")
        #expect(logged(log).contains("read again: default_permissions, max_connections have changed\n"))
        #expect(!logged(log + ".1").contains("read again"))
        #expect(try client.ask("stop").first?.hasPrefix("ACK [4@0]") == true)
        #expect(try MPDTestClient(port: server.port, readsGreeting: false).rest() == "")

        configure("default_permissions \"rea\"")
        process.send(SIGHUP)
        #expect(waitUntil { logged(log).contains("The configuration stays as it was: ") }, "\(logged(log))")
        #expect(try client.ask("status").last == "OK")
        #expect(try client.ask("stop").first?.hasPrefix("ACK [4@0]") == true)

        configure("")
        for _ in 0..<20 { process.send(SIGHUP) }
        #expect(waitUntil { (try? client.ask("stop")) == ["OK"] })
        process.send(SIGTERM)
        #expect(process.wait(milliseconds: 10_000) == .exited(0))
        #expect(process.errors == "" && process.output == "")
    }

    /// Where the password of a server comes from.
    enum SecretPlace: String, CaseIterable { case file, command, credential }

    /// A password is changed at the server and where it is read from: after SIGHUP the new one is used, and the old one no more.
    /// One that cannot be read changes nothing. None of them is logged.
    @Test(arguments: SecretPlace.allCases)
    func aNewPasswordIsUsedAfterSIGHUP(_ place: SecretPlace) async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let used = Mutex<[String]>([])
        let subsonic = try #require(
            HTTPTestServer { request in
                let salt = request.parameter("s") ?? ""
                let token = request.parameter("t") ?? ""
                let password = ["0ld-s3cret", "n3w-s3cret"].first {
                    MD5.hexDigest(of: Array("\($0)\(salt)".utf8)) == token
                }
                used.withLock { $0.append(password ?? "none") }
                return .json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)
            }
        )
        defer { subsonic.stop() }
        let secret = server.folder.write("secret", "0ld-s3cret\n")
        let option =
            switch place {
            case .file: "password_file \"\(secret)\""
            case .command: "password_command \"cat \(secret)\""
            case .credential: "password_file \"secret\""
            }
        let refusal = place == .command ? "the password command failed with status 1" : "no password: "
        let text = String(decoding: contents(of: server.folder.path("conf")) ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            if line.hasPrefix("    url") { return "    url \"\(subsonic.url)\"" }
            return line.hasPrefix("    password") ? "    \(option)" : String(line)
        }
        server.folder.write("conf", "log_level \"verbose\"\n" + lines.joined(separator: "\n"))
        let process = try #require(server.start(["CREDENTIALS_DIRECTORY": server.folder.path]))
        defer { process.stop() }
        let client = try #require(server.client(process))
        #expect(waitUntil { used.withLock { $0.contains("0ld-s3cret") } }, "\(process.errors)")

        #expect(unsafe unlink(secret) == 0)
        process.send(SIGHUP)
        #expect(waitUntil { process.errors.contains(refusal) }, "\(process.errors)")
        used.withLock { $0 = [] }
        _ = try client.ask("update")
        #expect(waitUntil { used.withLock { $0.contains("0ld-s3cret") } }, "\(process.errors)")

        server.folder.write("secret", "n3w-s3cret\n")
        process.send(SIGHUP)
        #expect(waitUntil { process.errors.contains("The server test has other settings") }, "\(process.errors)")
        #expect(
            waitUntil {
                _ = try? client.ask("update")
                return used.withLock { $0.contains("n3w-s3cret") }
            },
            "\(process.errors)"
        )
        // A request that was under way may still come with the old one.
        #expect(
            waitUntil {
                _ = try? client.ask("update")
                return used.withLock { $0.suffix(8).count { $0 == "n3w-s3cret" } } == 8
            }
        )
        process.send(SIGTERM)
        #expect(process.wait(milliseconds: 10_000) == .exited(0))
        #expect(!process.errors.contains("s3cret") && !process.output.contains("s3cret"), "\(process.errors)")
    }

    /// Whoever wants the end twice gets it once, in order or at once, but in any case.
    @Test func severalSignalsEndItOnce() async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        for signals in [[SIGTERM, SIGTERM], [SIGTERM, SIGINT, SIGHUP, SIGTERM]] {
            let process = try #require(server.start())
            defer { process.stop() }
            let client = try #require(server.client(process))
            #expect(try client.ask("ping") == ["OK"])
            for signal in signals { process.send(signal) }
            let end = process.wait(milliseconds: 20_000)
            #expect(end == .exited(0) || end == .signalled(SIGTERM) || end == .signalled(SIGINT), "\(process.errors)")
            #expect(process.errors.split(separator: "\n").count { $0.contains("Ending: ") } <= 1, "\(process.errors)")
        }
    }

    /// Both signals are there before the first one is looked at.
    @Test func theEndComesOnce() throws {
        let player: FakePlayer
        do {
            let server = try TestServer()
            let client = try server.client()
            #expect(try client.ask("ping") == ["OK"])
            player = server.player
            server.core.post { server in
                server.end("a test")
                server.end("a test, too")
            }
            #expect(try client.rest() == "")
        }
        #expect(player.takeCalls().count { $0 == .shutdown } == 1)
    }

    @Test func aLogThatCannotBeOpenedIsSaid() async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let text = String(decoding: contents(of: server.folder.path("conf")) ?? [], as: UTF8.self)
        server.folder.write("conf", text + "\nlog_file \"\(server.folder.path("nowhere/log"))\"\n")
        let process = try #require(server.start())
        #expect(process.wait(milliseconds: 10_000) == .exited(1))
        #expect(
            process.errors.contains("cannot open the log \(server.folder.path("nowhere/log")): No such file"),
            "\(process.errors)"
        )
    }
}
