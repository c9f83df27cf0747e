/// An operator between a tag and a text.
struct FilterOperator {
    /// The operator as it is written; words include the blank that has to follow.
    let spelling: String
    let match: TextMatch.Operator
    let isNegated: Bool
    /// Nil leaves it to the command.
    let foldsCase: Bool?

    private init(_ spelling: String, _ match: TextMatch.Operator, isNegated: Bool, foldsCase: Bool? = nil) {
        self.spelling = spelling
        self.match = match
        self.isNegated = isNegated
        self.foldsCase = foldsCase
    }

    /// Whether `text` begins with this operator; words ignore case.
    func begins(_ text: ArraySlice<UInt8>) -> Bool {
        text.prefix(spelling.utf8.count).equalsIgnoringASCIICase(spelling)
    }

    /// Every operator; none is the beginning of a later one.
    static let all: [FilterOperator] =
        [
            FilterOperator("==", .equals, isNegated: false),
            FilterOperator("!=", .equals, isNegated: true),
            FilterOperator("=~", .regex, isNegated: false),
            FilterOperator("!~", .regex, isNegated: true),
        ]
        + words("contains", .contains) + words("starts_with", .startsWith)
        + words("eq", .equals).filter { $0.foldsCase != nil }

    private static func words(_ word: String, _ match: TextMatch.Operator) -> [FilterOperator] {
        [false, true].flatMap { isNegated in
            [("", nil), ("_cs", false), ("_ci", true)].map { suffix, foldsCase in
                FilterOperator(
                    (isNegated ? "!" : "") + word + suffix + " ",
                    match,
                    isNegated: isNegated,
                    foldsCase: foldsCase
                )
            }
        }
    }
}

/// What the first word of a filter term names.
enum FilterSubject {
    case tag(Tag)
    case any
    case uri
    case base
    case modifiedSince
    case addedSince
    case audioFormat
    case priority

    /// The subject with this name, or nil. MPD minds the case of some names.
    init?(name: ArraySlice<UInt8>) {
        if name.equalsIgnoringASCIICase("file") || name.equalsIgnoringASCIICase("filename") {
            self = .uri
        } else if name.equalsIgnoringASCIICase("any") {
            self = .any
        } else if name.spells("base") {
            self = .base
        } else if name.spells("modified-since") {
            self = .modifiedSince
        } else if name.spells("added-since") {
            self = .addedSince
        } else if name.equalsIgnoringASCIICase("AudioFormat") {
            self = .audioFormat
        } else if name.equalsIgnoringASCIICase("prio") {
            self = .priority
        } else if let tag = Tag(name: name) {
            self = .tag(tag)
        } else {
            return nil
        }
    }
}
