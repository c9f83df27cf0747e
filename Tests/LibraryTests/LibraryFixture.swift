import MPDProtocol
import Testing

@testable import Library

/// MPD's, not that of the test framework.
typealias Tag = MPDProtocol.Tag

/// One small library; each album is there for an edge.
///
/// ```
/// loose.mp3                                no tags at all, in the root
/// alpha/First Light/01..03                 plain album; AlbumArtist missing
/// Alpha/Box/                               two discs, tracks 1, 2, 10 out of order; one without a number
/// Čas/Ünïcödé/                             accents: composed and decomposed, typographic quotes
/// Various/Summer Hits/                     AlbumArtist differs; two artists on one song; sort names
/// Various/Summer Hits/Bonus/               directory below an album
/// Various Rest/                            its name begins with another directory's
/// ```
enum LibraryFixture {
    static let info = LibraryInfo(
        serverID: "s1",
        serverName: "home",
        lastSync: 1_700_000_000,
        isComplete: true,
        syncState: ["scan": "17", "": "empty key"]
    )

    static func snapshot(file: String? = nil) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        // Not in the order of the reply.
        for record in records.reversed() { builder.add(record) }
        builder.addAlias(uri: "old/place.flac", songID: "ff1")
        builder.addAlias(uri: "alpha/First Light/02 - Love.flac", songID: "ff1")
        builder.addAlias(uri: "nowhere.flac", songID: "unknown")
        return try builder.build(info: info, file: file)
    }

    /// In database order.
    static let records: [SongRecord] = [
        SongRecord(songID: "root", uri: "loose.mp3", lastModified: 1_000_000_000),
        song("ff1", "alpha/First Light/01 - Intro.flac", "alpha", "First Light", "Intro", track: "1", genre: "Rock"),
        song("ff2", "alpha/First Light/02 - Love.flac", "alpha", "First Light", "Love", track: "2", genre: "Rock"),
        song("ff3", "alpha/First Light/03 - Coda.flac", "alpha", "First Light", "Coda", track: "3", genre: "Jazz"),
        song("bx0", "Alpha/Box/Extra.mp3", "Alpha", "Box", "Extra"),
        song("bx1", "Alpha/Box/1-01.mp3", "Alpha", "Box", "One", track: "1", disc: "1"),
        song("bx2", "Alpha/Box/1-02.mp3", "Alpha", "Box", "Two", track: "2", disc: "1"),
        song("bx3", "Alpha/Box/1-10.mp3", "Alpha", "Box", "Ten", track: "10", disc: "1"),
        song("bx4", "Alpha/Box/2-01.mp3", "Alpha", "Box", "Three", track: "1", disc: "2"),
        song("cu1", "Čas/Ünïcödé/01.opus", "Čas", "Ünïcödé", "GRÖSSE", track: "1"),
        song("cu2", "Čas/Ünïcödé/02.opus", "Čas", "Ünïcödé", "Cafe\u{301} “Noir” – it’s", track: "2"),
        song("cu3", "Čas/Ünïcödé/03.opus", "Čas", "Ünïcödé", "ΣΊΣΥΦΟΣ", track: "3", genre: "Jazz"),
        compilation("va1", "01 - Sunshine.mp3", artists: ["Delta"], title: "Sunshine", track: "1"),
        compilation("va2", "02 - Love.mp3", artists: ["Epsilon"], title: "Love", track: "2"),
        compilation("va3", "03 - Ocean.mp3", artists: ["Delta", "Epsilon"], title: "Ocean", track: "3"),
        song("vb1", "Various/Summer Hits/Bonus/01.ogg", "Delta", "Summer Bonus", "love letter", track: "1"),
        song("vr1", "Various Rest/rest.ogg", "Zeta", "Rest", "Rest"),
    ]

    private static func song(
        _ id: String,
        _ uri: String,
        _ artist: String,
        _ album: String,
        _ title: String,
        track: String? = nil,
        disc: String? = nil,
        genre: String? = nil
    ) -> SongRecord {
        var tags = [TagValue(.artist, artist), TagValue(.album, album), TagValue(.title, title)]
        if let track { tags.append(TagValue(.track, track)) }
        if let genre { tags.append(TagValue(.genre, genre)) }
        if let disc { tags.append(TagValue(.disc, disc)) }
        return SongRecord(
            songID: id,
            uri: uri,
            tags: tags,
            duration: 61_500,
            lastModified: 1_580_472_000,
            added: 1_600_000_000,
            format: AudioFormat(sampleRate: 44100, sampleFormat: .s16, channels: 2),
            size: 12_345_678_901,
            suffix: "flac",
            contentType: "audio/flac",
            bitRate: 900,
            coverArt: "al-\(album)",
            albumID: album,
            artistID: artist,
            replayGain: ReplayGain(trackGain: -7.5, trackPeak: 0.98),
            userRating: 4,
            playCount: 3,
            played: 1_650_000_000
        )
    }

    private static func compilation(
        _ id: String,
        _ name: String,
        artists: [String],
        title: String,
        track: String
    ) -> SongRecord {
        SongRecord(
            songID: id,
            uri: "Various/Summer Hits/\(name)",
            tags: artists.map { TagValue(.artist, $0) } + [
                TagValue(.album, "Summer Hits"), TagValue(.albumArtist, "Various Artists"),
                TagValue(.artistSort, "\(artists[0]), The"), TagValue(.title, title), TagValue(.track, track),
                TagValue(.genre, "Pop"), TagValue(.genre, "Summer"), TagValue(.date, "1999-07"),
            ],
            duration: 1_499,
            lastModified: 1_700_000_000 + Int64(artists.count),
            format: AudioFormat(sampleRate: 352_800, sampleFormat: .dsd, channels: 2),
            suffix: "mp3",
            contentType: "audio/mpeg"
        )
    }
}

extension LibrarySnapshot {
    /// The ids of the songs that match.
    func ids(_ filter: Filter, sort: SortOrder? = nil, window: Range<Int>? = nil) throws -> [String] {
        try select(filter, sort: sort, window: window).map { songID($0) }
    }

    func ids(_ songs: SongSelection) -> [String] { songs.map { songID($0) } }
}

/// All bytes of a reply as a text, in pieces of `limit` bytes.
func text(_ source: some ReplySource, limit: Int = 1 << 16) -> String {
    var source = source
    var all: [UInt8] = []
    while true {
        var piece: [UInt8] = []
        let hasMore = source.appendNext(to: &piece, limit: limit)
        all += piece
        if !hasMore { return String(decoding: all, as: UTF8.self) }
    }
}
