import QueueEngine

/// A set of keys: a bit for each that was given out, so that a long queue is looked through fast.
struct SongKeys: Sendable {
    private var words: [UInt64] = []

    private(set) var isEmpty = true

    /// Takes less than a nanosecond.
    func contains(_ key: SongKey) -> Bool {
        let place = Int(key.rawValue)
        return place / 64 < words.count && words[place / 64] & 1 << UInt64(place % 64) != 0
    }

    mutating func insert(_ key: SongKey) {
        let place = Int(key.rawValue)
        let missing = place / 64 + 1 - words.count
        if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
        words[place / 64] |= 1 << UInt64(place % 64)
        isEmpty = false
    }
}
