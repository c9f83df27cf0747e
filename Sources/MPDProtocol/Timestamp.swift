/// Reads the times of `modified-since` and `added-since`.
///
/// MPD leaves this to `strptime`, so a field may have leading blanks and fewer digits than usual.
///
/// Source: MPD 0.24 `src/time/ISO8601.cxx`, `src/song/Filter.cxx`.
enum Timestamp {
    /// The Unix time in seconds of an ISO 8601 time, else of a whole number.
    static func parse(_ text: [UInt8]) throws(ACK) -> Int64 {
        do {
            var parser = TimestampParser(text: text)
            return try parser.parse()
        } catch {
            guard let number = NumberText.integer(text[...]), number.end == text.count else { throw error }
            return Int64(truncatingIfNeeded: number.unsigned)
        }
    }
}

/// Reads an ISO 8601 time field by field.
private struct TimestampParser {
    let text: [UInt8]
    var position = 0

    init(text: [UInt8]) { self.text = text }

    private var next: UInt8 { position < text.count ? text[position] : 0 }
    private var isAtEnd: Bool { position >= text.count }

    mutating func parse() throws(ACK) -> Int64 {
        if let month = wholeMonth() { return month }
        position = 0
        guard let days = separatedDate() ?? compactDate() else {
            throw ACK(.argument, "Failed to parse date")
        }
        var seconds = days * CivilDate.secondsPerDay
        if skip("T") {
            guard let time = timeOfDay() else { throw ACK(.argument, "Failed to parse time of day") }
            seconds += time
        }
        if !skip("Z"), next == UInt8(ascii: "+") || next == UInt8(ascii: "-") {
            seconds -= try timeZoneOffset()
        }
        if !isAtEnd { throw ACK(.argument, "Garbage at end of time stamp") }
        return seconds
    }

    /// `YYYY-MM` and nothing more: the month's first second.
    private mutating func wholeMonth() -> Int64? {
        guard let year = field(0...9999, digits: 4), skip("-"), let month = field(1...12, digits: 2), isAtEnd else {
            return nil
        }
        return CivilDate.days(year: year, month: month, day: 1) * CivilDate.secondsPerDay
    }

    private mutating func separatedDate() -> Int64? {
        position = 0
        guard let year = field(0...9999, digits: 4), skip("-"), let month = field(1...12, digits: 2), skip("-"),
            let day = field(1...31, digits: 2)
        else { return nil }
        return CivilDate.days(year: year, month: month, day: day)
    }

    private mutating func compactDate() -> Int64? {
        position = 0
        guard let year = field(0...9999, digits: 4), let month = field(1...12, digits: 2),
            let day = field(1...31, digits: 2)
        else { return nil }
        return CivilDate.days(year: year, month: month, day: day)
    }

    /// `HH[:MM[:SS]]` or `HH[MM[SS]]`, in seconds.
    private mutating func timeOfDay() -> Int64? {
        guard let hours = field(0...23, digits: 2) else { return nil }
        if skip(":") {
            guard let minutes = field(0...59, digits: 2) else { return nil }
            guard skip(":") else { return hours * 3600 + minutes * 60 }
            guard let seconds = field(0...61, digits: 2) else { return nil }
            return hours * 3600 + minutes * 60 + seconds
        }
        let minutes = optionalField(0...59)
        let seconds = minutes == nil ? nil : optionalField(0...61)
        return hours * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)
    }

    /// `+HH`, `+HHMM`, `+HH:MM` or the same with a minus, in seconds.
    private mutating func timeZoneOffset() throws(ACK) -> Int64 {
        let isNegative = next == UInt8(ascii: "-")
        position += 1
        let failure = ACK(.argument, "Failed to parse time zone offset")
        var hours: Int64 = 0
        var minutes: Int64 = 0
        let digits = text[position...].prefix { $0.isDigit }
        position = digits.endIndex
        switch digits.count {
        case 4:
            hours = number(digits.prefix(2))
            minutes = number(digits.suffix(2))
        case 2:
            hours = number(digits)
            if skip(":") {
                let digits = text[position...].prefix { $0.isDigit }
                if digits.count != 2 { throw failure }
                position = digits.endIndex
                minutes = number(digits)
            }
        default:
            throw failure
        }
        if hours > 13 { throw ACK(.argument, "Time offset hours out of range") }
        if minutes >= 60 { throw ACK(.argument, "Time offset minutes out of range") }
        return (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
    }

    private func number(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1.digitValue) }
    }

    /// A number of at most `digits` digits in `allowed`; like `strptime`, it stops before a digit that would take it
    /// beyond the range for sure.
    private mutating func field(_ allowed: ClosedRange<Int64>, digits: Int) -> Int64? {
        while next == UInt8(ascii: " ") { position += 1 }
        var value: Int64 = 0
        var count = 0
        while count < digits, next.isDigit, value * 10 <= allowed.upperBound {
            value = value * 10 + Int64(next.digitValue)
            position += 1
            count += 1
        }
        return count > 0 && allowed.contains(value) ? value : nil
    }

    /// A field that stays unread if it is not there.
    private mutating func optionalField(_ allowed: ClosedRange<Int64>) -> Int64? {
        let start = position
        guard let value = field(allowed, digits: 2) else {
            position = start
            return nil
        }
        return value
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard !isAtEnd, text[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }
}
