/// Reads one filter expression, `(...)`, of an argument.
///
/// Source: MPD 0.24 `src/song/Filter.cxx`.
struct ExpressionParser {
    /// How deep parentheses may be nested; deeper ones would only exhaust the stack.
    static let maximumDepth = 256
    /// Bytes of a quoted value.
    static let maximumValueLength = 4095

    private let text: [UInt8]
    private let foldsCase: Bool
    private let syntaxError: ACK.Code
    private var position = 0
    private var depth = 0

    /// Reads the whole of `text`, which starts with a parenthesis.
    /// - Parameter syntaxError: What complaints bear, unless a date or an audio format is wrong, which is always `.argument`.
    static func parse(
        _ text: [UInt8],
        foldsCase: Bool,
        syntaxError: ACK.Code = .argument
    ) throws(ACK) -> Filter {
        var parser = ExpressionParser(text: text, foldsCase: foldsCase, syntaxError: syntaxError)
        let filter = try parser.expression()
        guard parser.position >= text.count else { throw ACK(syntaxError, "Unparsed garbage after expression") }
        return filter
    }

    private init(text: [UInt8], foldsCase: Bool, syntaxError: ACK.Code) {
        self.text = text
        self.foldsCase = foldsCase
        self.syntaxError = syntaxError
    }

    /// The next byte; zero at the end.
    private var next: UInt8 { position < text.count ? text[position] : 0 }

    private func nextIs(_ character: Unicode.Scalar) -> Bool { next == UInt8(ascii: character) }

    private mutating func skipSpace() {
        while position < text.count, text[position].isWhitespace { position += 1 }
    }

    private mutating func advance(_ count: Int) {
        position = min(position + count, text.count)
        skipSpace()
    }

    private mutating func expression() throws(ACK) -> Filter {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.maximumDepth { throw ACK(syntaxError, "Filter is nested too deeply") }
        // After AND, too, MPD takes the next byte for a parenthesis without looking; its complaint shows that.
        advance(1)
        if nextIs("(") { return try conjunction() }
        if nextIs("!") {
            advance(1)
            guard nextIs("(") else { throw ACK(syntaxError, "'(' expected") }
            let inner = try expression()
            try closeParenthesis()
            return .not(inner)
        }
        return try term()
    }

    /// Expressions with `AND` between them, or one in redundant parentheses.
    private mutating func conjunction() throws(ACK) -> Filter {
        var parts = [try expression()]
        while !nextIs(")") {
            guard try word().spells("AND") else { throw ACK(syntaxError, "'AND' expected") }
            parts.append(try expression())
        }
        advance(1)
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func term() throws(ACK) -> Filter {
        let name = try word()
        guard let subject = FilterSubject(name: name) else {
            throw ACK(syntaxError, "Unknown filter type", quoting: name)
        }
        let filter: Filter
        switch subject {
        case .modifiedSince:
            let value = try quoted()
            try closeParenthesis()
            return .modifiedSince(try Timestamp.parse(value))
        case .addedSince:
            let value = try quoted()
            try closeParenthesis()
            return .addedSince(try Timestamp.parse(value))
        case .base: filter = .base(try quoted())
        case .audioFormat: filter = .audioFormat(try audioFormat())
        case .priority: filter = .priority(atLeast: try priority())
        case .any: filter = .anyTag(try match())
        case .uri: filter = .uri(try match())
        case .tag(let tag): filter = .tag(tag, try match())
        }
        try closeParenthesis()
        return filter
    }

    private mutating func closeParenthesis() throws(ACK) {
        guard nextIs(")") else { throw ACK(syntaxError, "')' expected") }
        advance(1)
    }

    /// A name or `AND`.
    private mutating func word() throws(ACK) -> ArraySlice<UInt8> {
        let word = text[position...].prefix { $0.isLetter || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
        if word.isEmpty { throw ACK(syntaxError, "Word expected") }
        advance(word.count)
        return word
    }

    private mutating func quoted() throws(ACK) -> [UInt8] {
        guard nextIs("\"") || nextIs("'") else { throw ACK(syntaxError, "Quoted string expected") }
        let quote = next
        position += 1
        var value: [UInt8] = []
        while true {
            if position < text.count, text[position] == quote { break }
            if nextIs("\\") { position += 1 }
            guard position < text.count else { throw ACK(syntaxError, "Closing quote not found") }
            value.append(text[position])
            position += 1
            if value.count > Self.maximumValueLength { throw ACK(syntaxError, "Quoted value is too long") }
        }
        advance(1)
        return value
    }

    private mutating func audioFormat() throws(ACK) -> AudioFormatMask {
        let rest = text[position...]
        let isMask = rest.starts(with: "=~".utf8)
        guard isMask || rest.starts(with: "==".utf8) else { throw ACK(syntaxError, "'==' or '=~' expected") }
        advance(2)
        return try AudioFormatMask(try quoted(), isMask: isMask)
    }

    private mutating func priority() throws(ACK) -> UInt8 {
        guard text[position...].starts(with: ">=".utf8) else { throw ACK(syntaxError, "'>=' expected") }
        advance(2)
        guard let number = NumberText.integer(text[position...]) else { throw ACK(syntaxError, "Number expected") }
        guard let priority = UInt8(exactly: number.unsigned) else {
            throw ACK(syntaxError, "Invalid priority value")
        }
        position = number.end
        return priority
    }

    /// An operator and its value.
    private mutating func match() throws(ACK) -> TextMatch {
        let rest = text[position...]
        guard let entry = FilterOperator.all.first(where: { $0.begins(rest) }) else {
            throw ACK(syntaxError, "Unknown filter operator", quoting: rest).withSingleBlanks
        }
        advance(entry.spelling.utf8.count)
        return TextMatch(
            entry.match,
            try quoted(),
            foldsCase: entry.foldsCase ?? foldsCase,
            isNegated: entry.isNegated
        )
    }
}
