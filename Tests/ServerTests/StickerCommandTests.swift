import Glibc
import Library
import MPDProtocol
import Support
import Testing

@testable import ShelvMPD

/// Sticker commands on a server that nobody stands behind: what each answers, and how it complains.
@Suite("Sticker commands")
struct StickerCommandTests {
    private static let song = "\"Alpha/First/01.flac\""

    /// Songs with albums and artists as a server knows them, some rated and played.
    private static let records: [SongRecord] = LibraryFixture.records.map { record in
        var record = record
        record.albumID = record.songID.split(separator: "-").first.map { "al-\($0)" }
        if record.songID == "First-1" {
            record.userRating = 3
            record.playCount = 7
            record.played = 1_700_000_000
        }
        if record.songID == "Second-1-1" { record.userRating = 5 }
        return record
    }

    @Test(arguments: [
        ("sticker get song X a", "[50@0] {sticker} no such sticker: \"a\""),
        ("sticker delete song X a", "[50@0] {sticker} no such sticker: \"a\""),
        ("sticker delete song Y", "[50@0] {sticker} no such sticker"),
        ("sticker set song X \"\" 1", "[2@0] {sticker} empty sticker name"),
        ("sticker inc song X \"\" 1", "[2@0] {sticker} empty sticker name"),
        ("sticker get song nowhere a", "[50@0] {sticker} No such song"),
        ("sticker get song Alpha a", "[50@0] {sticker} No such song"),
        ("sticker list song nowhere", "[50@0] {sticker} No such song"),
        ("sticker get song X", "[2@0] {sticker} bad request"),
        ("sticker set song X a", "[2@0] {sticker} bad request"),
        ("sticker inc song X a", "[2@0] {sticker} bad request"),
        ("sticker list song X a", "[2@0] {sticker} bad request"),
        ("sticker find song \"\"", "[2@0] {sticker} bad request"),
        ("sticker find song \"\" a =", "[2@0] {sticker} bad request"),
        ("sticker set song nowhere \"\" 1", "[2@0] {sticker} empty sticker name"),
        ("sticker find song \"\" a ~", "[2@0] {sticker} bad operator \"~\""),
        ("sticker set date 1999 \"\" 1", "[2@0] {sticker} empty sticker name"),
        ("sticker find date \"\" a sort x", "[2@0] {sticker} Unknown sort tag \"x\""),
        ("sticker nothing date 1999 a", "[2@0] {sticker} bad request"),
        ("sticker nothing song X a", "[2@0] {sticker} bad request"),
        ("sticker get song", "[2@0] {sticker} too few arguments for \"sticker\""),
        ("sticker get Song X a", "[2@0] {sticker} unknown sticker domain \"Song\""),
        ("sticker get date 1999 a", "[2@0] {sticker} unsupported tag: \"Date\""),
        ("sticker get album nothing a", "[2@0] {sticker} no such Album: \"nothing\""),
        ("sticker get album \"\" a", "[50@0] {sticker} no such sticker: \"a\""),
        ("sticker get playlist nothing a", "[2@0] {sticker} no such playlist: \"nothing\""),
        (
            "sticker get filter \"(Album == 'nothing')\" a",
            "[2@0] {sticker} no matches found: \"(Album == \\\"nothing\\\")\""
        ),
        ("sticker get filter \"(album == \" a", "[5@0] {sticker} Quoted string expected"),
        ("sticker get filter \"(AudioFormat == 'x')\" a", "[2@0] {sticker} Failed to parse the sample rate"),
        ("sticker get filter \"(modified-since 'x')\" a", "[2@0] {sticker} Failed to parse date"),
        ("sticker find song \"\" a filter \"(album == 'x')\"", "[2@0] {sticker} bad operator \"filter\""),
        (
            "sticker get filter \"(album =~ 'a(')\" a",
            "[52@0] {sticker} Error in regex at offset 2: missing closing parenthesis"
        ),
        ("sticker find song \"\" a ~ 1", "[2@0] {sticker} bad operator \"~\""),
        ("sticker find song \"\" a sort size", "[2@0] {sticker} Unknown sort tag \"size\""),
        ("sticker find song \"\" a window x", "[2@0] {sticker} Integer or range expected: x"),
        ("sticker set song X rating 11", "[2@0] {sticker} rating must be a number from 0 to 10"),
        ("sticker set song X rating good", "[2@0] {sticker} rating must be a number from 0 to 10"),
        ("sticker set song X like 3", "[2@0] {sticker} like must be 0, 1 or 2"),
        ("stickernamestypes artist", "[2@0] {stickernamestypes} no such tag \"artist\""),
        ("stickernamestypes Date", "[2@0] {stickernamestypes} unsupported tag \"Date\""),
        ("stickernames x", "[2@0] {stickernames} wrong number of arguments for \"stickernames\""),
    ])
    func complains(_ command: String, _ ack: String) throws {
        let client = try TestServer(Self.records).client()
        let command = command.replacing(" X", with: " \(Self.song)")
            .replacing(" Y", with: " \"Alpha/First/02.flac\"")
        #expect(try client.ask(command) == ["ACK \(ack)"])
    }

