import SubsonicKit

/// Songs of one page, mapped and encoded, ready to be appended to a spool.
struct SpoolBlock: Sendable {
    /// Which page this is; what a resumed sync need not ask for again.
    var key: String
    private(set) var entries: [Entry] = []
    private var writer = SpoolWriter()

    var bytes: [UInt8] { writer.bytes }

    struct Entry: Sendable {
        var songHash: UInt64
        var albumID: String?
        var end: Int
    }

    init(key: String, songs: [SpooledSong] = []) {
        self.key = key
        entries.reserveCapacity(songs.count)
        for song in songs { append(song) }
    }

    /// Puts one song behind the others.
    mutating func append(_ song: SpooledSong) {
        writer.song(song)
        entries.append(
            Entry(
                songHash: URIAssigner.hash(song.record.songID),
                albumID: song.record.albumID,
                end: writer.bytes.count
            )
        )
    }
}

/// The songs of a sync under way, each once, in a file: a million of them would not fit beside the library they replace,
/// and after a kill the next start goes on with them.
///
/// The file is a chain of frames (length, checksum, key, songs); what a crash leaves of the last one is cut off.
struct SongSpool: Sendable {
    private let file: SpoolFile
    private var length: Int64 = 0

    /// The songs that were in a spool at one moment; others may be appended meanwhile.
    struct View: Sendable {
        fileprivate let file: SpoolFile
        fileprivate let length: Int64

        /// What the songs make together, made anew.
        func draft() throws(LibraryError) -> LibraryDraft {
            var draft = LibraryDraft()
            try forEach { (song) throws(LibraryError) in draft.add(song) }
            return draft
        }

        /// Hands out every song, in the order of arrival.
        func forEach(_ body: (SpoolReader.Song) throws(LibraryError) -> Void) throws(LibraryError) {
            var offset: Int64 = 0
            while offset < length, let payload = try SongSpool.frame(at: offset, of: file, isTrusted: true) {
                try payload.withView { (bytes) throws(LibraryError) in
                    var reader = SpoolReader(bytes)
                    _ = reader.slice()
                    while let song = reader.song() { try body(song) }
                }
                offset += Int64(SongSpool.frameHeader + payload.count)
            }
        }
    }
    /// Hashes of the ids of songs that are in.
    private var known = HashKeyed(vacant: ())
    private(set) var songCount = 0
    /// The pages that are in, in order.
    private(set) var keys: [String] = []
    /// How many songs of each album are in.
    private(set) var albumCounts: [String: Int] = [:]
    /// What the songs make together.
    private(set) var draft = LibraryDraft()
    /// How often a song came that was in already.
    private(set) var duplicates = 0

    private static let frameHeader = 12
    private static let magic: UInt32 = 0x5353_4833

    /// Opens a spool; takes up what is in the file if it was made for the same `purpose`, else begins anew.
    init(path: String, purpose: String) throws(LibraryError) {
        file = try SpoolFile(path: path)
        if try firstKey() == purpose {
            try takeUp()
        } else {
            try file.truncate(to: 0)
            try append(SpoolBlock(key: purpose))
        }
    }

