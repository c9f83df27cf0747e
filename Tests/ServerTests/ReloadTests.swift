import Glibc
import Logging
import Playback
import Support
import Synchronization
import Testing

@testable import ShelvMPD

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
