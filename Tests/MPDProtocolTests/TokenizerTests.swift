import MPDProtocol
import Testing

/// A parsed line as `name|argument|argument`, or the error with `close` if it ends the connection.
private func tokens(_ line: [UInt8]) -> String {
    do {
        let request = try Tokenizer.parse(line)
        return ([request.name] + request.arguments.map { text($0) }).joined(separator: "|")
    } catch {
        return "[\(error.ack.code.rawValue)] \(text(error.ack.message))" + (error.closesConnection ? " close" : "")
    }
}

@Suite struct TokenizerTests {
    private static let rows: [(line: String, tokens: String)] = [
        ("ping", "ping"),
        ("pInG", "pInG"),
        ("fooBar1_x", "fooBar1_x"),
        ("ping ", "ping"),
        ("find title Intro", "find|title|Intro"),
        ("find \"title\" \"Intro\"", "find|title|Intro"),
        ("find\ttitle\u{B}Intro", "find|title|Intro"),
        ("find   title    \"Intro\"   ", "find|title|Intro"),
        ("find\u{1}title\u{C}\u{1F}Intro", "find|title|Intro"),
        (#"find "ti\tle" "\I\n\t\r\o""#, "find|title|Intro"),
        (#"find title "Say \"Hello\"""#, #"find|title|Say "Hello""#),
        (#"find title "Back\\slash""#, #"find|title|Back\slash"#),
        (#"find title Back\slash"#, #"find|title|Back\slash"#),
        (#"find title \"#, #"find|title|\"#),
        (#"find title "Mixed ' and \" and \\""#, #"find|title|Mixed ' and " and \"#),
        ("lsinfo \"\"", "lsinfo|"),
        ("a \"\" \"\"", "a||"),
        ("add \"a b\tc\"", "add|a b\tc"),
        ("ping \u{7F}", "ping|\u{7F}"),
        ("find title é", "find|title|é"),

        ("find title 'Intro'", "[5] Invalid unquoted character"),
        ("find title Don't", "[5] Invalid unquoted character"),
        ("find title x\"Intro\"", "[5] Invalid unquoted character"),
        ("find title \"Intro\"x", "[5] Space expected after closing '\"'"),
        ("find title \"Intro\"\"x\"", "[5] Space expected after closing '\"'"),
        ("find title \"Intro", "[5] Missing closing '\"'"),
        (#"find title "Intro\""#, "[5] Missing closing '\"'"),
        (#"find title "Intro\"#, "[5] Missing closing '\"'"),
        ("find title \"", "[5] Missing closing '\"'"),
        (#"find title "\"#, "[5] Missing closing '\"'"),
        ("nosuchcommand \"unterminated", "[5] Missing closing '\"'"),
        ("play a\"b", "[5] Invalid unquoted character"),

        ("foo-bar", "[5] Invalid word character close"),
        ("ping\"x\"", "[5] Invalid word character close"),
        ("sta.tus", "[5] Invalid word character close"),
        ("pingé", "[5] Invalid word character close"),
        ("b\"", "[5] Invalid word character close"),
        ("", "[5] Letter expected close"),
        ("1x", "[5] Letter expected close"),
        ("_x y", "[5] Letter expected close"),
    ]

    @Test func lines() {
        for row in Self.rows { #expect(tokens(bytes(row.line)) == row.tokens, "\(row.line.debugDescription)") }
    }

    @Test func argumentsUpToTheMaximum() {
        let line = bytes("tagtypes" + String(repeating: " x", count: Tokenizer.maximumArgumentCount))
        #expect(tokens(line).split(separator: "|").count == Tokenizer.maximumArgumentCount + 1)
        #expect(tokens(line + bytes(" \"y\"")) == "[2] Too many arguments")
    }

    @Test func invalidUTF8IsData() throws {
        let request = try Tokenizer.parse(bytes("find title ") + [0xFF, 0xC3])
        #expect(request.arguments[1] == [0xFF, 0xC3])
    }

    @Test func argumentsWithoutALine() {
        let arguments = Arguments(["a", "", "bc"])
        #expect(arguments.map { text($0) } == ["a", "", "bc"])
        #expect(arguments.droppingFirst(1).map { text($0) } == ["", "bc"])
        #expect(arguments.droppingFirst(5).isEmpty)
        #expect(arguments.spells("bc", at: 2))
        #expect(!arguments.spells("Bc", at: 2))
        #expect(arguments.spellsIgnoringCase("BC", at: 2))
        #expect(arguments.text(0) == "a")
    }
}
