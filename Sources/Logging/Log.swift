import CLinux
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

/// Writes lines, one sentence each, without secrets.
///
/// A value: hand it to whoever has something to say. Lines are written with one `write` each, so threads do not mix.
public struct Log: Sendable {
    private let threshold: Threshold
    private let sink: @Sendable (LogLevel, String) -> Void

    /// A log that hands each line that is at least `level` to `sink`, on the caller's thread.
    public init(level: LogLevel = .info, sink: @escaping @Sendable (LogLevel, String) -> Void) {
        threshold = Threshold(level)
        self.sink = sink
    }

    /// The least important lines that are written.
    public var level: LogLevel { threshold.level }

    /// Changes that, for this log and all its copies.
    public func setLevel(_ level: LogLevel) { threshold.level = level }

    /// Writes to standard error as `level: message`, a form that journald and people read.
    /// - Parameter isDated: whether the time stands before it, as is fit for a file.
    public static func standardError(level: LogLevel = .info, isDated: Bool = false) -> Log {
        Log(level: level) { level, message in
            var line = (isDated ? now() : "") + "\(level): \(oneLine(message))\n"
            line.withUTF8 { bytes in
                _ = unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// Hands lines to the system's log, which dates them.
    public static func system(level: LogLevel = .info) -> Log {
        shelv_open_syslog()
        return Log(level: level) { level, message in
            let priority: Int32 =
                switch level {
                case .error: 3
                case .notice: 5
                case .info: 6
                case .debug: 7
                }
            unsafe shelv_syslog(priority, oneLine(message))
        }
    }

    /// A message as one line without control characters: what a server says must not move a terminal's cursor.
    static func oneLine(_ message: String) -> String {
        var line = String.UnicodeScalarView()
        line.append(
            contentsOf: message.unicodeScalars.lazy.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: " "
                default: scalar
                }
            }
        )
        return String(line)
    }

    /// The local time to the second, with a blank behind it.
    private static func now() -> String {
        var seconds = time(nil)
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 32)
        unsafe localtime_r(&seconds, &parts)
        let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S ", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
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

/// The level that all copies of a log share.
private final class Threshold: Sendable {
    private let value: Atomic<Int>

    init(_ level: LogLevel) { value = Atomic(level.rawValue) }

    var level: LogLevel {
        get { LogLevel(rawValue: value.load(ordering: .relaxed)) ?? .info }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
