import MPDProtocol
import Testing

@Suite struct PositionArgumentTests {
    private static let ranges: [(argument: String, outcome: String)] = [
        ("3", "3..<4"), ("0:3", "0..<3"), ("2:", "2..."), ("5:5", "5..<5"), ("-1", "0..."), (" 2", "2..<3"),
        ("+1:+2", "1..<2"), ("1: 2", "1..<2"), ("2147483647", "2147483647..<2147483648"),
        ("", "[2] Integer or range expected:"), ("x", "[2] Integer or range expected: x"),
        (":3", "[2] Integer or range expected: :3"), (":", "[2] Integer or range expected: :"),
        ("1:x", "[2] Integer or range expected: 1:x"), ("1x", "[2] Integer or range expected: 1x"),
        ("1: ", "[2] Integer or range expected: 1:"), ("5:3:1", "[2] Integer or range expected: 5:3:1"),
        ("-5", "[2] Number is negative: -5"), ("-1:", "[2] Number is negative: -1:"),
        ("-1:3", "[2] Number is negative: -1:3"), ("1:-1", "[2] Number is negative: 1:-1"),
        ("-9999999999999999999999", "[2] Number is negative: -9999999999999999999999"),
        ("99999999999", "[2] Number too large: 99999999999"), ("0:2147483648", "[2] Number too large: 0:2147483648"),
        ("5:2", "[2] Malformed range: 5:2"),
    ]

    @Test func ranges() {
        for row in Self.ranges {
            let actual = outcome { () throws(ACK) -> String in
                let range = try Arguments([row.argument]).range(0)
                return "\(range.start)" + (range.end.map { "..<\($0)" } ?? "...")
            }
            #expect(actual == row.outcome, "\(row.argument.debugDescription)")
        }
    }

    @Test func clippingKeepsWhatExists() {
        #expect(PositionRange(start: 2, end: 5).clipped(to: 10) == 2..<5)
        #expect(PositionRange(start: 8, end: 50).clipped(to: 10) == 8..<10)
        #expect(PositionRange(start: 12, end: 13).clipped(to: 10) == 10..<10)
        #expect(PositionRange(start: 12, end: nil).clipped(to: 10) == 10..<10)
        #expect(PositionRange(start: 5, end: 2).clipped(to: 10) == 5..<5)
        #expect(PositionRange.everything.clipped(to: 0) == 0..<0)
    }

    @Test func theEndOfTheListIsAValidStart() throws {
        #expect(try PositionRange(start: 4, end: 5).checked(against: 4) == 4..<4)
        #expect(try PositionRange(start: 3, end: nil).checked(against: 4) == 3..<4)
        #expect(throws: argumentError("Bad song index")) {
            try PositionRange(start: 5, end: nil).checked(against: 4)
        }
    }

    /// The queue has ten songs, and the current one stands at `current`.
    private static let insertions: [(argument: String, current: Int?, outcome: String)] = [
        ("0", nil, "0"), ("10", nil, "10"), ("11", nil, "[2] Number too large: 11"),
        ("x", nil, "[2] Integer expected: x"),
        ("+0", 3, "4"), ("+6", 3, "10"), ("+7", 3, "[2] Number too large: 7"), ("+x", 3, "[2] Integer expected: x"),
        ("-0", 3, "3"), ("-3", 3, "0"), ("-4", 3, "[2] Number too large: 4"), ("-", 3, "[2] Integer expected:"),
        ("+0", nil, "[55] No current song"), ("-x", nil, "[55] No current song"), ("+0", 9, "10"),
    ]

    @Test func insertPositions() {
        for row in Self.insertions {
            let actual = outcome { () throws(ACK) -> Int in
                try Arguments([row.argument]).insertPosition(0, length: 10, current: row.current)
            }
            #expect(actual == row.outcome, "\(row.argument) with \(String(describing: row.current))")
        }
    }

    @Test func insertPositionsWithoutAQueue() {
        for (argument, expected) in [
            ("7", "absolute(7)"), ("+7", "afterCurrent(7)"), ("-7", "beforeCurrent(7)"), ("-0", "beforeCurrent(0)"),
            ("+x", "[2] Integer expected: x"), ("99999999999", "[2] Number too large: 99999999999"),
        ] {
            #expect(
                outcome { () throws(ACK) -> InsertPosition in try Arguments([argument]).insertPosition(0) } == expected
            )
        }
    }

    /// The queue has ten songs, and three of them, from position 2 on, are moved.
    private static let moves: [(argument: String, current: Int?, outcome: String)] = [
        ("0", nil, "0"), ("7", nil, "7"), ("8", nil, "[2] Number too large: 8"),
        ("+0", 1, "2"), ("+0", 5, "3"), ("+4", 5, "7"), ("+5", 5, "[2] Number too large: 5"),
        ("-0", 1, "1"), ("-1", 1, "0"), ("-2", 1, "[2] Number too large: 2"), ("-6", 9, "0"), ("+0", 9, "7"),
        ("+0", 3, "[2] Cannot move current song relative to itself"), ("+0", nil, "[55] No current song"),
        ("x", 3, "[2] Integer expected: x"),
    ]

    @Test func moveDestinations() {
        for row in Self.moves {
            let actual = outcome { () throws(ACK) -> Int in
                try Arguments([row.argument]).moveDestination(0, moving: 2..<5, length: 10, current: row.current)
            }
            #expect(actual == row.outcome, "\(row.argument) with \(String(describing: row.current))")
        }
    }
}
