internal import Glibc

/// Numbers that a seed decides (SplitMix64), so that a failure can be repeated.
public struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 below `sides`, which is 1 or more.
    public mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }

    /// One of these, which are not none.
    public mutating func pick<Element>(_ choices: [Element]) -> Element { choices[roll(choices.count)] }
}

extension SeededNumbers {
    /// What `SHELV_SEED` says, by which a run of a random test is repeated; nil where it says nothing.
    public static var wantedSeed: UInt64? {
        unsafe getenv("SHELV_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
    }

    /// The seed of a random test: what is wanted, else `usual`, else another one each time, to be named by what fails.
    public static func seed(usually usual: UInt64? = nil) -> UInt64 {
        wantedSeed ?? usual ?? UInt64.random(in: 0...(.max))
    }
}
