import SubsonicKit
import Support
import Testing

/// Models of what real servers send, and of what they should not.
struct ModelTests {
    private func song(_ text: String) throws -> Song? { Song(try JSON.parse(Array(text.utf8))) }

    @Test func readsEveryFieldOfASong() throws {
        let song = try #require(
            try song(
                #"""
                {"id":"s1","parent":"p","isDir":false,"title":"T","album":"A","artist":"B","track":3,"discNumber":2,"year":1999,
                "genre":"Rock","coverArt":"c","size":5000000000,"contentType":"audio/flac","suffix":"flac","duration":200,
                "bitRate":900,"path":"x/y.flac","userRating":4,"playCount":7,"created":"2023-03-14T17:51:22.112827504Z",
                "starred":"2024-01-01T00:00:00Z","played":"","albumId":"a1","artistId":"b1","bitDepth":24,"samplingRate":96000,
                "channelCount":2,"bpm":120,"comment":"co","sortName":"t","musicBrainzId":"m","genres":[{"name":"Rock"},{"name":"Pop"}],
                "artists":[{"id":"b1","name":"B"},{"id":"b2","name":"C"}],"displayArtist":"B & C",
                "albumArtists":[{"id":"b1","name":"B"}],"displayAlbumArtist":"B","displayComposer":"K",
                "contributors":[{"role":"Composer","artist":{"id":"k","name":"K"}},
                {"role":"performer","subRole":"Violin","artist":{"id":"v","name":"V"}}],
                "moods":["calm"],"works":[{"name":"W","musicBrainzId":"w"}],"movements":[{"name":"I","number":1,"count":4}],
                "groupings":["g"],"replayGain":{"trackGain":-6.5,"albumGain":"-7","trackPeak":0.9,"albumPeak":1,"baseGain":null}}
                """#
            )
        )
        var expected = Song(id: "s1")
        expected.parent = "p"
        expected.title = "T"
        expected.album = "A"
        expected.artist = "B"
        expected.track = 3
        expected.discNumber = 2
        expected.year = 1999
        expected.genre = "Rock"
        expected.coverArt = "c"
        expected.size = 5_000_000_000
        expected.contentType = "audio/flac"
        expected.suffix = "flac"
        expected.duration = .seconds(200)
        expected.bitRate = 900
        expected.path = "x/y.flac"
        expected.userRating = 4
        expected.playCount = 7
        expected.created = 1_678_816_282
        expected.starred = 1_704_067_200
        expected.isStarred = true
        expected.albumID = "a1"
        expected.artistID = "b1"
        expected.bitDepth = 24
        expected.samplingRate = 96000
        expected.channelCount = 2
        expected.bpm = 120
        expected.comment = "co"
        expected.sortName = "t"
        expected.musicBrainzID = "m"
        expected.genres = ["Rock", "Pop"]
        expected.artists = [.init(id: "b1", name: "B"), .init(id: "b2", name: "C")]
        expected.displayArtist = "B & C"
        expected.albumArtists = [.init(id: "b1", name: "B")]
        expected.displayAlbumArtist = "B"
        expected.displayComposer = "K"
        expected.contributors = [
            .init(role: "composer", artist: .init(id: "k", name: "K")),
            .init(role: "performer", subRole: "Violin", artist: .init(id: "v", name: "V")),
        ]
        expected.moods = ["calm"]
        expected.works = [.init(name: "W", musicBrainzID: "w")]
        expected.movements = [.init(name: "I", number: 1)]
        expected.groupings = ["g"]
        var gain = LoudnessFacts()
        gain.trackGain = -6.5
        gain.albumGain = -7
        gain.trackPeak = 0.9
        gain.albumPeak = 1
        expected.replayGain = gain
        #expect(song == expected)
    }

    @Test func takesNeighbouringTypes() throws {
        let song = try #require(
            try song(
                #"""
                {"id":12,"isDir":"false","title":1999,"album":true,"track":"4","year":"2001","duration":"183.4","size":-1,
                "bitrate":320,"albumartists":{"name":"Only"},"genres":"Rock","moods":["a","",null,3],"starred":true,
                "artists":[{"name":""},{"id":7,"name":"B"},"C",null,5],"replayGain":null,"contributors":{},"works":[[]]}
                """#
            )
        )
        #expect(song.id == "12")
        #expect(song.title == "1999")
        #expect(song.album == "true")
        #expect(song.track == 4)
        #expect(song.year == 2001)
        #expect(song.duration == .milliseconds(183_400))
        #expect(song.size == nil)
        #expect(song.bitRate == 320)
        #expect(song.albumArtists == [.init(id: nil, name: "Only")])
        #expect(song.genres == ["Rock"])
        #expect(song.moods == ["a", "3"])
        #expect(song.isStarred)
        #expect(song.artists == [.init(id: "7", name: "B"), .init(id: nil, name: "C"), .init(id: nil, name: "5")])
        #expect(song.replayGain == nil)
        #expect(song.contributors == [])
        #expect(song.works == [])
        #expect(song.groupings == nil, "absent is not empty")
    }

    @Test(arguments: [
        #"{"id":"1","track":4294967296}"#, #"{"id":"1","track":-1}"#, #"{"id":"1","track":0}"#,
        #"{"id":"1","track":1e300}"#,
        #"{"id":"1","track":"x"}"#, #"{"id":"1","track":{}}"#, #"{"id":"1","track":99999999999999999999}"#,
    ])
    func dropsTracksOutOfRange(source: String) throws {
        #expect(try song(source)?.track == nil)
    }

    @Test(arguments: [#"{}"#, #"{"id":""}"#, #"{"id":null}"#, #"{"id":"1","isDir":true}"#, "[]", "3", "null"])
    func isNoSong(source: String) throws {
        #expect(try song(source) == nil)
    }

    @Test(
        arguments: [
            ("2023-03-14T17:51:22.112827504Z", 1_678_816_282), ("2023-03-14T17:51:22Z", 1_678_816_282),
            ("2023-03-14T17:51:22.000Z", 1_678_816_282), ("2023-03-14T18:51:22+01:00", 1_678_816_282),
            ("2023-03-14T12:51:22-0500", 1_678_816_282), ("2023-03-14T17:51:22", 1_678_816_282),
            ("2023-03-14 17:51:22.5", 1_678_816_282), ("2023-03-14", 1_678_752_000),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-12-31T23:59:60Z", 1_735_689_600), ("", nil), ("0001-01-01T00:00:00Z", nil),
            ("1969-12-31T23:59:59Z", nil),
            ("yesterday", nil), ("2023-13-01", nil), ("2023-1-1", nil), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64?)]
    )
    func readsDates(text: String, seconds: Int64?) throws {
        #expect(try song(#"{"id":"1","created":"\#(text)"}"#)?.created == seconds)
    }

    @Test func readsDatesThatAreNumbers() throws {
        #expect(try song(#"{"id":"1","created":1678816282}"#)?.created == 1_678_816_282)
        #expect(try song(#"{"id":"1","created":1678816282112}"#)?.created == 1_678_816_282)
        #expect(try song(#"{"id":"1","created":9223372036854775807}"#)?.created == nil)
    }

    @Test func readsAlbums() throws {
        let album = try #require(
            Album(
                try JSON.parse(
                    Array(
                        #"""
                        {"id":"a","name":"N","artist":"B","artistId":"b","songCount":2,"duration":10,"year":0,"sortName":"n",
                        "recordLabels":[{"name":"L"},{"name":""}],"originalReleaseDate":{"year":1969,"month":9,"day":26},
                        "releaseDate":{},"isCompilation":"true","discTitles":[{"disc":1,"title":"One"},{"disc":2}],
                        "song":[{"id":"1"},{"id":"2","isDir":true},{}]}
                        """#.utf8
                    )
                )
            )
        )
        #expect(album.name == "N")
        #expect(album.year == nil)
        #expect(album.recordLabels == ["L"])
        #expect(album.originalReleaseDate?.description == "1969-09-26")
        #expect(album.releaseDate == nil)
        #expect(album.isCompilation == true)
        #expect(album.discTitles == [DiscTitle(disc: 1, title: "One")])
        #expect(album.songs.map(\.id) == ["1"])
    }

    @Test(arguments: [
        (ItemDate(year: 1999), "1999"), (ItemDate(year: 1999, month: 3), "1999-03"),
        (ItemDate(year: 999, month: 3, day: 1), "0999-03-01"), (ItemDate(year: 1999, day: 1), "1999"),
    ])
    func writesItemDates(date: ItemDate, text: String) {
        #expect(date.description == text)
    }

    @Test func everyCutAndMistypedFieldLeavesASong() throws {
        let fields = JSONField.allCases.map(\.rawValue).filter { $0 != "id" && $0 != "isDir" }
        for field in fields {
            for value in [
                "null", "{}", "[]", "[[]]", "\"\"", "\"x\"", "-1", "1e999", "true", "{\"name\":{}}",
                "[null,1,\"a\",{}]",
            ] {
                #expect(try song("{\"id\":\"1\",\"\(field)\":\(value)}") != nil)
            }
        }
    }
}
