/// Readings of single values that several models share.
extension JSON {
    /// Text that says something: nil when it is absent, null or empty.
    var filledText: String? {
        guard let text, !text.isEmpty else { return nil }
        return text
    }

    /// A whole number inside a range; nil outside of it: broken files have tracks beyond any counting.
    func integer(in range: ClosedRange<Int64>) -> Int? {
        guard let integer, range.contains(integer) else { return nil }
        return Int(exactly: integer)
    }

    /// A number above zero, up to `limit`; servers write 0 for "unknown".
    func positive(upTo limit: Int64) -> Int? { integer(in: 1...limit) }

    /// A length of time from seconds, which some servers give with decimals; nil for 0, negative and absurd ones.
    var seconds: Duration? {
        guard let double, double > 0, double < 4_000_000 else { return nil }
        return .milliseconds(Int64((double * 1000).rounded()))
    }

    /// A moment as Unix time in seconds: see `DateText`. Also from a number of seconds or milliseconds.
    var moment: Int64? {
        if kind == .number, let integer {
            let seconds = integer > 100_000_000_000 ? integer / 1000 : integer
            return seconds > 0 && seconds < DateText.latest ? seconds : nil
        }
        return text.flatMap { DateText.moment($0) }
    }

    /// A list of texts; objects in it count by their `name`. Empty ones are left out.
    var texts: [String] {
        elements.compactMap { $0.kind == .object ? $0[.name]?.filledText : $0.filledText }
    }

    /// The values of a list that a model can be made of.
    func list<Model>(_ make: (JSON) -> Model?) -> [Model] { elements.compactMap(make) }
}

/// Dates as servers write them.
enum DateText {
    /// 1 January 10000: nothing is later.
    static let latest: Int64 = 253_402_300_800

    /// `2023-03-14T17:51:22.112827504Z`, with or without fraction, with `Z`, an offset or no zone (then read as UTC),
    /// also a date alone → Unix time in seconds. Nil for anything else and for times before 1970: Go writes its zero
    /// time, `0001-01-01T00:00:00Z`, for "never".
    static func moment(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { unsafe moment(Reader(bytes: $0)) }
    }

    private static func moment(_ start: Reader) -> Int64? {
        var reader = start
        guard let year = reader.number(digits: 4), reader.skip("-"), let month = reader.number(digits: 2),
            reader.skip("-"), let day = reader.number(digits: 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds = days(year: year, month: month, day: day) * 86400
        if reader.skip("T") || reader.skip("t") || reader.skip(" ") {
            guard let hour = reader.number(digits: 2), reader.skip(":"), let minute = reader.number(digits: 2),
                hour < 25, minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if reader.skip(":") {
                guard let second = reader.number(digits: 2), second < 62 else { return nil }
                seconds += second
                if reader.skip(".") || reader.skip(",") { reader.skipDigits() }
            }
            let isEast = reader.skip("+")
            if isEast || reader.skip("-"), let hours = reader.number(digits: 2) {
                _ = reader.skip(":")
                let offset = hours * 3600 + (reader.number(digits: 2) ?? 0) * 60
                seconds += isEast ? -offset : offset
            }
        }
        return seconds > 0 ? seconds : nil
    }

    /// Days since 1 January 1970 in the Gregorian calendar, counted in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Lives no longer than the bytes it is given.
    @safe private struct Reader {
        private let bytes: UnsafeBufferPointer<UInt8>
        private var position = 0

        init(bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

        /// Exactly so many digits, or nil and nothing is read.
        mutating func number(digits: Int) -> Int64? {
            guard unsafe bytes.count - position >= digits else { return nil }
            var value: Int64 = 0
            for index in position..<position + digits {
                let byte = unsafe bytes[index]
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            position += digits
            return value
        }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard unsafe position < bytes.count, unsafe bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func skipDigits() { while number(digits: 1) != nil {} }
    }
}
