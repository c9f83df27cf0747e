import Testing

@testable import Logging

@Suite struct LogTests {
    /// What a server says may hold anything.
    @Test func aLineMovesNoCursor() {
        let table = [
            ("a\u{1B}[2Jb\u{7}c\u{9B}1m", "a [2Jb c 1m"), ("a\r\nb\u{2028}c", "a  b c"), ("Zoë – 日本 👩‍👩‍👧", "Zoë – 日本 👩‍👩‍👧"),
            ("", ""),
        ]
        for (message, line) in table { #expect(Log.oneLine(message) == line) }
    }
}
