/// A song as mpd knew it.
struct OldSong: Sendable, Hashable {
    var uri: String
    /// Empty where nothing tells.
    var artist = ""
    var albumArtist = ""
    var album = ""
    var title = ""
    var track = ""
    /// Seconds, where something tells.
    var seconds: Double?

    /// Takes a tag of mpd's over; others are not looked at.
    mutating func take(_ tag: String, _ value: String) {
        switch tag {
        case "Artist": if artist.isEmpty { artist = value }
        case "AlbumArtist": if albumArtist.isEmpty { albumArtist = value }
        case "Album": if album.isEmpty { album = value }
        case "Title": if title.isEmpty { title = value }
        case "Track": if track.isEmpty { track = value }
        case "Time", "duration": seconds = Double(value) ?? seconds
        default: break
        }
    }
}
