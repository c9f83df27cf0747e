/// One option: its name, what it may hold, what it does, in one row.
///
/// The parser, `--help`, the example file and the documents all come from the rows in `Settings`.
struct Setting<Target: Sendable>: Sendable {
    var name: String
    /// What a value looks like, to complete the sentence "allowed is …".
    var allowed: String
    /// The value that is used when the option is missing, as a user would write it; nil when there is none.
    var defaultText: String?
    /// A value for the example file, where the default is none or says too little.
    var example: String?
    /// Whether the option may stand several times.
    var isRepeatable = false
    /// Whether the value must not be shown in messages.
    var isSecret = false
    /// Whether a change holds as soon as the configuration is read again, and not only after a restart.
    var isAtOnce = false
    /// One sentence, with its full stop.
    var summary: String
    /// Takes the value over; throws when it is not allowed.
    var apply: @Sendable (inout Target, String, SettingContext) throws(SettingRefusal) -> Void
}

/// What a value may depend on besides its own text.
struct SettingContext: Sendable {
    var environment: Environment
    var place: Place
}

/// Why a value is not taken. `message` replaces the general sentence when there is something better to say.
struct SettingRefusal: Error, Sendable, Equatable {
    var message: String?
    /// Whether the value may hold a secret, so that it is not shown.
    var hidesValue: Bool

    init(_ message: String? = nil, hidesValue: Bool = false) {
        self.message = message
        self.hidesValue = hidesValue
    }
}

extension Setting {
    /// The same option, whose changes hold as soon as the configuration is read again.
    var atOnce: Setting {
        var setting = self
        setting.isAtOnce = true
        return setting
    }

    /// A text that is not empty.
    static func text(
        _ name: String,
        _ allowed: String = "a text",
        default defaultText: String? = nil,
        example: String? = nil,
        isRepeatable: Bool = false,
        isSecret: Bool = false,
        _ summary: String,
        apply: @escaping @Sendable (inout Target, String, SettingContext) throws(SettingRefusal) -> Void
    ) -> Setting {
        Setting(
            name: name,
            allowed: allowed,
            defaultText: defaultText,
            example: example,
            isRepeatable: isRepeatable,
            isSecret: isSecret,
            summary: summary
        ) { target, text, context throws(SettingRefusal) in
            guard !text.isEmpty else { throw SettingRefusal() }
            try apply(&target, text, context)
        }
    }

    /// A whole number in decimal.
    static func integer(
        _ name: String,
        _ range: ClosedRange<Int>,
        unit: String? = nil,
        zero: String? = nil,
        default defaultText: String? = nil,
        example: String? = nil,
        _ summary: String,
        apply: @escaping @Sendable (inout Target, Int) -> Void
    ) -> Setting {
        let unit = unit.map { " \($0)" } ?? ""
        let zero = zero.map { "; 0: \($0)" } ?? ""
        return Setting(
            name: name,
            allowed:
                "a number\(unit.isEmpty ? "" : " of\(unit)") from \(range.lowerBound) to \(range.upperBound)\(zero)",
            defaultText: defaultText,
            example: example,
            summary: summary
        ) { target, text, _ throws(SettingRefusal) in
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(text),
                range ~= number
            else { throw SettingRefusal() }
            apply(&target, number)
        }
    }

    /// `yes` or `no`.
    static func boolean(
        _ name: String,
        default defaultValue: Bool,
        _ summary: String,
        apply: @escaping @Sendable (inout Target, Bool) -> Void
    ) -> Setting {
        Setting(
            name: name,
            allowed: "\"yes\" or \"no\"",
            defaultText: defaultValue ? "yes" : "no",
            summary: summary
        ) { target, text, _ throws(SettingRefusal) in
            switch text.lowercased() {
            case "yes", "true", "1": apply(&target, true)
            case "no", "false", "0": apply(&target, false)
            default: throw SettingRefusal()
            }
        }
    }

    /// One of a few words.
    /// - Parameter aliases: Further words that are taken, and not told.
    static func choice<Value: Sendable>(
        _ name: String,
        _ choices: KeyValuePairs<String, Value>,
        aliases: KeyValuePairs<String, Value> = [:],
        default defaultText: String,
        _ summary: String,
        apply: @escaping @Sendable (inout Target, Value) -> Void
    ) -> Setting {
        let words = choices.map(\.key) + aliases.map(\.key)
        let values = choices.map(\.value) + aliases.map(\.value)
        return Setting(
            name: name,
            allowed: SettingContext.list(choices.map { "\"\($0.key)\"" }),
            defaultText: defaultText,
            summary: summary
        ) { target, text, _ throws(SettingRefusal) in
            guard let index = words.firstIndex(of: text.lowercased()) else {
                guard let near = NearestName.of(text, among: words) else { throw SettingRefusal() }
                throw SettingRefusal("did you mean \"\(near)\"?")
            }
            apply(&target, values[index])
        }
    }

    /// An absolute path; `~/` and `$HOME/` are replaced by the home directory, `$XDG_…/` by that variable.
    static func path(
        _ name: String,
        default defaultText: String? = nil,
        example: String? = nil,
        _ summary: String,
        apply: @escaping @Sendable (inout Target, String) -> Void
    ) -> Setting {
        Setting(
            name: name,
            allowed: "an absolute path or one that begins with ~/",
            defaultText: defaultText,
            example: example,
            summary: summary
        ) { target, text, context throws(SettingRefusal) in
            guard let path = try context.expand(text), path.hasPrefix("/") else { throw SettingRefusal() }
            apply(&target, path)
        }
    }
}

extension SettingContext {
    /// `"a", "b" or "c"`.
    static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The path that a text means, without a final slash; nil when it is empty.
    func expand(_ text: String) throws(SettingRefusal) -> String? {
        var path = text
        if text == "~" || text.hasPrefix("~/") {
            path = try variable("HOME") + text.dropFirst()
        } else if text.hasPrefix("$") {
            let name = text.dropFirst().prefix { $0 != "/" }
            path = try variable(String(name)) + text.dropFirst(name.count + 1)
        }
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        return path.isEmpty ? nil : path
    }

    /// The folder that a variable names.
    private func variable(_ name: String) throws(SettingRefusal) -> String {
        guard name == "HOME" || name.hasPrefix("XDG_") else {
            throw SettingRefusal("only $HOME and $XDG_… can begin a path")
        }
        guard let value = name == "HOME" ? environment.home : environment.directory(name) else {
            throw SettingRefusal("$\(name) is not set")
        }
        return value
    }
}
