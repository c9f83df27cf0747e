/// A piece of sound: channel after channel, each with `frames` samples.
struct SampleBlock: Sendable {
    /// Number of the load that it belongs to.
    var load: UInt32
    var rate: Int
    var channels: Int
    var frames: Int
    var samples: [Float]

    /// How long it lasts.
    var length: Duration { .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(max(1, rate))) }

    /// The frames from `range`, as a block of its own.
    func part(_ range: Range<Int>) -> SampleBlock {
        var part = SampleBlock(load: load, rate: rate, channels: channels, frames: range.count, samples: [])
        part.samples.reserveCapacity(range.count * channels)
        for channel in 0..<channels {
            part.samples += samples[(channel * frames + range.lowerBound)..<(channel * frames + range.upperBound)]
        }
        return part
    }
}

/// Blocks of samples in the order of their arrival.
struct SampleQueue: Sendable {
    private var blocks: [SampleBlock] = []
    /// Blocks before this index are gone already.
    private var start = 0
    /// How long the samples last, at their rates.
    private(set) var length = Duration.zero

    var isEmpty: Bool { start == blocks.count }

    /// The block that comes next.
    var first: SampleBlock? { start < blocks.count ? blocks[start] : nil }

    /// How many frames of a load there are, and their rate; nil for none.
    func frames(of load: UInt32) -> (count: Int, rate: Int)? {
        let mine = blocks[start...].filter { $0.load == load }
        return mine.first.map { first in (mine.reduce(0) { $0 + $1.frames }, first.rate) }
    }

    mutating func append(_ block: SampleBlock) {
        guard block.frames > 0, block.rate > 0 else { return }
        blocks.append(block)
        length += block.length
    }

    /// Takes the first block, or its first `limit` frames.
    mutating func next(limit: Int) -> SampleBlock? {
        guard start < blocks.count else { return nil }
        let block = blocks[start]
        guard block.frames > limit, limit > 0 else {
            start += 1
            // Moving the rest down now and then keeps both the array and the work small.
            if start == blocks.count || start > 64 {
                blocks.removeFirst(start)
                start = 0
            }
            length -= block.length
            return block
        }
        let head = block.part(0..<limit)
        blocks[start] = block.part(limit..<block.frames)
        length -= head.length
        return head
    }

    /// Drops all blocks.
    mutating func removeAll() {
        blocks = []
        start = 0
        length = .zero
    }
}
