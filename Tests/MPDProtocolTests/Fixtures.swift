import MPDProtocol
import Testing

/// The bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The text of some bytes.
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// An ACK of code 2.
func argumentError(_ message: String) -> ACK { ACK(.argument, message) }

/// What a throwing call answers, as text: the value, or the error's code and message.
func outcome<Value>(_ body: () throws(ACK) -> Value) -> String {
    do {
        return "\(try body())"
    } catch {
        return "[\(error.code.rawValue)] \(text(error.message))"
    }
}

/// Compares outside the macro, which cannot call what mutates.
func expectEqual<Value: Equatable>(
    _ actual: Value,
    _ expected: Value,
    location: SourceLocation = #_sourceLocation
) {
    #expect(actual == expected, sourceLocation: location)
}
