import MPDProtocol
import Testing

@testable import Library

/// The virtual folder beside the tree: Docs/mapping.md, “Shelves”.
@Suite("Shelves")
struct ShelfTests {
    /// Six albums; two are called the same, one has a slash, one neither artist nor date.
    private static func songs() -> [SongRecord] {
        func song(
            _ id: String,
            _ album: String,
            _ albumID: String?,
            by artist: String?,
            _ added: Int64,
            _ more: [TagValue]
        )
            -> SongRecord
        {
            SongRecord(
                songID: id,
                uri: "Music/\(albumID ?? album)/\(id).mp3",
                tags: (artist.map { [TagValue(.artist, $0)] } ?? []) + [TagValue(.album, album), TagValue(.title, id)]
                    + more,
                lastModified: added,
                added: added,
                albumID: albumID
            )
        }
        let nineties = TagValue(.date, "1999-05")
        return [
            song("a1", "First", "al-1", by: "Anna", 100, [nineties, TagValue(.genre, "Rock/Pop")]),
            song("a2", "First", "al-1", by: "Anna", 100, [nineties, TagValue(.genre, "Jazz")]),
            song("b1", "Best", "al-2", by: "Bert", 300, [TagValue(.date, "2012"), TagValue(.originalDate, "1971")]),
            song("c1", "Best", "al-3", by: "Bert", 200, [TagValue(.genre, "Jazz")]),
            song(
                "d1",
                "AC/DC Live",
                "al-4",
                by: "AC/DC",
                400,
                [TagValue(.date, "1991"), TagValue(.genre, "Rock_Pop")]
            ),
            song("e1", "Alone", nil, by: nil, 50, []),
            SongRecord(songID: "f1", uri: "loose.mp3", tags: [TagValue(.title, "loose")]),
        ]
    }

