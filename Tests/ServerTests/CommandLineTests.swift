import Support
import Testing

@testable import ShelvMPD

/// The command line, and what the program does first.
@Suite struct CommandLineTests {
    private func parse(_ words: String...) throws(UsageError) -> CommandLineOptions {
        try CommandLineOptions.parse(words)
    }

    @Test func optionsAreUnderstood() throws {
        #expect(try parse() == CommandLineOptions())
        #expect(try parse("--config", "/f") == CommandLineOptions(configPath: "/f"))
        #expect(
            try parse("--config=/f", "--check-config") == CommandLineOptions(action: .checkConfig, configPath: "/f")
        )
        #expect(try parse("-c", "/f") == CommandLineOptions(configPath: "/f"))
        #expect(try parse("--help").action == .showHelp)
        #expect(try parse("-V").action == .showVersion)
        let queue = Invocation(subcommand: "queue", values: ["--config": ["/f"]])
        #expect(try parse("queue", "-c", "/f") == CommandLineOptions(action: .run(queue), configPath: "/f"))
        #expect(try parse("queue", "--help").action == .showHelpOf("queue"))
        let cache = Invocation(subcommand: "cache", values: ["--clear": ["covers"]])
        #expect(try parse("cache", "--clear=covers").action == .run(cache))
        #expect(try parse("server", "--help").action == .showHelpOf("server"))
        let add = Invocation(
            subcommand: "server",
            words: ["add", "home"],
            values: ["--url": ["a", "b"], "--yes": [""], "--user": ["me"]]
        )
        #expect(try parse("server", "add", "--url=a", "-y", "home", "--url", "b", "--user", "me").action == .run(add))
        #expect(try parse("--print", "example").action == .print(.example))
    }

    @Test func wrongOnesAreExplained() {
        let cases: [(words: [String], message: String)] = [
            (["--config"], "--config needs a value"),
            (["--config="], "--config needs a value"),
            (["--confg", "x"], "there is no option --confg; did you mean --config?"),
            (["x.conf"], "\"x.conf\" is no command and no option; a configuration file is named by --config"),
            (["queu"], "\"queu\" is no command and no option; did you mean queue?"),
            (["-c", "x", "queue"], "queue must be the first word"),
            (["queue", "x"], "\"x\" is one word too many for queue"),
            (["queue", "--clear", "all"], "--clear belongs to cache"),
            (["--clear", "all"], "--clear belongs to cache"),
            (["cache", "--cler"], "cache has no option --cler; did you mean --clear?"),
            (["cache", "--clear", "x"], "--clear knows songs, covers or all, not \"x\""),
            (["cache", "--clear"], "--clear needs a value: KIND"),
            (["server"], "server needs a word more: list, add, edit, remove, use or test"),
            (["server", "lst"], "server knows list, add, edit, remove, use or test, not \"lst\"; did you mean list?"),
            (["setup", "--yes=1"], "--yes takes no value"),
            (["queue", "--check-config"], "--check-config cannot be used with queue"),
            (["--version=1"], "--version takes no value"),
            (["--print", "x"], "--print knows example, configuration, manual or commands, not \"x\""),
        ]
        for (words, message) in cases {
            do throws(UsageError) {
                _ = try CommandLineOptions.parse(words)
                Issue.record("\(words) was accepted")
            } catch {
                #expect(error.description == message)
            }
        }
    }

    @Test func onlyWhatWasAskedForGoesToStandardOutput() throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        #expect(StartUp.decide(["--version"], environment) == .end(.success, output: "ShelvMPD \(Version.number)\n"))
        guard case .end(.usage, "", let usage) = StartUp.decide(["--x"], environment) else {
            Issue.record("no usage error")
            return
        }
        #expect(usage.hasPrefix("shelvmpd: there is no option --x"))
        guard case .end(.failure, "", let missing) = StartUp.decide([], environment) else {
            Issue.record("no failure")
            return
        }
        #expect(
            missing.contains(
                "there is no configuration at \(folder.path)/.config/shelvmpd/shelvmpd.conf or /etc/shelvmpd.conf"
            )
        )
    }

    @Test func theConfigurationIsCheckedOrServed() throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let path = folder.write("c.conf", "db_file x\n" + ConfigurationTests.server)
        guard
            case .end(.success, let output, let notices) = StartUp.decide(
                ["--config", path, "--check-config"],
                environment
            )
        else {
            Issue.record("not checked")
            return
        }
        #expect(output == "\(path): no mistakes\n")
        #expect(notices.contains("\(path):1: db_file is not used"))
        #expect(notices.contains("every user of this machine can read it"))
        guard case .serve(let configuration, _, _) = StartUp.decide(["--config", path], environment) else {
            Issue.record("not served")
            return
        }
        #expect(configuration.servers.count == 1)

        folder.write("c.conf", "port x")
        guard case .end(.failure, "", let errors) = StartUp.decide(["--config", path], environment) else {
            Issue.record("accepted")
            return
        }
        #expect(errors.hasPrefix("\(path):1: port cannot be \"x\""))
    }

    @Test func aConfigurationThatCannotBeReadIsTheOnlyMistake() throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let none = folder.path("none.conf")
        for (path, message) in [
            (none, "\(none): there is no file \(none)\n"),
            (folder.path, "\(folder.path): cannot read \(folder.path): Is a directory\n"),
        ] {
            guard case .end(.failure, "", let errors) = StartUp.decide(["--config", path], environment) else {
                Issue.record("accepted")
                continue
            }
            #expect(errors == message)
        }
    }

    @Test func passwordsComeFromFilesAndCommands() throws {
        let folder = try #require(TemporaryFolder())
        let path = folder.write("password", "first\r\nsecond\n")
        #expect(try SecretSource.file(path).read().revealed == "first")
        #expect(try SecretSource.command("printf 'a b\\nc'").read().revealed == "a b")
        #expect(try SecretSource.literal(Secret("x")).read().revealed == "x")
        let failures: [(source: SecretSource, part: String)] = [
            (.file(folder.path("none")), "No such file or directory"),
            (.file(folder.write("empty", "\n")), "is empty"),
            (.file(folder.write("bytes", [0xFF, 0x0A])), "not valid UTF-8"),
            (.command("echo hidden; exit 3"), "failed with status 3"),
            (.command("echo hidden; kill -9 $$"), "ended by signal 9"),
            (.command("true"), "is empty"),
            (.credential("key"), "systemd credential"),
            (.variable("SHELVMPD_NO_SUCH_VARIABLE"), "not set"),
        ]
        for (source, part) in failures {
            do throws(SecretError) {
                _ = try source.read()
                Issue.record("\(source) was read")
            } catch {
                #expect(error.description.contains(part) && !error.description.contains("hidden"), "\(error)")
            }
        }
    }
}
