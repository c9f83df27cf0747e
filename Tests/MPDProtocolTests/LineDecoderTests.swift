import MPDProtocol
import Testing

/// Everything the decoder says about an input that arrives in these pieces.
private func events(_ pieces: [[UInt8]]) -> [LineDecoder.Event] {
    var decoder = LineDecoder()
    var events: [LineDecoder.Event] = []
    for piece in pieces {
        decoder.append(piece)
        reading: while true {
            let event = decoder.next()
            switch event {
            case .line: events.append(event)
            case .needsInput: break reading
            case .close:
                events.append(event)
                return events
            }
        }
    }
    return events
}

private func line(_ content: String) -> LineDecoder.Event { .line(bytes(content)) }

@Suite struct LineDecoderTests {
    private static let rows: [(input: String, events: [LineDecoder.Event])] = [
        ("", []),
        ("ping\n", [line("ping")]),
        ("ping\r\n", [line("ping")]),
        ("ping \t \r\n", [line("ping")]),
        ("ping\u{1}\n", [line("ping")]),
        ("ping \u{7F}\n", [line("ping \u{7F}")]),
        ("ping\0garbage\n", [line("ping")]),
        ("ping\0\0 \n", [line("ping")]),
        ("ping \0x\n", [line("ping ")]),
        ("find\u{B}title\u{C}Intro\n", [line("find\u{B}title\u{C}Intro")]),
        ("ping\nstatus extra\nping\n", [line("ping"), line("status extra"), line("ping")]),
        ("ping", []),
        ("ping\npi", [line("ping")]),
        ("pInG\n", [line("pInG")]),
        ("\n", [.close]),
        ("PING\n", [.close]),
        (" ping\n", [.close]),
        ("1\n", [.close]),
        ("\"ping\"\n", [.close]),
        ("é\n", [.close]),
        ("\0ping\n", [.close]),
        ("ping\n\nping\n", [line("ping"), .close]),
        ("GET / HTTP/1.1\r\n", [.close]),
        ("find title \"é\"\n", [line("find title \"é\"")]),
    ]

    @Test func wholeInputs() {
        for row in Self.rows { #expect(events([bytes(row.input)]) == row.events, "\(row.input.debugDescription)") }
    }

    @Test func inputsByteByByte() {
        for row in Self.rows {
            #expect(events(bytes(row.input).map { [$0] }) == row.events, "\(row.input.debugDescription)")
        }
    }

    @Test func inputsSplitAtEveryPoint() {
        for row in Self.rows {
            let input = bytes(row.input)
            for split in 0...input.count {
                let pieces = [Array(input[..<split]), Array(input[split...])]
                #expect(events(pieces) == row.events, "\(row.input.debugDescription) at \(split)")
            }
        }
    }

    @Test func aLineOfTheMaximumLengthIsTaken() {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: LineDecoder.maximumLineLength)
        let newline = [UInt8(ascii: "\n")]
        #expect(events([longest + newline]) == [.line(longest)])
        #expect(events([longest, newline]) == [.line(longest)])
        #expect(events([bytes("ping\n") + longest, newline]) == [line("ping"), .line(longest)])
    }

    @Test func aLongerLineCloses() {
        let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: LineDecoder.maximumLineLength + 1)
        #expect(events([tooLong]) == [.close])
        #expect(events([tooLong + bytes("\n")]) == [.close])
        #expect(events([bytes("ping\n") + tooLong]) == [line("ping"), .close])
    }

    @Test func afterCloseNothingIsTaken() {
        var decoder = LineDecoder()
        decoder.append(bytes("X\n"))
        expectEqual(decoder.next(), .close)
        decoder.append(bytes("ping\n"))
        expectEqual(decoder.next(), .close)
        #expect(decoder.pendingCount == 0)
    }

    @Test func pendingBytesAreThoseWithoutALine() {
        var decoder = LineDecoder()
        decoder.append(bytes("ping\nsta"))
        #expect(decoder.pendingCount == 8)
        expectEqual(decoder.next(), line("ping"))
        #expect(decoder.pendingCount == 3)
        expectEqual(decoder.next(), .needsInput)
        decoder.append(bytes("tus\n"))
        expectEqual(decoder.next(), line("status"))
        #expect(decoder.pendingCount == 0)
    }
}
