import Library
import MPDProtocol

/// A small library. Each album is there for one edge:
///
/// ```
/// Alpha/First/      three songs, tags in full, 60 s each
/// Alpha/Second/     two discs
/// Beta - "Odd"/     quotes, backslash, non-ASCII, two artists, no album artist
/// loose.mp3         no tags at all
/// ```
enum LibraryFixture {
    static let records: [SongRecord] =
        (1...3).map { album("Alpha", "First", track: $0, disc: nil) }
        + (1...4).map { album("Alpha", "Second", track: ($0 + 1) / 2, disc: $0 % 2 == 0 ? 2 : 1) }
        + [
            SongRecord(
                songID: "odd-1",
                uri: "Beta - \"Odd\"/01 back\\slash.flac",
                tags: [
                    TagValue(.artist, "Beta"), TagValue(.artist, "Björk"), TagValue(.album, "Odd"),
                    TagValue(.title, "He said \"x\\y\""), TagValue(.track, "1"), TagValue(.date, "1997"),
                ],
                duration: 61_500,
                size: 1000,
                suffix: "flac"
            ),
            SongRecord(songID: "loose", uri: "loose.mp3", duration: nil, size: 1000, suffix: "mp3"),
        ]

    private static func album(_ artist: String, _ album: String, track: Int, disc: Int?) -> SongRecord {
        let place = disc.map { "\($0)-" } ?? ""
        return SongRecord(
            songID: "\(album)-\(place)\(track)",
            uri: "\(artist)/\(album)/\(place)0\(track).flac",
            tags: [
                TagValue(.artist, artist), TagValue(.album, album), TagValue(.albumArtist, artist),
                TagValue(.title, "\(album) \(place)\(track)"), TagValue(.track, "\(track)"),
            ] + (disc.map { [TagValue(.disc, "\($0)")] } ?? []),
            duration: 60_000,
            lastModified: 1_600_000_000,
            added: 1_600_000_000,
            format: AudioFormat(sampleRate: 44100, sampleFormat: .s16, channels: 2),
            size: 1000,
            suffix: "flac"
        )
    }
}
