/// One line of a configuration file by itself.
enum ConfigLine: Sendable, Equatable {
    /// Nothing, or a comment.
    case empty
    /// `name value`
    case option(ConfigFile.Option)
    /// `name {`
    case beginning(name: String)
    /// `}`
    case end

    /// Parses a line without its line feed; it must be valid UTF-8. Works on bytes, because a quote followed by a
    /// combining mark is one `Character`.
    static func parse(_ line: ArraySlice<UInt8>, place: Place) throws(ConfigProblem) -> ConfigLine {
        var rest = line
        rest.dropBlanks()
        guard let first = rest.first, first != commentSign else { return .empty }
        if first == UInt8(ascii: "}") {
            rest.removeFirst()
            try rest.expectEnd(after: "}", place)
            return .end
        }

        let nameBytes = rest.prefix { $0 > 0x20 && $0 < 0x7F && $0 != brace && $0 != quote && $0 != commentSign }
        rest = rest[nameBytes.endIndex...]
        guard !nameBytes.isEmpty, rest.first ?? 0x20 < 0x7F else {
            throw ConfigProblem(place: place, message: "the line does not begin with the name of an option")
        }
        let name = String(decoding: nameBytes, as: UTF8.self)
        rest.dropBlanks()
        if rest.first == brace {
            rest.removeFirst()
            try rest.expectEnd(after: "{", place)
            return .beginning(name: name)
        }
        guard let value = try rest.takeValue(of: name, place) else {
            throw ConfigProblem(place: place, message: "\(name) has no value; write \(name) \"…\"")
        }
        try rest.expectEnd(after: "the value of \(name)", place)
        return .option(ConfigFile.Option(name: name, value: value, place: place))
    }
}

private let brace = UInt8(ascii: "{")
private let commentSign = UInt8(ascii: "#")
private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")

extension ArraySlice<UInt8> {
    fileprivate mutating func dropBlanks() {
        self = drop { $0 <= 0x20 }
    }

    /// Only a comment may follow.
    fileprivate mutating func expectEnd(after what: String, _ place: Place) throws(ConfigProblem) {
        dropBlanks()
        if let first, first != commentSign {
            // The rest is not shown: it may be the second half of a password.
            throw ConfigProblem(
                place: place,
                message: "something follows after \(what); one option a line, values with blanks in double quotes"
            )
        }
    }

    /// A word, or the text between double quotes; nil at the end of the line.
    fileprivate mutating func takeValue(of name: String, _ place: Place) throws(ConfigProblem) -> String? {
        guard let first, first != commentSign else { return nil }
        guard first == quote else {
            let word = prefix { $0 > 0x20 }
            self = self[word.endIndex...]
            return String(decoding: word, as: UTF8.self)
        }
        removeFirst()
        var value: [UInt8] = []
        while let byte = popFirst() {
            if byte == quote {
                return String(decoding: value, as: UTF8.self)
            }
            if byte != backslash {
                value.append(byte)
            } else if let escaped = popFirst() {
                value.append(escaped)
            }
        }
        throw ConfigProblem(place: place, message: "the value of \(name) has no closing double quote")
    }
}
