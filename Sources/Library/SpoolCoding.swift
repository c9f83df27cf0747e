import MPDProtocol

/// A mapped song on its way into a library: all of it but the URI, and what the URI is made of.
struct SpooledSong: Sendable, Hashable {
    /// The URI in it is empty.
    var record: SongRecord
    var path: String
    /// Number of the music folder it was found in.
    var folder: Int
}

/// Writes values one behind the other, in a form that only this program reads.
struct SpoolWriter {
    private(set) var bytes: [UInt8] = []

    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func optional<Value>(_ value: Value?, _ write: (inout SpoolWriter, Value) -> Void) {
        number(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }

    mutating func song(_ song: SpooledSong) {
        var body = SpoolWriter()
        body.text(song.record.songID)
        body.text(song.path)
        body.number(UInt64(max(0, song.folder)))
        // What users do to a song stands before what it is, so that a digest can leave it out.
        body.number(UInt64(song.record.userRating))
        body.number(song.record.isStarred ? 1 : 0)
        body.number(UInt64(song.record.playCount))
        body.facts(song.record)
        number(UInt64(body.bytes.count))
        bytes += body.bytes
    }

    private mutating func facts(_ record: SongRecord) {
        number(UInt64(record.tags.count))
        for tag in record.tags {
            number(UInt64(tag.tag.rawValue))
            text(tag.value)
        }
        optional(record.duration) { $0.number(UInt64($1)) }
        optional(record.lastModified) { $0.signed($1) }
        optional(record.added) { $0.signed($1) }
        optional(record.format) {
            $0.number(UInt64($1.sampleRate))
            $0.number(UInt64($1.sampleFormat.rawValue))
            $0.number(UInt64($1.channels))
        }
        optional(record.size) { $0.signed($1) }
        text(record.suffix)
        text(record.contentType)
        optional(record.bitRate) { $0.signed(Int64($1)) }
        optional(record.coverArt) { $0.text($1) }
        optional(record.albumID) { $0.text($1) }
        optional(record.artistID) { $0.text($1) }
        optional(record.replayGain) { writer, gain in
            for value in [
                gain.trackGain, gain.albumGain, gain.trackPeak, gain.albumPeak, gain.baseGain, gain.fallbackGain,
            ] {
                writer.optional(value) { $0.number(UInt64($1.bitPattern)) }
            }
        }
    }
}

/// Reads what `SpoolWriter` wrote; every method gives nil at the end and for bytes that it did not write.
struct SpoolReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The part of a song that its URI depends on, and the rest of it to be read when it is wanted.
    struct Song {
        let songID: String
        let path: String
        let folder: Int
        let userRating: UInt8
        let isStarred: Bool
        let playCount: UInt32
        /// The bytes that say what the song is.
        let facts: ArraySlice<UInt8>

        /// The whole song; the URI in it is empty. Nil for bytes that are none.
        func record() -> SongRecord? {
            var reader = SpoolReader(facts)
            var record = reader.facts(songID: songID)
            record?.userRating = userRating
            record?.isStarred = isStarred
            record?.playCount = playCount
            return record
        }
    }

    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.endIndex, shift < 64 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    mutating func signed() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func integer() -> Int? { number().flatMap { Int(exactly: $0) } }

    mutating func text() -> String? { slice().map { String(decoding: $0, as: UTF8.self) } }

    /// As many bytes as the number before them says.
    mutating func slice() -> ArraySlice<UInt8>? {
        guard let count = integer(), count <= bytes.endIndex - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func song() -> Song? {
        guard let bytes = slice() else { return nil }
        var reader = SpoolReader(bytes)
        guard let songID = reader.text(), let path = reader.text(), let folder = reader.integer(),
            let userRating = reader.number(), let isStarred = reader.number(), let playCount = reader.number()
        else { return nil }
        return Song(
            songID: songID,
            path: path,
            folder: folder,
            userRating: UInt8(clamping: userRating),
            isStarred: isStarred != 0,
            playCount: UInt32(clamping: playCount),
            facts: bytes[reader.position...]
        )
    }

    /// `.some(nil)` for a value that is absent.
    private mutating func optional<Value>(_ read: (inout SpoolReader) -> Value?) -> Value?? {
        guard let flag = number() else { return nil }
        if flag == 0 { return .some(nil) }
        return read(&self).map { .some($0) }
    }

    private mutating func facts(songID: String) -> SongRecord? {
        var record = SongRecord(songID: songID, uri: "")
        guard let count = integer() else { return nil }
        record.tags.reserveCapacity(min(count, 64))
        for _ in 0..<count {
            guard let tag = number().flatMap({ UInt8(exactly: $0) }).flatMap(Tag.init(rawValue:)), let value = text()
            else {
                return nil
            }
            record.tags.append(TagValue(tag, value))
        }
        guard let duration = optional({ $0.number().flatMap { UInt32(exactly: $0) } }),
            let lastModified = optional({ $0.signed() }), let added = optional({ $0.signed() }),
            let format = optional({ $0.format() }), let size = optional({ $0.signed() }), let suffix = text(),
            let contentType = text(), let bitRate = optional({ $0.signed().flatMap { Int(exactly: $0) } }),
            let coverArt = optional({ $0.text() }), let albumID = optional({ $0.text() }),
            let artistID = optional({ $0.text() }), let replayGain = optional({ $0.replayGain() })
        else { return nil }
        record.duration = duration
        record.lastModified = lastModified
        record.added = added
        record.format = format
        record.size = size
        record.suffix = suffix
        record.contentType = contentType
        record.bitRate = bitRate
        record.coverArt = coverArt
        record.albumID = albumID
        record.artistID = artistID
        record.replayGain = replayGain
        return record
    }

    private mutating func format() -> AudioFormat? {
        guard let rate = number().flatMap({ UInt32(exactly: $0) }),
            let sampleFormat = number().flatMap({ UInt8(exactly: $0) }).flatMap(SampleFormat.init(rawValue:)),
            let channels = number().flatMap({ UInt8(exactly: $0) })
        else { return nil }
        return AudioFormat(sampleRate: rate, sampleFormat: sampleFormat, channels: channels)
    }

    private mutating func replayGain() -> ReplayGain? {
        var values: [Float?] = []
        for _ in 0..<6 {
            guard let value = optional({ $0.number().flatMap { UInt32(exactly: $0) } }) else { return nil }
            values.append(value.map { Float(bitPattern: $0) })
        }
        return ReplayGain(
            trackGain: values[0],
            albumGain: values[1],
            trackPeak: values[2],
            albumPeak: values[3],
            baseGain: values[4],
            fallbackGain: values[5]
        )
    }
}
