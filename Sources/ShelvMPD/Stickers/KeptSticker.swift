import Library

/// The stickers that stand for what the server keeps of songs, albums and artists: Docs/stickers.md.
enum KeptSticker: String, CaseIterable, Sendable {
    /// When it was starred, in seconds since 1970; 1 if nobody knows.
    case starred
    /// 2 for what is starred, else what a client has said: 0 disliked, 1 neither.
    case like
    /// 1...10.
    case rating
    /// How often a song was played.
    case playCount
    /// When a song was played last, in seconds since 1970.
    case lastPlayed

    init?(_ name: [UInt8]) {
        guard let known = Self.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) else { return nil }
        self = known
    }

    var name: [UInt8] { Array(rawValue.utf8) }

    /// Whether it goes by the star, so that it is not there without favourites.
    var isStar: Bool { self == .starred || self == .like }

    /// Whether the server counts it, and nobody can tell it what it should count.
    var isCounted: Bool { self == .playCount || self == .lastPlayed }

    /// What the server has counted of a song; 0 for nothing.
    func count(_ song: SongIndex, in library: LibrarySnapshot) -> UInt32 {
        switch self {
        case .playCount: library.playCount(song)
        case .lastPlayed: UInt32(clamping: library.played(song) ?? 0)
        case .starred, .like, .rating: 0
        }
    }
}

extension Mark {
    /// What a sticker says of it; nil if there is no such sticker, or if it is another's to say.
    func value(of sticker: KeptSticker) -> Int64? {
        switch sticker {
        case .starred: starred.map { $0 > 0 ? $0 : 1 }
        case .like: starred != nil ? 2 : like.map { Int64($0) }
        case .rating: rating.flatMap { $0.value > 0 ? Int64($0.value) : nil }
        case .playCount, .lastPlayed: nil
        }
    }
}

/// Numbers in the values of stickers.
enum StickerNumber {
    /// As SQLite reads a number from a text: blanks, a sign, digits; whatever follows is passed over, and without digits it
    /// is 0. Too large ones stop at the limits.
    static func integer(_ text: [UInt8]) -> Int64 {
        var rest = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var value: Int64 = 0
        for byte in rest {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflows || overflowsToo { return isNegative ? .min : .max }
            value = sum
        }
        return value
    }

    static func text(_ number: Int64) -> [UInt8] { Array(String(number).utf8) }

    /// A whole number and nothing else, within a range.
    static func exactly(_ text: [UInt8], in range: ClosedRange<Int64>) -> Int64? {
        guard !text.isEmpty, text.count < 20, let number = Int64(String(decoding: text, as: UTF8.self)),
            range.contains(number)
        else { return nil }
        return number
    }
}
