import MPDProtocol
import Testing

@testable import Library

@Suite("Snapshots: songs, directories, look-ups")
struct SnapshotTests {
    let library: LibrarySnapshot

    init() throws { library = try LibraryFixture.snapshot() }

    @Test("songs come in MPD's database order")
    func databaseOrder() throws {
        #expect(try library.ids(.and([])) == LibraryFixture.records.map(\.songID))
    }

    @Test("what was added comes out again")
    func roundTrip() throws {
        for record in LibraryFixture.records {
            let song = try #require(library.song(id: record.songID))
            #expect(library.record(song) == record)
            #expect(library.song(uri: record.uri) == song)
        }
        #expect(library.info == LibraryFixture.info)
        #expect(library.songCount == LibraryFixture.records.count)
    }

    @Test("unknown names lead nowhere")
    func unknownNames() {
        #expect(library.song(id: "nope") == nil)
        #expect(library.song(id: "") == nil)
        for uri in ["", "/", "alpha", "alpha/First Light", "alpha/First Light/", "/loose.mp3", "Alpha/Box/1-01.mp"] {
            #expect(library.song(uri: uri) == nil, "\(uri)")
        }
        #expect(library.directory(path: "loose.mp3") == nil)
        #expect(library.directory(path: "alpha/") == nil)
        #expect(library.directory(path: "Al") == nil)
    }

    @Test("a former URI leads to its song, unless another song bears it now")
    func aliases() {
        #expect(library.song(uri: "old/place.flac") == library.song(id: "ff1"))
        #expect(library.song(uri: "alpha/First Light/02 - Love.flac") == library.song(id: "ff2"))
        #expect(library.song(uri: "nowhere.flac") == nil)
        #expect(library.formerURIs.map(\.uri).contains("old/place.flac"))
    }

    @Test("a directory's subtree is one range")
    func subtrees() throws {
        let various = try #require(library.directory(path: "Various"))
        #expect(library.ids(library.songs(below: various)) == ["va1", "va2", "va3", "vb1"])
        #expect(library.songs(in: various).isEmpty)
        let hits = try #require(library.directory(path: "Various/Summer Hits"))
        #expect(library.ids(library.songs(in: hits)) == ["va1", "va2", "va3"])
        #expect(library.subdirectories(of: various) == [hits])
        #expect(library.path(hits) == Array("Various/Summer Hits".utf8))
        #expect(library.songs(below: .root).count == library.songCount)
        #expect(library.ids(library.songs(in: .root)) == ["root"])
        let names = library.subdirectories(of: .root).map { String(decoding: library.path($0), as: UTF8.self) }
        #expect(names == ["alpha", "Alpha", "Čas", "Various", "Various Rest"])
        #expect(library.directory(of: try #require(library.song(id: "va1"))) == hits)
        #expect(library.lastModified(various) == 1_700_000_002)
        #expect(library.lastModified(.root) == 1_700_000_002)
    }

    @Test("statistics count values, not songs without any")
    func statistics() {
        let statistics = library.statistics
        #expect(statistics.songs == 17)
        #expect(statistics.artists == 6)
        #expect(statistics.albums == 6)
        #expect(statistics.playtime == 13 * 61_500 + 3 * 1_499)
    }

    @Test("an empty library answers everything")
    func emptyLibrary() throws {
        let empty = try LibraryBuilder().build(info: LibraryInfo(serverID: "", serverName: ""), file: nil)
        #expect(empty.songCount == 0)
        #expect(empty.directory(path: "") == .root)
        #expect(empty.song(uri: "a") == nil)
        #expect(empty.song(id: "a") == nil)
        #expect(try empty.ids(.and([])) == [])
        #expect(try empty.ids(.not(.anyTag(TextMatch(.contains, [], foldsCase: true)))) == [])
        #expect(try empty.list(.artist).count == 0)
        #expect(text(empty.reply(treeOf: .root, mask: .all)) == "")
        #expect(text(empty.reply(contentsOf: .root, mask: .all)) == "")
        #expect(text(empty.reply(songs: SongSelection([]), mask: .all)) == "")
        #expect(text(empty.reply(try empty.count(group: .artist))) == "")
    }
}

private func take(_ record: SongRecord, in builder: inout LibraryBuilder) {
    let isTaken = builder.add(record)
    #expect(isTaken, "\(record.uri)")
}

private func refuse(_ record: SongRecord, in builder: inout LibraryBuilder) {
    let isTaken = builder.add(record)
    #expect(!isTaken, "\(record.uri)")
}

@Suite("Builder: what goes in")
struct BuilderTests {
    private func build(_ builder: LibraryBuilder) throws -> LibrarySnapshot {
        try builder.build(info: LibraryFixture.info, file: nil)
    }

