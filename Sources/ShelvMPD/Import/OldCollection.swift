import Glibc

/// What an mpd leaves behind: its files, read without an mpd.
struct OldCollection: Sendable, Equatable {
    struct Sticker: Sendable, Equatable {
        var uri: String
        var name: String
        var value: String
    }

    struct Playlist: Sendable, Equatable {
        var name: String
        var songs: [OldSong]
    }

    var stickers: [Sticker] = []
    var playlists: [Playlist] = []
    var queue: [OldSong] = []
    /// What the tag cache tells of songs, by URI.
    var tags: [String: OldSong] = [:]

    /// The song with what the tag cache tells of it.
    func known(_ song: OldSong) -> OldSong { song.title.isEmpty ? tags[song.uri] ?? song : song }

    // MARK: Files

    /// The stickers of songs in mpd's `sticker_file`.
    static func stickers(in path: String) throws -> [Sticker] {
        let database = try Database(path: path, isReadOnly: true)
        return try database.rows("SELECT uri, name, value FROM sticker WHERE type = 'song' ORDER BY uri, name")
            .compactMap {
                guard let uri = $0[0].text, let name = $0[1].text, let value = $0[2].words else { return nil }
                return Sticker(uri: uri, name: name, value: value)
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

    /// The queue in mpd's `state_file`.
    static func queue(_ bytes: [UInt8], folder: String?) -> [OldSong] {
        var songs: [OldSong] = []
        var isInside = false
        var open: OldSong?
        for line in lines(bytes) {
            if line == "playlist_begin" { isInside = true }
            if line == "playlist_end" { break }
            guard isInside else { continue }
            if line.hasPrefix("song_begin: ") {
                open = OldSong(uri: relative(String(line.dropFirst(12)), to: folder))
            } else if line == "song_end" {
                if let song = open { songs.append(song) }
                open = nil
            } else if open != nil {
                if let (tag, value) = pair(line) { open?.take(tag, value) }
            } else if let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                line[..<colon].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
            {
                songs.append(OldSong(uri: relative(String(line[line.index(after: colon)...]), to: folder)))
            }
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

    private static func pair(_ line: String) -> (String, String)? {
        guard let range = line.firstRange(of: ": ") else { return nil }
        return (String(line[..<range.lowerBound]), String(line[range.upperBound...]))
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return bytes.split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
    }

    private static func relative(_ path: String, to folder: String?) -> String {
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
