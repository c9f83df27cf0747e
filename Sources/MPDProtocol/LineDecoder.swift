/// Cuts what a client sends into request lines, however the bytes arrive.
///
/// Source: MPD 0.24 `src/client/Read.cxx`, `src/client/Process.cxx`.
public struct LineDecoder: Sendable {
    /// What `next()` found.
    public enum Event: Sendable, Hashable {
        /// A line without its end: trailing bytes up to 0x20 are gone, a NUL byte has ended it.
        case line([UInt8])
        /// No complete line is left.
        case needsInput
        /// The client does not speak the protocol (or sends endless lines); drop it without a reply.
        case close
    }

    /// Bytes of a line, not counting the newline; MPD's input buffer has one more.
    public static let maximumLineLength = 8191

    private var buffer: [UInt8] = []
    /// Where the first line that was not handed out yet begins.
    private var start = 0
    /// Up to here no newline was found.
    private var searched = 0
    private var isClosed = false

    /// A decoder that has not read anything.
    public init() {}

    /// How many bytes wait for their line end or for `next()`.
    public var pendingCount: Int { buffer.count - start }

    /// Takes what was read from the connection.
    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        if isClosed { return }
        dropTakenLines()
        buffer.append(contentsOf: bytes)
    }

    /// Takes what was read from the connection.
    public mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    /// Takes what was read from the connection, from any other place.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        if isClosed { return }
        dropTakenLines()
        buffer.append(contentsOf: bytes)
    }

    /// Forgets the lines that were handed out; what is left is less than one line, as a rule.
    private mutating func dropTakenLines() {
        if start == 0 { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
        } else {
            buffer.removeSubrange(..<start)
        }
        searched -= start
        start = 0
    }

    /// The next line, once. After `.close` there is only `.close`.
    public mutating func next() -> Event {
        if isClosed { return .close }
        if start < buffer.count, !buffer[start].isLowercaseLetter {
            // No request starts like this. MPD means to cut off HTTP requests that a browser was tricked into.
            return close()
        }
        let limit = min(buffer.count, start + Self.maximumLineLength + 1)
        while searched < limit, buffer[searched] != UInt8(ascii: "\n") { searched += 1 }
        guard searched < limit else {
            return limit - start > Self.maximumLineLength ? close() : .needsInput
        }
        var end = searched
        while end > start, buffer[end - 1].isWhitespace { end -= 1 }
        if let null = buffer[start..<end].firstIndex(of: 0) { end = null }
        let line = Array(buffer[start..<end])
        start = searched + 1
        searched = start
        return .line(line)
    }

    private mutating func close() -> Event {
        isClosed = true
        buffer = []
        start = 0
        searched = 0
        return .close
    }
}
