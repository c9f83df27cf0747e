import Glibc

/// A picture as the server gave it, or the lyrics of a song, which are asked for and kept the same way.
struct Cover: Sendable, Equatable {
    /// The picture; of lyrics the comments, each `NAME=value` and a line end.
    var bytes: [UInt8]
    /// The MIME type; empty if it is not known.
    var type: String
    /// When it was fetched, Unix time in seconds.
    var fetched: Int64

    /// The MIME type that the first bytes tell; nil for what is no picture that is known.
    ///
    /// Source: the signatures of the formats, as the WHATWG lists them in "MIME Sniffing", and ISO/IEC 18181 for JPEG XL.
    static func type(of bytes: [UInt8]) -> String? {
        func has(_ signature: [UInt8], at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: signature) }
        if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if has(Array("GIF8".utf8)) { return "image/gif" }
        if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) { return "image/webp" }
        if has(Array("BM".utf8)) { return "image/bmp" }
        if has(Array("ftypavif".utf8), at: 4) { return "image/avif" }
        if has([0xFF, 0x0A]) || has(Array("JXL ".utf8), at: 4) { return "image/jxl" }
        if has(Array("II*\0".utf8)) || has(Array("MM\0*".utf8)) { return "image/tiff" }
        return nil
    }
}

/// What a server is asked a picture by.
enum CoverSource: Sendable, Hashable {
    /// The `coverArt` of a song or an album.
    case art(String)
    /// The id of an artist, whose `coverArt` the server has to be asked first.
    case artist(String)
    /// The lyrics of a song. Old servers know them by artist and title only.
    case lyrics(songID: String, artist: String, title: String)

    /// Differs for all sources; for the cache on disk.
    var text: String {
        switch self {
        case .art(let id): "art " + id
        case .artist(let id): "artist " + id
        case .lyrics(let songID, _, _): "lyrics " + songID
        }
    }

    /// The same with another id.
    func with(id: String) -> CoverSource {
        switch self {
        case .art: .art(id)
        case .artist: .artist(id)
        case .lyrics(_, let artist, let title): .lyrics(songID: id, artist: artist, title: title)
        }
    }

    /// The id by which the server is asked.
    var id: String {
        switch self {
        case .art(let id), .artist(let id), .lyrics(let id, _, _): id
        }
    }

    var isLyrics: Bool { if case .lyrics = self { true } else { false } }
}

/// What came of asking a server for a picture.
enum CoverFetch: Sendable {
    case cover(Cover)
    /// The server has none.
    case none
    /// It could not be asked.
    case failed
}

/// The picture that a client is reading piece by piece: the same one up to its end, whatever becomes of it meanwhile.
struct CoverReading: Sendable {
    var command: PictureCommands.Kind
    var path: [UInt8]
    var cover: Cover
}
