import MPDProtocol
import Testing

/// Checks what a typed access makes of several arguments.
private func check<Value>(
    _ rows: [(argument: String, outcome: String)],
    _ access: (Arguments) throws(ACK) -> Value,
    _ location: SourceLocation = #_sourceLocation
) {
    for row in rows {
        let actual = outcome { () throws(ACK) -> Value in try access(Arguments([row.argument])) }
        #expect(actual == row.outcome, "\(row.argument.debugDescription)", sourceLocation: location)
    }
}

@Suite struct NumberArgumentTests {
    @Test func integers() {
        check([
            ("0", "0"), ("3", "3"), ("-3", "-3"), ("+3", "3"), ("007", "7"), (" 2", "2"), ("\t\n\u{B}\u{C}\r 2", "2"),
            ("2147483647", "2147483647"), ("-2147483648", "-2147483648"),
            ("2147483648", "[2] Number too large: 2147483648"),
            ("-2147483649", "[2] Number too large: -2147483649"),
            ("99999999999999999999999", "[2] Number too large: 99999999999999999999999"),
            ("-99999999999999999999999", "[2] Number too large: -99999999999999999999999"),
            ("", "[2] Integer expected:"), ("x", "[2] Integer expected: x"), ("1x", "[2] Integer expected: 1x"),
            ("1 ", "[2] Integer expected: 1"), ("1.5", "[2] Integer expected: 1.5"),
            ("-", "[2] Integer expected: -"), ("--1", "[2] Integer expected: --1"),
            ("+-1", "[2] Integer expected: +-1"), ("0x10", "[2] Integer expected: 0x10"),
            ("- 1", "[2] Integer expected: - 1"), ("\u{1}1", "[2] Integer expected: 1"),
        ]) { arguments throws(ACK) in try arguments.integer(0) }
    }

    @Test func integersOfARange() {
        check([
            ("-100", "-100"), ("100", "100"), ("101", "[2] Number too large: 101"),
            ("-101", "[2] Number too large: -101"), ("x", "[2] Integer expected: x"),
        ]) { arguments throws(ACK) in try arguments.integer(0, in: -100...100) }
    }

    @Test func unsignedNumbers() {
        check([
            ("0", "0"), ("-0", "0"), ("+1", "1"), ("4294967295", "4294967295"),
            ("4294967296", "[2] Number too large: 4294967296"),
            ("-1", "[2] Number too large: -1"), ("x", "[2] Integer expected: x"),
            // Modulo 2^64, as C does it.
            ("-18446744073709551615", "1"),
            ("18446744073709551616", "[2] Number too large: 18446744073709551616"),
        ]) { arguments throws(ACK) in try arguments.unsigned(0) }
        check([
            ("100", "100"), ("101", "[2] Number too large: 101"), ("-1", "[2] Number too large: -1"),
        ]) { arguments throws(ACK) in try arguments.unsigned(0, maximum: 100) }
    }

    @Test func versions() {
        check([
            ("0", "0"), ("5", "5"), ("4294967295", "4294967295"), ("4294967296", "0"), ("-1", "4294967295"),
            ("99999999999999999999", "4294967295"), ("-4294967296", "0"),
            ("x", "[2] Integer expected: x"), ("1.0", "[2] Integer expected: 1.0"),
        ]) { arguments throws(ACK) in try arguments.version(0) }
    }

    @Test func booleans() {
        check([
            ("0", "false"), ("1", "true"), ("01", "true"), ("+1", "true"), ("-0", "false"), (" 1", "true"),
            ("2", "[2] Boolean (0/1) expected: 2"), ("-1", "[2] Boolean (0/1) expected: -1"),
            ("on", "[2] Boolean (0/1) expected: on"), ("", "[2] Boolean (0/1) expected:"),
            ("18446744073709551617", "[2] Boolean (0/1) expected: 18446744073709551617"),
        ]) { arguments throws(ACK) in try arguments.boolean(0) }
    }

