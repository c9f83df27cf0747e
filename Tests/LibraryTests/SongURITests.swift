import SubsonicKit
import Testing

@testable import Library

/// Paths to URIs: Docs/mapping.md, “URIs”.
struct SongURITests {
    @Test(
        arguments: [
            ("Artist/Album/01 Song.mp3", "Artist/Album/01 Song.mp3"), ("/Artist/Song.mp3", "Artist/Song.mp3"),
            ("Artist//Album///Song.mp3", "Artist/Album/Song.mp3"), ("./Artist/Song.mp3", "Artist/Song.mp3"),
            ("../../etc/passwd", "__/__/etc/passwd"), ("a/./b/../c.mp3", "a/_/b/__/c.mp3"), ("...", "..."),
            ("a\\b/c\"d'e.mp3", "a\\b/c\"d'e.mp3"), ("a\nOK/b\t\u{7F}.mp3", "a OK/b  .mp3"), ("a/b/", "a/b"),
            (" a / b ", " a / b "), ("http://x/y.mp3", "http:/x/y.mp3"), ("é/e\u{301}/🎵.mp3", "é/e\u{301}/🎵.mp3"),
            ("/", nil), ("", nil), ("//", nil), ("\u{0}", " "),
        ] as [(String, String?)]
    )
    func makesPathsSafe(path: String, expected: String?) {
        let uri = PathRule().uri(path: path, folder: 0)
        #expect(uri.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test func cutsLongSegmentsAtCharactersAndKeepsTheEnding() throws {
        let name = String(repeating: "é", count: 300)
        let uri = try #require(PathRule().uri(path: "\(name)/\(name).flac", folder: 0))
        let segments = uri.split(separator: "/")
        #expect(segments.map(\.utf8.count) == [240, 239])
        #expect(segments[1].hasSuffix("é.flac"))
        let deep = Array(repeating: String(repeating: "x", count: 100), count: 500).joined(separator: "/")
        let long = try #require(PathRule().uri(path: deep + "/song.mp3", folder: 0))
        #expect(long.utf8.count <= 2000)
        #expect(long.hasSuffix("/song.mp3"))
    }

    private func rule(
        _ paths: [(String, Int)],
        names: [String] = [],
        previous: PathRule? = nil,
        folders: [String] = ["One", "Two"]
    ) -> PathRule {
        var survey = PathSurvey()
        for (path, folder) in paths { survey.note(path: path, folder: folder, names: names) }
        return survey.rule(previous: previous, folderNames: folders)
    }

    @Test func absolutePathsLoseWhatTheyHaveInCommon() {
        let found = rule([("/srv/music/A/x.mp3", 0), ("/srv/music/B/C/y.mp3", 0)])
        #expect(found.uri(path: "/srv/music/A/x.mp3", folder: 0) == "A/x.mp3")
        #expect(found.uri(path: "/srv/other/x.mp3", folder: 0) == "srv/other/x.mp3")
        #expect(found.uri(path: "relative/z.mp3", folder: 0) == "relative/z.mp3")
    }

    @Test func oneRelativePathMeansThatNothingIsCutOff() {
        let found = rule([("/srv/music/A/x.mp3", 0), ("C:/Artist/x.mp3", 0), ("relative/z.mp3", 0), ("/srv/y.mp3", 0)])
        #expect(found.prefixes == [""])
        #expect(rule([("A/x.mp3", 0), ("C:/y.mp3", 0)]).uri(path: "C:/y.mp3", folder: 0) == "C:/y.mp3")
    }

    @Test func theArtistOfASmallLibraryStays() {
        let found = rule(
            [("/srv/music/Abba/Gold/x.mp3", 0), ("/srv/music/Abba/Gold/y.mp3", 0)],
            names: ["ABBA", "Gold"]
        )
        #expect(found.uri(path: "/srv/music/Abba/Gold/x.mp3", folder: 0) == "Abba/Gold/x.mp3")
    }

    @Test func aKnownPrefixIsKeptWhileItHolds() {
        let old = PathRule(prefixes: ["/srv/"])
        #expect(rule([("/srv/music/a.mp3", 0)], previous: old).prefixes == ["/srv/"])
        #expect(rule([("/data/music/a.mp3", 0)], previous: old).prefixes == ["/data/music/"])
    }

    @Test func severalFoldersHaveATopEach() {
        let found = rule([("a/x.mp3", 0), ("/mnt/two/b/y.mp3", 1), ("/mnt/two/c/z.mp3", 1)])
        #expect(found.uri(path: "a/x.mp3", folder: 0) == "One/a/x.mp3")
        #expect(found.uri(path: "/mnt/two/b/y.mp3", folder: 1) == "Two/b/y.mp3")
        #expect(rule([("a/x.mp3", 1)]).uri(path: "a/x.mp3", folder: 1) == "a/x.mp3", "the other folder is empty")
        #expect(rule([("x", 0), ("y", 1)], folders: ["A/B", "A/B"]).tops == ["A_B 1", "A_B 2"])
    }

