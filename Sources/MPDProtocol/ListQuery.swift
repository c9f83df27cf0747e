/// What `list` asks for.
public struct ListQuery: Sendable, Hashable {
    /// What is listed.
    public enum Subject: Sendable, Hashable {
        /// The URIs of the songs.
        case uri
        /// The values of a tag.
        case tag(Tag)
    }

    public var subject: Subject
    public var filter: Filter
    /// The enclosing levels, outermost first. The subject is the innermost.
    public var groups: [Tag] = []
    /// Which values of the outermost level, or which URIs.
    public var window: PositionRange?

    /// Reads the arguments of `list`: `TYPE [FILTER] [group TYPE]... [window RANGE]`, or `album ARTIST` as it was
    /// before 0.12.
    ///
    /// Source: MPD 0.24 `src/command/DatabaseCommands.cxx`; the window is of 0.25.
    public init(_ arguments: Arguments) throws(ACK) {
        filter = .and([])
        var end = arguments.count
        if end >= 3, arguments.spells("window", at: end - 2) {
            window = try arguments.range(end - 1)
            end -= 2
        }
        if arguments.spellsIgnoringCase("file", at: 0) || arguments.spellsIgnoringCase("filename", at: 0) {
            subject = .uri
        } else {
            let tag = try arguments.tag(0)
            subject = .tag(tag)
            if end == 2, arguments.slice(1).first != UInt8(ascii: "(") {
                guard tag == .album else {
                    throw ACK(.argument, "should be \"Album\" for 3 arguments")
                }
                filter = .tag(.artist, TextMatch(.equals, arguments[1], foldsCase: false))
                return
            }
            while end >= 3, arguments.spells("group", at: end - 2) {
                let group = try arguments.tag(end - 1)
                if group == tag || groups.contains(group) { throw ACK(.argument, "Conflicting group") }
                groups.append(group)
                end -= 2
            }
        }
        if end > 1 { filter = try FilterParser.filter(arguments, 1..<end, foldsCase: false) }
    }
}
