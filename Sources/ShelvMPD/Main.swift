import Glibc

@main
enum Main {
    static func main() async {
        switch StartUp.decide(Array(CommandLine.arguments.dropFirst()), .current()) {
        case .end(let status, let output, let errors):
            StandardStreams.write(output, to: 1)
            StandardStreams.write(errors, to: 2)
            exit(status.rawValue)
        case .run(let invocation):
            exit(await run(invocation).rawValue)
        case .serve(let configuration, let source, let notices):
            exit(await Launch.serve(configuration, from: source, notices: notices).rawValue)
        }
    }

    private static func run(_ invocation: Invocation) async -> ExitStatus {
        guard let subcommand = Subcommand.named(invocation.subcommand) else { return .usage }
        // Who reads what we write may be gone; libraries of sound systems write to servers that may be.
        signal(SIGPIPE, SIG_IGN)
        let call = CommandCall(invocation: invocation, environment: .current(), console: .standard())
        do {
            return try await subcommand.run(call)
        } catch let error as ConfigurationError {
            call.console.complain("\(error)\n")
        } catch {
            call.console.complain("shelvmpd: \(error)\n")
        }
        return .failure
    }
}