    @Test("a song that is added again replaces the former record")
    func replacement() throws {
        var builder = LibraryBuilder()
        builder.add(SongRecord(songID: "1", uri: "a/old.mp3", tags: [TagValue(.title, "Old")]))
        builder.add(SongRecord(songID: "2", uri: "a/b.mp3", tags: [TagValue(.title, "B")]))
        builder.add(SongRecord(songID: "1", uri: "c/new.mp3", tags: [TagValue(.title, "New")]))
        #expect(builder.songCount == 2)
        let library = try build(builder)
        #expect(library.song(uri: "a/old.mp3") == nil)
        #expect(library.song(uri: "c/new.mp3") == library.song(id: "1"))
        #expect(text(library.reply(try library.list(.title))) == "Title: B\nTitle: New\n")
        // The former URI is free again.
        take(SongRecord(songID: "3", uri: "a/old.mp3"), in: &builder)
        #expect(try build(builder).songCount == 3)
        #expect(library.songCount == 2)
    }

    @Test(
        "unusable URIs are refused",
        arguments: [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a\nb", String(repeating: "x", count: 4001),
        ]
    )
    func unusableURIs(uri: String) throws {
        var builder = LibraryBuilder()
        refuse(SongRecord(songID: "1", uri: uri), in: &builder)
        #expect(try build(builder).songCount == 0)
    }

    @Test("names that only look odd are taken", arguments: ["...", "a/...", "..a", "a b/ ", "\u{7f}", "é/\u{1F3B5}"])
    func oddURIs(uri: String) throws {
        var builder = LibraryBuilder()
        take(SongRecord(songID: "1", uri: uri), in: &builder)
        #expect(try build(builder).song(uri: uri) != nil)
    }

    @Test("another song's URI is refused")
    func takenURI() throws {
        var builder = LibraryBuilder()
        take(SongRecord(songID: "1", uri: "a"), in: &builder)
        refuse(SongRecord(songID: "2", uri: "a"), in: &builder)
        take(SongRecord(songID: "1", uri: "a", playCount: 2, played: 77), in: &builder)
        let library = try build(builder)
        #expect(library.songCount == 1)
        #expect(library.song(id: "2") == nil)
        #expect(library.playCount(try #require(library.song(id: "1"))) == 2)
        #expect(library.played(try #require(library.song(id: "1"))) == 77)
    }

    @Test("tag values: no control characters, no empty ones, none that breaks a line limit")
    func tagValues() throws {
        let long = String(repeating: "é", count: 3000)
        var builder = LibraryBuilder()
        builder.add(
            SongRecord(
                songID: "1",
                uri: "a",
                tags: [
                    TagValue(.title, "a\nOK\r\u{0}\tb"), TagValue(.artist, ""), TagValue(.album, " x "),
                    TagValue(.musicBrainzReleaseGroupID, long),
                ]
            )
        )
        let library = try build(builder)
        let tags = library.tags(SongIndex(rawValue: 0))
        #expect(tags[0] == TagValue(.title, "a OK   b"))
        #expect(tags[1] == TagValue(.album, " x "))
        #expect(tags[2].value == String(repeating: "é", count: 2000))
        #expect(tags.count == 3)
        for line in text(library.reply(songs: library.songs(below: .root), mask: .all)).split(separator: "\n") {
            #expect(line.utf8.count < 4096)
        }
    }

    @Test("numbers beyond what is stored are clamped or unknown")
    func extremeNumbers() throws {
        var builder = LibraryBuilder()
        builder.add(
            SongRecord(
                songID: "1",
                uri: "a",
                duration: .max,
                lastModified: -5,
                added: .max,
                size: -1,
                bitRate: .max,
                userRating: 255,
                playCount: .max
            )
        )
        builder.add(SongRecord(songID: "2", uri: "b", bitRate: -1))
        let library = try build(builder)
        let song = try #require(library.song(id: "1"))
        #expect(library.duration(song) == UInt32.max - 1)
        #expect(library.lastModified(song) == 1)
        #expect(library.added(song) == 4_294_967_295)
        #expect(library.size(song) == nil)
        #expect(library.bitRate(song) == 65534)
        #expect(library.userRating(song) == 5)
        #expect(library.playCount(song) == .max)
        #expect(library.bitRate(try #require(library.song(id: "2"))) == 0)
        _ = text(library.reply(treeOf: .root, mask: .all))
    }

    @Test("paths of any depth")
    func deepPaths() throws {
        let path = Array(repeating: "d", count: 1900).joined(separator: "/")
        var builder = LibraryBuilder()
        builder.add(SongRecord(songID: "1", uri: path + "/song.mp3"))
        builder.add(SongRecord(songID: "2", uri: "d/d/other.mp3"))
        let library = try build(builder)
        #expect(library.directoryCount == 1901)
        #expect(library.songs(below: try #require(library.directory(path: path))).count == 1)
        #expect(text(library.reply(treeOf: .root, mask: nil)).hasSuffix("song.mp3\n"))
    }
}
