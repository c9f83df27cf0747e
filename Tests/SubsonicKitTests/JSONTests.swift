import SubsonicKit
import Testing

/// Reading documents: what a strict reader takes, and what servers send beside it.
struct JSONTests {
    private func parse(_ text: String) throws(JSONError) -> JSON { try JSON.parse(Array(text.utf8)) }

    @Test func readsEveryKindOfValue() throws {
        let json = try parse(#"{"id":"a","year":1999,"isDir":true,"path":null,"genres":[1,2],"child":{}}"#)
        #expect(json.kind == .object)
        #expect(json[.id]?.text == "a")
        #expect(json[.year]?.integer == 1999)
        #expect(json[.isDir]?.boolean == true)
        #expect(json[.path] == nil, "null counts as absent")
        #expect(json[.genres]?.elements.map { $0.integer } == [1, 2])
        #expect(json[.child]?.kind == .object)
        #expect(json.members.map(\.name) == ["id", "year", "isDir", "path", "genres", "child"])
    }

    @Test func skipsUnknownMembersWithTheirContent() throws {
        let json = try parse(#"{"x":{"id":"inner","y":[[{"id":1}]]},"id":"outer","z":[]}"#)
        #expect(json.fields.map(\.field) == [.id])
        #expect(json[.id]?.text == "outer")
        #expect(json.members.map(\.name) == ["x", "id", "z"])
    }

    @Test(arguments: [
        (#""a\"b\\c\/d\n\t\r\b\f""#, "a\"b\\c/d\n\t\r\u{8}\u{c}"),
        (#""\u00e9\u4f60\ud83d\ude00""#, "é你😀"),
        (#""\ud83d""#, "\u{FFFD}"),
        (#""\ude00x""#, "\u{FFFD}x"),
        (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        (#""\ud83d\n""#, "\u{FFFD}\n"),
        (#""\u12""#, "u12"),
        (#""\q""#, "q"),
        (#""\\""#, "\\"),
        (#""""#, ""),
        (#""nul\u0000inside""#, "nul\0inside"),
    ])
    func unescapes(source: String, expected: String) throws {
        #expect(try parse(source).text == expected)
        #expect(try parse("{\"id\" : \(source) }")[.id]?.text == expected)
    }

    @Test func mixesTextAndNumbers() throws {
        let json = try parse(
            #"[1999, "2001", " 7 ", 4.9, "4.9", -0.5, 1e3, 9007199254740993, 9223372036854775807, 9223372036854775808, 1e400, true]"#
        )
        let values = json.elements.map { $0 }
        #expect(
            values.map(\.integer) == [
                1999, 2001, 7, 4, 4, 0, 1000, 9_007_199_254_740_993, .max, nil, nil, 1,
            ]
        )
        #expect(values[0].text == "1999")
        #expect(values[8].text == "9223372036854775807")
        #expect(values[9].text == "9223372036854775808", "an id that is a long number keeps its digits")
        #expect(values[3].double == 4.9)
        #expect(values[10].double == nil)
        #expect(values[11].text == "true")
    }

    @Test(
        arguments: [
            ("true", true), ("false", false), (#""true""#, true), (#""False""#, false), ("1", true), ("0", false),
            (#""yes""#, true), (#""maybe""#, nil), ("null", nil), ("{}", nil),
        ] as [(String, Bool?)]
    )
    func readsBooleans(source: String, expected: Bool?) throws {
        #expect(try parse(source).boolean == expected)
    }

    @Test(arguments: [
        ("[1,2]", 2), (#"{"id":1}"#, 1), ("{}", 0), ("null", 0), ("[]", 0), (#""one""#, 1), ("[[],[]]", 2),
    ])
    func countsElementsLeniently(source: String, count: Int) throws {
        #expect(Array(try parse(source).elements).count == count)
    }

    @Test func repairsWhatServersBreak() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(try JSON.parse(mark + Array(#"{"id":"a"}"#.utf8))[.id]?.text == "a")
        let latin: [UInt8] = Array(#"{"title":"caf"#.utf8) + [0xE9] + Array(#"","id":"b"}"#.utf8)
        let repaired = try JSON.parse(latin)
        #expect(repaired.wasRepaired)
        #expect(repaired[.title]?.text == "caf\u{FFFD}")
        #expect(try parse("{\"title\":\"a\nb\u{1}c\"}")[.title]?.text == "a\nb\u{1}c")
        #expect(try parse("{\"title\":\"a\\\nb\"}")[.title]?.text == "a\nb")
        #expect(try parse("{\"id\":\"a\"}<br />\n<b>Warning</b>: {\"id\":\"c\"}")[.id]?.text == "a")
        #expect(try parse("{\"id\":\"a\"}\0\0\0")[.id]?.text == "a")
        #expect(try parse(#"{"trackGain":NaN,"id":"a"}"#)[.id]?.text == "a")
    }

    @Test(arguments: [
        "", "   ", "{", "}", "[1,2", #"{"id":"a""#, #"{"id":"a",}"#, #"{"id" "a"}"#, #"{"a":1 "b":2}"#, "[1 2]",
        "[1,,2]",
        "tru", "<html>", #"{"id":"a"#, "{1:2}", "[}", "nul", "01x", "-", "1.", #"{"a"}"#, #"["a":1]"#, "\u{FEFF}",
    ])
    func refusesWhatIsNoDocument(source: String) {
        #expect(throws: JSONError.self) { try parse(source) }
    }

    @Test func limitsDepth() throws {
        let deep = { (n: Int) in String(repeating: "[", count: n) + String(repeating: "]", count: n) }
        #expect(try parse(deep(128)).kind == .array)
        #expect(throws: JSONError.depth) { try parse(deep(129)) }
        #expect(throws: JSONError.depth) { try parse(deep(100_000)) }
    }

    @Test func everyPrefixOfADocumentFailsOrReads() {
        let document = Array(
            #"{"subsonic-response":{"status":"ok","a":[1,2.5e3,null,true,"x\u00e9\ud83d\ude00"]}}"#.utf8
        )
        for length in 0..<document.count {
            #expect(throws: JSONError.self) { try JSON.parse(Array(document[..<length])) }
        }
        for position in document.indices {
            for byte: UInt8 in [0, 0x22, 0x5C, 0x7B, 0xFF, 0x2C] {
                var damaged = document
                damaged[position] = byte
                if let json = try? JSON.parse(damaged) { visit(json) }
            }
        }
    }

    /// Touches every value in every way.
    private func visit(_ json: JSON) {
        _ = (json.text, json.integer, json.double, json.boolean, json.kind)
        for (_, value) in json.members { visit(value) }
        if json.kind == .array { for value in json.elements { visit(value) } }
    }

    @Test func readsTheEnvelope() throws {
        let envelope = try Envelope(
            Array(
                #"{"subsonic-response":{"error":{"code":"40","message":"no"},"status":"failed","version":"1.16.1","type":"x"}}"#
                    .utf8
            )
        )
        #expect(envelope.failure == ServerFailure(code: 40, message: "no"))
        #expect(envelope.server == ServerInfo(version: "1.16.1", type: "x"))
    }

    @Test(arguments: [
        (#"{"status":"failed"}"#, 0),
        (#"{"status":"failed","error":{"error":[{"code":70,"message":"a"},{"code":0}]}}"#, 70),
        (#"{"status":"failed","error":null}"#, 0), (#"{"status":"failed","error":[]}"#, 0),
        (#"{"error":{"code":50}}"#, 50), (#"{"status":"failed","error":{"error":[]}}"#, 0),
    ])
    func readsFailures(body: String, code: Int) throws {
        let envelope = try Envelope(Array("{\"subsonic-response\":\(body)}".utf8))
        #expect(envelope.failure?.code == code)
        #expect(envelope.failure?.message.isEmpty == false)
    }

    @Test(arguments: ["{}", "[]", "1", #"{"subsonic-response":{}}"#, #"{"detail":"throttled"}"#])
    func refusesWhatIsNoAnswer(body: String) {
        #expect(throws: JSONError.self) { try Envelope(Array(body.utf8)) }
    }
}
