import Glibc
import Synchronization

/// How much a line of the log matters; `log_level` chooses the lowest that is written.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// For developers: each request, each decision.
    case debug
    /// What happened in normal operation: a sync ended, a client connected.
    case info
    /// What the user should know or may want to change: a fallback was taken, a server is away.
    case notice
    /// Something the user asked for does not work, and why.
    case error

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Writes lines to standard error, one sentence each, without secrets.
///
/// A value: hand it to whoever has something to say. Lines are written with one `write` each, so threads do not mix.
public struct Log: Sendable {
    public var level: LogLevel
    private let sink: @Sendable (LogLevel, String) -> Void

    /// A log that hands each line that is at least `level` to `sink`, on the caller's thread.
    public init(level: LogLevel = .info, sink: @escaping @Sendable (LogLevel, String) -> Void) {
        self.level = level
        self.sink = sink
    }

    /// Writes to standard error as `level: message`, a form that journald and people read.
    public static func standardError(level: LogLevel = .info) -> Log {
        Log(level: level) { level, message in
            var line = "\(level): \(String(message.map { $0.isNewline ? " " : $0 }))\n"
            line.withUTF8 { bytes in
                _ = unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// Drops everything.
    public static let silent = Log(level: .error) { _, _ in }

    public func debug(_ message: @autoclosure () -> String) { write(.debug, message) }
    public func info(_ message: @autoclosure () -> String) { write(.info, message) }
    public func notice(_ message: @autoclosure () -> String) { write(.notice, message) }
    public func error(_ message: @autoclosure () -> String) { write(.error, message) }

    private func write(_ level: LogLevel, _ message: () -> String) {
        if level >= self.level { sink(level, message()) }
    }
}
