import Testing

@testable import Library

@Suite("Texts")
struct TextTests {
    /// What `search` compares, as MPD 0.24 folds it.
    @Test(
        "folding",
        arguments: [
            ("", ""), ("aBC 09~", "abc 09~"), ("GRÖSSE", "grösse"), ("Größe", "grösse"), ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("Жизнь", "жизнь"), ("e\u{301}", "é"), ("Ⅷ", "viii"), ("ﬁn", "fin"), ("Ａ１", "a1"),
            ("it’s “so” – he said…", "it's \"so\" - he said..."), ("«x»", "<<x>>"), ("AC⁄DC", "ac⁄dc"),
            ("soft\u{AD}hyphen", "softhyphen"), ("İ", "i̇"), ("🎵", "🎵"), ("\u{200B}", ""),
        ]
    )
    func folding(text: String, folded: String) {
        let result = TextFolding.folded(Array(text.utf8))
        #expect(Array(folded.utf8) == result, "\(String(decoding: result, as: UTF8.self))")
        #expect(TextFolding.folded(result) == result)
    }

    @Test("folding what is no UTF-8")
    func foldingInvalid() {
        #expect(TextFolding.folded([0x41, 0xFF]) == Array("a\u{FFFD}".utf8))
        #expect(TextFolding.folded([0xC3]) == Array("\u{FFFD}".utf8))
    }

    @Test("numbers at the start of a text")
    func leadingIntegers() {
        let table: [(String, Int64)] = [
            ("", 0), ("12", 12), ("  7/9", 7), ("-3", -3), ("+4x", 4), ("x4", 0), ("007", 7), ("- 3", 0),
            ("9223372036854775807", .max), ("9223372036854775808", .max), ("-99999999999999999999", .min),
        ]
        for (text, number) in table { #expect(text.withView { $0.leadingInteger } == number, "\(text)") }
    }

    @Test("a text table numbers distinct texts")
    func textTable() {
        var table = TextTable()
        for number in 0..<1000 {
            #expect(insert("text \(number)", &table) == UInt32(number))
            #expect(insert("text \(number / 2)", &table) == UInt32(number / 2))
        }
        #expect(table.count == 1000)
        #expect("text 999".withView { table.find($0) } == 999)
        #expect("text 1000".withView { table.find($0) } == nil)
        #expect(table.withText(17) { $0.string } == "text 17")
    }

    private func insert(_ text: String, _ table: inout TextTable) -> UInt32? {
        text.withView { table.insert($0)?.id }
    }

    @Test("views compare as their bytes do, and never reach beyond themselves")
    func views() {
        let texts = ["", "a", "aa", "ab", "b", "\u{7f}", "é", "ééééééééé"].map { Array($0.utf8) }
        for first in texts {
            for second in texts {
                first.withView { a in
                    second.withView { b in
                        #expect((ByteView.compare(a, b) < 0) == first.lexicographicallyPrecedes(second))
                        #expect((a == b) == (first == second))
                        #expect(a.hasPrefix(b) == first.starts(with: second))
                        if a.leadingKey != b.leadingKey {
                            #expect((a.leadingKey < b.leadingKey) == first.lexicographicallyPrecedes(second))
                        }
                    }
                }
            }
        }
        Array("hello".utf8).withView { view in
            #expect(view[5] == 0)
            #expect(view[-1] == 0)
            #expect(view.slice(-3, 99).count == 5)
            #expect(view.slice(4, 2).count == 0)
            #expect(view.lastIndex(of: UInt8(ascii: "l")) == 3)
            #expect(Array("lo".utf8).withView { view.find($0) } == 3)
            #expect(Array("lo".utf8).withView { view.find($0, from: 4) } == nil)
            #expect(Array("lo".utf8).withView { view.find($0, from: 6) } == nil)
        }
    }

    @Test("sets of songs: combining them in every form")
    func songSets() {
        let count = 130
        let forms: [SongSet] = [
            .none, .range(0..<count), .range(3..<70), .range(70..<130), .list([0, 5, 64, 129]), .list([2, 3]),
            .bits(bits([1, 63, 64, 65, 127, 129], count)), .bits(bits([], count)),
        ]
        for first in forms {
            let all = Set(members(first))
            #expect(members(first.complement(count: count)) == (0..<count).filter { !all.contains($0) })
            #expect(first.count == all.count)
            for second in forms {
                let both = members(first.intersection(second, count: count))
                #expect(both == members(second).filter { all.contains($0) })
            }
        }
    }

    private func bits(_ songs: [Int], _ count: Int) -> SongBits {
        var bits = SongBits(count: count)
        for song in songs { bits.insert(song) }
        return bits
    }

    private func members(_ set: SongSet) -> [Int] {
        var songs: [Int] = []
        set.forEach { songs.append($0) }
        return songs
    }

    @Test("times are written in UTC")
    func times() {
        let table: [(UInt64, String)] = [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"), (4_294_967_295, "2106-02-07T06:28:15Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        ]
        for (time, expected) in table {
            var buffer = ReplyBuffer(reserving: 1)
            buffer.append(time: time)
            var bytes: [UInt8] = []
            buffer.flush(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == expected)
        }
    }
}
