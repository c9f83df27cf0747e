/// A dictionary in many small pieces: while a reader elsewhere holds the whole as it was, a change copies one piece only.
struct ShardedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private static var pieces: Int { 512 }

    private var shards: [[Key: Value]]
    private(set) var count = 0

    init() { shards = Array(repeating: [:], count: Self.pieces) }

    private static func shard(of key: Key) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(pieces)) }

    /// The value of a key; setting nil takes it out.
    subscript(key: Key) -> Value? {
        get { shards[Self.shard(of: key)][key] }
        set {
            let shard = Self.shard(of: key)
            let former = shards[shard].count
            shards[shard][key] = newValue
            count += shards[shard].count - former
        }
    }

    /// Goes through all, in no order.
    func forEach(_ body: (Key, Value) -> Void) {
        for shard in shards {
            for (key, value) in shard { body(key, value) }
        }
    }
}
