import Support

/// A program with a text screen, in a tmux of its own.
final class Terminal {
    private let name: String
    private let folder: TemporaryFolder

    /// Starts a program; nil when tmux does not.
    init?(_ words: [String], columns: Int = 110, lines: Int = 30) {
        guard let folder = TemporaryFolder() else { return nil }
        self.folder = folder
        name = folder.path("tmux")
        let command = ["new-session", "-d", "-x", "\(columns)", "-y", "\(lines)"] + words
        guard tmux(command)?.end == .exited(0) else { return nil }
    }

    deinit { stop() }

    /// Ends the program with its screen.
    func stop() { _ = tmux(["kill-server"]) }

    /// The lines of the screen, without blanks at their ends.
    var screen: [String] {
        (tmux(["capture-pane", "-p"])?.output ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init
        )
    }

    /// Presses keys by tmux's names.
    func press(_ keys: String...) { _ = tmux(["send-keys"] + keys) }

    /// Types a text.
    func type(_ text: String) { _ = tmux(["send-keys", "-l", text]) }

    /// Looks until all these texts are on the screen.
    /// - Throws: with the screen, when they do not come.
    func await(_ texts: String...) throws { try awaitAll(texts) }

    /// The same for a list.
    func awaitAll(_ texts: [String]) throws {
        var seen: [String] = []
        let came = waitUntil(milliseconds: 20_000) {
            seen = screen
            return texts.allSatisfy { text in seen.contains { $0.contains(text) } }
        }
        guard came else { throw RealFailure("no \(texts) on the screen:\n\(seen.joined(separator: "\n"))") }
    }

    private func tmux(_ words: [String]) -> (end: TestProcess.End, output: String, errors: String)? {
        TestProcess.run(
            ["tmux", "-S", name, "-f", "/dev/null"] + words,
            environment: ["LC_ALL": "C.UTF-8", "TERM": "screen", "TMUX": ""]
        )
    }
}
