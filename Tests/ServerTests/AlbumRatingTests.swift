import SubsonicKit
import Synchronization
import Testing

@testable import ShelvMPD

/// A server that lists albums by rating, 500 to a page, those without one last.
private final class RatingServer: SubsonicCalling {
    let ratings = Mutex<[String: Int]>([:])
    let calls = Mutex<[String]>([])
    let lists: Bool
    private let others: Int

    init(_ ratings: [String: Int], unrated others: Int = 0, lists: Bool = true) {
        self.others = others
        self.lists = lists
        self.ratings.withLock { $0 = ratings }
    }

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        calls.withLock { $0.append(method) }
        let ratings = ratings.withLock { $0 }
        func value(_ name: String) -> String { parameters.first { $0.0 == name }?.1 ?? "" }
        func text(_ id: String) -> String {
            "{\"id\":\"\(id)\",\"name\":\"\(id)\"\(ratings[id].map { ",\"userRating\":\($0)" } ?? "")}"
        }
        let content: String
        switch method {
        case "getAlbumList2" where lists:
            let all = ratings.keys.sorted() + (0..<others).map { "other-\($0)" }
            let page = all.dropFirst(Int(value("offset")) ?? 0).prefix(Int(value("size")) ?? 0)
            content = "\"albumList2\":{\"album\":[\(page.map(text).joined(separator: ","))]}"
        case "getAlbum": content = "\"album\":\(text(value("id")))"
        default: content = "\"error\":{\"code\":0,\"message\":\"unknown\"}"
        }
        let status = content.hasPrefix("\"error") ? "failed" : "ok"
        return try Envelope(scripted: "{\"status\":\"\(status)\",\"version\":\"1.16.1\",\(content)}")
    }

    func takeCalls() -> [String] {
        calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }
}

/// How albums are rated, by what servers list.
@Suite struct AlbumRatingTests {
    @Test func whatIsListedCounts() async {
        let server = RatingServer(["a": 5, "b": 1], unrated: 2_000)
        let ratings = AlbumRatings()
        #expect(await ratings.look(server) == ["a": 5, "b": 1])
        // Those without a rating are not looked through.
        #expect(server.takeCalls() == ["getAlbumList2", "getAlbumList2"])
    }

    @Test func whatHasLeftTheListIsAskedFor() async {
        let server = RatingServer(["a": 5, "b": 1])
        let ratings = AlbumRatings()
        _ = await ratings.look(server)
        server.ratings.withLock { $0["a"] = nil }
        _ = server.takeCalls()
        #expect(await ratings.look(server) == ["a": 0, "b": 1])
        #expect(server.takeCalls() == ["getAlbumList2", "getAlbum"])
        #expect(await ratings.look(server) == ["b": 1])
        #expect(server.takeCalls() == ["getAlbumList2"])
    }

    @Test func aLongListIsCut() async {
        let server = RatingServer(Dictionary(uniqueKeysWithValues: (0..<3_000).map { ("\($0)", 3) }))
        #expect(await AlbumRatings().look(server).count == 2_000)
    }

    @Test func aServerWithoutSuchAListIsAskedOnce() async {
        let server = RatingServer(["a": 5], lists: false)
        let ratings = AlbumRatings()
        for _ in 0..<2 { #expect(await ratings.look(server).isEmpty) }
        #expect(server.takeCalls().count == 1)
    }

    @Test func aRatingThatIsNoMoreIsTakenOver() {
        var book = MarkBook()
        let asked = Instant.now
        _ = book.take(albums: ["a": 4], asked: asked)
        #expect(book[.album("a")]?.rating?.value == 8)
        // One that means the same stays as it was set here.
        book.set(.album("b"), Mark(rating: Mark.Rating(value: 7, settled: 1)))
        #expect(book.take(albums: ["a": 0, "b": 4], asked: asked).map(\.key) == [.album("a")])
        #expect(book[.album("a")] == nil)
        #expect(book[.album("b")]?.rating?.value == 7)
        // An act that is under way counts.
        book.note(.rate(2), .album("b"), id: 1, base: 4)
        #expect(book.take(albums: ["b": 5], asked: asked).isEmpty)
    }
}
