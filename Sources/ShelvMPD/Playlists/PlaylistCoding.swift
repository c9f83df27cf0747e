/// Playlists and their edits as bytes for the store.
///
/// Numbers stand in seven bits a byte, the lowest first, the top bit meaning that more follow; a text is its length and
/// its UTF-8.
enum PlaylistCoding {
    private static let format: UInt64 = 1

    private enum EntryKind { static let song: UInt64 = 0, foreign: UInt64 = 1, stream: UInt64 = 2 }

    private enum EditKind {
        static let create: UInt64 = 0, insert: UInt64 = 1, append: UInt64 = 2, remove: UInt64 = 3, move: UInt64 = 4
        static let replace: UInt64 = 5, rename: UInt64 = 6, delete: UInt64 = 7
    }

    /// Bytes that are none of ours.
    struct Damage: Error {}

    static func encode(_ entries: [PlaylistEntry]) -> [UInt8] {
        var writer = Writer()
        writer.number(format)
        writer.entries(entries)
        return writer.bytes
    }

    static func entries(_ bytes: [UInt8]) throws(Damage) -> [PlaylistEntry] {
        var reader = Reader(rest: bytes[...])
        guard try reader.number() == format else { throw Damage() }
        return try reader.entries()
    }

    static func encode(_ edit: PlaylistEdit) -> [UInt8] {
        var writer = Writer()
        writer.number(format)
        switch edit {
        case .create(let title, let entries):
            writer.number(EditKind.create)
            writer.text(title)
            writer.entries(entries)
        case .insert(let entries, let position?):
            writer.number(EditKind.insert)
            writer.number(UInt64(clamping: position))
            writer.entries(entries)
        case .insert(let entries, nil):
            writer.number(EditKind.append)
            writer.entries(entries)
        case .remove(let range):
            writer.number(EditKind.remove)
            writer.range(range)
        case .move(let range, let destination):
            writer.number(EditKind.move)
            writer.range(range)
            writer.number(UInt64(clamping: destination))
        case .replace(let entries):
            writer.number(EditKind.replace)
            writer.entries(entries)
        case .rename(let title):
            writer.number(EditKind.rename)
            writer.text(title)
        case .delete: writer.number(EditKind.delete)
        }
        return writer.bytes
    }

    static func edit(_ bytes: [UInt8]) throws(Damage) -> PlaylistEdit {
        var reader = Reader(rest: bytes[...])
        guard try reader.number() == format else { throw Damage() }
        switch try reader.number() {
        case EditKind.create:
            let title = try reader.text()
            return .create(title, try reader.entries())
        case EditKind.insert:
            let position = try reader.count()
            return .insert(try reader.entries(), at: position)
        case EditKind.append: return .insert(try reader.entries(), at: nil)
        case EditKind.remove: return .remove(try reader.range())
        case EditKind.move:
            let range = try reader.range()
            return .move(range, to: try reader.count())
        case EditKind.replace: return .replace(try reader.entries())
        case EditKind.rename: return .rename(try reader.text())
        case EditKind.delete: return .delete
        default: throw Damage()
        }
    }

    static func encode(_ attempt: PlaylistAttempt) -> [UInt8] {
        var writer = Writer()
        writer.number(format)
        writer.text(attempt.title)
        writer.number(UInt64(attempt.knownIDs.count))
        for id in attempt.knownIDs { writer.text(id) }
        writer.entries(attempt.entries)
        writer.number(attempt.base == nil ? 0 : 1)
        if let base = attempt.base { writer.entries(base) }
        writer.text(attempt.remoteID ?? "")
        if let start = attempt.start {
            writer.number(start.isPiecewise ? 1 : 0)
            writer.entries(start.present)
            writer.entries(start.theirs)
        }
        return writer.bytes
    }

    static func attempt(_ bytes: [UInt8]) throws(Damage) -> PlaylistAttempt {
        var reader = Reader(rest: bytes[...])
        guard try reader.number() == format else { throw Damage() }
        let title = try reader.text()
        var knownIDs: [String] = []
        for _ in 0..<(try reader.count()) { knownIDs.append(try reader.text()) }
        var attempt = PlaylistAttempt(title: title, knownIDs: knownIDs, entries: try reader.entries())
        if try reader.number() == 1 { attempt.base = try reader.entries() }
        // What earlier versions have written ends here.
        if reader.rest.isEmpty { return attempt }
        let remoteID = try reader.text()
        if !remoteID.isEmpty { attempt.remoteID = remoteID }
        if !reader.rest.isEmpty {
            let isPiecewise = try reader.number() == 1
            let present = try reader.entries()
            attempt.start = .init(present: present, theirs: try reader.entries(), isPiecewise: isPiecewise)
        }
        return attempt
    }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func number(_ number: UInt64) {
            var rest = number
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: rest))
        }

        mutating func text(_ text: String) {
            number(UInt64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }

        mutating func range(_ range: Range<Int>) {
            number(UInt64(clamping: range.lowerBound))
            number(UInt64(clamping: range.count))
        }

        mutating func entries(_ entries: [PlaylistEntry]) {
            number(UInt64(entries.count))
            bytes.reserveCapacity(bytes.count + entries.count * 26)
            for entry in entries {
                switch entry {
                case .song(let id):
                    number(EntryKind.song)
                    text(id)
                case .foreign(let song):
                    number(EntryKind.foreign)
                    text(song.serverID)
                    text(song.songID)
                case .stream(let stream):
                    number(EntryKind.stream)
                    text(stream.identity.songID)
                }
            }
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number() throws(Damage) -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while let byte = rest.popFirst(), shift < 63 {
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            throw Damage()
        }

        /// A number of things that need a byte each at least, or a position.
        mutating func count() throws(Damage) -> Int {
            guard let count = Int(exactly: try number()), count < 1 << 40 else { throw Damage() }
            return count
        }

        mutating func text() throws(Damage) -> String {
            let length = try count()
            guard length <= rest.count else { throw Damage() }
            defer { rest.removeFirst(length) }
            return String(decoding: rest.prefix(length), as: UTF8.self)
        }

        mutating func range() throws(Damage) -> Range<Int> {
            let start = try count()
            return start..<start + (try count())
        }

        mutating func entries() throws(Damage) -> [PlaylistEntry] {
            let count = try count()
            guard count <= rest.count else { throw Damage() }
            var entries: [PlaylistEntry] = []
            entries.reserveCapacity(count)
            for _ in 0..<count {
                switch try number() {
                case EntryKind.song: entries.append(.song(try text()))
                case EntryKind.foreign:
                    let server = try text()
                    entries.append(.foreign(SongIdentity(serverID: server, songID: try text())))
                case EntryKind.stream:
                    let identity = SongIdentity(serverID: StreamSong.serverID, songID: try text())
                    guard let stream = StreamSong(identity) else { throw Damage() }
                    entries.append(.stream(stream))
                default: throw Damage()
                }
            }
            return entries
        }
    }
}
