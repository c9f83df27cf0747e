import Glibc

/// The terminal, or the pipes, that a subcommand speaks with.
struct Console: Sendable {
    /// Takes text for standard output.
    var write: @Sendable (String) -> Void
    /// Takes text for standard error.
    var complain: @Sendable (String) -> Void
    /// The next line of standard input without its end; nil at its end.
    var read: @Sendable () -> String?
    /// Runs something while what is typed is not shown.
    var hidden: @Sendable (() -> String?) -> String?
    /// Whether somebody types, rather than a program.
    var hasKeyboard: Bool
    /// Whether what is written can be written over.
    var hasScreen: Bool
    /// How many columns the screen has at the moment.
    var columns: @Sendable () -> Int = { 80 }

    /// Asks a question; nil when there is nobody who answers.
    /// - Parameter proposal: what an empty answer means.
    func ask(_ question: String, proposal: String? = nil) -> String? {
        write(question + (proposal.map { " [\($0)]" } ?? "") + ": ")
        let answer = read()
        if !hasKeyboard { write("\n") }
        guard let answer else { return nil }
        let trimmed = answer.trimmingBlanks()
        return trimmed.isEmpty ? proposal ?? "" : trimmed
    }

    /// Asks for a secret, which is not shown.
    func askSecret(_ question: String) -> String? {
        // The question comes when nothing is shown any more: who answers at once is not seen either.
        let answer = hidden {
            write("\(question): ")
            return read()
        }
        write("\n")
        return answer
    }

    /// Asks a question of yes or no; nil when there is nobody who answers.
    func confirm(_ question: String, proposal: Bool) -> Bool? {
        while true {
            write("\(question) [\(proposal ? "Y/n" : "y/N")] ")
            let answer = read()
            if !hasKeyboard { write("\n") }
            guard let answer else { return nil }
            switch answer.trimmingBlanks().lowercased() {
            case "": return proposal
            case "y", "yes": return true
            case "n", "no": return false
            default: write("Please answer yes or no.\n")
            }
        }
    }

    /// Standard input, output and error of this process.
    static func standard() -> Console {
        Console(
            write: { StandardStreams.write($0, to: 1) },
            complain: { StandardStreams.write($0, to: 2) },
            read: { StandardStreams.readLine() },
            hidden: { StandardStreams.hidden($0) },
            hasKeyboard: isatty(0) == 1,
            hasScreen: isatty(1) == 1,
            columns: { StandardStreams.columns() ?? 80 }
        )
    }
}

/// Bytes to and from the descriptors 0, 1 and 2.
enum StandardStreams {
    static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }

    /// How wide the terminal of standard output is; nil where there is none that tells.
    fileprivate static func columns() -> Int? {
        var size = winsize()
        guard unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Byte by byte, so that nothing is taken that belongs to who reads afterwards.
    fileprivate static func readLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 65536 {
            let count = unsafe Glibc.read(0, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
            if byte == interruptKey { break }
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Echo is off meanwhile. The key that interrupts does so only when the echo is back.
    fileprivate static func hidden(_ body: () -> String?) -> String? {
        var before = termios()
        guard unsafe tcgetattr(0, &before) == 0 else { return body() }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        // VEOL: ends the line as the return key does.
        silent.c_cc.11 = interruptKey
        _ = unsafe tcsetattr(0, TCSAFLUSH, &silent)
        let answer = body()
        _ = unsafe tcsetattr(0, TCSAFLUSH, &before)
        if answer?.utf8.contains(interruptKey) == true { interrupt() }
        return answer
    }

    /// Ends the program as the key does elsewhere. Threads of the pool hold signals back, so a mere `raise` would wait for ever;
    /// and where the signal is ignored, the answer must not be taken for one.
    private static func interrupt() -> Never {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, SIGINT)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        raise(SIGINT)
        exit(128 + SIGINT)
    }

    /// Ctrl-C.
    private static let interruptKey: UInt8 = 3
}
