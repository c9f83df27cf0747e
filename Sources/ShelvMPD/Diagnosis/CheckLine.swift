/// One line of what `setup`, `doctor` and `server test` have found out.
struct CheckLine: Sendable, Equatable {
    enum Verdict: String, Sendable {
        case good = "ok"
        /// Nothing is broken, but someone may want to know.
        case notice = "note"
        case bad = "FAIL"
    }

    var verdict: Verdict
    /// A sentence without its full stop.
    var text: String
    /// What to do about it; never nil where something is broken.
    var advice: String?

    static func good(_ text: String) -> CheckLine { CheckLine(verdict: .good, text: text) }

    static func notice(_ text: String, _ advice: String? = nil) -> CheckLine {
        CheckLine(verdict: .notice, text: text, advice: advice)
    }

    static func bad(_ text: String, _ advice: String) -> CheckLine {
        CheckLine(verdict: .bad, text: text, advice: advice)
    }

    /// With the advice on a line of its own.
    var shown: String {
        let mark = "[\(verdict.rawValue)]" + String(repeating: " ", count: 5 - verdict.rawValue.count)
        return "  \(mark)\(Self.plain(text))\n" + (advice.map { "         \(Self.plain($0))\n" } ?? "")
    }

    /// What a server says of itself may not draw on the terminal.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }
}

/// Takes the lines as they come, and remembers whether one of them is bad.
final class CheckReport {
    private let write: (String) -> Void
    private(set) var failures = 0
    private(set) var notices = 0

    init(_ write: @escaping (String) -> Void) { self.write = write }

    /// Begins a part of the report.
    func heading(_ text: String) { write("\(text)\n") }

    func add(_ line: CheckLine) {
        if line.verdict == .bad { failures += 1 }
        if line.verdict == .notice { notices += 1 }
        write(line.shown)
    }
}
