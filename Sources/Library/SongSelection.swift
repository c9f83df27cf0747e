/// Songs that a query found, in the order it wants them.
public struct SongSelection: Sendable, RandomAccessCollection {
    private enum Storage: Sendable {
        case range(Range<Int>)
        case list([UInt32])
    }

    private let storage: Storage

    /// Songs in an order of your own.
    public init(_ songs: [SongIndex]) { storage = .list(songs.map(\.rawValue)) }

    init(range: Range<Int>) { storage = .range(range) }

    init(list: [UInt32]) { storage = .list(list) }

    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch storage {
        case .range(let range): range.count
        case .list(let list): list.count
        }
    }

    public subscript(position: Int) -> SongIndex {
        switch storage {
        case .range(let range):
            precondition(position >= 0 && position < range.count)
            return SongIndex(range.lowerBound + position)
        case .list(let list): return SongIndex(rawValue: list[position])
        }
    }

    /// The part of it that a `window` asks for, clipped.
    public func window(_ window: Range<Int>) -> SongSelection {
        let clipped = window.clamped(to: 0..<count)
        switch storage {
        case .range(let range):
            let start = range.lowerBound + clipped.lowerBound
            return SongSelection(range: start..<(start + clipped.count))
        case .list(let list): return SongSelection(list: Array(list[clipped]))
        }
    }
}
