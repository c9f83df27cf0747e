extension Filter {
    /// The filter as an expression in one normal form: canonical tag names, double quotes.
    ///
    /// Read again by a command that minds case, the text gives this filter. It is the key under which stickers of
    /// filters are stored.
    ///
    /// Source: MPD 0.24 `src/song/*SongFilter.cxx`; unlike those it keeps `_ci` operators.
    public var expression: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    private func append(to text: inout [UInt8]) {
        switch self {
        case .tag(let tag, let match): text.appendTerm(tag.name, match)
        case .anyTag(let match): text.appendTerm("any", match)
        case .uri(let match): text.appendTerm("file", match)
        case .base(let path): text.appendTerm("base", quoting: path)
        case .modifiedSince(let seconds): text.appendTerm("modified-since", quoting: Self.timestamp(seconds))
        case .addedSince(let seconds): text.appendTerm("added-since", quoting: Self.timestamp(seconds))
        case .audioFormat(let mask):
            text.appendTerm("AudioFormat \(mask.isExact ? "==" : "=~")", quoting: Array(mask.text.utf8))
        case .priority(let minimum): text.append(contentsOf: "(prio >= \(minimum))".utf8)
        case .not(let inner):
            text.append(contentsOf: "(!".utf8)
            inner.append(to: &text)
            text.append(UInt8(ascii: ")"))
        case .and(let parts) where parts.isEmpty:
            // There is no word for "everything"; this is what matches all songs.
            text.appendTerm("base", quoting: [])
        case .and(let parts) where parts.count == 1: parts[0].append(to: &text)
        case .and(let parts):
            text.append(UInt8(ascii: "("))
            for (index, part) in parts.enumerated() {
                if index > 0 { text.append(contentsOf: " AND ".utf8) }
                part.append(to: &text)
            }
            text.append(UInt8(ascii: ")"))
        }
    }

    private static func timestamp(_ seconds: Int64) -> [UInt8] {
        var text: [UInt8] = []
        if CivilDate.writableSeconds.contains(seconds) {
            text.appendTimestamp(unixSeconds: seconds)
        } else {
            text.appendDecimal(seconds)
        }
        return text
    }
}

extension [UInt8] {
    /// Appends `(name operator "text")`.
    fileprivate mutating func appendTerm(_ name: String, _ match: TextMatch) {
        appendTerm("\(name) \(match.spelling)", quoting: match.text)
    }

    /// Appends `(start "value")`.
    fileprivate mutating func appendTerm(_ start: String, quoting value: [UInt8]) {
        append(UInt8(ascii: "("))
        append(contentsOf: start.utf8)
        append(contentsOf: " \"".utf8)
        for byte in value {
            if [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\")].contains(byte) {
                append(UInt8(ascii: "\\"))
            }
            append(byte)
        }
        append(contentsOf: "\")".utf8)
    }
}

extension TextMatch {
    /// The operator for a command that minds case.
    fileprivate var spelling: String {
        let negation = isNegated ? "!" : ""
        return switch `operator` {
        case .equals: foldsCase ? "\(negation)eq_ci" : isNegated ? "!=" : "=="
        case .contains: "\(negation)contains\(foldsCase ? "_ci" : "")"
        case .startsWith: "\(negation)starts_with\(foldsCase ? "_ci" : "")"
        case .regex: isNegated ? "!~" : "=~"
        }
    }
}

extension AudioFormatMask {
    /// Whether no part matches anything.
    var isExact: Bool { sampleRate != nil && sampleFormat != nil && channels != nil }

    /// As the protocol writes it, with `*` for what matches anything.
    public var text: String {
        let channels = channels.map { "\($0)" } ?? "*"
        if sampleFormat == .dsd, let sampleRate, sampleRate % 44_100 == 0 {
            return "dsd\(sampleRate / 44_100 * 8):\(channels)"
        }
        return "\(sampleRate.map { "\($0)" } ?? "*"):\(sampleFormat?.name ?? "*"):\(channels)"
    }
}
