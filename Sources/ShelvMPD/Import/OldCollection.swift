import Glibc

/// What an mpd leaves behind: its files, read without an mpd.
struct OldCollection: Sendable, Equatable {
    /// What stickers are on.
    struct Object: Sendable, Hashable {
        /// `song`, `playlist`, `filter`, or a tag.
        var type: String
        /// The song's URI, the playlist's name, the filter, or the tag's value.
        var name: String
    }

    struct Sticker: Sendable, Equatable {
        var object: Object
        var name: String
        var value: String
    }

    struct Playlist: Sendable, Equatable {
        var name: String
        var songs: [OldSong]
    }

    var stickers: [Sticker] = []
    var playlists: [Playlist] = []
    var state = OldState()
    /// What the tag cache tells of songs, by URI.
    var tags: [String: OldSong] = [:]

    /// The song with what the tag cache tells of it.
    func known(_ song: OldSong) -> OldSong { song.title.isEmpty ? tags[song.uri] ?? song : song }

    // MARK: Files

    /// The stickers in mpd's `sticker_file`.
    static func stickers(in path: String) throws -> [Sticker] {
        let database = try Database(path: path, isReadOnly: true)
        return try database.rows("SELECT type, uri, name, value FROM sticker ORDER BY type, uri, name")
            .compactMap {
                guard let type = $0[0].text, let uri = $0[1].text, let name = $0[2].text, let value = $0[3].words
                else { return nil }
                return Sticker(object: Object(type: type, name: uri), name: name, value: value)
            }
    }

    /// The songs of a playlist file (M3U).
    /// - Parameter folder: mpd's `music_directory`, which absolute paths are relative to.
    static func playlist(_ bytes: [UInt8], folder: String?) -> [OldSong] {
        var songs: [OldSong] = []
        var title = ""
        var artist = ""
        var seconds: Double?
        for line in lines(bytes) {
            if line.hasPrefix("#EXTINF:"), let comma = line.firstIndex(of: ",") {
                seconds = Double(line[..<comma].dropFirst(8)).flatMap { $0 > 0 ? $0 : nil }
                let text = String(line[line.index(after: comma)...])
                if let range = text.firstRange(of: " - ") {
                    (artist, title) = (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
                }
            }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            songs.append(OldSong(uri: relative(line, to: folder), artist: artist, title: title, seconds: seconds))
            (artist, title, seconds) = ("", "", nil)
        }
        return songs
    }

    /// The songs of mpd's `db_file`.
    static func tags(_ bytes: [UInt8]) -> [String: OldSong] {
        var songs: [String: OldSong] = [:]
        var folder = ""
        var open: OldSong?
        for line in lines(bytes) {
            guard let (key, value) = pair(line) else {
                if line == "song_end", let song = open { songs[song.uri] = song }
                if line == "song_end" { open = nil }
                continue
            }
            switch key {
            case "begin": folder = value
            case "end": folder = value.lastIndex(of: "/").map { String(value[..<$0]) } ?? ""
            case "song_begin": open = OldSong(uri: folder.isEmpty ? value : "\(folder)/\(value)")
            default: open?.take(key, value)
            }
        }
        return songs
    }

    /// `key: value`.
    static func pair(_ line: String) -> (String, String)? {
        guard let range = line.firstRange(of: ": ") else { return nil }
        return (String(line[..<range.lowerBound]), String(line[range.upperBound...]))
    }

    /// The lines of a text file, without those that are empty.
    static func lines(_ bytes: [UInt8]) -> [String] {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return bytes.split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
    }

    /// As mpd names it: below `folder`.
    static func relative(_ path: String, to folder: String?) -> String {
        var path = path
        if let folder, path.hasPrefix(folder + "/") { path.removeFirst(folder.count + 1) }
        if path.hasPrefix("./") { path.removeFirst(2) }
        return path
    }
}

extension SQLValue {
    /// As text, numbers too.
    fileprivate var words: String? {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(number)
        default: text ?? bytes.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
