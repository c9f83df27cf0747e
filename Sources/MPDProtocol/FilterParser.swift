/// What a command asks of the songs: which, in what order, which part of them, and how grouped.
public struct ParsedFilter: Sendable, Hashable {
    /// Simplified: no conjunction inside another one, no negation around a tag.
    public var filter: Filter
    public var sort: SortOrder?
    public var window: PositionRange?
    /// Which argument holds the insert position; `Arguments.insertPosition` reads it.
    public var positionArgument: Int?
    /// The tag of `group`.
    public var group: Tag?
}

/// Reads filter arguments: expressions, old-style pairs, and the clauses that may follow.
///
/// Source: MPD 0.24 `src/song/Filter.cxx`, `src/command/DatabaseCommands.cxx`, `src/command/QueueCommands.cxx`.
public enum FilterParser {
    /// The clauses that a command knows. They are looked for at the end only, in this order from the last one:
    /// position, window, sort, group.
    public struct Clauses: OptionSet, Sendable {
        public let rawValue: UInt8

        /// A set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `position POS`.
        public static let position = Clauses(rawValue: 1 << 0)
        /// `window RANGE`.
        public static let window = Clauses(rawValue: 1 << 1)
        /// `sort TYPE`, `sort -TYPE`.
        public static let sort = Clauses(rawValue: 1 << 2)
        /// `sort prio` is possible.
        public static let queueSort = Clauses(rawValue: 1 << 3)
        /// One group; with it the filter may be missing.
        public static let group = Clauses(rawValue: 1 << 4)
    }

    /// Which argument holds the insert position of a command that knows one, or nil. MPD looks at it before all else.
    public static func positionArgument(_ arguments: Arguments, from start: Int = 0) -> Int? {
        let end = arguments.count
        return end - start >= 2 && arguments.spells("position", at: end - 2) ? end - 1 : nil
    }

    /// Reads the arguments from index `start` on.
    /// - Parameters:
    ///   - foldsCase: whether the command ignores case, which makes old-style pairs look for parts, too.
    ///   - syntaxError: what complaints about the form of a filter bear. Dates and audio formats are always `.argument`.
    public static func parse(
        _ arguments: Arguments,
        from start: Int = 0,
        clauses: Clauses = [.sort, .window],
        foldsCase: Bool,
        syntaxError: ACK.Code = .argument
    ) throws(ACK) -> ParsedFilter {
        var end = arguments.count
        /// Takes a keyword and its argument off the end, and gives the index of the argument.
        func takeClause(_ clause: Clauses, _ word: String) -> Int? {
            guard !clauses.isDisjoint(with: clause), end - start >= 2, arguments.spells(word, at: end - 2) else {
                return nil
            }
            end -= 2
            return end + 1
        }

        var result = ParsedFilter(filter: .and([]))
        result.positionArgument = takeClause(.position, "position")
        if let argument = takeClause(.window, "window") { result.window = try arguments.range(argument) }
        if let argument = takeClause([.sort, .queueSort], "sort") {
            result.sort = try sortOrder(arguments.slice(argument), inQueue: clauses.contains(.queueSort))
        }
        if let argument = takeClause(.group, "group") { result.group = try arguments.tag(argument) }
        if start == end, clauses.contains(.group) { return result }
        result.filter = try filter(arguments, start..<end, foldsCase: foldsCase, syntaxError: syntaxError)
        return result
    }

    /// Reads the filter arguments in `range`, all of which have to match.
    static func filter(
        _ arguments: Arguments,
        _ range: Range<Int>,
        foldsCase: Bool,
        syntaxError: ACK.Code = .argument
    ) throws(ACK) -> Filter {
        let incomplete = ACK(syntaxError, "Incorrect number of filter arguments")
        if range.isEmpty { throw incomplete }
        var parts: [Filter] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if arguments.slice(index).first == UInt8(ascii: "(") {
                parts.append(
                    try ExpressionParser.parse(arguments[index], foldsCase: foldsCase, syntaxError: syntaxError)
                )
                index += 1
            } else {
                guard index + 1 < range.upperBound else { throw incomplete }
                parts.append(try pair(arguments.slice(index), arguments[index + 1], foldsCase: foldsCase))
                index += 2
            }
        }
        return Filter.and(parts).simplified()
    }

    private static func pair(_ name: ArraySlice<UInt8>, _ value: [UInt8], foldsCase: Bool) throws(ACK) -> Filter {
        guard let subject = FilterSubject(name: name) else { throw ACK(.argument, "Unknown filter type") }
        // Before 0.21 there were no operators: ignoring case always meant looking for parts.
        let match = TextMatch(foldsCase ? .contains : .equals, value, foldsCase: foldsCase)
        switch subject {
        case .tag(let tag): return .tag(tag, match)
        case .any: return .anyTag(match)
        case .uri: return .uri(match)
        case .base:
            guard value.isSafeRelativePath else { throw ACK(.argument, "Bad URI") }
            return .base(value)
        case .modifiedSince: return .modifiedSince(try Timestamp.parse(value))
        case .addedSince: return .addedSince(try Timestamp.parse(value))
        case .audioFormat, .priority:
            // Accepted by MPD as if they were tags, which no song has.
            return .not(.and([]))
        }
    }

    /// Reads the key of a `sort` clause.
    private static func sortOrder(_ text: ArraySlice<UInt8>, inQueue: Bool) throws(ACK) -> SortOrder {
        let isDescending = text.first == UInt8(ascii: "-")
        let name = isDescending ? text.dropFirst() : text
        if name.equalsIgnoringASCIICase("Last-Modified") {
            return SortOrder(.lastModified, isDescending: isDescending)
        }
        if name.equalsIgnoringASCIICase("Added") { return SortOrder(.added, isDescending: isDescending) }
        if inQueue, name.equalsIgnoringASCIICase("prio") {
            return SortOrder(.priority, isDescending: isDescending)
        }
        guard let tag = Tag(name: name) else { throw ACK(.argument, "Unknown sort tag") }
        return SortOrder(.tag(tag), isDescending: isDescending)
    }
}
