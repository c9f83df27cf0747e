import SubsonicKit

extension Subcommand {
    /// Explains why a set-up does not work.
    static let doctor = Subcommand(
        name: "doctor",
        usage: ["[--config FILE] [--offline]"],
        summary: "look what is wrong with the set-up, and say what to do",
        details: """
            Looks at the configuration, the servers, the sound, the folders, the addresses for clients, and at the server that
            runs. Changes nothing. The exit status is 1 if something fails.
            """,
        options: [CommandOption(name: "--offline", summary: "do not ask the Subsonic servers")],
        run: DoctorCommand.run
    )
}

/// What `shelvmpd doctor` does.
enum DoctorCommand {
    static func run(_ call: CommandCall) async throws -> ExitStatus {
        let report = CheckReport(call.console.write)
        report.heading("Program")
        report.add(.good("ShelvMPD \(Version.number)"))
        let libcurl = HTTPLibrary.version.split(separator: " ").prefix(2).joined(separator: ", ")
        report.add(.good(libcurl))
        guard let configuration = readConfiguration(call, report) else { return conclude(report, call) }
        if !call.invocation.has("--offline") {
            let transport = try CurlTransport()
            defer { transport.shutdown() }
            for server in configuration.servers { await ServerCommand.check(server, transport, report) }
        }
        report.heading("Sound")
        OutputCheck(configuration: configuration, report: report).run()
        report.heading("Folders")
        FolderCheck.run(configuration, report)
        report.heading("Clients")
        ClientCheck.run(configuration, report)
        return conclude(report, call)
    }

    private static func conclude(_ report: CheckReport, _ call: CommandCall) -> ExitStatus {
        let notices = report.notices == 0 ? "" : ", \(report.notices) \(report.notices == 1 ? "note" : "notes")"
        if report.failures == 0 {
            call.console.write("\nNothing is broken\(notices).\n")
            return .success
        }
        let verb = report.failures == 1 ? "thing fails" : "things fail"
        call.console.write("\n\(report.failures) \(verb)\(notices).\n")
        return .failure
    }

    private static func readConfiguration(_ call: CommandCall, _ report: CheckReport) -> Configuration? {
        guard let path = call.configurationPath else {
            report.heading("Configuration")
            let places = SettingContext.list(Directories(call.environment).configurations)
            report.add(.bad("There is none at \(places)", "shelvmpd setup makes one"))
            return nil
        }
        report.heading("Configuration \(path)")
        do throws(ConfigurationError) {
            let result = try ConfigurationReader.load(path, environment: call.environment)
            for notice in result.notices { report.add(.notice(notice.description)) }
            report.add(.good("It is understood"))
            return result.configuration
        } catch {
            for problem in error.problems { report.add(.bad(problem.description, "Change that line")) }
            return nil
        }
    }
}
