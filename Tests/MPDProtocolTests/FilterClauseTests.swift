import MPDProtocol
import Testing

/// A parsed command as text: the filter and what follows it.
private func clauses(_ arguments: [String], _ clauses: FilterParser.Clauses = [.sort, .window]) -> String {
    outcome { () throws(ACK) -> String in
        let parsed = try FilterParser.parse(Arguments(arguments), clauses: clauses, foldsCase: false)
        var words = [text(parsed.filter.expression)]
        if let sort = parsed.sort { words.append("sort \(sort.isDescending ? "-" : "")\(sort.key)") }
        if let window = parsed.window { words.append("window \(window.start):\(window.end.map { "\($0)" } ?? "")") }
        if let position = parsed.positionArgument { words.append("position #\(position)") }
        if let group = parsed.group { words.append("group \(group.name)") }
        return words.joined(separator: " ")
    }
}

private func list(_ arguments: String...) -> String {
    outcome { () throws(ACK) -> String in
        let query = try ListQuery(Arguments(arguments))
        let groups = query.groups.map { " < \($0.name)" }.joined()
        return "\(query.subject)\(groups) of \(text(query.filter.expression))"
    }
}

@Suite struct FilterClauseTests {
    private let ten = #"(Album == "Ten")"#

    @Test func sortAndWindow() {
        for (arguments, expected) in [
            ("sort Title", "sort tag(MPDProtocol.Tag.title)"), ("sort -Title", "sort -tag(MPDProtocol.Tag.title)"),
            ("sort LAST-MODIFIED", "sort lastModified"), ("sort -added", "sort -added"),
            ("window 0:3", "window 0:3"), ("window 8:", "window 8:"), ("window 4", "window 4:5"),
            ("window -1", "window 0:"),
            ("sort title window 0:3", "sort tag(MPDProtocol.Tag.title) window 0:3"),
        ] {
            #expect(
                clauses(["album", "Ten"] + arguments.split(separator: " ").map(String.init)) == "\(ten) \(expected)"
            )
        }
    }

    @Test func clauseErrors() {
        for (arguments, expected) in [
            ("window 0:3 sort Title", "Unknown filter type"), ("sort nosuchtag", "Unknown sort tag"),
            ("sort", "Incorrect number of filter arguments"), ("window", "Incorrect number of filter arguments"),
            ("window x", "Integer or range expected: x"), ("window 5:3", "Malformed range: 5:3"),
            ("sort ARTIST window 0:1 x", "Unknown filter type"), ("sort prio", "Unknown sort tag"),
            ("SORT Title", "Unknown filter type"), ("position 1", "Unknown filter type"),
            ("group artist", "Unknown filter type"),
        ] {
            let arguments = ["album", "Ten"] + arguments.split(separator: " ").map(String.init)
            #expect(clauses(arguments) == "[2] \(expected)", "\(arguments)")
        }
        #expect(clauses(["album", "Ten", "sort", ""]) == "[2] Unknown sort tag")
        #expect(clauses(["sort", "Title"]) == "[2] Incorrect number of filter arguments")
        #expect(clauses([]) == "[2] Incorrect number of filter arguments")
    }

    @Test func theQueueSortsByPriorityToo() {
        #expect(clauses(["album", "Ten", "sort", "-PRIO"], [.queueSort, .window]) == "\(ten) sort -priority")
    }

    @Test func positionsComeLast() {
        let all: FilterParser.Clauses = [.position, .window, .sort]
        #expect(
            clauses(["album", "Ten", "sort", "Added", "window", "1:2", "position", "+0"], all)
                == "\(ten) sort added window 1:2 position #7"
        )
        #expect(clauses(["album", "Ten", "position", "0", "window", "1:2"], all) == "[2] Unknown filter type")
    }

    @Test func laterArgumentsOnly() throws {
        let arguments = Arguments(["name", "album", "Ten", "window", "0:1"])
        let parsed = try FilterParser.parse(arguments, from: 1, clauses: .window, foldsCase: false)
        #expect(text(parsed.filter.expression) == ten)
        #expect(parsed.window == PositionRange(start: 0, end: 1))
        // A keyword is none if it would take the arguments before the filter.
        #expect(throws: argumentError("Incorrect number of filter arguments")) {
            try FilterParser.parse(Arguments(["window", "1"]), from: 1, clauses: .window, foldsCase: false)
        }
    }

    @Test func counts() {
        #expect(clauses(["group", "artist"], .group) == #"(base "") group Artist"#)
        #expect(clauses(["album", "Ten", "group", "DATE"], .group) == "\(ten) group Date")
        #expect(clauses(["group", "nosuchtag"], .group) == "[2] Unknown tag type: nosuchtag")
        #expect(clauses(["group"], .group) == "[2] Incorrect number of filter arguments")
        #expect(clauses(["artist", "x", "group", "album", "group", "title"], .group) == "[2] Unknown filter type")
    }

    @Test func lists() {
        let all = #"(base "")"#
        #expect(list("artist") == "tag(MPDProtocol.Tag.artist) of \(all)")
        #expect(list("title", "(album == 'Ten')") == "tag(MPDProtocol.Tag.title) of \(ten)")
        #expect(list("title", "album", "Ten") == "tag(MPDProtocol.Tag.title) of \(ten)")
        #expect(list("file") == "uri of \(all)")
        #expect(list("FILENAME", "album", "Ten") == "uri of \(ten)")
        #expect(list("album", "group", "date") == "tag(MPDProtocol.Tag.album) < Date of \(all)")
        #expect(
            list("title", "(album == 'Ten')", "group", "album", "group", "date")
                == "tag(MPDProtocol.Tag.title) < Date < Album of \(ten)"
        )
    }

    @Test func listsAsBefore012() {
        #expect(list("album", "X") == #"tag(MPDProtocol.Tag.album) of (Artist == "X")"#)
        #expect(list("album", "group") == #"tag(MPDProtocol.Tag.album) of (Artist == "group")"#)
        #expect(list("artist", "X") == "[2] should be \"Album\" for 3 arguments")
    }

    @Test func listErrors() {
        for (arguments, expected) in [
            (["nosuchtag"], "Unknown tag type: nosuchtag"), (["any"], "Unknown tag type: any"),
            (["album", "nosuchtag", "x"], "Unknown filter type"),
            (["album", "(artist == 'x'"], "')' expected"),
            (["album", "artist", "x", "title"], "Incorrect number of filter arguments"),
            (["title", "group", "album", "(albumartist == 'Queue')"], "Unknown filter type"),
            (["date", "group", "album", "x"], "Unknown filter type"),
            (["album", "group", "album"], "Conflicting group"),
            (["album", "group", "artist", "group", "artist"], "Conflicting group"),
            (["album", "group", "nosuchtag"], "Unknown tag type: nosuchtag"),
            (["file", "group", "album"], "Unknown filter type"),
            (["file", "x"], "Incorrect number of filter arguments"),
        ] {
            let actual = outcome { () throws(ACK) -> ListQuery in try ListQuery(Arguments(arguments)) }
            #expect(actual == "[2] \(expected)", "\(arguments)")
        }
    }
}
