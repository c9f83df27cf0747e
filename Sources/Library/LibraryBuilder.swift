import MPDProtocol

/// Collects songs and makes a snapshot of them.
///
/// Songs may be added in any order; a song id that is added again replaces the earlier record. `build` may be called
/// several times while songs still arrive: each snapshot holds what has been added by then. A song takes some 200
/// bytes here, and about as much again while building.
public struct LibraryBuilder: Sendable {
    /// Rows are numbered by song id, in the order of arrival.
    var songIDs = TextTable()
    var uris = TextTable()
    /// The row that bears a URI, or `ImageLayout.none`.
    private var uriRows: [UInt32] = []
    /// Values of tags.
    var values = TextTable()
    /// What else is text: ids, suffixes, MIME types.
    var texts = TextTable()
    var rows: [SongRow] = []
    /// As `Section.tags`, but with the numbers of `values`.
    var tags: [UInt32] = []
    var kinds: [SongKind: UInt32] = [:]
    /// In order of their numbers.
    var kindList: [SongKind] = []
    /// What the last song was; mostly the next one is the same.
    private var lastKind: (kind: SongKind, number: UInt32)?
    /// The number of the last value of each tag; mostly the next song has the same.
    private var lastValues = [UInt32](repeating: ImageLayout.none, count: Tag.allCases.count)
    /// The same of the texts that a song has.
    private var lastTexts = [UInt32](repeating: ImageLayout.none, count: TextRole.allCases.count)
    var gains: [ReplayGain] = []
    private(set) var aliases: [(uri: String, songID: String)] = []
    private(set) var isTooLarge = false

    public init() {}

    /// The number of songs so far.
    public var songCount: Int { rows.count }

    /// Takes one song in.
    ///
    /// Control characters in tags become spaces, values are cut at 4,000 bytes, and empty ones are dropped.
    /// - Returns: False, and nothing is taken in, if the URI belongs to another song, or is none: empty, absolute,
    ///   over 4,000 bytes, with an empty, `.` or `..` segment, or with control characters.
    @discardableResult
    public mutating func add(_ record: SongRecord) -> Bool {
        var writer = SpoolWriter()
        writer.song(SpooledSong(record: record, path: "", folder: 0))
        return writer.bytes.withView { bytes in
            var reader = SpoolReader(bytes)
            guard let song = reader.song() else { return false }
            return record.uri.withView { add(song, uri: $0) }
        }
    }

    /// Takes one song of a spool in, without making texts of it. False as in `add(_:)`.
    mutating func add(_ song: SpoolReader.Song, uri text: ByteView) -> Bool {
        guard Self.isUsable(text) else { return false }
        guard let uri = uris.insert(text) else { return refuse() }
        if uri.isNew { uriRows.append(ImageLayout.none) }
        let owner = uriRows[Int(uri.id)]
        if owner != ImageLayout.none, !songIDs.withText(owner, { $0 == song.idView }) { return false }
        guard let songID = songIDs.insert(song.idView) else { return refuse() }
        if songID.isNew { rows.append(SongRow.vacant) }
        let former = rows[Int(songID.id)].uri
        if former != ImageLayout.none { uriRows[Int(former)] = ImageLayout.none }
        uriRows[Int(uri.id)] = songID.id
        guard let row = row(for: song, uri: uri.id) else { return refuse() }
        rows[Int(songID.id)] = row
        return true
    }

    /// Takes in all of a song but its URI, in a row of its own: one that has not come before.
    mutating func collect(_ song: SpoolReader.Song) {
        guard let songID = songIDs.insert(song.idView), songID.isNew,
            let row = row(for: song, uri: ImageLayout.none)
        else {
            isTooLarge = true
            return
        }
        rows.append(row)
    }

