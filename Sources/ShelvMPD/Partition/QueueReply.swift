import Library
import MPDProtocol
import QueueEngine

/// Entries of the queue, given out as the client reads them; the queue as it was when it was asked.
///
/// It holds a copy of the queue, which shares its memory: nothing is done for an entry before its turn, however long the
/// queue is. An edit meanwhile copies the list once.
struct QueueReply: ReplySource {
    /// What is written of an entry.
    enum Form: Sendable {
        /// The song's record with position, id and priority.
        case record
        /// The same, with the tier; `shelv_queue`.
        case recordWithSection
        /// Position and URI; `playlist`.
        case uri
        /// Position and id; `plchangesposid`.
        case position
    }

    /// Which entries are written, in this order; positions beyond the queue are left out.
    enum Scope: Sendable {
        case range(Range<Int>)
        /// Those that changed after a version.
        case changes(since: UInt32, in: PositionSpan)
        case positions([Int])
    }

    let queue: Queue
    let names: SongNames
    /// May be narrowed before the first piece is taken.
    var scope: Scope {
        didSet { next = 0 }
    }
    private let form: Form
    private let mask: TagMask
    /// In a list of positions the place in the list, else the position from which on to look.
    private var next = 0

    /// What the keys stand for.
    var library: LibrarySnapshot { names.library }

    init(_ partition: Partition, _ scope: Scope, mask: TagMask, form: Form = .record) {
        queue = partition.queue
        names = partition.songs.names
        self.scope = scope
        self.form = form
        self.mask = mask
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        while output.count < limit {
            guard let position = takeNext() else { return false }
            if let entry = queue.entry(at: position) { append(entry, at: position, to: &output) }
        }
        return true
    }

    private mutating func takeNext() -> Int? {
        switch scope {
        case .positions(let positions):
            guard next < positions.count else { return nil }
            next += 1
            return positions[next - 1]
        case .range(let range):
            let position = max(next, range.lowerBound)
            guard position < min(range.upperBound, queue.count) else { return nil }
            next = position + 1
            return position
        case .changes(let version, let span):
            let end = min(span.end ?? queue.count, queue.count)
            let start = max(next, span.start)
            guard let position = queue.nextChange(since: version, from: start), position < end else { return nil }
            next = position + 1
            return position
        }
    }

    private func append(_ entry: Entry, at position: Int, to output: inout [UInt8]) {
        switch form {
        case .record: appendRecord(entry, at: position, to: &output)
        case .recordWithSection:
            appendRecord(entry, at: position, to: &output)
            guard let section = queue.section(at: position) else { return }
            output.append(contentsOf: "Section: \(section.word)\nLoose: \(entry.isLoose ? 1 : 0)\n".utf8)
        case .uri:
            output.appendDecimal(position)
            output.append(contentsOf: ":file: ".utf8)
            output.append(contentsOf: names.uri(of: entry.key))
            output.append(UInt8(ascii: "\n"))
        case .position:
            output.append(contentsOf: "cpos: ".utf8)
            output.appendDecimal(position)
            output.append(contentsOf: "\nId: ".utf8)
            output.appendDecimal(entry.id.rawValue)
            output.append(UInt8(ascii: "\n"))
        }
    }

    private func appendRecord(_ entry: Entry, at position: Int, to output: inout [UInt8]) {
        let part = SongPart(start: entry.range.start, end: entry.range.end)
        switch names.song(entry.key) {
        case .library(let song): library.appendSong(song, mask: mask, part: part, to: &output)
        case .gone(let song): SongTable.append(song, mask: mask, to: &output)
        case .stream(let stream): stream.appendRecord(mask: mask, part: part, to: &output)
        case nil: return
        }
        output.append(contentsOf: "Pos: ".utf8)
        output.appendDecimal(position)
        output.append(contentsOf: "\nId: ".utf8)
        output.appendDecimal(entry.id.rawValue)
        if entry.priority > 0 {
            output.append(contentsOf: "\nPrio: ".utf8)
            output.appendDecimal(entry.priority)
        }
        output.append(UInt8(ascii: "\n"))
    }
}

extension Section {
    /// As `shelv_queue` writes it.
    var word: String {
        switch self {
        case .history: "history"
        case .current: "current"
        case .playNext: "play_next"
        case .albumQueue: "album_queue"
        case .userQueue: "user_queue"
        }
    }
}

extension SongTable {
    /// Put before the title of a song that the server does not have any more.
    static let removedMark = "[gone] "

    /// Appends the last record of a song that is not in the library, without the tags that the client hides. One that
    /// has been removed is marked in its title, which every client shows.
    static func append(_ song: GoneSong, mask: TagMask, to output: inout [UInt8]) {
        var needsMark = song.isRemoved && mask.contains(.title)
        for line in song.shownRecord.split(separator: UInt8(ascii: "\n")) {
            let tag = Tag(name: line.prefix { $0 != UInt8(ascii: ":") })
            if let tag, !mask.contains(tag) { continue }
            if needsMark, tag == .title {
                needsMark = false
                output.append(contentsOf: "Title: \(removedMark)".utf8)
                output.append(contentsOf: line.dropFirst("Title: ".utf8.count))
            } else {
                output.append(contentsOf: line)
            }
            output.append(UInt8(ascii: "\n"))
        }
        guard needsMark else { return }
        let name = song.shownURI.split(separator: UInt8(ascii: "/")).last ?? []
        output.append(contentsOf: "Title: \(removedMark)".utf8)
        output.append(contentsOf: name)
        output.append(UInt8(ascii: "\n"))
    }
}
