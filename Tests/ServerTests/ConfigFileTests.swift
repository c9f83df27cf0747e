import Testing

@testable import ShelvMPD

/// The syntax of the configuration file.
@Suite struct ConfigFileTests {
    private func parse(_ text: String, others: [String: String] = [:]) -> ConfigFile {
        ConfigFile.parse("/etc/s.conf") { path throws(SystemError) in
            path == "/etc/s.conf" ? Array(text.utf8) : others[path].map { Array($0.utf8) }
        }
    }

    private func options(_ text: String) -> [String] {
        parse(text).statements.map { statement in
            switch statement {
            case .option(let option): "\(option.name)=\(option.value)"
            case .block(let name, let options, _):
                "\(name){\(options.map { "\($0.name)=\($0.value)" }.joined(separator: ","))}"
            }
        }
    }

    @Test func valuesAreWordsOrQuoted() {
        #expect(options("port 6600") == ["port=6600"])
        #expect(options("  port\t\"6600\"  # comment") == ["port=6600"])
        #expect(options("port \"6600\"\r\n") == ["port=6600"])
        #expect(options(#"name "a \"b\" \\ # c""#) == [#"name=a "b" \ # c"#])
        #expect(options("name \"\"") == ["name="])
        #expect(options("name \"e\u{301}\"") == ["name=e\u{301}"])
        // A combining mark behind the opening quote is one character with it.
        #expect(options("name \"\u{301}x\"") == ["name=\u{301}x"])
    }

    @Test func commentsAndEmptyLinesSayNothing() {
        #expect(options("# port 1\n\n   \n#\n\t# x {\n}") == [])
        #expect(parse("# port 1\n\n").problems.isEmpty)
    }

    @Test func blocksEndOnTheirOwnLine() {
        #expect(options("b {\n  a 1\n # c\n  d \"2 3\" # e\n}\nport 1") == ["b{a=1,d=2 3}", "port=1"])
        #expect(options("b{ # comment\n}  # end") == ["b{}"])
    }

    @Test func eachMistakeNamesItsLine() {
        let cases: [(text: String, problem: String)] = [
            ("\nport", "/etc/s.conf:2: port has no value; write port \"…\""),
            ("port # 1", "/etc/s.conf:1: port has no value; write port \"…\""),
            (
                "port 1 2",
                "/etc/s.conf:1: something follows after the value of port; one option a line, values with blanks in double quotes"
            ),
            ("port \"1", "/etc/s.conf:1: the value of port has no closing double quote"),
            ("port \"1\\", "/etc/s.conf:1: the value of port has no closing double quote"),
            ("\"port\" 1", "/etc/s.conf:1: the line does not begin with the name of an option"),
            ("é 1", "/etc/s.conf:1: the line does not begin with the name of an option"),
            ("porté 1", "/etc/s.conf:1: the line does not begin with the name of an option"),
            ("}", "/etc/s.conf:1: } without a block"),
            ("a {\nb 1\n", "/etc/s.conf:1: the block a has no } on a line of its own"),
            (
                "a { b 1 }",
                "/etc/s.conf:1: something follows after {; one option a line, values with blanks in double quotes"
            ),
            ("a {\nb {\n}", "/etc/s.conf:2: b { inside of the block a, which has no } yet"),
            (
                "a {\n} x",
                "/etc/s.conf:2: something follows after }; one option a line, values with blanks in double quotes"
            ),
        ]
        for (text, problem) in cases {
            #expect(parse(text).problems.first?.description == problem, "\(text)")
        }
    }

    @Test func bytesThatAreNoTextAreAMistake() {
        for bytes in [[UInt8(ascii: "a"), 0x20, 0xFF], [UInt8(ascii: "a"), 0x20, 0]] {
            let file = ConfigFile.parse("f") { _ throws(SystemError) in bytes }
            #expect(file.problems.map(\.description) == ["f:1: the line is not valid UTF-8"])
        }
    }

    @Test func includesAreReadInPlace() {
        let file = parse(
            "a 1\ninclude \"sub/x.conf\"\ninclude_optional \"/none\"\nb 2",
            others: ["/etc/sub/x.conf": "c 3"]
        )
        #expect(file.problems.isEmpty)
        #expect(
            file.statements == [
                .option(.init(name: "a", value: "1", place: Place(file: "/etc/s.conf", line: 1))),
                .option(.init(name: "c", value: "3", place: Place(file: "/etc/sub/x.conf", line: 1))),
                .option(.init(name: "b", value: "2", place: Place(file: "/etc/s.conf", line: 4))),
            ]
        )
        #expect(parse("include none").problems.first?.description == "/etc/s.conf:1: there is no file /etc/none")
        #expect(parse("include s.conf").problems.first?.message == "too many files include one another")
    }

    @Test func everyBeginningOfAFileIsReadWithoutATrap() {
        let text = Array("include \"x\"\nb {\n\"a\\\" é\n}\nport \"1\\\\\" # c\n".utf8)
        for end in 0...text.count {
            for removed in [nil, end / 2] {
                var bytes = Array(text[..<end])
                if let removed, removed < bytes.count { bytes.remove(at: removed) }
                _ = ConfigFile.parse("f") { path throws(SystemError) in path == "f" ? bytes : nil }
            }
        }
    }
}