    @Test func floats() {
        check([
            ("0", "0.0"), ("1.5", "1.5"), (".5", "0.5"), ("5.", "5.0"), ("-.5", "-0.5"), ("+1", "1.0"),
            ("1e1", "10.0"), ("1E+2", "100.0"), ("1.e1", "10.0"), (".5e-1", "0.05"), (" 5", "5.0"),
            ("007.250", "7.25"), ("1e400", "inf"), ("-1e400", "-inf"), ("1e-400", "0.0"), ("0e999999999999", "0.0"),
            ("inf", "inf"), ("-Infinity", "-inf"), ("INF", "inf"), ("nan", "nan"), ("NaN", "nan"), ("-nan", "nan"),
            ("", "[2] Float expected:"), ("x", "[2] Float expected: x"), (".", "[2] Float expected: ."),
            ("1e", "[2] Float expected: 1e"), ("1e+", "[2] Float expected: 1e+"), ("e1", "[2] Float expected: e1"),
            ("5 ", "[2] Float expected: 5"), ("1,5", "[2] Float expected: 1,5"), ("1_0", "[2] Float expected: 1_0"),
            ("0x10", "16.0"), ("-0X1.8", "-1.5"), ("0x.8", "0.5"), ("0xAp-1", "5.0"), ("0x1p+2", "4.0"),
            ("0x1p99999", "inf"),
            ("0x0p-99999999999999999999", "0.0"), ("nan(1)", "nan"), ("nan()", "nan"),
            ("nan(", "[2] Float expected: nan("), ("nan(-)", "[2] Float expected: nan(-)"),
            ("0x", "[2] Float expected: 0x"), ("0x.", "[2] Float expected: 0x."), ("0xg", "[2] Float expected: 0xg"),
            ("0x1p", "[2] Float expected: 0x1p"), ("0x1p 1", "[2] Float expected: 0x1p 1"),
            ("0x1.1.1", "[2] Float expected: 0x1.1.1"),
            ("1.2.3", "[2] Float expected: 1.2.3"),
            ("--1", "[2] Float expected: --1"), ("infin", "[2] Float expected: infin"),
        ]) { arguments throws(ACK) in try arguments.float(0) }
        check([(String(repeating: "9", count: 8000), "inf")]) { arguments throws(ACK) in try arguments.float(0) }
    }

    @Test func songTimes() {
        check([
            ("0", "0"), ("1.5", "1500"), ("0.0004", "0"), ("0.0005", "1"), ("61.234", "61234"), ("-0", "0"),
            ("-1", "[2] Negative value not allowed: -1"), ("-inf", "[2] Negative value not allowed: -inf"),
            ("x", "[2] Float expected: x"), ("inf", "4294967295"), ("1e30", "4294967295"), ("nan", "0"),
        ]) { arguments throws(ACK) in try arguments.songTime(0) }
    }

    @Test func seekTargets() {
        check([
            ("5", "absolute(5000)"), ("+5", "relative(5000)"), ("-5", "relative(-5000)"), ("-0.5", "relative(-500)"),
            (" -5", "absolute(0)"), ("+1e99", "relative(4294967295)"), ("-inf", "relative(-4294967295)"),
            ("+", "[2] Float expected: +"), ("+-5", "[2] Float expected: +-5"), ("x", "[2] Float expected: x"),
        ]) { arguments throws(ACK) in try arguments.seekTarget(0) }
    }

    @Test func timeRanges() throws {
        let bad = "[2] Bad range"
        for (argument, expected) in [
            ("1:2", TimeRange(start: 1000, end: 2000)), ("1.5:", TimeRange(start: 1500, end: nil)),
            (":2", TimeRange(start: 0, end: 2000)), (":", .whole), ("0:0", .whole),
            ("3:0", TimeRange(start: 3000, end: nil)),
        ] {
            #expect(try Arguments([argument]).timeRange(0) == expected)
        }
        check([
            ("", bad), ("1", bad), ("2:1", bad), ("1:1", bad), ("-1:2", bad), ("1:-2", bad), ("x:1", bad), ("1:x", bad),
            ("1:2:3", bad),
        ]) { arguments throws(ACK) in try arguments.timeRange(0) }
    }

    @Test func words() {
        check([
            ("0", "off"), ("1", "on"), ("oneshot", "oneshot"),
            ("2", "[2] Unrecognized single mode, expected 0, 1, or oneshot"),
            ("ONESHOT", "[2] Unrecognized single mode, expected 0, 1, or oneshot"),
            ("01", "[2] Unrecognized single mode, expected 0, 1, or oneshot"),
        ]) { arguments throws(ACK) in try arguments.singleMode(0) }
        check([("1", "on"), ("", "[2] Unrecognized consume mode, expected 0, 1, or oneshot")]) {
            arguments throws(ACK) in try arguments.consumeMode(0)
        }
        check([("off", "off"), ("auto", "auto"), ("AUTO", "[2] Unrecognized replay gain mode")]) {
            arguments throws(ACK) in try arguments.replayGainMode(0)
        }
        check([
            ("create", "create"), ("append", "append"), ("replace", "replace"),
            ("x", "[2] Unrecognized save mode, expected one of 'create', 'append', 'replace'"),
        ]) { arguments throws(ACK) in try arguments.saveMode(0) }
        check([
            ("ARTIST", "artist"), ("musicbrainz_albumid", "musicBrainzAlbumID"), ("any", "[2] Unknown tag type: any"),
        ]) {
            arguments throws(ACK) in try arguments.tag(0)
        }
    }
}
