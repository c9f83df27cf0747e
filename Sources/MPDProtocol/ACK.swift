/// A failure that a client gets to read: `ACK [code@index] {command} message`.
///
/// The index and the command's name are added where the reply is written (`Reply.ack`). The message is bytes because
/// it may quote a request, and a request need not be valid UTF-8.
///
/// Source: MPD 0.24 `src/protocol/Ack.hxx`.
public struct ACK: Error, Sendable, Hashable {
    /// The number after `[`. Clients switch on it.
    public enum Code: UInt8, Sendable, Hashable {
        /// Wrong number of arguments, or one that makes no sense.
        case argument = 2
        case password = 3
        case permission = 4
        /// Unknown command, unreadable request, and failures without a better code.
        case unknown = 5
        case noExist = 50
        case playlistMax = 51
        case system = 52
        case playlistLoad = 53
        case updateAlready = 54
        case playerSync = 55
        case exist = 56
    }

    public var code: Code
    /// The text, without a line end.
    public var message: [UInt8]

    /// A failure with this text.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = Array(message.utf8)
    }

    /// `message: culprit`, as MPD words complaints about an argument.
    public init(_ code: Code, _ message: String, quoting culprit: some Collection<UInt8>) {
        self.init(code, message)
        self.message.append(contentsOf: ": ".utf8)
        self.message.append(contentsOf: culprit)
    }

    /// `message "name"`, with escapes in the name as libfmt writes them.
    public init(_ code: Code, _ message: String, naming name: some Collection<UInt8>) {
        self.init(code, message)
        self.message.append(UInt8(ascii: " "))
        self.message.appendEscaped(Array(name))
    }

    /// The same with one space for each run of blanks and control characters, and none at the end.
    ///
    /// MPD so shortens what it throws as an exception, but not what it writes itself.
    ///
    /// Source: MPD 0.24 `src/util/Exception.cxx`.
    public var withSingleBlanks: ACK {
        var ack = self
        ack.message = Array(message.split { $0 <= UInt8(ascii: " ") }.joined(separator: [UInt8(ascii: " ")]))
        return ack
    }

    /// No command has this name. Goes out with an empty command name.
    public static func unknownCommand(_ name: String) -> ACK { ACK(.unknown, "unknown command", naming: name.utf8) }

    /// The connection may not use the command.
    public static func noPermission(_ name: String) -> ACK {
        ACK(.permission, "you don't have permission for", naming: name.utf8)
    }

    /// The complaint about `count` arguments for a command that takes `allowed`, or nil if there is nothing to
    /// complain about. `Int.max` as the upper bound means any number.
    public static func argumentCount(_ count: Int, allowed: ClosedRange<Int>, command: String) -> ACK? {
        if allowed.contains(count) { return nil }
        if allowed.lowerBound == allowed.upperBound {
            return ACK(.argument, "wrong number of arguments for", naming: command.utf8)
        }
        return ACK(
            .argument,
            count < allowed.lowerBound ? "too few arguments for" : "too many arguments for",
            naming: command.utf8
        )
    }
}
