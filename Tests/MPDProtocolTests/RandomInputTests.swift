import MPDProtocol
import Support
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// How many random inputs a test tries: `SHELV_FUZZ`, or a number that takes a moment.
private let rounds: Int = {
    let setting = unsafe getenv("SHELV_FUZZ").flatMap { unsafe Int(String(cString: $0)) }
    return setting ?? 2000
}()

/// Pieces of the protocol, so that random inputs get beyond the first byte.
private let vocabulary: [[UInt8]] = [
    "ping", "find", "search", "list", "idle", "noidle", "command_list_begin", "command_list_ok_begin",
    "command_list_end",
    "(", ")", "!", "'", "\"", "\\", " ", "  ", "\n", "\n", "\r\n", "\0", "AND", "title", "Artist", "any", "file",
    "base",
    "modified-since", "added-since", "AudioFormat", "prio", "==", "!=", "=~", "!~", ">=", "contains ", "!contains_ci ",
    "starts_with ", "eq_cs ", "sort", "window", "position", "group", "2020-01-31T12:00:00Z", "44100:16:2", "dsd64:*",
    "-1",
    "0", "99999999999999999999", "0:5", "+3", "1e5", "nan", "é",
].map { bytes($0) }

private func randomBytes(_ random: inout SeededNumbers) -> [UInt8] {
    var input: [UInt8] = []
    for _ in 0..<Int.random(in: 0...40, using: &random) {
        if Int.random(in: 0..<8, using: &random) == 0 {
            input.append(UInt8.random(in: 0...255, using: &random))
        } else {
            input += vocabulary[Int.random(in: 0..<vocabulary.count, using: &random)]
        }
    }
    return input
}

/// A filter of any shape that an expression can have.
private func randomFilter(_ random: inout SeededNumbers, depth: Int = 0) -> Filter {
    func value(_ random: inout SeededNumbers) -> [UInt8] {
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
            [UInt8(ascii: "a"), 0x22, 0x27, 0x5C, 0x20, 0x28, 0x29, 0xC3, 0xFF][Int.random(in: 0..<9, using: &random)]
        }
    }
    func match(_ random: inout SeededNumbers) -> TextMatch {
        let operators: [TextMatch.Operator] = [.equals, .contains, .startsWith, .regex]
        let chosen = operators[Int.random(in: 0..<4, using: &random)]
        let folds = chosen != .regex && Bool.random(using: &random)
        return TextMatch(chosen, value(&random), foldsCase: folds, isNegated: Bool.random(using: &random))
    }
    switch Int.random(in: 0..<(depth < 4 ? 10 : 8), using: &random) {
    case 0, 1: return .tag(Tag.allCases[Int.random(in: 0..<Tag.allCases.count, using: &random)], match(&random))
    case 2: return .anyTag(match(&random))
    case 3: return .uri(match(&random))
    case 4: return .base(bytes(["", "a", "a/b", "é"][Int.random(in: 0..<4, using: &random)]))
    case 5: return .modifiedSince(Int64.random(in: -1_000_000...4_000_000_000, using: &random))
    case 6: return .priority(atLeast: UInt8.random(in: 0...255, using: &random))
    case 7:
        return .audioFormat(
            AudioFormatMask(
                sampleRate: [nil, 1, 44_100, 352_800][Int.random(in: 0..<4, using: &random)],
                sampleFormat: [nil, .s16, .float][Int.random(in: 0..<3, using: &random)],
                channels: [nil, 1, 8][Int.random(in: 0..<3, using: &random)]
            )
        )
    case 8: return .not(randomFilter(&random, depth: depth + 1))
    default:
        return .and((0..<Int.random(in: 2...4, using: &random)).map { _ in randomFilter(&random, depth: depth + 1) })
    }
}

@Suite struct RandomInputTests {
    @Test func nothingThatAClientSendsTraps() {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 1))
        for _ in 0..<rounds {
            var decoder = LineDecoder()
            var session = SessionState(maximumListSize: 200)
            decoder.append(bytes("ping\n") + randomBytes(&random) + bytes("\n"))
            while case .line(let line) = decoder.next() {
                if case .executeList(let list) = session.receive(line: line) {
                    for index in 0..<list.count { exercise(list[index]) }
                }
                exercise(line)
                if Bool.random(using: &random) { _ = session.beginIdle(.player) }
                _ = session.raise(.player)
            }
        }
    }

    @Test func everyExpressionIsReadOrRefused() {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 2))
        for _ in 0..<rounds { exercise(Arguments([bytes("title"), bytes("(") + randomBytes(&random)])) }
    }

    /// Lines and what `next` says about them do not depend on how the bytes arrive.
    @Test func fragmentsMakeNoDifference() {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 3))
        for _ in 0..<(rounds / 10) {
            let input = bytes("ping\n") + randomBytes(&random) + bytes("\n")
            var whole = LineDecoder()
            whole.append(input)
            var pieces = LineDecoder()
            var fragments: [LineDecoder.Event] = []
            var rest = input[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...5, using: &random))
                rest = rest.dropFirst(piece.count)
                pieces.append(piece)
                while case .line(let line) = pieces.next() { fragments.append(.line(line)) }
            }
            for fragment in fragments { expectEqual(whole.next(), fragment) }
            expectEqual(whole.next(), pieces.next())
        }
    }

    @Test func filtersComeBackFromTheirNormalForm() throws {
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 4))
        for _ in 0..<rounds {
            let filter = randomFilter(&random)
            let expression = filter.expression
            let parsed = try FilterParser.parse(Arguments([expression]), foldsCase: false).filter
            // Reading simplifies, and then nothing changes any more.
            #expect(
                text(parsed.expression)
                    == text(try FilterParser.parse(Arguments([parsed.expression]), foldsCase: false).filter.expression)
            )
            if case .and = filter { continue }
            if case .not = filter { continue }
            #expect(parsed == filter, "\(text(expression))")
        }
    }

    /// Takes a line through everything that could be done with it.
    private func exercise(_ line: [UInt8]) {
        guard let request = try? Tokenizer.parse(line) else { return }
        exercise(request.arguments)
        _ = try? Subsystems(idleArguments: request.arguments)
        if !request.arguments.isEmpty { _ = try? ListQuery(request.arguments) }
    }

    private func exercise(_ arguments: Arguments) {
        for index in arguments.indices {
            _ = try? arguments.integer(index)
            _ = try? arguments.unsigned(index)
            _ = try? arguments.version(index)
            _ = try? arguments.boolean(index)
            _ = try? arguments.range(index).checked(against: 10)
            _ = try? arguments.songTime(index)
            _ = try? arguments.seekTarget(index)
            _ = try? arguments.timeRange(index)
            _ = try? arguments.insertPosition(index)
            _ = try? arguments.insertPosition(index, length: 10, current: 3)
            _ = try? arguments.moveDestination(index, moving: 1..<3, length: 10, current: 7)
            _ = try? arguments.tag(index)
        }
        for foldsCase in [false, true] {
            let clauses: FilterParser.Clauses = [.position, .window, .sort, .queueSort, .group]
            if let parsed = try? FilterParser.parse(arguments, clauses: clauses, foldsCase: foldsCase) {
                _ = parsed.filter.expression
            }
        }
    }
}
