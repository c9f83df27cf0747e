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

/// A small generator whose sequence depends on the seed alone.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
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
