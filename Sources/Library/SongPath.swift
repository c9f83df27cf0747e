import SubsonicKit

/// Where a song stands in the tree before it is made safe and unique.
enum SongPath {
    /// The server's path; where it gives none, one made of tags: `Artist/Album/03 Title.mp3`, the disc before the track
    /// from the second on.
    static func path(of song: Song, facts: LibraryFacts) -> String {
        if let path = song.path { return path }
        let album = song.albumID.flatMap { facts.albums[$0] }
        let artist =
            song.albumArtists?.first?.name ?? song.displayAlbumArtist ?? album?.artists.first ?? song.artist
            ?? song.displayArtist ?? "Unknown Artist"
        var number = ""
        if let track = song.track {
            let disc = song.discNumber ?? 1
            number = (disc > 1 ? "\(disc)-" : "") + (track < 10 ? "0\(track) " : "\(track) ")
        }
        let ending = song.suffix.map { ".\($0)" } ?? ""
        let segments = [artist, song.album ?? "Unknown Album", number + (song.title ?? song.id) + ending]
        return segments.compactMap { PathSegment.safe($0) }.joined(separator: "/")
    }

    /// The names that a common prefix of paths may not swallow.
    static func names(of song: Song) -> [String] {
        [song.artist, song.displayArtist, song.displayAlbumArtist, song.album].compactMap { $0 }
            + (song.albumArtists ?? []).map(\.name)
    }
}
