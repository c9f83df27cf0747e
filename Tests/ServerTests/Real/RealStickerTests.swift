import Glibc
import QueueEngine
import SubsonicKit
import Support
import Testing

@testable import ShelvMPD

/// Stars and ratings between MPD clients and real programs, seen by another client of the Subsonic server.
@Suite(.serialized)
struct RealStickerTests {
    private static let isLong = unsafe getenv("SHELV_SOAK") != nil

    private func expect(
        _ wanted: Set<String>,
        at other: OtherClient,
        _ label: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        var there: Set<String> = []
        _ = waitUntil(milliseconds: 40_000) {
            there = (try? other.stars()) ?? ["no answer"]
            return there == wanted
        }
        #expect(there == wanted, "\(label)", sourceLocation: location)
    }

    @Test(.enabled(if: RealPeer.supysonic.isWanted, RealStage<SupysonicServer>.needs))
    func anotherClientSeesTheSame() throws {
        let library = try #require(ToneLibrary.shared)
        let stage = try RealStage(library)
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let client = try instance.client()
        let paths = (1...3).map { "Queue/Ten/0\($0) - Ten 0\($0).ogg" }
        let songs = try paths.map { path in
            try other.song(client.value("Title", of: "lsinfo \"\(path)\"") ?? "")
        }
        let titles = songs.map { $0.title ?? "" }
        let album = try client.value("Album", of: "lsinfo \"\(paths[0])\"") ?? ""
        let artist = try client.value("Artist", of: "lsinfo \"\(paths[0])\"") ?? ""
        for command in [
            "sticker set song \"\(paths[0])\" like 2", "playlistadd Favorites \"\(paths[1])\"",
            "sticker set filter \"((album == '\(album)') AND (artist == '\(artist)'))\" starred 1",
            "sticker set Artist \"\(artist)\" like 2", "sticker set song \"\(paths[2])\" rating 7",
            "sticker set Album \"\(album)\" rating 8",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        expect([titles[0], titles[1], album, artist], at: other, "after stars: \(instance.log.suffix(2000))")
        #expect(waitUntil { (try? other.rating(songs[2].id)) == 4 })
        // It rates no albums; that is said once, and the rating is kept here.
        #expect(waitUntil { instance.log.contains("does not take ratings of albums") })
        #expect(try client.ask("sticker get album \"\(album)\" rating") == ["sticker: rating=8", "OK"])
        #expect(try client.ask("sticker get song \"\(paths[2])\" rating") == ["sticker: rating=7", "OK"])

        // The other client takes one star away and gives another; this one is told.
        let listener = try instance.client()
        listener.send("idle stored_playlist\n")
        try other.call("unstar", [("id", songs[0].id)])
        try other.call("star", [("id", songs[2].id)])
        #expect(try client.ask("update").last == "OK")
        #expect(try listener.reply() == ["changed: stored_playlist", "OK"])
        #expect(try client.entries(of: "Favorites") == [paths[1], paths[2]])
        #expect(try client.ask("sticker get song \"\(paths[0])\" like").first?.hasPrefix("ACK [50@0]") == true)
        #expect(try client.ask("sticker find song \"\" starred").count { $0.hasPrefix("file") } == 2)
        // And a rating, which a full look at the library brings.
        try other.call("setRating", [("id", songs[2].id), ("rating", "1")])
        let isShown = waitUntil(milliseconds: 40_000) {
            // Again, because one that begins in the second of an act does not count.
            let isAsked = (try? client.ask("rescan").last) == "OK"
            return isAsked
                && (try? client.ask("sticker get song \"\(paths[2])\" rating")) == ["sticker: rating=2", "OK"]
        }
        #expect(isShown, "\(instance.log.suffix(2000))")
        for command in [
            "playlistclear Favorites", "sticker delete album \"\(album)\" like",
            "sticker delete artist \"\(artist)\" starred", "sticker set song \"\(paths[2])\" rating 0",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(command)")
        }
        expect([], at: other, "after unstarring: \(instance.log.suffix(2000))")
        #expect(waitUntil { (try? other.rating(songs[2].id)) == 0 })
    }

    /// The program is killed, and the server stops and comes back, while a client stars and rates. `SHELV_SOAK` makes it two
    /// hundred times.
    @Test(.enabled(if: RealPeer.supysonic.isWanted, RealStage<SupysonicServer>.needs))
    func nothingIsLostOrUndoneByKills() throws {
        let library = try #require(ToneLibrary.shared)
        let stage = try RealStage(library)
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let paths = (1...6).map { "Queue/Ten/0\($0) - Ten 0\($0).ogg" }
        let titles = try paths.map { try instance.client().value("Title", of: "lsinfo \"\($0)\"") ?? "" }
        let ids = try titles.map { try other.song($0).id }
        var stars: [Int] = []
        var ratings = [Int](repeating: 0, count: paths.count)
        let seed = SeededNumbers.seed()
        var random = SeededRandom(seed: seed)
        func act(_ client: MPDTestClient, _ label: String) throws {
            let song = Int.random(in: 0..<paths.count, using: &random)
            let command: String
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                ratings[song] = Int.random(in: 0...10, using: &random)
                command = "sticker set song \"\(paths[song])\" rating \(ratings[song])"
            case 1:
                stars.removeAll { $0 == song }
                command = "sticker set song \"\(paths[song])\" like 1"
            default:
                if !stars.contains(song) { stars.append(song) }
                command = "playlistadd Favorites \"\(paths[song])\""
            }
            #expect(try client.ask(command) == ["OK"], "\(label): \(command)")
        }
        for round in 0..<(Self.isLong ? 200 : 10) {
            let label = "round \(round), SHELV_SEED=\(seed)"
            var client = try instance.client()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                try act(client, label)
                if Int.random(in: 0..<8, using: &random) == 0 { usleep(.random(in: 0..<30_000, using: &random)) }
            }
            // Right after it has answered, or in the middle of sending.
            if Bool.random(using: &random) { usleep(.random(in: 0..<60_000, using: &random)) }
            let isAway = round % 3 == 1
            if isAway { server.stop() }
            instance.kill()
            try instance.start()
            client = try instance.client()
            #expect(try Set(client.entries(of: "Favorites")) == Set(stars.map { paths[$0] }), "\(label)")
            for (song, rating) in ratings.enumerated() {
                let wanted = rating == 0 ? nil : "sticker: rating=\(rating)"
                let shown = try client.ask("sticker get song \"\(paths[song])\" rating").first
                #expect(wanted == nil ? shown?.hasPrefix("ACK [50@0]") == true : shown == wanted, "\(label)")
            }
            if isAway {
                try act(client, label)
                #expect(server.restart())
            }
        }
        instance.kill()
        try instance.start()
        expect(Set(stars.map { titles[$0] }), at: other, "SHELV_SEED=\(seed): \(instance.log.suffix(2000))")
        for (song, rating) in ratings.enumerated() {
            let isThere = waitUntil(milliseconds: 20_000) { (try? other.rating(ids[song])) == (rating + 1) / 2 }
            #expect(isThere, "SHELV_SEED=\(seed): \(titles[song])")
        }
    }

    /// With the habits of each server, what is starred and rated here is there, or is kept here and said so.
    @Test(
        .enabled(if: SyntheticServer.script != nil, RealStage<SyntheticServer>.needs),
        arguments: SyntheticServer.habits.profiles
    )
    func profilesTakeStarsAndRatings(_ profile: String) throws {
        let stage = try RealStage(profile: profile, ["--songs", "200", "--no-preset"])
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let client = try instance.client()
        let uris = try client.ask("listall").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
            .filter { !$0.contains("\"") && !$0.contains("\\") }
        let (first, second) = (try #require(uris.first), try #require(uris.last))
        func tag(_ name: String, _ uri: String) throws -> String {
            let value = try client.value(name, of: "lsinfo \"\(uri)\"") ?? ""
            return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        }
        let (album, artist) = (try tag("Album", first), try tag("Artist", first))
        server.control("fault?match=star&action=reset&n=1")
        for command in [
            "playlistadd Favorites \"\(first)\"", "sticker set song \"\(second)\" like 2",
            "sticker set song \"\(second)\" rating 9", "sticker set Album \"\(album)\" like 2",
            "sticker set Album \"\(album)\" rating 6", "sticker set Artist \"\(artist)\" like 2",
        ] {
            #expect(try client.ask(command) == ["OK"], "\(profile): \(command)")
        }
        let title = try client.value("Title", of: "lsinfo \"\(first)\"") ?? ""
        let isThere = waitUntil(milliseconds: 40_000) { (try? other.stars().contains(title)) == true }
        #expect(isThere, "\(profile): \(instance.log.suffix(2000))")
        #expect(try client.ask("update").last == "OK")
        for (object, name, value) in [
            ("song \"\(second)\"", "rating", "9"), ("Album \"\(album)\"", "like", "2"),
            ("Album \"\(album)\"", "rating", "6"), ("Artist \"\(artist)\"", "like", "2"),
        ] {
            let shown = try client.ask("sticker get \(object) \(name)")
            #expect(shown == ["sticker: \(name)=\(value)", "OK"], "\(profile): \(object)")
        }
        #expect(try client.entries(of: "Favorites") == [first, second], "\(profile)")
        // An album that somebody rates elsewhere, where the server lists such.
        let otherAlbum = try tag("Album", second)
        let found = try other.call("search3", [("query", otherAlbum), ("albumCount", "50")]).content[.searchResult3]
        if let elsewhere = found.flatMap({ SearchResult($0).albums.first { $0.name == otherAlbum } }),
            otherAlbum != album,
            (try? other.call("setRating", [("id", elsewhere.id), ("rating", "4")])) != nil,
            try other.call("getAlbum", [("id", elsewhere.id)]).content[.album].flatMap({ Album($0) })?.userRating == 4,
            (try? other.call("getAlbumList2", [("type", "highest")])) != nil
        {
            for (stars, shown) in [("4", "sticker: rating=8"), ("0", "ACK [50@0]")] {
                try other.call("setRating", [("id", elsewhere.id), ("rating", stars == "0" ? "00" : stars)])
                #expect(try client.ask("update").last == "OK")
                let isShown = waitUntil {
                    (try? client.ask("sticker get Album \"\(otherAlbum)\" rating").first?.hasPrefix(shown)) == true
                }
                #expect(isShown, "\(profile): \(stars)")
            }
        }
        // A few starring more than a request holds at once.
        #expect(try client.ask("searchaddpl Favorites \"(file contains '/')\"") == ["OK"])
        let all = try client.entries(of: "Favorites").count
        #expect(all == stage.songs, "\(profile)")
        let hasAll = waitUntil(milliseconds: 40_000) {
            (try? other.starredSongs()) == all
        }
        #expect(hasAll, "\(profile): \(instance.log.suffix(2000))")
        #expect(try client.ask("playlistclear Favorites") == ["OK"])
        let hasNone = waitUntil(milliseconds: 40_000) {
            (try? other.starredSongs()) == 0
        }
        #expect(hasNone, "\(profile): \(instance.log.suffix(2000))")
    }
}