    @Test func findsNothingAtTagsWithoutStickers() throws {
        #expect(try TestServer(Self.records).client().ask("sticker find date \"\" a = 1 2 3") == ["OK"])
    }

    /// As SQLite calculates with texts.
    @Test(arguments: [
        ("4", "9223372036854775807", false, "9.22337203685478e+18"), ("-10", "1.5", false, "-8.5"),
        ("abc", "2", false, "2"),
        ("7x", "2", false, "9"), ("", "2", false, "2"), ("1.5x", "2", false, "3.5"), (".5", ".5", false, "1.0"),
        ("5.", "1", false, "6.0"), ("1e2", "1", false, "101.0"), ("1e", "1", false, "2"), (" 5 ", "1", false, "6"),
        ("0.1", "0.2", false, "0.3"), ("1", "0.00001", true, "0.99999"), ("0", "0.00001", false, "1.0e-05"),
        ("1e15", "0", false, "1.0e+15"), ("123456789012345678", "0.5", false, "1.23456789012346e+17"),
        ("1e300", "1e300", false, "2.0e+300"), ("1e308", "1e308", false, "Inf"), ("0.5", "0.5", true, "0.0"),
        ("99999999999999999999", "0", false, "1.0e+20"), ("-9223372036854775808", "1", true, "-9.22337203685478e+18"),
        ("+3", "4", false, "7"), ("0x10", "1", false, "1"), ("- 1", "1", false, "1"), (".", "1", false, "1"),
        ("999999999999999.5", "0.3", false, "1.0e+15"), ("7", "10", true, "-3"), ("123456.25", "1", false, "123457.25"),
    ])
    func calculates(_ former: String, _ value: String, isDifference: Bool, result: String) {
        let (a, b) = (StickerQuantity.read(Array(former.utf8)).number, StickerQuantity.read(Array(value.utf8)).number)
        let sum = StickerQuantity.sum(a, b, isDifference: isDifference)
        #expect(String(decoding: sum.text, as: UTF8.self) == result)
    }

    /// `eq`, `lt` and `gt`: whole parts are compared with a number, and what is no number is greater than all.
    @Test(arguments: [
        ("5", "x", 1), ("5", "5x", 1), ("5", "5.0", 0), ("5", " 5 ", 0), ("5", "", 1), ("5", "4.5", 2),
        ("-11.5", "-11", 0), ("x", "0", 0),
        ("9", "10", 1), ("1e3", "1", 0),
    ])
    func comparesNumbers(_ value: String, _ wanted: String, _ which: Int) throws {
        for (index, word) in ["eq", "lt", "gt"].enumerated() {
            let comparison = try StickerSearch.Comparison(Array(word.utf8))
            #expect(comparison.holds(Array(value.utf8), Array(wanted.utf8)) == (index == which), "\(word)")
        }
    }

