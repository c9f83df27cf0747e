/// A number as MPD writes it: the fewest digits that still name it, without an exponent from 0.0001 to below 10^16.
///
/// Source: libfmt 9, `write_float`.
struct DecimalText {
    let text: String

    /// - Parameter description: a finite number as Swift describes it, which uses the fewest digits, too.
    init(shortest description: String) {
        let isNegative = description.hasPrefix("-")
        let unsigned = description.drop { $0 == "-" }
        let parts = unsigned.split(separator: "e", maxSplits: 1)
        let mantissa = parts.first ?? ""
        var exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        var digits = Array(mantissa.filter { $0 != "." })
        // Where the point stands behind the first digit.
        exponent +=
            (mantissa.firstIndex(of: ".").map { mantissa.distance(from: mantissa.startIndex, to: $0) } ?? digits.count)
            - 1
        while digits.count > 1, digits.first == "0" {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        if digits == ["0"] {
            text = "0"
            return
        }
        var result = isNegative ? "-" : ""
        if exponent < -4 || exponent >= 16 {
            result.append(digits[0])
            if digits.count > 1 { result += "." + String(digits[1...]) }
            let size = String(exponent.magnitude)
            result += "e" + (exponent < 0 ? "-" : "+") + (size.count < 2 ? "0" : "") + size
        } else if exponent < 0 {
            result += "0." + String(repeating: "0", count: -exponent - 1) + String(digits)
        } else if digits.count <= exponent + 1 {
            result += String(digits) + String(repeating: "0", count: exponent + 1 - digits.count)
        } else {
            result += String(digits[...exponent]) + "." + String(digits[(exponent + 1)...])
        }
        text = result
    }
}