    /// Gives a row that was collected its URI. False as in `add(_:)`: then the song is left out.
    mutating func place(_ row: Int, at text: ByteView) -> Bool {
        guard rows.indices.contains(row), Self.isUsable(text) else { return false }
        guard let uri = uris.insert(text) else { return refuse() }
        if uri.isNew { uriRows.append(ImageLayout.none) }
        if uriRows[Int(uri.id)] != ImageLayout.none { return false }
        uriRows[Int(uri.id)] = UInt32(row)
        rows[row].uri = uri.id
        return true
    }

    /// Makes `uri`, which a song had before, lead to the song with this id, unless a song bears it now.
    public mutating func addAlias(uri: String, songID: String) {
        aliases.append((uri, songID))
    }

    /// Builds the image and maps it.
    ///
    /// With a file, the image is written beside it and renamed, so a reader or a crash sees the old or the new one.
    /// Takes about 10 µs a song: not for the core.
    public func build(info: LibraryInfo, file: String?) throws(LibraryError) -> LibrarySnapshot {
        if isTooLarge { throw .tooLarge }
        var assembly = ImageAssembly(self)
        return try LibrarySnapshot(image: assembly.write(info: info, file: file).open())
    }

    /// The same on two threads, without keeping the builder's content.
    @concurrent
    consuming func buildInParallel(info: LibraryInfo, file: String?) async throws -> LibrarySnapshot {
        if isTooLarge { throw LibraryError.tooLarge }
        var assembly = ImageAssembly(self)
        let writer = try await assembly.writeInParallel(info: info, file: file)
        _ = consume assembly
        return try LibrarySnapshot(image: writer.open())
    }

    // MARK: What is not needed any more once it stands elsewhere

    /// Tags and their values.
    mutating func dropTags() {
        values = TextTable()
        tags = []
    }

    /// What else is text, and replay gain.
    mutating func dropTexts() {
        texts = TextTable()
        gains = []
    }

    mutating func dropURIs() {
        uris = TextTable()
        uriRows = []
    }

    private mutating func refuse() -> Bool {
        isTooLarge = true
        return false
    }

    private mutating func row(for song: SpoolReader.Song, uri: UInt32) -> SongRow? {
        let start = tags.count
        var hasRoom = true
        let facts = song.readFacts { tag, text in
            guard let value = insert(text, of: tag) else { return hasRoom = false }
            if let value { tags.append(UInt32(tag.rawValue) << ImageLayout.valueBits | value) }
        }
        guard hasRoom, let facts, let end = UInt32(exactly: tags.count), let kind = kind(of: facts),
            let coverArt = number(of: facts.coverArt, .coverArt), let albumID = number(of: facts.albumID, .albumID),
            let artistID = number(of: facts.artistID, .artistID)
        else { return nil }
        return SongRow(
            uri: uri,
            tagStart: UInt32(start),
            tagEnd: end,
            duration: facts.duration.map { min($0, ImageLayout.none - 1) } ?? ImageLayout.none,
            lastModified: Self.seconds(facts.lastModified),
            added: Self.seconds(facts.added),
            size: facts.size.flatMap { UInt64(exactly: $0) } ?? ImageLayout.unknownSize,
            kind: kind,
            bitRate: facts.bitRate.map { UInt16(clamping: min(max($0, 0), 65534)) } ?? ImageLayout.unknownBitRate,
            marks: min(song.userRating, 5),
            playCount: song.playCount,
            played: Self.seconds(song.played),
            coverArt: coverArt,
            albumID: albumID,
            artistID: artistID,
            gain: gain(facts.replayGain)
        )
    }

    /// Some number of the value, none if it is empty, nil if there is no more room.
    private mutating func insert(_ view: ByteView, of tag: Tag) -> UInt32?? {
        if view.isEmpty { return .some(nil) }
        let place = Int(tag.rawValue)
        let last = lastValues[place]
        if last != ImageLayout.none, values.withText(last, { $0 == view }) { return .some(last) }
        let inserted: (id: UInt32, isNew: Bool)?
        if view.count > ImageLayout.longestText || Self.hasControls(view) {
            inserted = Self.cleaned(view).withView { values.insert($0) }
        } else {
            inserted = values.insert(view)
        }
        guard let id = inserted?.id, id <= ImageLayout.valueMask else { return nil }
        lastValues[place] = id
        return .some(id)
    }

