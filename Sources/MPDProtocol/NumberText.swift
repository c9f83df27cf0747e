/// Reads numbers from text as C's `strtol`, `strtoul` and `strtof` do, but without traps or locale.
enum NumberText {
    /// A number as text: white space, a sign and digits were read up to `end`.
    struct Integer {
        var isNegative: Bool
        /// The digits' value; `UInt64.max` if it does not fit (then `overflows`).
        var magnitude: UInt64
        var overflows: Bool
        /// The first byte that does not belong to the number.
        var end: Int

        /// As `strtol`: saturated at the ends of the range.
        var signed: Int64 {
            if isNegative {
                return magnitude > UInt64(Int64.max) ? Int64.min : -Int64(magnitude)
            }
            return Int64(clamping: magnitude)
        }

        /// As `strtoul`: a minus sign counts modulo 2^64, and what does not fit is the largest number.
        var unsigned: UInt64 {
            if overflows { return .max }
            return isNegative ? 0 &- magnitude : magnitude
        }
    }

    /// Reads a decimal number at the start of `text`, or nil if there is none.
    static func integer(_ text: ArraySlice<UInt8>) -> Integer? {
        var position = text.startIndex
        let isNegative = skipSpaceAndSign(text, &position)
        let digits = position
        var magnitude: UInt64 = 0
        var overflows = false
        while position < text.endIndex, text[position].isDigit {
            let (product, tooBig) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(text[position].digitValue))
            overflows = overflows || tooBig || carry
            magnitude = sum
            position += 1
        }
        if position == digits { return nil }
        return Integer(
            isNegative: isNegative,
            magnitude: overflows ? .max : magnitude,
            overflows: overflows,
            end: position
        )
    }

    /// Reads the whole of `text` as a floating-point number, decimal or hexadecimal, `inf` or `nan`, or gives nil.
    static func float(_ text: ArraySlice<UInt8>) -> Double? {
        var position = text.startIndex
        let isNegative = skipSpaceAndSign(text, &position)
        let word = text[position...]
        if word.equalsIgnoringASCIICase("inf") || word.equalsIgnoringASCIICase("infinity") {
            return isNegative ? -.infinity : .infinity
        }
        if isNaN(word) { return .nan }
        if word.count > 2, word.prefix(2).equalsIgnoringASCIICase("0x") {
            return hexadecimal(word.dropFirst(2)).map { isNegative ? -$0 : $0 }
        }

        // Only now the standard library: it would take other forms, too.
        var digits = skipDigits(word, &position)
        if position < word.endIndex, word[position] == UInt8(ascii: ".") {
            position += 1
            digits += skipDigits(word, &position)
        }
        if digits == 0 { return nil }
        if position < word.endIndex, word[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < word.endIndex, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(word[position]) {
                position += 1
            }
            if skipDigits(word, &position) == 0 { return nil }
        }
        if position != word.endIndex { return nil }
        guard let number = Double(padded(word)) else { return nil }
        return isNegative ? -number : number
    }

    /// `nan`, or `nan(…)` with letters, digits and underscores.
    private static func isNaN(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.prefix(3).equalsIgnoringASCIICase("nan") else { return false }
        let rest = word.dropFirst(3)
        if rest.isEmpty { return true }
        return rest.count >= 2 && rest.first == UInt8(ascii: "(") && rest.last == UInt8(ascii: ")")
            && rest.dropFirst().dropLast().allSatisfy { $0.isWordByte }
    }

    /// What follows `0x`: digits with a point, and perhaps `p` with a decimal exponent of two.
    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> Double? {
        var position = text.startIndex
        var value = 0.0
        var exponent = 0
        var digits = 0
        var isBehindPoint = false
        while position < text.endIndex {
            if text[position] == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
            } else if let digit = Character(Unicode.Scalar(text[position])).hexDigitValue, text[position] < 0x80 {
                value = value * 16 + Double(digit)
                if isBehindPoint { exponent -= 4 }
                digits += 1
            } else {
                break
            }
            position += 1
        }
        if digits == 0 { return nil }
        if position < text.endIndex {
            guard text[position] | 0x20 == UInt8(ascii: "p"), let power = integer(text[(position + 1)...]),
                power.end == text.endIndex, !text[position + 1].isCSpace
            else { return nil }
            exponent += Int(clamping: min(max(power.signed, -100_000), 100_000))
        }
        if value == 0 || !value.isFinite { return value }
        return Double(sign: .plus, exponent: min(max(exponent, -100_000), 100_000), significand: value)
    }

    /// The number with digits on both sides of its point: `.5` and `5.` need not please every parser.
    private static func padded(_ number: ArraySlice<UInt8>) -> String {
        var text = [UInt8(ascii: "0")]
        for (index, byte) in zip(number.indices, number) {
            text.append(byte)
            if byte == UInt8(ascii: "."), !(number[(index + 1)...].first?.isDigit ?? false) {
                text.append(UInt8(ascii: "0"))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Moves past white space and one sign; true for a minus.
    private static func skipSpaceAndSign(_ text: ArraySlice<UInt8>, _ position: inout Int) -> Bool {
        while position < text.endIndex, text[position].isCSpace { position += 1 }
        if position < text.endIndex {
            if text[position] == UInt8(ascii: "-") {
                position += 1
                return true
            }
            if text[position] == UInt8(ascii: "+") { position += 1 }
        }
        return false
    }

    private static func skipDigits(_ text: ArraySlice<UInt8>, _ position: inout Int) -> Int {
        let start = position
        while position < text.endIndex, text[position].isDigit { position += 1 }
        return position - start
    }
}
