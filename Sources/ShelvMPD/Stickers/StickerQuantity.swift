/// A number in a sticker's value, as SQLite takes it: whole if it can be, else a floating-point number.
enum StickerQuantity: Equatable {
    case whole(Int64)
    case real(Double)

    /// Reads what stands at the start of a text; without digits it is 0.
    /// - Returns: the number, and whether the text holds nothing else but blanks around it.
    ///
    /// Source: SQLite 3.40 `computeNumericType`, `sqlite3AtoF`.
    static func read(_ text: [UInt8]) -> (number: StickerQuantity, isAll: Bool) {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        func isDigit(_ byte: UInt8?) -> Bool {
            byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        }
        var rest = text.drop(while: isBlank)
        let start = rest.startIndex
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var digits = 0
        func skipDigits() {
            while isDigit(rest.first) {
                rest = rest.dropFirst()
                digits += 1
            }
        }
        skipDigits()
        var isReal = false
        if rest.first == UInt8(ascii: ".") {
            isReal = true
            rest = rest.dropFirst()
            skipDigits()
        }
        guard digits > 0 else { return (.whole(0), false) }
        var end = rest.startIndex
        if rest.first.map({ $0 | 0x20 == UInt8(ascii: "e") }) ?? false {
            var exponent = rest.dropFirst()
            if exponent.first == UInt8(ascii: "-") || exponent.first == UInt8(ascii: "+") {
                exponent = exponent.dropFirst()
            }
            if isDigit(exponent.first) {
                isReal = true
                rest = exponent.drop { isDigit($0) }
                end = rest.startIndex
            }
        }
        let isAll = text[end...].allSatisfy(isBlank)
        let number = String(decoding: text[start..<end], as: UTF8.self)
        if !isReal, let whole = Int64(number) { return (.whole(whole), isAll) }
        return (.real(double(number)), isAll)
    }

    /// A number whose form is known; `.5` and `5.` need not please every parser.
    private static func double(_ text: String) -> Double {
        var text = text
        if let point = text.firstIndex(of: ".") {
            if !(text[text.index(after: point)...].first?.isNumber ?? false) {
                text.insert("0", at: text.index(after: point))
            }
            if point == text.startIndex || !text[text.index(before: point)].isNumber { text.insert("0", at: point) }
        }
        return Double(text) ?? 0
    }

    /// The sum, or the difference; whole if both are and it fits.
    static func sum(_ a: StickerQuantity, _ b: StickerQuantity, isDifference: Bool) -> StickerQuantity {
        if case .whole(let x) = a, case .whole(let y) = b {
            let (result, overflows) = isDifference ? x.subtractingReportingOverflow(y) : x.addingReportingOverflow(y)
            if !overflows { return .whole(result) }
        }
        return .real(isDifference ? a.value - b.value : a.value + b.value)
    }

    private var value: Double {
        switch self {
        case .whole(let whole): Double(whole)
        case .real(let real): real
        }
    }

    /// Compares by value.
    func isLess(than other: StickerQuantity) -> Bool {
        if case .whole(let x) = self, case .whole(let y) = other { return x < y }
        return value < other.value
    }

    /// As SQLite writes it: a floating-point number with a point, and with 15 digits at most.
    var text: [UInt8] {
        switch self {
        case .whole(let whole): Array(String(whole).utf8)
        case .real(let real): Array(Self.text(real).utf8)
        }
    }

    private static func text(_ real: Double) -> String {
        guard real.isFinite else { return real.isNaN ? "" : real < 0 ? "-Inf" : "Inf" }
        guard real != 0 else { return "0.0" }
        // Digits without a point, and the power of ten of the first one.
        let parts = "\(real.magnitude)".split(separator: "e")
        let mantissa = parts[0]
        let point =
            mantissa.firstIndex(of: ".").map { mantissa.distance(from: mantissa.startIndex, to: $0) } ?? mantissa.count
        var digits = mantissa.compactMap(\.wholeNumberValue)
        let leading = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leading)
        var power = point - leading - 1 + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        if digits.count > 15 {
            let isUp = digits[15] >= 5
            digits.removeLast(digits.count - 15)
            if isUp {
                var index = 14
                while index >= 0, digits[index] == 9 {
                    digits[index] = 0
                    index -= 1
                }
                if index >= 0 {
                    digits[index] += 1
                } else {
                    digits = [1]
                    power += 1
                }
            }
        }
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        let figures = digits.map(String.init)
        let sign = real < 0 ? "-" : ""
        if power < -4 || power >= 15 {
            let size = String(power.magnitude)
            let fraction = figures.dropFirst().joined()
            return
                "\(sign)\(figures[0]).\(fraction.isEmpty ? "0" : fraction)e\(power < 0 ? "-" : "+")\(size.count < 2 ? "0" : "")\(size)"
        }
        if power < 0 { return "\(sign)0.\(String(repeating: "0", count: -power - 1))\(figures.joined())" }
        let whole =
            figures.prefix(power + 1).joined() + String(repeating: "0", count: max(0, power + 1 - figures.count))
        let fraction = figures.dropFirst(power + 1).joined()
        return "\(sign)\(whole).\(fraction.isEmpty ? "0" : fraction)"
    }
}
