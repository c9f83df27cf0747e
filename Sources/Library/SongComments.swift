import MPDProtocol

/// A comment as a file could hold it.
public struct SongComment: Sendable, Hashable {
    /// Letters, `_` and `-` only.
    public var name: String
    public var value: String
}

extension LibrarySnapshot {
    /// What the server tells of a song, under the names that Vorbis comments have for it.
    ///
    /// Source: the names that MusicBrainz Picard writes and MPD's `src/lib/xiph/XiphTags.cxx` reads.
    public func comments(_ song: SongIndex) -> [SongComment] {
        let tags = tags(song)
        // Of a file without tags servers tell its name as the title.
        if tags.count == 1, tags[0].tag == .title, uri(song).withView({ hasStem(tags[0].value, $0) }) { return [] }
        return tags.map { SongComment(name: $0.tag.commentName, value: $0.value) } + (replayGain(song)?.comments ?? [])
    }

    /// Whether this is the last segment of a path without its ending.
    private func hasStem(_ text: String, _ uri: ByteView) -> Bool {
        let start = uri.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let end = uri.lastIndex(of: UInt8(ascii: ".")) ?? uri.count
        return start <= end && text.withView { $0 == uri.slice(start, end) }
    }
}

extension Tag {
    /// The name of the Vorbis comment that holds this tag.
    fileprivate var commentName: String {
        switch self {
        case .track: "TRACKNUMBER"
        case .disc: "DISCNUMBER"
        case .movement: "MOVEMENTNAME"
        case .movementNumber: "MOVEMENT"
        default: String(decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
        }
    }
}

extension ReplayGain {
    fileprivate var comments: [SongComment] {
        var comments: [SongComment] = []
        func add(_ name: String, _ value: Float?, decimals: Int, unit: String = "") {
            guard let value else { return }
            comments.append(SongComment(name: name, value: Self.decimal(value, decimals) + unit))
        }
        add("REPLAYGAIN_TRACK_GAIN", trackGain, decimals: 2, unit: " dB")
        add("REPLAYGAIN_TRACK_PEAK", trackPeak, decimals: 6)
        add("REPLAYGAIN_ALBUM_GAIN", albumGain, decimals: 2, unit: " dB")
        add("REPLAYGAIN_ALBUM_PEAK", albumPeak, decimals: 6)
        return comments
    }

    /// A number with so many decimals; gains and peaks are small.
    private static func decimal(_ value: Float, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = (Double(value) * Double(scale)).rounded()
        guard let number = Int64(exactly: scaled) else { return "0" }
        let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let digits = String(rest)
        let zeros = String(repeating: "0", count: decimals - digits.count)
        return "\(number < 0 ? "-" : "")\(whole).\(zeros)\(digits)"
    }
}