    @Test func windowsPathsAreTaken() {
        let found = rule([("C:\\Music\\A\\x.mp3", 0), ("C:\\Music\\B\\y.mp3", 0)])
        #expect(found.uri(path: "C:\\Music\\A\\x.mp3", folder: 0) == "A/x.mp3")
        let relative = rule([("A\\x.mp3", 0), ("B\\y.mp3", 0)])
        #expect(relative.uri(path: "A\\x.mp3", folder: 0) == "A/x.mp3")
        let unix = rule([("A/x\\y.mp3", 0)])
        #expect(unix.uri(path: "A/x\\y.mp3", folder: 0) == "A/x\\y.mp3")
    }

    private func assign(
        _ songs: [(id: String, path: String)],
        former: [String: String] = [:]
    ) -> (uris: [String: String], aliases: AliasTable) {
        var assigner = URIAssigner(rule: PathRule()) { former[$0] }
        for song in songs {
            song.id.withView { id in song.path.withView { assigner.present(songID: id, path: $0, folder: 0) } }
        }
        var uris: [String: String] = [:]
        for song in songs {
            song.id.withView { id in
                song.path.withView { path in
                    assigner.assign(songID: id, path: path, folder: 0) { uris[song.id] = $0.string }
                }
            }
        }
        return (uris, assigner.aliases)
    }

    @Test func equalPathsAreMarkedWhateverTheOrder() {
        let songs: [(id: String, path: String)] = (1...5).map { ("s\($0)", "A/x.mp3") }
        let first = assign(songs).uris
        #expect(Set(first.values).count == 5)
        #expect(first.values.filter { $0 == "A/x.mp3" }.count == 1)
        #expect(first.filter { $0.value != "A/x.mp3" }.allSatisfy { $0.value == "A/x [\($0.key)].mp3" })
        for shift in 1..<5 { #expect(assign(Array(songs[shift...]) + Array(songs[..<shift])).uris == first) }
        #expect(assign(songs.reversed()).uris == first)
    }

    @Test func theFormerOwnerKeepsThePlainURI() {
        for owner in ["s1", "s2"] {
            let found = assign([("s1", "A/x.mp3"), ("s2", "A/x.mp3")], former: [owner: "A/x.mp3"])
            #expect(found.uris[owner] == "A/x.mp3")
            #expect(found.aliases.count == 0)
        }
    }

    @Test func aMarkedSongStaysMarkedWhenTheOtherIsGone() {
        let found = assign([("s2", "A/x.mp3")], former: ["s2": "A/x [s2].mp3"])
        #expect(found.uris == ["s2": "A/x [s2].mp3"])
        let joined = assign([("s2", "A/x.mp3"), ("s3", "A/x.mp3")], former: ["s2": "A/x [s2].mp3"])
        #expect(joined.uris == ["s2": "A/x [s2].mp3", "s3": "A/x.mp3"])
    }

    @Test func aMovedSongLeavesAnAlias() {
        let found = assign([("s1", "B/x.mp3"), ("s2", "A/x.mp3")], former: ["s1": "A/x.mp3"])
        #expect(found.uris == ["s1": "B/x.mp3", "s2": "A/x.mp3"])
        #expect(found.aliases.songID(uri: "A/x.mp3") == "s1")
    }

    @Test func aSongIsNeverADirectory() {
        let found = assign([("s1", "A/B"), ("s2", "A/B/x.mp3"), ("s3", "A")]).uris
        #expect(found == ["s1": "A/B [s1]", "s2": "A/B/x.mp3", "s3": "A [s3]"])
    }

    @Test func marksDoNotMeetOtherSongs() {
        let found = assign([("s1", "x.mp3"), ("s2", "x.mp3"), ("s3", "x [s1].mp3"), ("s4", "x [s2].mp3")]).uris
        #expect(Set(found.values).count == 4)
    }

    @Test func normalFormsAreDifferentURIs() {
        let found = assign([("s1", "\u{E9}.mp3"), ("s2", "e\u{301}.mp3")]).uris
        #expect(Set(found.values.map { Array($0.utf8) }).count == 2)
        #expect(found.values.allSatisfy { !$0.contains("[") })
    }

    @Test func pathsAreMadeOfTagsWhereThereAreNone() throws {
        let song = { (text: String) in try #require(Song(try JSON.parse(Array(text.utf8)))) }
        let whole = #"{"id":"1","title":"A/B","album":"X","artist":"AC/DC","track":3,"suffix":"mp3","discNumber":2}"#
        #expect(SongPath.path(of: try song(whole), facts: LibraryFacts()) == "AC_DC/X/2-03 A_B.mp3")
        #expect(SongPath.path(of: try song(#"{"id":"1"}"#), facts: LibraryFacts()) == "Unknown Artist/Unknown Album/1")
        let odd = #"{"id":"1","title":"t","artist":"..","album":" "}"#
        #expect(SongPath.path(of: try song(odd), facts: LibraryFacts()) == "__/ /t")
    }

    @Test func aliasesTellNormalFormsApart() {
        var table = AliasTable()
        table.add(uri: "\u{E9}", songID: "1")
        table.add(uri: "e\u{301}", songID: "2")
        #expect(table.songID(uri: "\u{E9}") == "1")
        #expect(table.songID(uri: "e\u{301}") == "2")
        #expect(table.count == 2)
    }
}
