/// Takes request lines apart.
///
/// Source: MPD 0.24 `src/util/Tokenizer.cxx`, `src/command/AllCommands.cxx`.
public enum Tokenizer {
    /// How many arguments a line may have.
    public static let maximumArgumentCount = 72

    /// Splits a line of `LineDecoder` into a request.
    ///
    /// Quoted arguments are unescaped in place, so that a line without arguments costs no further memory.
    public static func parse(_ line: consuming [UInt8]) throws(RequestError) -> Request {
        var bytes = line
        var end = 0
        while end < bytes.count, bytes[end].isWordByte { end += 1 }
        guard end == bytes.count || bytes[end].isWhitespace else {
            throw RequestError(ack: ACK(.unknown, "Invalid word character"), closesConnection: true)
        }
        guard end > 0, bytes[0].isLetter else {
            throw RequestError(ack: ACK(.unknown, "Letter expected"), closesConnection: true)
        }
        let name = String(decoding: bytes[..<end], as: UTF8.self)
        var bounds: [Range<Int>] = []
        var position = end
        while true {
            while position < bytes.count, bytes[position].isWhitespace { position += 1 }
            if position == bytes.count { break }
            if bounds.count == maximumArgumentCount {
                throw RequestError(ack: ACK(.argument, "Too many arguments"), closesConnection: false)
            }
            bounds.append(
                bytes[position] == UInt8(ascii: "\"")
                    ? try quoted(&bytes, &position) : try unquoted(bytes, &position)
            )
        }
        return Request(name: name, arguments: Arguments(bytes: bytes, bounds: bounds))
    }

    private static func unquoted(_ bytes: [UInt8], _ position: inout Int) throws(RequestError) -> Range<Int> {
        let start = position
        while position < bytes.count, !bytes[position].isWhitespace {
            if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") {
                throw RequestError(ack: ACK(.unknown, "Invalid unquoted character"), closesConnection: false)
            }
            position += 1
        }
        return start..<position
    }

    private static func quoted(_ bytes: inout [UInt8], _ position: inout Int) throws(RequestError) -> Range<Int> {
        position += 1
        let start = position
        var end = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\") {
                position += 1
                if position == bytes.count { break }
            }
            bytes[end] = bytes[position]
            end += 1
            position += 1
        }
        guard position < bytes.count else {
            throw RequestError(ack: ACK(.unknown, "Missing closing '\"'"), closesConnection: false)
        }
        position += 1
        guard position == bytes.count || bytes[position].isWhitespace else {
            throw RequestError(
                ack: ACK(.unknown, "Space expected after closing '\"'"),
                closesConnection: false
            )
        }
        return start..<end
    }
}
