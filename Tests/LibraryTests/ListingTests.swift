import MPDProtocol
import Testing

@testable import Library

@Suite("Replies")
struct ListingTests {
    let library: LibrarySnapshot

    init() throws { library = try LibraryFixture.snapshot() }

    private func equals(_ tag: Tag, _ text: String) -> Filter {
        .tag(tag, TextMatch(.equals, Array(text.utf8), foldsCase: false))
    }

    @Test("files by name")
    func files() throws {
        let various = try #require(library.directory(path: "Various/Summer Hits"))
        let listed = text(library.reply(filesOf: various), limit: 60)
        #expect(
            listed == """
                directory: Bonus
                Last-Modified: 2020-01-31T12:00:00Z
                file: 01 - Sunshine.mp3
                size: 0
                Last-Modified: 2023-11-14T22:13:21Z
                file: 02 - Love.mp3
                size: 0
                Last-Modified: 2023-11-14T22:13:21Z
                file: 03 - Ocean.mp3
                size: 0
                Last-Modified: 2023-11-14T22:13:22Z

                """
        )
        #expect(text(library.reply(filesOf: .root)).hasPrefix("directory: alpha\n"))
        #expect(
            text(library.reply(filesOf: .root)).hasSuffix(
                "file: loose.mp3\nsize: 0\nLast-Modified: 2001-09-09T01:46:40Z\n"
            )
        )
    }

    @Test("tags under the names of Vorbis comments")
    func comments() throws {
        let song = try #require(library.song(id: "bx4"))
        #expect(
            library.comments(song).map { "\($0.name)=\($0.value)" } == [
                "ARTIST=Alpha", "ALBUM=Box", "TITLE=Three", "TRACKNUMBER=1", "DISCNUMBER=2",
                "REPLAYGAIN_TRACK_GAIN=-7.50 dB", "REPLAYGAIN_TRACK_PEAK=0.980000",
            ]
        )
        for tag in Tag.allCases {
            var builder = LibraryBuilder()
            builder.add(SongRecord(songID: "1", uri: "a/b.mp3", tags: [TagValue(tag, "x")]))
            let library = try builder.build(info: LibraryFixture.info, file: nil)
            let names = library.comments(SongIndex(rawValue: 0)).map(\.name)
            #expect(names.count == 1 && names[0].allSatisfy { $0.isUppercase || $0 == "_" }, "\(tag)")
        }
        let root = try #require(library.song(id: "root"))
        #expect(library.comments(root).isEmpty)
        // What a server makes of a file's name is not in the file.
        var builder = LibraryBuilder()
        builder.add(SongRecord(songID: "1", uri: "a/no tags.x.mp3", tags: [TagValue(.title, "no tags.x")]))
        #expect(try builder.build(info: LibraryFixture.info, file: nil).comments(SongIndex(rawValue: 0)).isEmpty)
    }

    @Test("a song's record")
    func record() throws {
        let all = try library.select(.uri(TextMatch(.contains, Array("03".utf8), foldsCase: false)))
        #expect(
            text(library.reply(songs: all, mask: .all)) == """
                file: alpha/First Light/03 - Coda.flac
                Last-Modified: 2020-01-31T12:00:00Z
                Added: 2020-09-13T12:26:40Z
                Format: 44100:16:2
                Artist: alpha
                Album: First Light
                Title: Coda
                Track: 3
                Genre: Jazz
                Time: 62
                duration: 61.500
                file: Čas/Ünïcödé/03.opus
                Last-Modified: 2020-01-31T12:00:00Z
                Added: 2020-09-13T12:26:40Z
                Format: 44100:16:2
                Artist: Čas
                Album: Ünïcödé
                Title: ΣΊΣΥΦΟΣ
                Track: 3
                Genre: Jazz
                Time: 62
                duration: 61.500
                file: Various/Summer Hits/03 - Ocean.mp3
                Last-Modified: 2023-11-14T22:13:22Z
                Format: dsd64:2
                Artist: Delta
                Artist: Epsilon
                Album: Summer Hits
                AlbumArtist: Various Artists
                ArtistSort: Delta, The
                Title: Ocean
                Track: 3
                Genre: Pop
                Genre: Summer
                Date: 1999-07
                Time: 1
                duration: 1.499

                """
        )
        let whole = text(library.reply(songs: all, mask: .all)).split(separator: "\n")
        let without = text(library.reply(songs: all, mask: .all, withFormat: false)).split(separator: "\n")
        #expect(without == whole.filter { !$0.hasPrefix("Format: ") })
        var record: [UInt8] = Array("x".utf8)
        library.appendSong(all[0], mask: [TagMask(.title), TagMask(.genre)], to: &record)
        #expect(
            String(decoding: record, as: UTF8.self) == """
                xfile: alpha/First Light/03 - Coda.flac
                Last-Modified: 2020-01-31T12:00:00Z
                Added: 2020-09-13T12:26:40Z
                Format: 44100:16:2
                Title: Coda
                Genre: Jazz
                Time: 62
                duration: 61.500

                """
        )
    }

    @Test("pieces are whole lines, and together the same at every limit")
    func pieces() throws {
        let whole = text(library.reply(treeOf: .root, mask: .standard), limit: .max)
        for limit in [1, 2, 100, 1000] {
            var source = library.reply(treeOf: .root, mask: .standard)
            var all: [UInt8] = []
            var hasMore = true
            while hasMore {
                var piece: [UInt8] = []
                hasMore = source.appendNext(to: &piece, limit: limit)
                #expect(piece.last == UInt8(ascii: "\n"))
                #expect(piece.count < limit + 1000)
                all += piece
            }
            #expect(String(decoding: all, as: UTF8.self) == whole)
            #expect(
                text(library.reply(try library.list(.title)), limit: limit)
                    == text(library.reply(try library.list(.title)))
            )
        }
        // What the caller has already counts.
        var full = [UInt8](repeating: 0, count: 10)
        var source = library.reply(treeOf: .root, mask: .all)
        #expect(source.appendNext(to: &full, limit: 10))
        #expect(full.count == 10)
    }

    @Test("listall of a directory begins with it, of the root it does not")
    func trees() throws {
        let various = try #require(library.directory(path: "Various"))
        #expect(
            text(library.reply(treeOf: various, mask: nil)) == """
                directory: Various
                directory: Various/Summer Hits
                file: Various/Summer Hits/01 - Sunshine.mp3
                file: Various/Summer Hits/02 - Love.mp3
                file: Various/Summer Hits/03 - Ocean.mp3
                directory: Various/Summer Hits/Bonus
                file: Various/Summer Hits/Bonus/01.ogg

                """
        )
        let all = text(library.reply(treeOf: .root, mask: nil))
        #expect(all.hasPrefix("file: loose.mp3\ndirectory: alpha\ndirectory: alpha/First Light\nfile: alpha/First"))
        #expect(all.hasSuffix("directory: Various Rest\nfile: Various Rest/rest.ogg\n"))
        #expect(text(library.reply(treeOf: various, mask: [])).hasPrefix("directory: Various\nLast-Modified: 2023-"))
    }

    @Test("lsinfo shows songs, then directories, of one level")
    func contents() throws {
        let hits = try #require(library.directory(path: "Various/Summer Hits"))
        let lines = text(library.reply(contentsOf: hits, mask: [])).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("file") }.count == 3)
        #expect(lines.suffix(2) == ["directory: Various/Summer Hits/Bonus", "Last-Modified: 2020-01-31T12:00:00Z"])
        let root = text(library.reply(contentsOf: .root, mask: [])).split(separator: "\n").filter {
            !$0.contains("Mod")
        }
        #expect(
            root == [
                "file: loose.mp3", "directory: alpha", "directory: Alpha", "directory: Čas", "directory: Various",
                "directory: Various Rest",
            ]
        )
    }

    @Test("list: byte order, an empty value first for songs without any, fallbacks")
    func values() throws {
        #expect(
            text(library.reply(try library.list(.artist)))
                == "Artist: \nArtist: Alpha\nArtist: Delta\nArtist: Epsilon\nArtist: Zeta\nArtist: alpha\nArtist: Čas\n"
        )
        #expect(
            text(library.reply(try library.list(.albumArtist, matching: equals(.title, "Love"))))
                == "AlbumArtist: Various Artists\nAlbumArtist: alpha\n"
        )
        #expect(text(library.reply(try library.list(.mood))) == "Mood: \n")
        #expect(text(library.reply(try library.list(.mood, matching: equals(.title, "none")))) == "")
        #expect(text(library.reply(urisOf: try library.select(equals(.title, "Ten")))) == "file: Alpha/Box/1-10.mp3\n")
    }

    @Test("list: groups nest, outermost first, and are printed where they change")
    func groups() throws {
        let pop = equals(.genre, "Pop")
        #expect(
            text(library.reply(try library.list(.title, matching: pop, groups: [.date, .artist]))) == """
                Date: 1999-07
                Artist: Delta
                Title: Ocean
                Title: Sunshine
                Artist: Epsilon
                Title: Love
                Title: Ocean

                """
        )
        let byDisc = try library.list(.title, matching: .base(Array("Alpha".utf8)), groups: [.disc])
        #expect(
            text(library.reply(byDisc))
                == "Disc: \nTitle: Extra\nDisc: 1\nTitle: One\nTitle: Ten\nTitle: Two\nDisc: 2\nTitle: Three\n"
        )
        let window = try library.list(.title, matching: .base(Array("Alpha".utf8)), groups: [.disc], window: 1..<2)
        #expect(text(library.reply(window)) == "Disc: 1\nTitle: One\nTitle: Ten\nTitle: Two\n")
        let artists = try library.list(.artist, window: 1..<3)
        #expect(text(library.reply(artists)) == "Artist: Alpha\nArtist: Delta\n")
    }

    @Test("count: songs and whole seconds, for all and for each value")
    func counting() throws {
        #expect(try library.count(.and([])).songs == 17)
        #expect(try library.count(.and([])).playtime == library.statistics.playtime)
        let love = try library.count(equals(.title, "Love"))
        #expect(love.songs == 2)
        #expect(love.playtime == 61_500 + 1_499)
        func lines(_ value: String, _ songs: Int, _ seconds: Int) -> String {
            "Genre: \(value)\nsongs: \(songs)\nplaytime: \(seconds)\n"
        }
        let various = Filter.base(Array("Various/Summer Hits".utf8))
        #expect(
            text(library.reply(try library.count(various, group: .genre)))
                == lines("", 1, 61) + lines("Pop", 3, 4) + lines("Summer", 3, 4)
        )
        #expect(
            text(library.reply(try library.count(group: .genre)))
                == lines("", 10, 553) + lines("Jazz", 2, 123) + lines("Pop", 3, 4) + lines("Rock", 2, 123)
                + lines("Summer", 3, 4)
        )
        #expect(text(library.reply(try library.count(equals(.title, "none"), group: .genre))) == "")
        #expect(text(library.reply(try library.count(group: .mood))) == "Mood: \nsongs: 17\nplaytime: 803\n")
    }
}
