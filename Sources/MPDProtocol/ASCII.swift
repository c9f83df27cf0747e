// The byte classes of the protocol. MPD never looks at the locale, so neither do these.

extension UInt8 {
    /// Whether the tokenizer takes this byte for white space: every byte up to and including the blank.
    var isWhitespace: Bool { self <= 0x20 }

    /// Whether C's `isspace` takes this byte for white space, as `strtol` and `strtof` skip it.
    var isCSpace: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0D) }

    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    var isLowercaseLetter: Bool { self &- UInt8(ascii: "a") < 26 }

    var isLetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Whether the byte may stand in a command word after the first one.
    var isWordByte: Bool { isLetter || isDigit || self == UInt8(ascii: "_") }

    /// The value of a decimal digit; only for bytes with `isDigit`.
    var digitValue: UInt8 { self &- UInt8(ascii: "0") }
}

extension Collection<UInt8> {
    /// Whether these bytes spell `text`, byte for byte.
    func spells(_ text: String) -> Bool { count == text.utf8.count && elementsEqual(text.utf8) }
}
