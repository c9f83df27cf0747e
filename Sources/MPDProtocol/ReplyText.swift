/// The limits of a reply line.
public enum ReplyLine {
    /// Bytes without the line end. libmpdclient drops the connection at a line of 4096 bytes with it.
    public static let maximumLength = 4094
}

extension [UInt8] {
    /// Appends a number in decimal.
    @inlinable
    public mutating func appendDecimal(_ value: some FixedWidthInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(magnitude: UInt64(clamping: value.magnitude))
    }

    /// Appends a number without a sign.
    @usableFromInline
    mutating func appendDecimal(magnitude: UInt64) {
        if magnitude < 10 {
            append(UInt8(ascii: "0") + UInt8(magnitude))
            return
        }
        let start = count
        var rest = magnitude
        while rest > 0 {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        // Not `self[start...].reverse()`: that copies.
        var low = start
        var high = count - 1
        while low < high {
            swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Appends seconds with exactly three decimals.
    public mutating func appendSeconds(milliseconds: Int64) {
        if milliseconds < 0 { append(UInt8(ascii: "-")) }
        let (seconds, fraction) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        appendDecimal(seconds)
        append(UInt8(ascii: "."))
        append(UInt8(ascii: "0") + UInt8(fraction / 100))
        append(UInt8(ascii: "0") + UInt8(fraction / 10 % 10))
        append(UInt8(ascii: "0") + UInt8(fraction % 10))
    }

    /// Appends a text from outside as the value of a line: control characters become spaces, and what is longer than
    /// `limit` bytes is cut before the character that does not fit.
    public mutating func appendSanitized(_ text: some Collection<UInt8>, limit: Int) {
        let start = count
        append(contentsOf: text)
        sanitize(from: start, limit: limit)
    }

    /// The same without the cost of a generic sequence.
    public mutating func appendSanitized(_ text: [UInt8], limit: Int) {
        let start = count
        append(contentsOf: text)
        sanitize(from: start, limit: limit)
    }

    private mutating func sanitize(from start: Int, limit: Int) {
        if count - start > limit {
            var end = start + Swift.max(limit, 0)
            // Back from the middle of a character to its first byte.
            while end > start, self[end] & 0xC0 == 0x80 { end -= 1 }
            removeSubrange(end...)
        }
        for index in start..<count where self[index] < 0x20 { self[index] = 0x20 }
    }
}

extension [UInt8] {
    /// Appends a text in quotation marks. Quotation marks and backslashes get a backslash; what has no shape, and what is
    /// no UTF-8, is written in hexadecimal.
    ///
    /// Source: libfmt 9 `write_escaped_string`.
    mutating func appendEscaped(_ text: [UInt8]) {
        append(UInt8(ascii: "\""))
        var rest = text[...]
        while let byte = rest.first {
            guard let scalar = rest.leadingScalar else {
                appendEscape("x", UInt32(byte), digits: 2)
                rest = rest.dropFirst()
                continue
            }
            let length = UTF8.width(scalar)
            switch scalar {
            case "\n": append(contentsOf: "\\n".utf8)
            case "\r": append(contentsOf: "\\r".utf8)
            case "\t": append(contentsOf: "\\t".utf8)
            case "\"", "\\":
                append(UInt8(ascii: "\\"))
                append(byte)
            case _ where scalar.isPrintable: append(contentsOf: rest.prefix(length))
            case _ where scalar.value < 0x100: appendEscape("x", scalar.value, digits: 2)
            case _ where scalar.value < 0x10000: appendEscape("u", scalar.value, digits: 4)
            default: appendEscape("U", scalar.value, digits: 8)
            }
            rest = rest.dropFirst(length)
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(_ letter: Character, _ value: UInt32, digits: Int) {
        let number = String(value, radix: 16)
        append(
            contentsOf: "\\\(letter)\(String(repeating: "0", count: Swift.max(0, digits - number.count)))\(number)".utf8
        )
    }
}

extension ArraySlice<UInt8> {
    /// The character at the start, or nil if that is no UTF-8.
    fileprivate var leadingScalar: Unicode.Scalar? {
        var decoder = UTF8()
        var bytes = prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
        return scalar
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        case .spaceSeparator: self == " "
        default: true
        }
    }
}
