/// A part of a song, in milliseconds.
public struct SongPart: Sendable, Hashable {
    public var start: UInt32
    /// 0 for the end of the song.
    public var end: UInt32

    public init(start: UInt32, end: UInt32) {
        self.start = start
        self.end = end
    }

    /// All of it.
    public static let whole = SongPart(start: 0, end: 0)

    /// The length of the part, in milliseconds; nil where it is not known.
    /// - Parameter whole: the length of the song, nil where it is not known.
    func duration(ofWhole whole: UInt32?) -> UInt32? {
        guard let end = end > 0 ? end : whole else { return nil }
        return end < start ? 0 : end - start
    }
}
