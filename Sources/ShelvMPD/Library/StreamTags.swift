import MPDProtocol
import Playback

/// What remote streams tell of themselves, as MPD's tags.
extension StreamSong {
    /// FFmpeg's names, and those of radios' headers.
    private static let names: [String: Tag] = [
        "icy-title": .title, "icy-name": .name, "title": .title, "artist": .artist, "album": .album,
        "album_artist": .albumArtist, "albumartist": .albumArtist, "track": .track, "tracknumber": .track,
        "disc": .disc,
        "discnumber": .disc, "date": .date, "year": .date, "genre": .genre, "composer": .composer,
        "performer": .performer, "conductor": .conductor, "label": .label, "publisher": .label,
        "artist-sort": .artistSort,
        "album-sort": .albumSort, "title-sort": .titleSort, "grouping": .grouping,
    ]

    /// The tags that a stream tells, in the order of `tagtypes`. What a radio sends along beats what its file says.
    static func tags(_ told: [StreamTag]) -> [Value] {
        var values: [Tag: (text: String, isRadios: Bool)] = [:]
        for piece in told {
            guard let tag = names[piece.name], TagMask.standard.contains(tag) else { continue }
            let isRadios = piece.name.hasPrefix("icy-")
            if let known = values[tag], known.isRadios && !isRadios { continue }
            values[tag] = (piece.text, isRadios)
        }
        return values.sorted { $0.key < $1.key }.compactMap { Value($0.key, $0.value.text.utf8) }
    }
}
