/// What an mpd's `state_file` tells: queues and options, of each partition.
struct OldState: Sendable, Equatable {
    /// An entry of a queue.
    struct Entry: Sendable, Equatable {
        var song: OldSong
        /// 0 to 255.
        var priority = 0
        /// The part that is played, in milliseconds; without an end where `end` is nil.
        var start = 0
        var end: Int?
        /// Tags of a URL.
        var tags: [Tag] = []

        var hasRange: Bool { start > 0 || end != nil }
    }

    struct Tag: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// A command that sets an option, and its value.
    struct Option: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// A partition.
    struct Room: Sendable, Equatable {
        var name: String
        var entries: [Entry] = []
        /// Those that differ from what an mpd begins with.
        var options: [Option] = []

        var isDefault: Bool { name == PartitionPlan.defaultName }
    }

    /// Those that hold anything, the default one first.
    var rooms: [Room] = []
    /// How many storages were mounted.
    var mounts = 0

    init() {}

    /// - Parameter folder: mpd's `music_directory`, which absolute paths are relative to.
    /// - Note: MPD 0.24 `src/queue/Save.cxx`, `src/SongSave.cxx`, `src/queue/PlaylistState.cxx`.
    init(_ bytes: [UInt8], folder: String?) {
        var room = Room(name: PartitionPlan.defaultName)
        var isInside = false
        var open: Entry?
        var priority = 0
        func finish() {
            if !room.entries.isEmpty || !room.options.isEmpty { rooms.append(room) }
        }
        for line in OldCollection.lines(bytes) {
            let (key, value) = OldCollection.pair(line) ?? (line, "")
            if var entry = open {
                if line == "song_end" { room.entries.append(entry) } else { entry.take(key, value) }
                open = line == "song_end" ? nil : entry
            } else if isInside {
                switch key {
                case "playlist_end": isInside = false
                case "Prio": priority = min(255, max(0, Int(value) ?? 0))
                case "song_begin":
                    open = Entry(song: OldSong(uri: OldCollection.relative(value, to: folder)), priority: priority)
                    priority = 0
                default:
                    guard let uri = Self.numbered(line) else { continue }
                    let song = OldSong(uri: OldCollection.relative(uri, to: folder))
                    room.entries.append(Entry(song: song, priority: priority))
                    priority = 0
                }
            } else {
                switch key {
                case "playlist_begin": isInside = true
                case "mount_begin": mounts += 1
                case "partition":
                    finish()
                    room = Room(name: value)
                default: if let option = Self.option(key, value) { room.options.append(option) }
                }
            }
        }
        finish()
    }

    /// The URI behind the position in `12:URI`.
    private static func numbered(_ line: String) -> String? {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
            line[..<colon].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        return String(line[line.index(after: colon)...])
    }

    /// Nil for what is no option, or is as it is without being said.
    private static func option(_ name: String, _ value: String) -> Option? {
        let number = Double(value)
        switch name {
        case "random", "repeat": return value == "1" ? Option(name: name, value: "1") : nil
        case "single", "consume":
            // Older files have a number for it.
            let mode = value == "2" ? "oneshot" : value
            return mode == "1" || mode == "oneshot" ? Option(name: name, value: mode) : nil
        case "crossfade": return Int(value).flatMap { $0 > 0 ? Option(name: name, value: String($0)) : nil }
        case "mixrampdb": return number.flatMap { $0 < 0 ? Option(name: name, value: value) : nil }
        case "mixrampdelay": return number.flatMap { $0 > 0 ? Option(name: name, value: value) : nil }
        default: return nil
        }
    }
}

extension OldState.Entry {
    /// A line between the entry's first and last.
    fileprivate mutating func take(_ key: String, _ value: String) {
        switch key {
        case "Range":
            let parts = value.split(separator: "-", omittingEmptySubsequences: false)
            start = max(0, parts.first.flatMap { Int($0) } ?? 0)
            end = parts.count > 1 ? Int(parts[1]).flatMap { $0 > start ? $0 : nil } : nil
        case "Time", "Playlist", "mtime", "Format", "Added": song.take(key, value)
        default:
            song.take(key, value)
            tags.append(OldState.Tag(name: key, value: value))
        }
    }
}
