import MPDProtocol
import Testing

/// The text that a reply has after some calls.
private func written(_ body: (inout Reply) -> Void) -> String {
    var reply = Reply()
    body(&reply)
    return text(reply.bytes)
}

private func expect(
    _ expected: String,
    location: SourceLocation = #_sourceLocation,
    _ body: (inout Reply) -> Void
) {
    let actual = written(body)
    #expect(actual == expected, sourceLocation: location)
}

@Suite struct ReplyTests {
    @Test func pairs() {
        expect("volume: 100\n") { $0.pair("volume", 100) }
        expect("volume: -1\n") { $0.pair("volume", -1) }
        expect("x: -9223372036854775808\n") { $0.pair("x", Int64.min) }
        expect("x: 18446744073709551615\n") { $0.pair("x", UInt64.max) }
        expect("x: 10\n") { $0.pair("x", UInt8(10)) }
        expect("state: play\n") { $0.pair("state", "play") }
        expect("Artist: \n") { $0.pair("Artist", "") }
        expect("Artist: é\n") { $0.pair("Artist", bytes("é")) }
        expect("Artist: bc\n") { $0.pair("Artist", bytes("abc")[1...]) }
        expect("repeat: 1\n") { $0.pair("repeat", flag: true) }
        expect("repeat: 0\n") { $0.pair("repeat", flag: false) }
    }

    @Test func fixedDecimals() {
        for (milliseconds, expected) in [
            (0, "0.000"), (1, "0.001"), (50, "0.050"), (999, "0.999"), (1000, "1.000"), (214_567, "214.567"),
            (-1500, "-1.500"), (Int64.max, "9223372036854775.807"), (Int64.min, "-9223372036854775.808"),
        ] as [(Int64, String)] {
            expect("duration: \(expected)\n") { $0.pair("duration", milliseconds: milliseconds) }
        }
    }

    @Test func shortestFloats() {
        for (value, expected) in [
            (0, "0"), (-17, "-17"), (-3.5, "-3.5"), (0.1, "0.1"), (.nan, "inf"), (-0.0, "0"), (1e-5, "1e-05"),
            (0.0001, "0.0001"), (0.0125, "0.0125"), (123_456.7, "123456.7"), (1_234_567_936, "1234568000"),
            (1e14, "100000000000000"),
            (1e15, "1000000000000000"), (1e16, "1e+16"), (-3.4e38, "-3.4e+38"), (1.5e-20, "1.5e-20"), (100, "100"),
            (.infinity, "inf"),
        ]
            as [(Float, String)]
        {
            expect("mixrampdb: \(expected)\n") { $0.pair("mixrampdb", shortest: value) }
        }
        expect("x: 0.10000000149011612\n") { $0.pair("x", shortest: Double(Float(0.1))) }
    }

    @Test func ends() {
        expect("OK\n") { $0.ok() }
        expect("list_OK\n") { $0.listOK() }
        expect("OK MPD 0.24.0\n") { $0.greeting(version: "0.24.0") }
        expect("changed: database\nchanged: mixer\nOK\n") { $0.changed([.mixer, .database]) }
        expect("OK\n") { $0.changed([]) }
        expect("binary: 3\na\nb\n") { $0.binary(bytes("a\nb")) }
        expect("binary: 0\n\n") { $0.binary([]) }
    }

    @Test func failures() {
        expect("ACK [5@0] {} unknown command \"x\"\n") { $0.ack(.unknownCommand("x"), command: "") }
        expect("ACK [4@3] {play} you don't have permission for \"play\"\n") {
            $0.ack(.noPermission("play"), index: 3, command: "play")
        }
        expect("ACK [2@0] {play} Integer expected: a b\tc\n") {
            $0.ack(ACK(.argument, "Integer expected", quoting: bytes("a\nb\tc")), command: "play")
        }
    }

