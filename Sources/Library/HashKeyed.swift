/// Values under numbers that are hashes already, so that they need no hashing again. No number is ever taken out.
struct HashKeyed<Value: Sendable>: Sendable {
    /// Open addressing; 0 is a free place.
    private var keys = [UInt64](repeating: 0, count: 16)
    private var values: [Value]
    private let vacant: Value
    private(set) var count = 0

    /// - Parameter vacant: Stands where nothing is; never seen.
    init(vacant: Value) {
        self.vacant = vacant
        values = Array(repeating: vacant, count: 16)
    }

    /// The value under a key; setting nil changes nothing.
    subscript(key: UInt64) -> Value? {
        get {
            let (slot, isFilled) = slot(key)
            return isFilled ? values[slot] : nil
        }
        set {
            guard let newValue else { return }
            let (slot, isFilled) = slot(key)
            values[slot] = newValue
            if !isFilled { fill(slot, key) }
        }
    }

    /// Puts a value in unless there is one. False if there is.
    mutating func insert(_ key: UInt64, _ value: Value) -> Bool {
        let (slot, isFilled) = slot(key)
        if isFilled { return false }
        values[slot] = value
        fill(slot, key)
        return true
    }

    private mutating func fill(_ slot: Int, _ key: UInt64) {
        keys[slot] = Self.stored(key)
        count += 1
        if count * 3 > keys.count * 2 { grow() }
    }

    private func slot(_ key: UInt64) -> (Int, isFilled: Bool) {
        let key = Self.stored(key)
        let mask = keys.count - 1
        // The lowest bits of FNV-1a are as good as its others, once they are mixed.
        var slot = Int(truncatingIfNeeded: key ^ key >> 32) & mask
        while keys[slot] != 0 {
            if keys[slot] == key { return (slot, true) }
            slot = (slot + 1) & mask
        }
        return (slot, false)
    }

    private mutating func grow() {
        let (formerKeys, formerValues) = (keys, values)
        keys = Array(repeating: 0, count: formerKeys.count * 2)
        values = Array(repeating: vacant, count: formerKeys.count * 2)
        for (index, key) in formerKeys.enumerated() where key != 0 {
            let slot = slot(key).0
            keys[slot] = key
            values[slot] = formerValues[index]
        }
    }

    private static func stored(_ key: UInt64) -> UInt64 { key == 0 ? 1 : key }
}