    private static func library(_ records: [SongRecord] = songs()) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for record in records { builder.add(record) }
        return try builder.build(info: LibraryFixture.info, file: nil)
    }

    private func names(_ catalog: ShelfCatalog, _ path: String) throws -> [String] {
        let path = Array(path.utf8)
        let node = try #require(catalog.node(path: path))
        return text(catalog.reply(contentsOf: node, path: path, .brief)).split(separator: "\n").map { String($0) }
    }

    /// The last segments of the folders in a folder.
    private func folders(_ catalog: ShelfCatalog, _ path: String) throws -> [String] {
        try names(catalog, path).filter { $0.hasPrefix("directory: \(path)/") }.map {
            String($0.dropFirst("directory: \(path)/".count))
        }
    }

    private func ids(_ catalog: ShelfCatalog, _ path: String) throws -> [String] {
        catalog.songs(below: try #require(catalog.node(path: Array(path.utf8)))).map { catalog.library.songID($0) }
    }

    @Test func hasAFolderForEachShelf() throws {
        let catalog = ShelfCatalog(try Self.library(), ShelfLists())
        #expect(
            try folders(catalog, "Shelves") == [
                "Recently Added", "Recently Played", "Frequently Played", "Random", "Favorites", "Genres", "Decades",
                "Radio",
            ]
        )
        for path in [
            "Shelves/x", "Shelf", "Shelves/Random/x", "Shelves/Genres/x", "Shelves/Decades/x", "Shelves/Genres/Jazz/x",
        ] {
            #expect(catalog.node(path: Array(path.utf8)) == nil, "\(path)")
        }
    }

    @Test func showsAlbumsByTheTimeTheyCame() throws {
        let catalog = ShelfCatalog(try Self.library(), ShelfLists())
        let added = try folders(catalog, "Shelves/Recently Added")
        #expect(added.count == 5)
        #expect(added[0] == "AC_DC - AC_DC Live")
        #expect(added[3...] == ["Anna - First", "Alone"])
        // Of two albums that would be called the same one bears its id, whichever came first.
        let best = added[1...2].sorted()
        #expect(best[0] == "Bert - Best" && ["Bert - Best [al-2]", "Bert - Best [al-3]"].contains(best[1]))
        let reversed = ShelfCatalog(try Self.library(Self.songs().reversed()), ShelfLists())
        #expect(try folders(reversed, "Shelves/Recently Added") == added)
    }

    @Test func showsWhatTheServerTells() throws {
        var lists = ShelfLists()
        lists.recentlyPlayed = ["al-3", "gone", "al-1", "al-3"]
        lists.frequentlyPlayed = ["al-1"]
        lists.starredAlbums = ["al-4"]
        lists.starredArtists = ["Bert"]
        lists.starredSongs = ["d1", "f1", "gone", "a2"]
        let catalog = ShelfCatalog(try Self.library(), lists)
        #expect(try folders(catalog, "Shelves/Recently Played").count == 2)
        #expect(try ids(catalog, "Shelves/Recently Played") == ["c1", "a1", "a2"])
        #expect(try ids(catalog, "Shelves/Frequently Played") == ["a1", "a2"])
        #expect(
            try names(catalog, "Shelves/Favorites") == [
                "file: loose.mp3", "file: Music/al-1/a2.mp3", "file: Music/al-4/d1.mp3",
                "directory: Shelves/Favorites/AC_DC - AC_DC Live", "directory: Shelves/Favorites/Bert",
            ]
        )
        #expect(try folders(catalog, "Shelves/Favorites/Bert").count == 2)
        // Each song once, though it is starred and in a starred album.
        let favorites = try ids(catalog, "Shelves/Favorites")
        #expect(favorites.prefix(3) == ["f1", "a2", "d1"])
        #expect(favorites.dropFirst(3).sorted() == ["b1", "c1"])
        var kept = ShelfLists(encoded: lists.encoded)
        #expect(kept.recentlyPlayed == lists.recentlyPlayed && kept.frequentlyPlayed == lists.frequentlyPlayed)
        #expect(kept.starredSongs.isEmpty)
        kept.hasFavorites = false
        #expect(ShelfCatalog(try Self.library(), kept).node(path: Array("Shelves/Favorites".utf8)) == nil)
        #expect(
            try names(ShelfCatalog(try Self.library(), kept), "Shelves").count == Shelf.allCases.count - 1
        )
    }

    @Test func groupsByGenreAndDecade() throws {
        let catalog = ShelfCatalog(try Self.library(), ShelfLists())
        // A slash in a name becomes another character, and so two genres share a folder.
        #expect(try folders(catalog, "Shelves/Genres") == ["Jazz", "Rock_Pop"])
        #expect(try folders(catalog, "Shelves/Genres/Rock_Pop") == ["AC_DC - AC_DC Live", "Anna - First"])
        #expect(try folders(catalog, "Shelves/Decades") == ["1990s", "1970s"])
        #expect(try ids(catalog, "Shelves/Decades/1970s") == ["b1"])
        // A decade without songs is a folder without songs.
        #expect(try folders(catalog, "Shelves/Decades/1850s") == [])
        #expect(try ids(catalog, "Shelves/Genres/Jazz/Anna - First") == ["a1", "a2"])
    }

    @Test func drawsOtherAlbumsAndKeepsTheirPaths() throws {
        let records = (0..<300).map {
            SongRecord(
                songID: "\($0)",
                uri: "x/\($0).mp3",
                tags: [TagValue(.album, "Album \($0)")],
                albumID: "al-\($0)"
            )
        }
        var lists = ShelfLists()
        lists.draw = 1
        let catalog = ShelfCatalog(try Self.library(records), lists)
        let first = try folders(catalog, "Shelves/Random")
        #expect(first.count == Shelf.size)
        #expect(try folders(catalog, "Shelves/Random") == first)
        lists.draw = 2
        let next = catalog.with(lists)
        let second = try folders(next, "Shelves/Random")
        #expect(second.count == Shelf.size && Set(second) != Set(first))
        for name in first { #expect(try ids(next, "Shelves/Random/\(name)").count == 1) }
    }

    @Test func pathsOutliveRefreshes() throws {
        let catalog = ShelfCatalog(try Self.library(), ShelfLists())
        let shown = try folders(catalog, "Shelves/Recently Added")
        let genres = try folders(catalog, "Shelves/Genres")
        var records = Self.songs()
        for index in records.indices {
            records[index].tags = records[index].tags.filter { $0.tag != .genre }.map {
                $0.value == "First" ? TagValue($0.tag, "Renamed") : $0
            }
        }
        records.removeAll { $0.songID == "b1" }
        let next = catalog.following(try Self.library(records))
        #expect(try folders(next, "Shelves/Recently Added").contains("Anna - Renamed"))
        #expect(try ids(next, "Shelves/Recently Added/Anna - First") == ["a1", "a2"])
        for genre in genres { #expect(try folders(next, "Shelves/Genres/\(genre)") == []) }
        #expect(next.node(path: Array("Shelves/Genres/x".utf8)) == nil)
        // Also those of the one before.
        let last = next.following(try Self.library(records))
        #expect(try ids(last, "Shelves/Random/Anna - First") == ["a1", "a2"])
        #expect(
            try shown.allSatisfy { name in
                let node = last.node(path: Array("Shelves/Random/\(name)".utf8))
                return try node != nil
                    || name.hasPrefix("Bert - Best") && folders(last, "Shelves/Recently Added").count == 4
            }
        )
    }

    @Test func isPartOfNothingElse() throws {
        let library = try Self.library()
        let catalog = ShelfCatalog(library, ShelfLists())
        #expect(try library.count(.and([])).songs == 7)
        let base = Filter.base(Array("Shelves/Genres/Jazz".utf8))
        #expect(throws: FilterError.noSuchDirectory) { try library.select(base) }
        #expect(try library.select(base, shelves: catalog).map { library.songID($0) } == ["a1", "a2", "c1"])
        #expect(try library.count(.and([base, .not(.base(Array("Music/al-1".utf8)))]), shelves: catalog).songs == 1)
        #expect(
            text(library.reply(try library.list(.album, matching: base, shelves: catalog)))
                == "Album: Best\nAlbum: First\n"
        )
    }

    @Test func findsSongsByTheNamesOfTheirFiles() throws {
        let catalog = ShelfCatalog(try Self.library(), ShelfLists())
        let path = Array("Shelves/Random/Anna - First/a2.mp3".utf8)
        guard case .song(let song)? = catalog.node(path: path) else {
            Issue.record("no song")
            return
        }
        #expect(catalog.library.songID(song) == "a2")
        #expect(catalog.node(path: Array("Shelves/Random/Anna - First/b1.mp3".utf8)) == nil)
        let album = try #require(catalog.node(path: Array("Shelves/Random/Anna - First".utf8)))
        #expect(
            text(catalog.reply(treeOf: album, path: Array("X".utf8), .brief))
                == "directory: X\nfile: Music/al-1/a1.mp3\nfile: Music/al-1/a2.mp3\n"
        )
        #expect(text(catalog.reply(contentsOf: album, path: [], .names)).hasPrefix("file: a1.mp3\nsize: 0\n"))
    }

    @Test("a server's folder of the same name makes room")
    func avoidsServersFolders() throws {
        let rule = PathRule(prefixes: [""], tops: [nil], isBackslashed: false)
        #expect(rule.uri(path: "Shelves/a.mp3", folder: 0) == "Shelves_/a.mp3")
        #expect(rule.uri(path: "Shelves", folder: 0) == "Shelves_")
        #expect(rule.uri(path: "Shelves x/a.mp3", folder: 0) == "Shelves x/a.mp3")
        #expect(rule.uri(path: "a/Shelves/a.mp3", folder: 0) == "a/Shelves/a.mp3")
        #expect(
            PathRule(prefixes: ["", ""], tops: ["Shelves", "B"], isBackslashed: false).uri(path: "a.mp3", folder: 0)
                == "Shelves_/a.mp3"
        )
    }

    @Test("names that could do harm")
    func hostileNames() throws {
        let values = [
            "", ".", "..", "/", "a/b", "a\nfile: forged", "\u{7F}\u{1}", String(repeating: "ü", count: 3000),
            "Cafe\u{301}",
            "Café", "\"quotes\" 'and' \\", " spaces ", "\u{202E}right to left", "[gone]",
        ]
        let records = values.enumerated().map { number, value in
            SongRecord(
                songID: "\(number)",
                uri: "x/\(number).mp3",
                tags: [TagValue(.artist, value), TagValue(.album, value), TagValue(.genre, value)],
                added: 1,
                albumID: "al/\(number)\n"
            )
        }
        let catalog = ShelfCatalog(try Self.library(records), ShelfLists())
        for shelf in ["Shelves/Recently Added", "Shelves/Genres"] {
            for name in try folders(catalog, shelf) {
                #expect(!name.contains("/") && !name.isEmpty && name != "." && name != "..")
                #expect(name.utf8.count <= PathSegment.longest && name.utf8.allSatisfy { $0 >= 0x20 })
                #expect(try !names(catalog, "\(shelf)/\(name)").isEmpty, "\(name)")
            }
        }
        #expect(try folders(catalog, "Shelves/Recently Added").count == values.count)
        #expect(Set(try ids(catalog, "Shelves/Recently Added")).count == values.count)
    }
}
