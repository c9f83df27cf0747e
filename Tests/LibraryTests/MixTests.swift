import MPDProtocol
import Testing

@testable import Library

/// What the mixes are made of.
@Suite struct MixTests {
    /// Twenty albums of six songs; a later one was added later, and its later songs were played more often.
    private static func catalog(_ lists: ShelfLists = ShelfLists()) throws -> ShelfCatalog {
        var builder = LibraryBuilder()
        for album in 10..<30 {
            for track in 1...6 {
                builder.add(
                    SongRecord(
                        songID: "\(album)-\(track)",
                        uri: "\(album)/\(track)",
                        tags: [TagValue(.album, "Album \(album)"), TagValue(.artist, "Anna")],
                        added: Int64(1_600_000_000 + album),
                        albumID: "al-\(album)",
                        playCount: UInt32(track)
                    )
                )
            }
        }
        return ShelfCatalog(try builder.build(info: LibraryFixture.info, file: nil), lists)
    }

    private func ids(_ mix: Mix, _ catalog: ShelfCatalog) -> [String] {
        catalog.songs(of: mix).map { catalog.library.songID($0) }
    }

    @Test func newestTracksAreThoseOfTenAlbums() throws {
        let songs = ids(.newestTracks, try Self.catalog())
        #expect(songs.count == 60)
        #expect(songs.prefix(6) == ["29-1", "29-2", "29-3", "29-4", "29-5", "29-6"])
        #expect(songs.last == "20-6")
    }

    @Test func mostPlayedAreThoseOfTheFrequentAlbums() throws {
        var lists = ShelfLists()
        lists.frequentlyPlayed = (10..<20).map { "al-\($0)" }
        let songs = ids(.mostPlayed, try Self.catalog(lists))
        #expect(songs.count == 50)
        #expect(songs.prefix(10) == (10..<20).map { "\($0)-6" }[...])
        #expect(songs.last == "19-2")
    }

    @Test func recentlyPlayedAreThoseOfTheRecentAlbums() throws {
        var lists = ShelfLists()
        lists.recentlyPlayed = ["al-15", "al-11", "al-12"]
        let songs = ids(.recentlyPlayed, try Self.catalog(lists))
        #expect(songs.count == 18)
        #expect(songs.first == "15-1")
        #expect(ids(.recentlyPlayed, try Self.catalog()).isEmpty)
    }

    @Test func shuffleAllIsEverything() throws {
        #expect(ids(.shuffleAll, try Self.catalog()).count == 120)
    }
}