    private enum TextRole: Int, CaseIterable { case suffix, contentType, coverArt, albumID, artistID }

    private mutating func number(of text: ByteView?, _ role: TextRole) -> UInt32? {
        guard let text else { return ImageLayout.none }
        let last = lastTexts[role.rawValue]
        if last != ImageLayout.none, texts.withText(last, { $0 == text }) { return last }
        guard let id = texts.insert(text)?.id else { return nil }
        lastTexts[role.rawValue] = id
        return id
    }

    private mutating func kind(of facts: SpoolReader.Facts) -> UInt32? {
        guard let suffix = number(of: facts.suffix, .suffix),
            let contentType = number(of: facts.contentType, .contentType)
        else { return nil }
        let kind = SongKind(format: facts.format, suffix: suffix, contentType: contentType)
        if let lastKind, lastKind.kind == kind { return lastKind.number }
        let number = kinds[kind] ?? UInt32(kindList.count)
        if number == kindList.count {
            kinds[kind] = number
            kindList.append(kind)
        }
        lastKind = (kind, number)
        return number
    }

    private mutating func gain(_ gain: ReplayGain?) -> UInt32 {
        guard let gain, gain != ReplayGain() else { return ImageLayout.none }
        gains.append(gain)
        return UInt32(gains.count - 1)
    }

    /// Seconds since 1970 in 32 bits, up to the year 2106; 0 is unknown.
    private static func seconds(_ time: Int64?) -> UInt32 {
        guard let time else { return 0 }
        return UInt32(clamping: max(time, 1))
    }

    private static func isUsable(_ uri: ByteView) -> Bool {
        guard !uri.isEmpty, uri.count <= ImageLayout.longestText, !hasControls(uri) else { return false }
        var start = 0
        while start <= uri.count {
            var end = start
            while end < uri.count, uri[end] != UInt8(ascii: "/") { end += 1 }
            let dots = (start..<end).allSatisfy { uri[$0] == UInt8(ascii: ".") }
            // No segment, one dot, or two.
            if dots, end - start <= 2 { return false }
            start = end + 1
        }
        return true
    }

    private static func hasControls(_ text: ByteView) -> Bool {
        for index in 0..<text.count where text[index] < 0x20 { return true }
        return false
    }

    private static func cleaned(_ text: ByteView) -> [UInt8] {
        var end = min(text.count, ImageLayout.longestText)
        if end < text.count {
            // Not through the middle of a character.
            while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        }
        return text.slice(0, end).array.map { $0 < 0x20 ? 0x20 : $0 }
    }
}

/// One song in the builder; numbers as the image has them.
struct SongRow: Sendable {
    var uri: UInt32
    var tagStart: UInt32
    var tagEnd: UInt32
    var duration: UInt32
    var lastModified: UInt32
    var added: UInt32
    var size: UInt64
    var kind: UInt32
    var bitRate: UInt16
    var marks: UInt8
    var playCount: UInt32
    var played: UInt32
    var coverArt: UInt32
    var albumID: UInt32
    var artistID: UInt32
    var gain: UInt32

    /// Stands where no song has been taken in.
    static let vacant = SongRow(
        uri: ImageLayout.none,
        tagStart: 0,
        tagEnd: 0,
        duration: 0,
        lastModified: 0,
        added: 0,
        size: 0,
        kind: 0,
        bitRate: 0,
        marks: 0,
        playCount: 0,
        played: 0,
        coverArt: 0,
        albumID: 0,
        artistID: 0,
        gain: 0
    )
}

/// What many songs have in common.
struct SongKind: Sendable, Hashable {
    var format: AudioFormat?
    var suffix: UInt32
    var contentType: UInt32
}
