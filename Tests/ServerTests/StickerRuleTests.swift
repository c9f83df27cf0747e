import Library
import MPDProtocol
import SubsonicKit
import Testing

@testable import ShelvMPD

/// Values of stickers, the book of them, and that of stars and ratings.
struct StickerRuleTests {
    @Test(
        arguments: [
            ("", 0), ("12", 12), (" \t-7x", -7), ("+3", 3), ("abc", 0), ("1e9", 1), ("-", 0),
            ("9223372036854775807", .max),
            ("9223372036854775808", .max), ("-9223372036854775808", .min), ("-99999999999999999999", .min), ("0x1F", 0),
        ] as [(String, Int64)]
    )
    func readsNumbersAsSQLite(_ text: String, _ number: Int64) {
        #expect(StickerNumber.integer(Array(text.utf8)) == number)
    }

    @Test func takesExactNumbersOnly() {
        for text in ["0", "10", "7"] { #expect(StickerNumber.exactly(Array(text.utf8), in: 0...10) != nil) }
        for text in ["", "11", "-1", "5x", " 5", "99999999999999999999999"] {
            #expect(StickerNumber.exactly(Array(text.utf8), in: 0...10) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("=", "10", "10", true), ("=", "10", "10.0", false), ("<", "10", "2", true), (">", "10", "2", false),
        ("eq", "10", "10 ", true), ("lt", "2", "10", true), ("gt", "abc", "-1", true),
        ("contains", "Ten and", "N A", true),
        ("contains", "Ten", "Tenn", false), ("contains", "Ten", "", true), ("starts_with", "Ten", "te", true),
        ("starts_with", "Ten", "en", false), ("contains", "a%b", "%", true), ("contains", "ab", "%", false),
    ])
    func comparesAsMPD(_ word: String, _ value: String, _ wanted: String, _ holds: Bool) throws {
        let comparison = try StickerSearch.Comparison(Array(word.utf8))
        #expect(comparison.holds(Array(value.utf8), Array(wanted.utf8)) == holds)
    }

    @Test func knowsTypes() throws {
        #expect(try StickerType(Array("album".utf8)) == .tag(.album))
        #expect(throws: StickerError.unsupportedTag(.date)) { try StickerType(Array("DATE".utf8)) }
        #expect(throws: StickerError.unknownType(Array("Song".utf8))) { try StickerType(Array("Song".utf8)) }
        for type in StickerType.all { #expect(StickerType(stored: type.name) == type) }
        #expect(StickerType(stored: "Date") == nil)
    }

    @Test func bookKeepsNamesAndCounts() {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        func sticker(_ name: String, _ value: String) -> StickerBook.Sticker {
            StickerBook.Sticker(name: bytes(name), value: bytes(value))
        }
        var book = StickerBook()
        for (object, name) in [("a", "y"), ("a", "x"), ("b", "x"), ("a", "x")] {
            book.set(.song, bytes(object), sticker(name, "\(object)\(name)"))
        }
        #expect(book.stickers(of: .song, bytes("a")).map(\.name) == [bytes("x"), bytes("y")])
        #expect(Set(book.names(of: .song)) == [bytes("x"), bytes("y")])
        #expect(book.names(of: .filter).isEmpty)
        // Around in a ring, and over one that goes away.
        book.set(.song, bytes("c"), sticker("z", "cz"))
        book.rename(.song, [bytes("a"): bytes("b"), bytes("b"): bytes("c"), bytes("c"): bytes("a")])
        #expect(book.stickers(of: .song, bytes("b")).map(\.value) == [bytes("ax"), bytes("ay")])
        #expect(book.stickers(of: .song, bytes("a")).map(\.value) == [bytes("cz")])
        let removals = [
            book.remove(.song, bytes("b"), bytes("x")), book.remove(.song, bytes("b"), bytes("x")),
            book.removeAll(.song, bytes("b")), book.removeAll(.song, bytes("b")),
        ]
        #expect(removals == [true, false, true, false])
        #expect(Set(book.names(of: .song)) == [bytes("x"), bytes("z")])
        #expect(book.count(of: .song) == 2)
    }

    /// A change beside a reader that holds the book must not copy all of it.
    @Test func changesAreCheapBesideAReader() {
        var book = StickerBook()
        for number in 0..<20_000 {
            let sticker = StickerBook.Sticker(name: Array("n".utf8), value: Array("v".utf8))
            book.set(.song, Array("song \(number)".utf8), sticker)
        }
        let clock = ContinuousClock()
        let time = clock.measure {
            for number in 0..<100 {
                let copy = book
                book.set(.song, Array("song \(number)".utf8), .init(name: Array("n".utf8), value: Array("w".utf8)))
                #expect(copy.version < book.version)
            }
        }
        #expect(time < .milliseconds(200))
    }

    // MARK: Stars

    private static func starred(_ songs: [(String, Int64)], albums: [(String, Int)] = []) -> SearchResult {
        var result = SearchResult()
        result.songs = songs.map { id, time in
            var song = Song(id: id)
            song.starred = time
            song.isStarred = true
            return song
        }
        result.albums = albums.map { id, rating in
            var album = Album(id: id)
            album.starred = 5
            album.isStarred = true
            album.userRating = rating == 0 ? nil : rating
            return album
        }
        return result
    }

    @Test func starsStandInTheirOrder() {
        var book = MarkBook()
        _ = book.take(Self.starred([("b", 200), ("a", 100), ("c", 200)]), asked: .now)
        #expect(book.starred(.song) == ["a", "b", "c"])
        var mark = Mark()
        mark.starred = 150
        book.set(.song("d"), mark)
        // Just starred: the last, whatever the server's clock says.
        #expect(book.starred(.song) == ["a", "b", "c", "d"])
        mark.starred = nil
        book.set(.song("b"), mark)
        #expect(book.starred(.song) == ["a", "c", "d"])
        #expect(book[.song("b")] == nil)
        // Equal times keep the order that they had.
        _ = book.take(Self.starred([("d", 200), ("c", 200), ("a", 200)]), asked: .now)
        #expect(book.starred(.song) == ["a", "c", "d"])
    }

    @Test func olderAnswersSayNothingOfActs() {
        var book = MarkBook()
        let before = Instant.now
        var mark = Mark()
        mark.starred = 100
        book.set(.song("sent"), mark)
        book.set(.song("waiting"), mark)
        book.set(.song("local"), mark)
        book.note(.star(true), .song("waiting"), id: 1, base: 0)
        book.settled[.song("sent")] = before.advanced(by: .seconds(1))
        mark.hasLocalStar = true
        book.set(.song("local"), mark)
        var gone = Mark()
        gone.like = 0
        book.set(.song("gone"), gone)
        book.note(.star(false), .song("gone"), id: 2, base: 1)
        _ = book.take(Self.starred([("gone", 50)]), asked: before)
        #expect(book.starred(.song).sorted() == ["local", "sent", "waiting"])
        for (key, id) in [(MarkKey.song("waiting"), Int64(1)), (.song("gone"), 2)] {
            let isLast = book.settle(.star(true), key, through: id, at: before)
            #expect(isLast)
        }
        let news = book.take(Self.starred([("gone", 50)]), asked: before.advanced(by: .seconds(2)))
        #expect(Set(news.map(\.key.id)) == ["sent", "waiting", "gone"])
        #expect(book.starred(.song) == ["gone", "local"])
        #expect(book[.song("gone")]?.like == nil)
    }

    @Test func ratingsOfAlbumsComeWithTheStars() {
        var book = MarkBook()
        var mark = Mark()
        mark.rating = Mark.Rating(value: 7, settled: 10)
        book.set(.album("same"), mark)
        book.set(.album("other"), mark)
        _ = book.take(Self.starred([], albums: [("same", 4), ("other", 2), ("none", 0)]), asked: .now)
        #expect(book[.album("same")]?.value(of: .rating) == 7)
        #expect(book[.album("other")]?.value(of: .rating) == 4)
        #expect(book[.album("none")]?.value(of: .rating) == nil)
    }

    /// Value, since when the server has it, what the library says then, and what stays.
    @Test(
        arguments: [
            (8, 100, 4, nil), (7, 100, 4, 7), (7, 100, 3, nil), (7, 200, 3, 7), (0, 100, 0, nil), (0, 200, 4, 0),
            (8, nil, 2, 8), (8, .max, 0, 8),
        ] as [(UInt8, Int64?, UInt8, UInt8?)]
    )
    func ratingsAreConfirmed(_ value: UInt8, _ settled: Int64?, _ library: UInt8, _ stays: UInt8?) {
        var book = MarkBook()
        var mark = Mark()
        mark.rating = Mark.Rating(value: value, settled: settled)
        book.set(.song("a"), mark)
        _ = book.confirm(read: 150, now: 1_000) { _ in library }
        #expect(book[.song("a")]?.rating?.value == stays)
    }

    /// Rated while the clock was years ahead: with the clock set right, the server's word counts from the next full reading on.
    @Test func ratingsOfTheFutureAreConfirmedToo() {
        var book = MarkBook()
        var mark = Mark()
        mark.rating = Mark.Rating(value: 8, settled: 1_000_000)
        book.set(.song("a"), mark)
        var result = book.confirm(read: 150, now: 200) { _ in 2 }
        #expect(result.news.count == 1 && result.overruled == 0)
        #expect(book[.song("a")]?.rating?.value == 8)
        result = book.confirm(read: 300, now: 400) { _ in 2 }
        #expect(result.overruled == 1)
        #expect(book[.song("a")]?.rating == nil)
    }

    @Test func songsWithOtherIDsKeepTheirMarks() {
        var book = MarkBook()
        _ = book.take(Self.starred([("a", 100), ("b", 200)]), asked: .now)
        book.note(.star(true), .song("b"), id: 3, base: 0)
        _ = book.rename(songs: ["a": "b", "b": "c"])
        #expect(book.starred(.song) == ["b", "c"])
        #expect(book[.song("a")] == nil)
        #expect(book.pending.keys.map(\.id) == ["c"])
    }
}
