import Library
import MPDProtocol
import QueueEngine

/// Records of queue entries, given out as the client reads them; the queue as it was when it was asked.
struct QueueReply: ReplySource {
    struct Row: Sendable {
        var position: UInt32
        var id: UInt32
        var key: SongKey
        /// In `library`, or nil for a song that is not there any more.
        var song: SongIndex?
        var priority: UInt8
        var range: PlaybackRange
        /// Where it stands, for `shelv_queue`.
        var section: (section: Section, isLoose: Bool)?
    }

    let library: LibrarySnapshot
    private let mask: TagMask
    /// What is to be shown, in this order.
    var rows: [Row]
    private var gone: [SongKey: SongTable.GoneSong] = [:]
    private(set) var streams: [SongKey: StreamSong] = [:]
    private var next = 0

    /// The entries at some positions, in this order; positions beyond the queue are left out.
    /// - Parameter showsSections: whether each is shown with its tier.
    init(
        _ partition: Partition,
        positions: some Collection<Int>,
        mask: TagMask,
        showsSections: Bool = false
    ) {
        library = partition.songs.library
        self.mask = mask
        rows = []
        rows.reserveCapacity(positions.count)
        for position in positions {
            guard let entry = partition.queue.entry(at: position) else { continue }
            var row = Row(
                position: UInt32(clamping: position),
                id: entry.id.rawValue,
                key: entry.key,
                priority: entry.priority,
                range: entry.range
            )
            if showsSections {
                row.section = partition.queue.section(at: position).map { ($0, entry.isLoose) }
            }
            switch partition.songs.song(entry.key) {
            case .library(let song): row.song = song
            case .gone(let song): gone[entry.key] = song
            case .stream(let stream): streams[entry.key] = stream
            case nil: continue
            }
            rows.append(row)
        }
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        while next < rows.count, output.count < limit {
            append(rows[next], to: &output)
            next += 1
        }
        return next < rows.count
    }

    private func append(_ row: Row, to output: inout [UInt8]) {
        let part = SongPart(start: row.range.start, end: row.range.end)
        if let song = row.song {
            library.appendSong(song, mask: mask, part: part, to: &output)
        } else if let song = gone[row.key] {
            SongTable.append(song, mask: mask, to: &output)
        } else if let stream = streams[row.key] {
            stream.appendRecord(mask: mask, part: part, to: &output)
        }
        output.append(contentsOf: "Pos: ".utf8)
        output.appendDecimal(row.position)
        output.append(contentsOf: "\nId: ".utf8)
        output.appendDecimal(row.id)
        if row.priority > 0 {
            output.append(contentsOf: "\nPrio: ".utf8)
            output.appendDecimal(row.priority)
        }
        output.append(UInt8(ascii: "\n"))
        guard let (section, isLoose) = row.section else { return }
        output.append(contentsOf: "Section: \(section.word)\nLoose: \(isLoose ? 1 : 0)\n".utf8)
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
