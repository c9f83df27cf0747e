import CText

/// Brings texts to the form in which `search` compares them: compatibility-composed, case-folded, punctuation in
/// ASCII.
///
/// Source: MPD 0.24, `src/lib/icu/Canonicalize.cxx`. ASCII text only gets small letters.
enum TextFolding {
    /// Appends the folded text.
    static func append(_ text: ByteView, to result: inout [UInt8]) {
        if text.isASCII {
            result.reserveCapacity(result.count + text.count)
            for index in 0..<text.count { result.append(lowercased(text[index])) }
        } else {
            appendUnicode(text, to: &result)
        }
    }

    /// The folded text; what is no UTF-8 is replaced first.
    static func folded(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        text.withView { append($0, to: &result) }
        return result
    }

    /// The text without diacritics, and folded or only normalized; punctuation in ASCII.
    ///
    /// A folded text may be given for the sake of folding: doing it again changes nothing.
    ///
    /// Source: MPD 0.25, `src/lib/icu/Canonicalize.cxx`.
    static func stripped(_ text: ByteView, foldsCase: Bool) -> [UInt8] {
        if text.isASCII { return foldsCase ? folded(text.array) : text.array }
        let plain = unsafe transformed(UTF16Text.units(of: text), shelv_strip_marks)
        let units = plain.flatMap { unsafe transformed($0, foldsCase ? shelv_fold : shelv_normalize) }
        // Without ICU's data the text is compared as it is.
        guard let units else { return text.array }
        var result: [UInt8] = []
        appendPunctuated(units, to: &result)
        return result
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    private static func appendUnicode(_ text: ByteView, to result: inout [UInt8]) {
        // Without ICU's data the text is compared as it is.
        guard let folded = unsafe transformed(UTF16Text.units(of: text), shelv_fold) else {
            return unsafe result.append(contentsOf: text.buffer)
        }
        appendPunctuated(folded, to: &result)
    }

    /// What a function of ICU makes of a text; nil when it cannot.
    private static func transformed(
        _ units: [UInt16],
        _ function: (UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt16>?, Int32) -> Int32
    ) -> [UInt16]? {
        var capacity = units.count * 2 + 16
        while true {
            var needed: Int32 = -1
            let room = Int32(clamping: capacity)
            let result = unsafe [UInt16](unsafeUninitializedCapacity: capacity) { buffer, count in
                needed = unsafe units.withUnsafeBufferPointer {
                    unsafe function($0.baseAddress, Int32(clamping: $0.count), buffer.baseAddress, room)
                }
                count = needed < 0 || Int(needed) > capacity ? 0 : Int(needed)
            }
            if needed < 0 { return nil }
            if Int(needed) <= capacity { return result }
            capacity = Int(needed)
        }
    }

    /// Appends UTF-16 as UTF-8, with punctuation in ASCII.
    private static func appendPunctuated(_ units: [UInt16], to result: inout [UInt8]) {
        for scalar in String(decoding: units, as: UTF16.self).unicodeScalars {
            if scalar.value < 0x80 {
                result.append(UInt8(truncatingIfNeeded: scalar.value))
            } else if let ascii = Punctuation.ascii[scalar.value] {
                result.append(contentsOf: ascii)
            } else {
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }
}

/// ICU's rule "[:Punctuation:] Latin-ASCII" as a table, made once: the rule looks at single characters only, and a
/// transliterator costs more and is no friend of threads.
private enum Punctuation {
    static let ascii: [UInt32: [UInt8]] = {
        guard let rules = unsafe shelv_punctuation_open() else { return [:] }
        defer { unsafe shelv_punctuation_close(rules) }
        var table: [UInt32: [UInt8]] = [:]
        for scalar in UInt32(0x80)..<0xFFFE where shelv_is_punctuation(scalar) != 0 {
            var units = [UInt16](repeating: 0, count: 16)
            units[0] = UInt16(scalar)
            let count = unsafe units.withUnsafeMutableBufferPointer {
                unsafe shelv_punctuation(rules, $0.baseAddress, 1, Int32($0.count))
            }
            guard count > 0, count <= units.count else { continue }
            let text = String(decoding: units.prefix(Int(count)), as: UTF16.self)
            if Array(text.utf16) != [UInt16(scalar)] { table[scalar] = Array(text.utf8) }
        }
        return table
    }()
}

/// What ICU works on.
enum UTF16Text {
    /// UTF-8 as UTF-16, bad sequences replaced.
    static func units(of text: ByteView) -> [UInt16] {
        unsafe [UInt16](unsafeUninitializedCapacity: text.count) { buffer, count in
            count = unsafe text.buffer.withMemoryRebound(to: CChar.self) { bytes in
                let units = unsafe shelv_utf16(bytes.baseAddress, Int32(clamping: bytes.count), buffer.baseAddress)
                return Int(max(units, 0))
            }
        }
    }
}