    @Test func setsAndFinds() throws {
        let client = try TestServer(Self.records).client()
        func ask(_ command: String) throws -> [String] { try client.ask("sticker \(command)") }
        #expect(try ask("set song \(Self.song) b=c 1") == ["OK"])
        #expect(try ask("inc song \(Self.song) b=c 4") == ["OK"])
        #expect(try ask("dec song \(Self.song) b=c 2") == ["OK"])
        #expect(try ask("dec song \(Self.song) new 2") == ["OK"])
        #expect(
            try ask("list song \(Self.song)")
                == [
                    "sticker: b=c=3", "sticker: lastPlayed=1700000000", "sticker: new=2", "sticker: playCount=7",
                    "sticker: rating=6", "OK",
                ]
        )
        #expect(try ask("set song loose.mp3 new 10") == ["OK"])
        #expect(
            try ask("find song \"\" new sort -value window 0:1")
                == ["file: Alpha/First/01.flac", "sticker: new=2", "OK"]
        )
        #expect(try ask("find song \"\" new gt 2") == ["file: loose.mp3", "sticker: new=10", "OK"])
        #expect(try ask("find song Alpha/First new").first == "file: Alpha/First/01.flac")
        #expect(try ask("find song Alpha/Fir new") == ["OK"])
        #expect(try ask("set song loose.mp3 empty \"\"") == ["OK"])
        #expect(try ask("get song loose.mp3 empty") == ["ACK [50@0] {sticker} no such sticker: \"empty\""])
        #expect(try ask("delete song loose.mp3 empty") == ["OK"])
        #expect(try ask("delete song loose.mp3") == ["OK"])
        #expect(try ask("list song loose.mp3") == ["OK"])
    }

    @Test func tellsWhatTheServerKeeps() throws {
        let client = try TestServer(Self.records).client()
        func ask(_ command: String) throws -> [String] { try client.ask("sticker \(command)") }
        #expect(
            try ask("find song \"\" rating")
                == [
                    "file: Alpha/First/01.flac", "sticker: rating=6", "file: Alpha/Second/1-01.flac",
                    "sticker: rating=10", "OK",
                ]
        )
        #expect(try ask("find song \"\" playCount") == ["file: Alpha/First/01.flac", "sticker: playCount=7", "OK"])
        // What was set counts until the server counts more.
        #expect(try ask("set song \(Self.song) playCount 2") == ["OK"])
        #expect(try ask("get song \(Self.song) playCount") == ["sticker: playCount=2", "OK"])
        #expect(try ask("delete song \(Self.song) playCount") == ["OK"])
        #expect(try ask("find song \"\" playCount") == ["OK"])
        #expect(
            try ask("find song \"\" lastPlayed")
                == ["file: Alpha/First/01.flac", "sticker: lastPlayed=1700000000", "OK"]
        )
        #expect(try ask("set song \(Self.song) lastPlayed 1700000009") == ["OK"])
        #expect(try ask("get song \(Self.song) lastPlayed") == ["sticker: lastPlayed=1700000009", "OK"])
        #expect(try ask("delete song \(Self.song) lastPlayed") == ["OK"])
        // Odd ones, and none.
        #expect(try ask("set song \(Self.song) rating 7") == ["OK"])
        #expect(try ask("get song \(Self.song) rating") == ["sticker: rating=7", "OK"])
        #expect(try ask("set song loose.mp3 rating 1") == ["OK"])
        #expect(try ask("set song \"Alpha/Second/1-01.flac\" rating 0") == ["OK"])
        #expect(
            try ask("find song \"\" rating sort value_int")
                == [
                    "file: loose.mp3", "sticker: rating=1", "file: Alpha/First/01.flac", "sticker: rating=7", "OK",
                ]
        )
        #expect(try ask("delete song \(Self.song) rating") == ["OK"])
        #expect(try ask("get song \(Self.song) rating").first?.hasPrefix("ACK [50@0]") == true)
        // Stars and likes are two views of one thing.
        #expect(try ask("set song \(Self.song) like 2") == ["OK"])
        #expect(
            try Int64(ask("get song \(Self.song) starred")[0].dropFirst("sticker: starred=".count)) ?? 0 > 1_000_000
        )
        #expect(try ask("set song \(Self.song) like 0") == ["OK"])
        #expect(try ask("get song \(Self.song) starred").first?.hasPrefix("ACK [50@0]") == true)
        #expect(try ask("get song \(Self.song) like") == ["sticker: like=0", "OK"])
        #expect(try ask("set song \(Self.song) starred 1") == ["OK"])
        #expect(try ask("get song \(Self.song) like") == ["sticker: like=2", "OK"])
        #expect(try ask("inc song loose.mp3 like 2") == ["OK"])
        #expect(
            try ask("find song \"\" like")
                == ["file: loose.mp3", "sticker: like=2", "file: Alpha/First/01.flac", "sticker: like=2", "OK"]
        )
        #expect(try ask("delete song \(Self.song) starred") == ["OK"])
        #expect(try ask("list song \(Self.song)") == ["OK"])
        #expect(
            try client.ask("stickernamestypes song")
                == [
                    "name: lastPlayed", "type: song", "name: like", "type: song", "name: playCount", "type: song",
                    "name: rating", "type: song",
                    "name: starred", "type: song", "OK",
                ]
        )
    }

    @Test func albumsAndArtistsBearStars() throws {
        let client = try TestServer(Self.records).client()
        func ask(_ command: String) throws -> [String] { try client.ask("sticker \(command)") }
        let filter = "\"((album == 'First') AND (albumartist == 'Alpha'))\""
        #expect(try ask("set filter \(filter) like 2") == ["OK"])
        #expect(try ask("get album First like") == ["sticker: like=2", "OK"])
        #expect(
            try ask("find filter \"\" like")
                == ["filter: ((AlbumArtist == \"Alpha\") AND (Album == \"First\"))", "sticker: like=2", "OK"]
        )
        #expect(try ask("set Album Second rating 9") == ["OK"])
        #expect(try ask("get filter \"(Album == 'Second')\" rating") == ["sticker: rating=9", "OK"])
        #expect(try ask("find album \"\" rating") == ["Album: Second", "sticker: rating=9", "OK"])
        #expect(try ask("set AlbumArtist Alpha starred 1") == ["OK"])
        #expect(try ask("get artist Alpha like") == ["sticker: like=2", "OK"])
        #expect(try ask("set artist Björk like 2") == ["OK"])
        #expect(
            try ask("find artist \"\" like")
                == ["Artist: Alpha", "sticker: like=2", "Artist: Björk", "sticker: like=2", "OK"]
        )
        // A filter that finds several albums stands for none of them.
        #expect(try ask("set filter \"(album starts_with 'F')\" like 1") == ["OK"])
        #expect(try ask("get album First like") == ["sticker: like=2", "OK"])
        #expect(
            try client.ask("listfiles Shelves/Favorites").filter { $0.hasPrefix("directory") }
                == ["directory: Alpha - First", "directory: Alpha", "directory: Björk"]
        )
        #expect(try ask("delete album First like") == ["OK"])
        #expect(try ask("find filter \"\" starred") == ["OK"])
    }

    @Test func playlistsBearStickers() throws {
        let client = try TestServer(Self.records).client()
        for command in ["playlistadd List loose.mp3", "sticker set playlist List mood calm", "rename List Other"] {
            #expect(try client.ask(command) == ["OK"])
        }
        #expect(try client.ask("sticker find playlist \"\" mood") == ["playlist: Other", "sticker: mood=calm", "OK"])
        #expect(try client.ask("rm Other") == ["OK"])
        #expect(try client.ask("sticker find playlist \"\" mood") == ["OK"])
        #expect(try client.ask("stickernames").contains("name: mood") == false)
    }

    @Test func favoritesCanBeSwitchedOff() throws {
        let client = try TestServer(Self.records) { $0.showsFavorites = false }.client()
        #expect(try client.ask("sticker set song \(Self.song) like 7") == ["OK"])
        #expect(try client.ask("sticker get song \(Self.song) like") == ["sticker: like=7", "OK"])
        #expect(try client.ask("sticker set song \(Self.song) starred yes") == ["OK"])
        #expect(try client.ask("sticker get song \(Self.song) starred") == ["sticker: starred=yes", "OK"])
        #expect(try !client.ask("lsinfo Shelves").contains("directory: Shelves/Favorites"))
        #expect(try client.ask("lsinfo Shelves/Favorites").last == "ACK [50@0] {lsinfo} No such directory")
        #expect(try client.ask("listplaylist Favorites").last == "ACK [50@0] {listplaylist} No such playlist")
        #expect(try client.ask("sticker get song \(Self.song) rating") == ["sticker: rating=6", "OK"])
    }

    @Test func manyRatingsAreFoundFast() throws {
        let count = unsafe getenv("SHELV_SOAK") == nil ? 20_000 : 100_000
        let server = try TestServer(
            (0..<count).map { number in
                SongRecord(songID: "s\(number)", uri: "\(number / 100)/\(number).mp3", userRating: UInt8(number % 6))
            }
        )
        let client = try server.client()
        _ = try client.ask("sticker set song 0/0.mp3 rating 3")
        var reply: [String] = []
        let time = try ContinuousClock().measure { reply = try client.ask("sticker find song \"\" rating") }
        #expect(reply.count == 2 * (count * 5 / 6 + 1) + 1)
        // In a build with optimization less than a tenth of this.
        #expect(time < .seconds(5))
    }
}
