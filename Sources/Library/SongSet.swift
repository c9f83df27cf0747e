/// Songs without repetition, in database order: what a term of a filter selects.
enum SongSet {
    case range(Range<Int>)
    /// Ascending.
    case list([UInt32])
    case bits(SongBits)

    static let none = SongSet.list([])

    /// Fewer songs than this share of all are kept as a list.
    private static let sparse = 64

    var count: Int {
        switch self {
        case .range(let range): range.count
        case .list(let list): list.count
        case .bits(let bits): bits.count
        }
    }

    /// Calls `body` for each song.
    func forEach(_ body: (Int) -> Void) {
        switch self {
        case .range(let range): for song in range { body(song) }
        case .list(let list): for song in list { body(Int(song)) }
        case .bits(let bits): bits.forEach(body)
        }
    }

    var selection: SongSelection {
        switch self {
        case .range(let range): return SongSelection(range: range)
        case .list(let list): return SongSelection(list: list)
        case .bits(let bits):
            var list: [UInt32] = []
            list.reserveCapacity(bits.count)
            bits.forEach { list.append(UInt32(truncatingIfNeeded: $0)) }
            return SongSelection(list: list)
        }
    }

    /// The songs for which `isIncluded` holds.
    func filter(_ isIncluded: (Int) -> Bool) -> SongSet {
        var list: [UInt32] = []
        forEach { if isIncluded($0) { list.append(UInt32(truncatingIfNeeded: $0)) } }
        return .list(list)
    }

    /// The songs that are not in it, of `count` songs.
    func complement(count: Int) -> SongSet {
        if case .range(let range) = self {
            if range.isEmpty { return .range(0..<count) }
            if range.lowerBound == 0 { return .range(range.upperBound..<max(count, range.upperBound)) }
            if range.upperBound == count { return .range(0..<range.lowerBound) }
        }
        var bits = asBits(count: count)
        bits.invert()
        return .bits(bits)
    }

    func intersection(_ other: SongSet, count: Int) -> SongSet {
        switch (self, other) {
        case (.range(let a), .range(let b)):
            return .range(a.clamped(to: b))
        case (.range(let range), .list(let list)), (.list(let list), .range(let range)):
            return .list(list.filter { range.contains(Int($0)) })
        case (.list(let list), .bits(let bits)), (.bits(let bits), .list(let list)):
            return .list(list.filter { bits.contains(Int($0)) })
        case (.list(let a), .list(let b)) where min(a.count, b.count) < count / Self.sparse:
            let larger = (a.count > b.count ? a : b).asBits(count: count)
            return .list((a.count > b.count ? b : a).filter { larger.contains(Int($0)) })
        default:
            var bits = asBits(count: count)
            bits.formIntersection(other.asBits(count: count))
            return .bits(bits)
        }
    }

    private func asBits(count: Int) -> SongBits {
        switch self {
        case .bits(let bits): return bits
        case .list(let list): return list.asBits(count: count)
        case .range(let range):
            var bits = SongBits(count: count)
            for song in range { bits.insert(song) }
            return bits
        }
    }
}

extension [UInt32] {
    fileprivate func asBits(count: Int) -> SongBits {
        var bits = SongBits(count: count)
        for song in self { bits.insert(Int(song)) }
        return bits
    }
}

/// A bit for each song of a library.
struct SongBits {
    private var words: [UInt64]
    private let size: Int

    init(count: Int) {
        size = count
        words = Array(repeating: 0, count: (count + 63) / 64)
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// A song beyond the library is ignored.
    mutating func insert(_ song: Int) {
        if song < size { words[song >> 6] |= 1 << UInt64(song & 63) }
    }

    func contains(_ song: Int) -> Bool {
        song < size && words[song >> 6] & (1 << UInt64(song & 63)) != 0
    }

    mutating func invert() {
        for index in words.indices { words[index] = ~words[index] }
        if size % 64 != 0, let last = words.indices.last { words[last] &= (1 << UInt64(size % 64)) - 1 }
    }

    mutating func formIntersection(_ other: SongBits) {
        for index in words.indices { words[index] &= index < other.words.count ? other.words[index] : 0 }
    }

    func forEach(_ body: (Int) -> Void) {
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                body(index * 64 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
    }
}
