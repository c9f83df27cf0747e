/// The queue's source of chance: SplitMix64. The same seed and the same operations give the same queue.
public struct SeededRandom: RandomNumberGenerator, Sendable, Equatable {
    /// All there is to know about what comes next; a copy of it continues in the same way.
    public private(set) var state: UInt64

    /// Starts from a seed. Any number will do.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// So many different numbers of a range, in ascending order, each choice equally likely.
    mutating func distinct(_ amount: Int, in range: Range<Int>) -> [Int] {
        guard amount < range.count / 4 else {
            // Walk through the range and take each with the share of those still wanted among those still to come.
            var wanted = amount
            return range.filter { number in
                guard below(range.upperBound - number) < wanted else { return false }
                wanted -= 1
                return true
            }
        }
        var chosen: Set<Int> = []
        while chosen.count < amount {
            chosen.insert(range.lowerBound + below(range.count))
        }
        return chosen.sorted()
    }

    /// A uniformly random number from 0 up to, but not including, `bound`; 0 when `bound` is not positive.
    mutating func below(_ bound: Int) -> Int {
        bound > 1 ? Int.random(in: 0..<bound, using: &self) : 0
    }
}