    @Test func namesInFailuresAreEscaped() {
        for (name, expected) in [
            ("a b é", "a b é"), ("a\"b\\c'd", #"a\"b\\c'd"#), ("a\tb\rc\nd", #"a\tb\rc\nd"#),
            ("\u{1}\u{7F}\u{85}", #"\x01\x7f\x85"#),
            ("\u{200B}\u{A0}\u{E0001}", #"\u200b\xa0\U000e0001"#),
        ] {
            #expect(text(ACK(.argument, "bad", naming: name.utf8).message) == "bad \"\(expected)\"")
        }
        #expect(text(ACK(.argument, "bad", naming: [0x61, 0xC3, 0x28, 0xFF]).message) == #"bad "a\xc3(\xff""#)
    }

    @Test("blanks in what MPD throws are one space each, and none at the end")
    func blanksInFailures() {
        for (argument, expected) in [
            ("  x", ": x"), ("2  3  ", ": 2 3"), ("a\tb \r", ": a b"), ("\u{1}2\u{1F}\u{7F}", ": 2 \u{7F}"),
            ("  ", ":"),
            (String(repeating: " ", count: 300) + "y", ":"),
        ] {
            #expect(throws: ACK(.argument, "Integer expected" + expected)) { try Arguments([argument]).integer(0) }
        }
        #expect(throws: ACK(.argument, "Unknown filter operator: x y)")) {
            try FilterParser.parse(Arguments(["(artist  x   y)"]), clauses: [], foldsCase: false)
        }
        #expect(throws: ACK(.argument, "Invalid sample format: \"b c\"")) {
            try FilterParser.parse(Arguments(["(AudioFormat == '44100:b   c:2')"]), clauses: [], foldsCase: false)
        }
        // These it writes itself.
        #expect(throws: ACK(.argument, "Unknown tag type: a  b ")) { try Arguments(["a  b "]).tag(0) }
        #expect(text(ACK.unknownCommand("a  b").message) == "unknown command \"a  b\"")
    }

    @Test func argumentsInFailuresAreCutOff() {
        let long = String(repeating: "x", count: 300)
        #expect(throws: ACK(.argument, "Integer expected: " + String(repeating: "x", count: 237))) {
            try Arguments([long]).integer(0)
        }
    }

    @Test func argumentCounts() {
        func complaint(_ count: Int, _ allowed: ClosedRange<Int>) -> String? {
            ACK.argumentCount(count, allowed: allowed, command: "x").map { text($0.message) }
        }
        #expect(complaint(1, 1...1) == nil)
        #expect(complaint(9, 0...Int.max) == nil)
        #expect(complaint(0, 1...1) == "wrong number of arguments for \"x\"")
        #expect(complaint(2, 1...1) == "wrong number of arguments for \"x\"")
        #expect(complaint(0, 1...2) == "too few arguments for \"x\"")
        #expect(complaint(3, 1...2) == "too many arguments for \"x\"")
        #expect(complaint(0, 1...Int.max) == "too few arguments for \"x\"")
    }

    @Test func controlCharactersBecomeSpaces() {
        expect("Title: a b c d e f\u{7F}\n") { $0.pair("Title", untrusted: "a\nb\rc\td\u{0}e\u{1F}f\u{7F}") }
        expect("Title: a b\n") { $0.pair("Title", untrusted: bytes("a\nb")) }
        expect("Title: \n") { $0.pair("Title", untrusted: "") }
    }

    @Test func noLineReachesTheLimitOfClients() {
        for (unit, count) in [("x", 5000), ("é", 3000), ("€", 2000), ("😀", 1500)] {
            for padding in 0..<4 {
                let value = String(repeating: "a", count: padding) + String(repeating: unit, count: count)
                let line = written { $0.pair("Title", untrusted: value) }
                #expect(line.utf8.count <= 4095)
                #expect(line.utf8.count >= 4092)
                // Cut between characters.
                #expect(!line.unicodeScalars.contains("\u{FFFD}"))
                #expect(line.hasSuffix(unit + "\n"))
            }
        }
        let fitting = String(repeating: "x", count: 4094 - "Title: ".utf8.count)
        expect("Title: \(fitting)\n") { $0.pair("Title", untrusted: fitting) }
    }

    @Test func brokenUTF8IsCutAnyway() {
        let value = [UInt8](repeating: 0x80, count: 5000)
        var reply = Reply()
        reply.pair("Title", untrusted: value)
        #expect(reply.bytes.count <= 4095)
        #expect(reply.bytes.last == UInt8(ascii: "\n"))
    }

    @Test func timestamps() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"), (1_580_472_000, "2020-01-31T12:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"), (4_102_444_800, "2100-01-01T00:00:00Z"),
            (Int64.max, "9999-12-31T23:59:59Z"), (Int64.min, "0000-01-01T00:00:00Z"),
        ] as [(Int64, String)] {
            var output: [UInt8] = []
            output.appendTimestamp(unixSeconds: seconds)
            #expect(text(output) == expected)
        }
    }
}
