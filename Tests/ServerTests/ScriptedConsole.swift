import Synchronization

@testable import ShelvMPD

/// A terminal at which somebody answers what a test says.
final class ScriptedConsole: Sendable {
    private struct State {
        var answers: [String]
        var written = ""
        var complaints = ""
        var isHidden = false
        var hidden: [String] = []
    }

    private let state: Mutex<State>
    private let hasKeyboard: Bool

    /// - Parameter answers: lines that are read, in order; then the input ends.
    init(_ answers: [String] = [], hasKeyboard: Bool = true) {
        state = Mutex(State(answers: answers))
        self.hasKeyboard = hasKeyboard
    }

    var written: String { state.withLock { $0.written } }
    var complaints: String { state.withLock { $0.complaints } }
    /// Answers that were read while nothing was shown.
    var hidden: [String] { state.withLock { $0.hidden } }
    /// Answers that nobody has asked for.
    var rest: [String] { state.withLock { $0.answers } }

    var console: Console {
        Console(
            write: { [self] text in state.withLock { $0.written += text } },
            complain: { [self] text in state.withLock { $0.complaints += text } },
            read: { [self] in
                state.withLock { state in
                    guard !state.answers.isEmpty else { return nil }
                    let answer = state.answers.removeFirst()
                    if state.isHidden { state.hidden.append(answer) }
                    return answer
                }
            },
            hidden: { [self] body in
                state.withLock { $0.isHidden = true }
                defer { state.withLock { $0.isHidden = false } }
                return body()
            },
            hasKeyboard: hasKeyboard,
            hasScreen: false
        )
    }

    /// Runs a command line.
    func run(_ words: [String], _ environment: Environment) async throws -> ExitStatus {
        guard case .run(let invocation) = try CommandLineOptions.parse(words).action,
            let subcommand = Subcommand.named(invocation.subcommand)
        else { throw CommandFailure("no subcommand") }
        return try await subcommand.run(
            CommandCall(invocation: invocation, environment: environment, console: console)
        )
    }
}
