/// Days and times of the Gregorian calendar, in UTC, by arithmetic alone.
enum CivilDate {
    static let secondsPerDay: Int64 = 86_400
    /// The Unix times of the years 0 to 9999, for which four digits are enough.
    static let writableSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// The days from 1970-01-01 to a date. A day or month beyond its usual range runs on into the next one.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        // Years that begin in March have their leap day at the end.
        let shifted = month - 1 + 12 * year - 2
        let marchYear = floorDivide(shifted, 12)
        let marchMonth = shifted - 12 * marchYear
        let era = floorDivide(marchYear, 400)
        let yearOfEra = marchYear - 400 * era
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return 146_097 * era + dayOfEra - 719_468
    }

    /// The date that is `days` after 1970-01-01.
    static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - 146_097 * era
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + 400 * era + (month <= 2 ? 1 : 0), month, day)
    }

    /// Division that rounds down.
    static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
        let quotient = a / b
        return a % b < 0 ? quotient - 1 : quotient
    }
}

extension [UInt8] {
    /// Appends a time as replies write it: `2020-01-31T12:00:00Z`. Times outside the years 0 to 9999 are clamped.
    public mutating func appendTimestamp(unixSeconds: Int64) {
        let seconds = Swift.min(
            Swift.max(unixSeconds, CivilDate.writableSeconds.lowerBound),
            CivilDate.writableSeconds.upperBound
        )
        let days = CivilDate.floorDivide(seconds, CivilDate.secondsPerDay)
        let time = seconds - days * CivilDate.secondsPerDay
        let date = CivilDate.date(days: days)
        appendDigits(date.year, 4)
        append(UInt8(ascii: "-"))
        appendDigits(date.month, 2)
        append(UInt8(ascii: "-"))
        appendDigits(date.day, 2)
        append(UInt8(ascii: "T"))
        appendDigits(time / 3600, 2)
        append(UInt8(ascii: ":"))
        appendDigits(time / 60 % 60, 2)
        append(UInt8(ascii: ":"))
        appendDigits(time % 60, 2)
        append(UInt8(ascii: "Z"))
    }

    private mutating func appendDigits(_ number: Int64, _ width: Int) {
        var divisor: Int64 = width == 4 ? 1000 : 10
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
