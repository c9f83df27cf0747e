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
