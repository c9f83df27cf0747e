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
        // The length comes first, and is known last.
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: SpoolReader.lengthBytes))
        text(song.record.songID)
        text(song.path)
        number(UInt64(max(0, song.folder)))
        // What users do to a song stands before what it is, so that a digest can leave it out.
        number(UInt64(song.record.userRating))
        number(UInt64(song.record.playCount))
        number(UInt64(max(0, song.record.played ?? 0)))
        facts(song.record)
        let count = UInt32(clamping: bytes.count - start - SpoolReader.lengthBytes)
        for index in 0..<SpoolReader.lengthBytes {
            bytes[start + index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index))
        }
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
    private let bytes: ByteView
    private var position = 0

    /// Bytes of the length before each song.
    static let lengthBytes = 4

    init(_ bytes: ByteView) { self.bytes = bytes }

    /// The part of a song that its URI depends on, and the rest of it to be read when it is wanted. Its views belong to
    /// the bytes it was read from.
    struct Song {
        let idView: ByteView
        let pathView: ByteView
        let folder: Int
        let userRating: UInt8
        let playCount: UInt32
        let played: Int64?
        /// The bytes that say what the song is.
        let facts: ByteView

        var songID: String { idView.string }
        var path: String { pathView.string }

        /// The whole song; the URI in it is empty. Nil for bytes that are none.
        func record() -> SongRecord? {
            var tags: [TagValue] = []
            guard let facts = readFacts({ tags.append(TagValue($0, $1.string)) }) else { return nil }
            return SongRecord(
                songID: songID,
                uri: "",
                tags: tags,
                duration: facts.duration,
                lastModified: facts.lastModified,
                added: facts.added,
                format: facts.format,
                size: facts.size,
                suffix: facts.suffix.string,
                contentType: facts.contentType.string,
                bitRate: facts.bitRate,
                coverArt: facts.coverArt?.string,
                albumID: facts.albumID?.string,
                artistID: facts.artistID?.string,
                replayGain: facts.replayGain,
                userRating: userRating,
                playCount: playCount,
                played: played
            )
        }

        /// What the song is, without its tags: those are given to `tag` one after the other. Nil for bytes that are none.
        func readFacts(_ tag: (Tag, ByteView) -> Void) -> Facts? {
            var reader = SpoolReader(facts)
            return reader.facts(tag)
        }
    }

    /// What a song is, but for its tags, as `SongRecord` has it.
    struct Facts {
        var duration: UInt32?
        var lastModified: Int64?
        var added: Int64?
        var format: AudioFormat?
        var size: Int64?
        var suffix: ByteView
        var contentType: ByteView
        var bitRate: Int?
        var coverArt: ByteView?
        var albumID: ByteView?
        var artistID: ByteView?
        var replayGain: ReplayGain?
    }

    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
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

    mutating func text() -> String? { slice().map(\.string) }

    /// As many bytes as the number before them says.
    mutating func slice() -> ByteView? {
        guard let count = integer() else { return nil }
        return slice(count)
    }

    private mutating func slice(_ count: Int) -> ByteView? {
        guard count >= 0, count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes.slice(position, position + count)
    }

    mutating func song() -> Song? {
        guard let length = slice(Self.lengthBytes) else { return nil }
        let count = (0..<Self.lengthBytes).reduce(0) { $0 | Int(length[$1]) << (8 * $1) }
        guard let bytes = slice(count) else { return nil }
        var reader = SpoolReader(bytes)
        guard let songID = reader.slice(), let path = reader.slice(), let folder = reader.integer(),
            let userRating = reader.number(), let playCount = reader.number(), let played = reader.number()
        else { return nil }
        return Song(
            idView: songID,
            pathView: path,
            folder: folder,
            userRating: UInt8(clamping: userRating),
            playCount: UInt32(clamping: playCount),
            played: played == 0 ? nil : Int64(clamping: played),
            facts: bytes.slice(reader.position, bytes.count)
        )
    }

    /// `.some(nil)` for a value that is absent.
    private mutating func optional<Value>(_ read: (inout SpoolReader) -> Value?) -> Value?? {
        guard let flag = number() else { return nil }
        if flag == 0 { return .some(nil) }
        return read(&self).map { .some($0) }
    }

    private mutating func facts(_ tag: (Tag, ByteView) -> Void) -> Facts? {
        guard let count = integer() else { return nil }
        for _ in 0..<count {
            guard let type = number().flatMap({ UInt8(exactly: $0) }).flatMap(Tag.init(rawValue:)),
                let value = slice()
            else { return nil }
            tag(type, value)
        }
        guard let duration = optional({ $0.number().flatMap { UInt32(exactly: $0) } }),
            let lastModified = optional({ $0.signed() }), let added = optional({ $0.signed() }),
            let format = optional({ $0.format() }), let size = optional({ $0.signed() }), let suffix = slice(),
            let contentType = slice(), let bitRate = optional({ $0.signed().flatMap { Int(exactly: $0) } }),
            let coverArt = optional({ $0.slice() }), let albumID = optional({ $0.slice() }),
            let artistID = optional({ $0.slice() }), let replayGain = optional({ $0.replayGain() })
        else { return nil }
        return Facts(
            duration: duration,
            lastModified: lastModified,
            added: added,
            format: format,
            size: size,
            suffix: suffix,
            contentType: contentType,
            bitRate: bitRate,
            coverArt: coverArt,
            albumID: albumID,
            artistID: artistID,
            replayGain: replayGain
        )
    }

    private mutating func format() -> AudioFormat? {
        guard let rate = number().flatMap({ UInt32(exactly: $0) }),
            let sampleFormat = number().flatMap({ UInt8(exactly: $0) }).flatMap(SampleFormat.init(rawValue:)),
            let channels = number().flatMap({ UInt8(exactly: $0) })
        else { return nil }
        return AudioFormat(sampleRate: rate, sampleFormat: sampleFormat, channels: channels)
    }

    private mutating func replayGain() -> ReplayGain? {
        guard let trackGain = optional({ $0.float() }), let albumGain = optional({ $0.float() }),
            let trackPeak = optional({ $0.float() }), let albumPeak = optional({ $0.float() }),
            let baseGain = optional({ $0.float() }), let fallbackGain = optional({ $0.float() })
        else { return nil }
        return ReplayGain(
            trackGain: trackGain,
            albumGain: albumGain,
            trackPeak: trackPeak,
            albumPeak: albumPeak,
            baseGain: baseGain,
            fallbackGain: fallbackGain
        )
    }

    private mutating func float() -> Float? {
        number().flatMap { UInt32(exactly: $0) }.map { Float(bitPattern: $0) }
    }
}