    /// Appends the songs of a page that are not in yet.
    ///
    /// - Returns: How many were new.
    @discardableResult
    mutating func append(_ block: SpoolBlock) throws(LibraryError) -> Int {
        var writer = SpoolWriter()
        writer.text(block.key)
        var frame = [UInt8](repeating: 0, count: Self.frameHeader)
        frame.reserveCapacity(Self.frameHeader + writer.bytes.count + block.bytes.count)
        frame += writer.bytes
        // Where the songs begin that are to be copied next, mostly all of them at once.
        var copied = 0
        var start = 0
        var added = 0
        var album: (id: String, songs: Int)?
        for entry in block.entries {
            if known.insert(entry.songHash, ()) {
                added += 1
                block.bytes.withView { bytes in
                    var reader = SpoolReader(bytes.slice(start, entry.end))
                    if let song = reader.song() { draft.add(song) }
                }
                if let id = entry.albumID {
                    if album?.id != id {
                        if let album { albumCounts[album.id, default: 0] += album.songs }
                        album = (id, 0)
                    }
                    album?.songs += 1
                }
            } else {
                duplicates += 1
                frame += block.bytes[copied..<start]
                copied = entry.end
            }
            start = entry.end
        }
        if let album { albumCounts[album.id, default: 0] += album.songs }
        frame += block.bytes[copied..<start]
        let payload = frame[Self.frameHeader...]
        let header = [Self.magic, UInt32(truncatingIfNeeded: payload.count), Self.checksum(payload)]
        for (place, word) in header.enumerated() {
            for index in 0..<4 { frame[4 * place + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
        }
        try file.write(frame, at: length)
        length += Int64(frame.count)
        songCount += added
        keys.append(block.key)
        return added
    }

    /// Gives the draft away, and forgets what is in; nothing may be appended afterwards.
    mutating func takeDraft() -> LibraryDraft {
        defer { draft = LibraryDraft() }
        known = HashKeyed(vacant: ())
        albumCounts = [:]
        return draft
    }

    /// What is in now.
    var view: View { View(file: file, length: length) }

    /// Deletes the file. Copies can still be read.
    func remove() { file.remove() }

    private func firstKey() throws(LibraryError) -> String? {
        guard let payload = try Self.frame(at: 0, of: file) else { return nil }
        return payload.withView { bytes in
            var reader = SpoolReader(bytes)
            return reader.text()
        }
    }

    private mutating func takeUp() throws(LibraryError) {
        let size = file.size
        while length < size, let payload = try Self.frame(at: length, of: file) {
            payload.withView { bytes in
                var reader = SpoolReader(bytes)
                keys.append(reader.text() ?? "")
                while let song = reader.song() {
                    _ = known.insert(URIAssigner.hash(song.idView), ())
                    draft.add(song)
                    if let album = song.readFacts({ _, _ in })?.albumID { albumCounts[album.string, default: 0] += 1 }
                    songCount += 1
                }
            }
            length += Int64(Self.frameHeader + payload.count)
        }
        try file.truncate(to: length)
    }

    /// The content of the frame at a position; nil where there is no whole and sound one.
    ///
    /// - Parameter isTrusted: This process has written or checked it.
    private static func frame(
        at offset: Int64,
        of file: SpoolFile,
        isTrusted: Bool = false
    ) throws(LibraryError) -> [UInt8]? {
        let header = try file.read(count: frameHeader, at: offset)
        guard header.count == frameHeader else { return nil }
        let words = stride(from: 0, to: frameHeader, by: 4).map { start in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(header[start + $1]) << UInt32(8 * $1) }
        }
        guard words[0] == magic, words[1] < 1 << 30 else { return nil }
        let payload = try file.read(count: Int(words[1]), at: offset + Int64(frameHeader))
        guard payload.count == Int(words[1]), isTrusted || checksum(payload[...]) == words[2] else { return nil }
        return payload
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = ImageChecksum()
        unsafe bytes.withUnsafeBytes { unsafe sum.update($0) }
        return UInt32(truncatingIfNeeded: sum.value)
    }
}

extension SongMapping {
    /// Maps and encodes the songs of a page, one after the other.
    func block(key: String, songs: some Sequence<Song>, folder: Int, facts: LibraryFacts) -> SpoolBlock {
        var block = SpoolBlock(key: key)
        for song in songs { block.append(spooled(song, folder: folder, facts: facts)) }
        return block
    }

    /// Maps one song.
    func spooled(_ song: Song, folder: Int, facts: LibraryFacts) -> SpooledSong {
        SpooledSong(
            record: record(song, facts: facts),
            path: SongPath.path(of: song, facts: facts),
            folder: folder
        )
    }
}
