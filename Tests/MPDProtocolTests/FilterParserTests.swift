import MPDProtocol
import Testing

/// What the filter arguments of a command mean, in the normal form, or the complaint.
private func filter(_ arguments: [String], foldsCase: Bool = false) -> String {
    outcome { () throws(ACK) -> String in
        text(try FilterParser.parse(Arguments(arguments), foldsCase: foldsCase).filter.expression)
    }
}

private func expect(
    _ rows: [(arguments: [String], outcome: String)],
    foldsCase: Bool = false,
    location: SourceLocation = #_sourceLocation
) {
    for row in rows {
        let actual = filter(row.arguments, foldsCase: foldsCase)
        #expect(actual == row.outcome, "\(row.arguments)", sourceLocation: location)
    }
}

@Suite struct FilterParserTests {
    @Test func pairsOfCommandsThatMindCase() {
        expect([
            (["title", "Intro"], #"(Title == "Intro")"#),
            (["ARTIST", "Alpha Band", "TITLE", "Intro"], #"((Artist == "Alpha Band") AND (Title == "Intro"))"#),
            (["any", "x"], #"(any == "x")"#),
            (["file", "a/b"], #"(file == "a/b")"#),
            (["FileName", "a/b"], #"(file == "a/b")"#),
            (["base", "a/b"], #"(base "a/b")"#),
            (["artist", ""], #"(Artist == "")"#),
            (["title", "(x"], #"(Title == "(x")"#),
            (["modified-since", "2020-01-01"], #"(modified-since "2020-01-01T00:00:00Z")"#),
            (["added-since", "0"], #"(added-since "1970-01-01T00:00:00Z")"#),
            (["title", #"a\b"c'd"#], #"(Title == "a\\b\"c\'d")"#),
            // Taken for tags that no song has.
            (["audioformat", "44100:16:2"], #"(!(base ""))"#),
            (["prio", "1"], #"(!(base ""))"#),
        ])
    }

    @Test func pairsOfCommandsThatFoldCase() {
        expect(
            [
                (["title", "Intro"], #"(Title contains_ci "Intro")"#),
                (["any", "x"], #"(any contains_ci "x")"#),
                (["file", "x"], #"(file contains_ci "x")"#),
                (["base", "a"], #"(base "a")"#),
            ],
            foldsCase: true
        )
    }

    @Test func pairErrors() {
        expect([
            ([], "[2] Incorrect number of filter arguments"),
            (["title"], "[2] Incorrect number of filter arguments"),
            (["title", "x", "y"], "[2] Incorrect number of filter arguments"),
            (["nosuchtag", "x"], "[2] Unknown filter type"),
            (["title", "x", "nosuchtag", "y"], "[2] Unknown filter type"),
            (["", "x"], "[2] Unknown filter type"),
            (["BASE", "x"], "[2] Unknown filter type"),
            (["Modified-Since", "0"], "[2] Unknown filter type"),
            (["modified-since", "x"], "[2] Failed to parse date"),
            (["base", ""], "[2] Bad URI"), (["base", "/"], "[2] Bad URI"), (["base", "../x"], "[2] Bad URI"),
            (["base", "a/./b"], "[2] Bad URI"), (["base", "a//b"], "[2] Bad URI"), (["base", "a/"], "[2] Bad URI"),
            (["base", "a/.."], "[2] Bad URI"), (["base", "/a"], "[2] Bad URI"),
            (["base", "a/...b/.c"], #"(base "a/...b/.c")"#),
        ])
    }

    @Test func expressions() {
        let love = #"(Title == "Love")"#
        expect([
            (["(title == 'Love')"], love), (["(title=='Love')"], love), (["(TITLE == \"Love\")"], love),
            (["(  title   ==   'Love'  )"], love), (["( \t title\u{1}=='Love')  "], love),
            (["((title == 'Love'))"], love), (["(((title == 'Love') ) )"], love),
            (["(!(title == 'Love'))"], #"(Title != "Love")"#),
            (["(! (title == 'Love') )"], #"(Title != "Love")"#),
            (["(!(!(title == 'Love')))"], love),
            (["(!(any == 'x'))"], #"(any != "x")"#), (["(!(file != 'x'))"], #"(file == "x")"#),
            (["(!(base 'x'))"], #"(!(base "x"))"#),
            (["((title == 'a') AND (artist == 'b'))"], #"((Title == "a") AND (Artist == "b"))"#),
            (["((title == 'a')AND(artist == 'b'))"], #"((Title == "a") AND (Artist == "b"))"#),
            (
                ["((title == 'a') AND ((artist == 'b') AND (date == 'c')))"],
                #"((Title == "a") AND (Artist == "b") AND (Date == "c"))"#
            ),
            (["(((title == 'a')) AND (date == 'c'))"], #"((Title == "a") AND (Date == "c"))"#),
            (
                ["(!((title == 'a') AND (date == 'c')))"],
                #"(!((Title == "a") AND (Date == "c")))"#
            ),
            (["(title == 'a')", "(date == 'c')"], #"((Title == "a") AND (Date == "c"))"#),
            (["(title == 'a')", "date", "c"], #"((Title == "a") AND (Date == "c"))"#),
            (["date", "c", "(title == 'a')"], #"((Date == "c") AND (Title == "a"))"#),
            (["(base '')"], #"(base "")"#), (["(base 'a/b')"], #"(base "a/b")"#),
            (["(base 'a/b/')"], #"(base "a/b/")"#),
            (["(any contains 'x')"], #"(any contains "x")"#), (["(filename == 'x')"], #"(file == "x")"#),
            (["(prio >= 5)"], "(prio >= 5)"), (["(PRIO >=255)"], "(prio >= 255)"), (["(prio >= +0)"], "(prio >= 0)"),
            (["(modified-since '1')"], #"(modified-since "1970-01-01T00:00:01Z")"#),
            (["(added-since '2100-01-01')"], #"(added-since "2100-01-01T00:00:00Z")"#),
        ])
    }

    @Test func quoting() {
        expect(
            [
                (#"(title == 'Say "Hello"')"#, #"Say "Hello""#),
                (#"(title == "Say \"Hello\"")"#, #"Say "Hello""#),
                (#"(title == 'Back\\slash')"#, #"Back\slash"#),
                (#"(title == 'Mixed \' and " and \\')"#, #"Mixed ' and " and \"#),
                (#"(title == '(Parens AND more)')"#, "(Parens AND more)"),
                (#"(title == 'In\tro')"#, "Intro"),
                ("(title == '  x ')", "  x "),
                ("(title == '')", ""),
            ].map { (["\($0)"], text(Filter.tag(.title, TextMatch(.equals, bytes($1), foldsCase: false)).expression)) }
        )
    }

    @Test func operators() {
        let rows: [(spelling: String, normal: String)] = [
            ("==", "=="), ("!=", "!="), ("=~", "=~"), ("!~", "!~"), ("contains ", "contains"),
            ("!contains ", "!contains"), ("starts_with ", "starts_with"), ("!starts_with ", "!starts_with"),
            ("eq_cs ", "=="), ("!eq_cs ", "!="), ("contains_cs ", "contains"), ("!contains_cs ", "!contains"),
            ("starts_with_cs ", "starts_with"), ("!starts_with_cs ", "!starts_with"), ("eq_ci ", "eq_ci"),
            ("!eq_ci ", "!eq_ci"), ("contains_ci ", "contains_ci"), ("!contains_ci ", "!contains_ci"),
            ("starts_with_ci ", "starts_with_ci"), ("!starts_with_ci ", "!starts_with_ci"), ("CONTAINS ", "contains"),
            ("!Starts_With_CI   ", "!starts_with_ci"),
        ]
        expect(rows.map { (["(title \($0.spelling)'x')"], "(Title \($0.normal) \"x\")") })
    }

    @Test func caseOfOperators() throws {
        for (spelling, foldsInFind, foldsInSearch) in [
            ("==", false, true), ("contains ", false, true), ("starts_with ", false, true), ("=~", false, true),
            ("eq_cs ", false, false), ("eq_ci ", true, true), ("contains_cs ", false, false),
            ("contains_ci ", true, true),
            ("starts_with_cs ", false, false), ("starts_with_ci ", true, true),
        ] {
            for (foldsCase, expected) in [(false, foldsInFind), (true, foldsInSearch)] {
                let arguments = Arguments(["(title \(spelling)'x')"])
                let parsed = try FilterParser.parse(arguments, foldsCase: foldsCase)
                guard case .tag(.title, let match) = parsed.filter else {
                    Issue.record("\(parsed.filter)")
                    continue
                }
                #expect(match.foldsCase == expected, "\(spelling)")
                #expect(match.text == bytes("x"))
            }
        }
    }

    @Test func expressionErrors() {
        expect([
            (["(title == 'x'"], "[2] ')' expected"),
            (["(title == 'x')x"], "[2] Unparsed garbage after expression"),
            (["(title == 'x') AND (artist == 'y')"], "[2] Unparsed garbage after expression"),
            (["(title == x)"], "[2] Quoted string expected"),
            (["(title == 'x)"], "[2] Closing quote not found"),
            ([#"(title == 'x\"#], "[2] Closing quote not found"),
            (["()"], "[2] Word expected"), (["("], "[2] Word expected"), (["(("], "[2] Word expected"),
            (["(title =="], "[2] Quoted string expected"),
            (["(nosuchtag == 'x')"], "[2] Unknown filter type: nosuchtag"),
            (["(Base 'x')"], "[2] Unknown filter type: Base"),
            (["((title == 'x') OR (artist == 'y'))"], "[2] 'AND' expected"),
            (["((title == 'x') and (artist == 'y'))"], "[2] 'AND' expected"),
            (["((title == 'x') AND artist == 'y')"], "[2] Unknown filter type: rtist"),
            (["((title == 'x') AND )"], "[2] Word expected"), (["((title == 'x') AND"], "[2] Word expected"),
            (["((title == 'x')"], "[2] Word expected"), (["((title == 'x')x"], "[2] 'AND' expected"),
            (["(!title == 'x')"], "[2] '(' expected"), (["(!"], "[2] '(' expected"),
            (["(!(title == 'x')"], "[2] ')' expected"),
            (["(== 'x')"], "[2] Word expected"), (["(1title == 'x')"], "[2] Word expected"),
            (["(title == 'Don't Stop')"], "[2] ')' expected"),
            (["(title = 'x')"], "[2] Unknown filter operator: = 'x')"),
            (["(title 'x')"], "[2] Unknown filter operator: 'x')"), (["(title)"], "[2] Unknown filter operator: )"),
            (["(title > 'x')"], "[2] Unknown filter operator: > 'x')"),
            (["(title eq 'x')"], "[2] Unknown filter operator: eq 'x')"),
            (["(title starts_with'Ten')"], "[2] Unknown filter operator: starts_with'Ten')"),
            (["(title contains\t'x')"], "[2] Unknown filter operator: contains 'x')"),
            (["(title"], "[2] Unknown filter operator:"),
            (["(modified-since 'yesterday')"], "[2] Failed to parse date"),
            (["(modified-since '')"], "[2] Failed to parse date"),
            (["(modified-since 1)"], "[2] Quoted string expected"),
            (["(base 'x'"], "[2] ')' expected"), (["(base == 'x')"], "[2] Quoted string expected"),
            (["(AudioFormat 'x')"], "[2] '==' or '=~' expected"),
            (["(AudioFormat != '44100:16:2')"], "[2] '==' or '=~' expected"),
            (["(prio 5)"], "[2] '>=' expected"), (["(prio >= 'x')"], "[2] Number expected"),
            (["(prio >= 256)"], "[2] Invalid priority value"), (["(prio >= -1)"], "[2] Invalid priority value"),
            (["(prio >= 5 )"], "[2] ')' expected"), (["(prio >= 5"], "[2] ')' expected"),
        ])
    }

    @Test func longValues() {
        let longest = String(repeating: "x", count: 4095)
        expect([
            (["(title == '\(longest)')"], "(Title == \"\(longest)\")"),
            (["(title == '\(longest)x')"], "[2] Quoted value is too long"),
        ])
    }

    @Test func deepNestingIsRefused() {
        func nested(_ depth: Int, _ open: String) -> String {
            String(repeating: open, count: depth) + "(base 'x')" + String(repeating: ")", count: depth)
        }
        expect([
            ([nested(200, "(")], #"(base "x")"#),
            ([nested(256, "(")], "[2] Filter is nested too deeply"),
            ([nested(2700, "(")], "[2] Filter is nested too deeply"),
            ([nested(2700, "(!")], "[2] Filter is nested too deeply"),
            ([String(repeating: "(", count: 100_000)], "[2] Filter is nested too deeply"),
        ])
    }

    @Test func theFirstTopLevelBaseIsRequired() throws {
        for (expression, base) in [
            ("(base 'a')", "a"), ("((title == 'x') AND (base 'a') AND (base 'b'))", "a"), ("((((base 'a'))))", "a"),
            ("(!(base 'a'))", nil), ("(title == 'x')", nil), ("((title == 'x') AND (!(base 'a')))", nil),
        ] {
            let parsed = try FilterParser.parse(Arguments([expression]), foldsCase: false)
            #expect(parsed.filter.requiredBase == base.map { bytes($0) }, "\(expression)")
        }
    }
}
