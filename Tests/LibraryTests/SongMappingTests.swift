import MPDProtocol
import SubsonicKit
import Testing

@testable import Library

/// Docs/mapping.md, row by row.
struct SongMappingTests {
    private func tags(
        _ song: String,
        album: String? = nil,
        artists: [String] = [],
        kind: ServerKind = .navidrome
    ) throws -> [String] {
        var facts = LibraryFacts()
        if let album, let parsed = Album(try JSON.parse(Array(album.utf8))) {
            facts.albums[parsed.id] = AlbumFacts(parsed)
        }
        for text in artists {
            let artist = try #require(Artist(try JSON.parse(Array(text.utf8))))
            facts.artists[artist.id] = ArtistFacts(artist)
        }
        let parsed = try #require(Song(try JSON.parse(Array(song.utf8))))
        return SongMapping(kind: kind).tags(parsed, facts: facts).map { "\($0.tag.name): \($0.value)" }.sorted()
    }

    @Test func mapsEverythingThatOpenSubsonicTells() throws {
        let found = try tags(
            #"""
            {"id":"s","albumId":"a","title":"Finale","album":"Album","artist":"A & B","track":3,"discNumber":2,"year":1970,
            "genres":[{"name":"Rock"},{"name":"Pop"}],"genre":"Rock","artists":[{"id":"1","name":"A"},{"id":"2","name":"B"}],
            "albumArtists":[{"id":"1","name":"A"}],"sortName":"finale","musicBrainzId":"rec","comment":"line\nline",
            "contributors":[{"role":"composer","artist":{"id":"3","name":"C"}},{"role":"conductor","artist":{"name":"D"}},
            {"role":"performer","subRole":"Violin","artist":{"name":"E"}},{"role":"performer","artist":{"name":"F"}},
            {"role":"producer","artist":{"name":"G"}}],"displayComposer":"C","moods":["calm"],"groupings":["grp"],
            "works":[{"name":"W","musicBrainzId":"work"}],"movements":[{"name":"M","number":4}]}
            """#,
            album: #"""
                {"id":"a","name":"Album","year":1970,"releaseDate":{"year":2001,"month":5},"originalReleaseDate":{"year":1970},
                "recordLabels":[{"name":"L"}],"sortName":"album","musicBrainzId":"rel",
                "discTitles":[{"disc":1,"title":"One"},{"disc":2,"title":"Two"}]}
                """#,
            artists: [
                #"{"id":"1","name":"A","sortName":"a, the","musicBrainzId":"mb1"}"#,
                #"{"id":"2","name":"B","sortName":""}"#,
                #"{"id":"3","name":"C","sortName":"c"}"#,
            ]
        )
        #expect(
            found == [
                "Album: Album", "AlbumArtist: A", "AlbumArtistSort: a, the", "AlbumSort: album", "Artist: A",
                "Artist: B",
                "ArtistSort: a, the", "Comment: line line", "Composer: C", "ComposerSort: c", "Conductor: D",
                "Date: 2001-05",
                "Disc: 2", "DiscSubtitle: Two", "Genre: Pop", "Genre: Rock", "Grouping: grp", "Label: L",
                "MUSICBRAINZ_ALBUMARTISTID: mb1", "MUSICBRAINZ_ALBUMID: rel", "MUSICBRAINZ_ARTISTID: mb1",
                "MUSICBRAINZ_TRACKID: rec", "MUSICBRAINZ_WORKID: work", "Mood: calm", "Movement: M",
                "MovementNumber: 4",
                "OriginalDate: 1970", "Performer: E (violin)", "Performer: F", "Title: Finale", "TitleSort: finale",
                "Track: 3", "Work: W",
            ]
        )
    }

    @Test func fallsBackWhereOpenSubsonicIsUnknown() throws {
        let found = try tags(
            #"{"id":"s","albumId":"a","title":"T","album":"X","artist":"B","genre":"Rock; Pop","track":1}"#,
            album: #"{"id":"a","name":"X","artist":"Various","year":1999}"#,
            kind: .supysonic
        )
        #expect(
            found == [
                "Album: X", "AlbumArtist: Various", "Artist: B", "Date: 1999", "Genre: Pop", "Genre: Rock", "Title: T",
                "Track: 1",
            ]
        )
    }

    @Test(arguments: [
        // What OpenSubsonic servers leave empty is empty.
        (
            #"{"id":"s","albumId":"a","artists":[],"albumArtists":[],"artist":"B","genres":[],"genre":"Rock"}"#,
            ["Artist: B"]
        ),
        // Placeholders and empty texts.
        (#"{"id":"s","artist":"[Unknown Artist]","album":"[Unknown Album]","title":"","track":0,"year":0}"#, []),
        // A genre with a comma stays whole.
        (#"{"id":"s","genre":"Folk, World"}"#, ["Genre: Folk, World"]),
        // One way to name album artists is enough.
        (#"{"id":"s","displayAlbumArtist":"D"}"#, ["AlbumArtist: D"]),
        (#"{"id":"s","displayArtist":"D"}"#, ["Artist: D"]),
        (#"{"id":"s","displayComposer":"C; D"}"#, ["Composer: C; D"]),
        // No line is forged.
        (#"{"id":"s","title":"a\r\nOK\u0000b\tc"}"#, ["Title: a  OK b c"]),
        // Values may repeat, spaces stay.
        (#"{"id":"s","title":" x ","moods":["m","m"]}"#, ["Mood: m", "Mood: m", "Title:  x "]),
    ])
    func mapsSpecialCases(song: String, expected: [String]) throws {
        #expect(try tags(song, album: #"{"id":"a","name":"X","artist":"Z","year":1999}"#) == expected)
    }

    @Test(arguments: [
        (ServerKind.nextcloud, 2, 203, 3), (.nextcloud, 1, 101, 1), (.nextcloud, 1, 7, 7), (.navidrome, 2, 203, 203),
        (.nextcloud, 0, 203, 203),
    ])
    func takesTheDiscOutOfNextcloudsTracks(kind: ServerKind, disc: Int, track: Int, expected: Int) throws {
        let found = try tags(#"{"id":"s","track":\#(track),"discNumber":\#(disc)}"#, kind: kind)
        #expect(found.contains("Track: \(expected)"))
    }

    @Test(arguments: [
        (ServerKind.ampache, "a,b , c", ["a", "b", "c"]), (.nextcloud, "a", ["a"]),
        (.supysonic, "a;b,c", ["a", "b,c"]),
        (.ampache, ",", []), (.gonic, "a;b", ["a;b"]),
    ])
    func splitsGenresOnlyWhereServersJoinThem(kind: ServerKind, genre: String, expected: [String]) throws {
        #expect(try tags(#"{"id":"s","genre":"\#(genre)"}"#, kind: kind) == expected.map { "Genre: \($0)" })
    }

    @Test(
        arguments: [
            ("flac", 24, 96000, 2, "96000:24:2"), ("flac", 16, 44100, 2, "44100:16:2"),
            ("mp3", 0, 44100, 2, "44100:24:2"),
            ("ogg", 0, 44100, 1, "44100:f:1"), ("m4a", 16, 48000, 2, "48000:f:2"), ("opus", 0, 48000, 2, "48000:16:2"),
            ("wav", 32, 44100, 2, "44100:32:2"), ("dsf", 1, 2_822_400, 2, "352800:dsd:2"), ("flac", 16, 0, 2, nil),
            ("flac", 16, 44100, 0, nil), ("MP3", 0, 44100, 2, "44100:24:2"), ("wav", 8, 8000, 1, "8000:8:1"),
        ] as [(String, Int, Int, Int, String?)]
    )
    func tellsTheFormatOfTheDecoder(suffix: String, bits: Int, rate: Int, channels: Int, expected: String?) throws {
        let text =
            #"{"id":"s","suffix":"\#(suffix)","bitDepth":\#(bits),"samplingRate":\#(rate),"channelCount":\#(channels)}"#
        let song = try #require(Song(try JSON.parse(Array(text.utf8))))
        let format = SongMapping(kind: .navidrome).record(song, facts: LibraryFacts()).format
        #expect(format.map { "\($0.sampleRate):\($0.sampleFormat.name):\($0.channels)" } == expected)
    }

    @Test func mapsTheOtherFacts() throws {
        let text = #"""
            {"id":"s","duration":183.4,"created":"2023-03-14T17:51:22Z","size":12345678901,"suffix":"flac",
            "contentType":"audio/flac","bitRate":900,"coverArt":"c","albumId":"a","artistId":"b","userRating":5,
            "starred":"2024-01-01T00:00:00Z","playCount":3,"replayGain":{"trackGain":-6.5,"albumPeak":0,"trackPeak":0.5}}
            """#
        let song = try #require(Song(try JSON.parse(Array(text.utf8))))
        let record = SongMapping(kind: .navidrome).record(song, facts: LibraryFacts())
        #expect(
            record
                == SongRecord(
                    songID: "s",
                    uri: "",
                    duration: 183_400,
                    lastModified: 1_678_816_282,
                    added: 1_678_816_282,
                    size: 12_345_678_901,
                    suffix: "flac",
                    contentType: "audio/flac",
                    bitRate: 900,
                    coverArt: "c",
                    albumID: "a",
                    artistID: "b",
                    replayGain: ReplayGain(trackGain: -6.5, trackPeak: 0.5),
                    userRating: 5,
                    playCount: 3
                )
        )
    }

    @Test(arguments: [
        (#""bitRate":64000,"size":17543,"duration":2"#, 64), (#""bitRate":320,"size":4000000,"duration":100"#, 320),
        (#""bitRate":9216,"size":115200000,"duration":100"#, 9216), (#""bitRate":64000"#, 64000),
    ])
    func takesBitsForWhatTheyAre(fields: String, expected: Int) throws {
        let song = try #require(Song(try JSON.parse(Array("{\"id\":\"s\",\(fields)}".utf8))))
        #expect(SongMapping(kind: .supysonic).record(song, facts: LibraryFacts()).bitRate == expected)
    }

    @Test(arguments: [
        ("navidrome", "1.16.1", ServerKind.navidrome), ("Nextcloud Music", "1.16.1", .nextcloud),
        ("", "1.12.0", .supysonic),
        ("airsonic-advanced", "1.15.0", .airsonic), ("", "1.15.0", .unknown), ("owncloud music", "1.16.1", .nextcloud),
        ("LMS", "1.16.0", .lms), ("something", "1.12.0", .unknown),
    ])
    func knowsServers(type: String, version: String, kind: ServerKind) {
        #expect(ServerKind(ServerInfo(version: version, type: type.isEmpty ? nil : type)) == kind)
    }
}
