import MPDProtocol
import Support
import Testing

@Suite struct FilterValueTests {
    private func filter(_ expression: String) -> String {
        outcome { () throws(ACK) -> String in
            let parsed = try FilterParser.parse(Arguments([expression]), foldsCase: false)
            return text(parsed.filter.expression)
        }
    }

    /// Seconds since 1970, or the complaint.
    private static let times: [(text: String, outcome: String)] = [
        ("2020-01-31T12:00:00Z", "1580472000"), ("2020-01-31T12:00:00", "1580472000"),
        ("20200131T120000Z", "1580472000"),
        ("2020-01-31T12:00Z", "1580472000"), ("2020-01-31T12Z", "1580472000"), ("2020-01-31T1200", "1580472000"),
        ("2020-01-31", "1580428800"), ("20200131", "1580428800"), ("2020-1-31", "1580428800"),
        ("2020-01", "1577836800"),
        ("2000-02-29", "951782400"), ("1969-12-31T23:59:59Z", "-1"), ("0000-01-01", "-62167219200"),
        ("2020-01-31T14:00:00+02:00", "1580472000"), ("2020-01-31T14:00:00+0200", "1580472000"),
        ("2020-01-31T14:00:00+02", "1580472000"), ("2020-01-31T10:30:00-01:30", "1580472000"),
        ("2020-01-31T23:59:61Z", "1580515201"), ("2021-02-30", "1614643200"), ("  2020-01-31", "1580428800"),
        // Unix times, as far as they are no dates.
        ("0", "0"), ("1", "1"), ("2020", "2020"), ("202001", "202001"), ("1577836800", "1577836800"),
        ("4102444800", "4102444800"), ("-1", "-1"), (" 5", "5"), ("2020115", "1604534400"),
        ("99999999999999999999999", "-1"),

        ("", "[2] Failed to parse date"), ("x", "[2] Failed to parse date"), ("2020-13-01", "[2] Failed to parse date"),
        ("2020-00-01", "[2] Failed to parse date"), ("2020-01-32", "[2] Failed to parse date"),
        ("2020-01-01T", "[2] Failed to parse time of day"), ("2020-01-01T25:00", "[2] Failed to parse time of day"),
        ("2020-01-01T12:", "[2] Failed to parse time of day"), ("2020-01-01T12:61", "[2] Garbage at end of time stamp"),
        ("2020-01-01T12:00:00x", "[2] Garbage at end of time stamp"),
        ("2020-01-01 12:00", "[2] Garbage at end of time stamp"),
        ("2020-01-01T12:00:00+14:00", "[2] Time offset hours out of range"),
        ("2020-01-01T12:00:00+12:60", "[2] Time offset minutes out of range"),
        ("2020-01-01T12:00:00+1", "[2] Failed to parse time zone offset"),
        ("2020-01-01T12:00:00+", "[2] Failed to parse time zone offset"),
        ("2020-01-01T12:00:00+12:5", "[2] Failed to parse time zone offset"),
    ]

    @Test func times() {
        for row in Self.times {
            let actual = outcome { () throws(ACK) -> String in
                let arguments = Arguments(["modified-since", row.text])
                guard case .modifiedSince(let seconds) = try FilterParser.parse(arguments, foldsCase: false).filter
                else {
                    return "no time"
                }
                return "\(seconds)"
            }
            #expect(actual == row.outcome, "\(row.text.debugDescription)")
        }
    }

    @Test func timesComeBack() throws {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 7))
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -70_000_000_000...260_000_000_000, using: &random)
            let expression = Filter.addedSince(seconds).expression
            #expect(try FilterParser.parse(Arguments([expression]), foldsCase: false).filter == .addedSince(seconds))
        }
    }

    @Test func audioFormats() {
        for (mask, expected) in [
            ("== '44100:16:2'", #"== "44100:16:2""#), ("== '96000:f:8'", #"== "96000:f:8""#),
            ("=='48000:24_3:1'", #"== "48000:24:1""#), ("== '44100:dsd:2'", #"== "dsd8:2""#),
            ("== 'dsd64:2'", #"== "dsd64:2""#), ("=~ 'dsd64:*'", #"=~ "dsd64:*""#),
            ("=~ '48000:24:*'", #"=~ "48000:24:*""#), ("=~ '*:*:*'", #"=~ "*:*:*""#),
            ("=~ '44100:16:2'", #"== "44100:16:2""#), ("=~ '*:dsd:2'", #"=~ "*:dsd:2""#),
        ] {
            #expect(filter("(AudioFormat \(mask))") == "(AudioFormat \(expected))", "\(mask)")
        }
    }

    @Test func audioFormatErrors() {
        for (mask, expected) in [
            ("== ''", "Failed to parse the sample rate"), ("== 'x'", "Failed to parse the sample rate"),
            ("== '*:16:2'", "Failed to parse the sample rate"), ("== '+1:16:2'", "Failed to parse the sample rate"),
            ("== '99999999999:16:2'", "Failed to parse the sample rate"),
            ("== '0:16:2'", "Invalid sample rate: 0"), ("== '1073741824:16:2'", "Invalid sample rate: 1073741824"),
            ("== '44100'", "Sample format missing"), ("=~ '*'", "Sample format missing"),
            ("== '44100:17:2'", "Invalid sample format: \"17\""), ("== '44100:*:2'", "Invalid sample format: \"*\""),
            ("== '44100:16'", "Channel count missing"), ("== '44100:16:'", "Failed to parse the channel count"),
            ("== '44100:16:x'", "Failed to parse the channel count"),
            ("== '44100:16:*'", "Failed to parse the channel count"),
            ("== '44100:16:2:1'", "Failed to parse the channel count"), ("== '44100:16:0'", "Invalid channel count: 0"),
            ("== '44100:16:9'", "Invalid channel count: 9"), ("== '44100:16:256'", "Failed to parse the channel count"),
            ("== 'dsd64'", "Channel count missing"), ("== 'dsdx:2'", "Failed to parse the DSD rate"),
            ("== 'dsd1:2'", "Bad DSD rate"), ("== 'dsd70000:2'", "Failed to parse the DSD rate"),
        ] {
            #expect(filter("(AudioFormat \(mask))") == "[2] \(expected)", "\(mask)")
        }
    }

    @Test func safePaths() {
        for path in ["a", "a/b", "...", "a/.b", "..a", "a b"] { #expect(bytes(path).isSafeRelativePath, "\(path)") }
        for path in ["", "/", "a/", "/a", "a//b", ".", "..", "a/.", "../a", "a/../b"] {
            #expect(!bytes(path).isSafeRelativePath, "\(path)")
        }
    }

    @Test func tagNames() {
        #expect(Tag.allCases.count == 36)
        for tag in Tag.allCases {
            #expect(Tag(name: bytes(tag.name.lowercased())) == tag)
            #expect(TagMask.all.contains(tag))
            #expect(TagMask.standard.contains(tag) == (tag != .comment))
        }
        #expect(Tag(name: bytes("Artis")) == nil)
        #expect(Tag(name: []) == nil)
    }
}
