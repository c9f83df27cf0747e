/// The calls for lyrics.
extension SubsonicCalling {
    /// All lyrics that the server has for a song; for servers with the extension `songLyrics`.
    public func lyrics(songID: String) async throws(SubsonicError) -> [Lyrics] {
        let content = try await call("getLyricsBySongId", [("id", songID)]).content
        return content[.lyricsList]?[.structuredLyrics]?.list(Lyrics.init) ?? []
    }

    /// The lyrics that the server, or whom it asks, has for a song of this name; nil if there are none.
    public func lyrics(artist: String, title: String) async throws(SubsonicError) -> Lyrics? {
        let content = try await call("getLyrics", [("artist", artist), ("title", title)]).content
        return (content[.lyrics]?[.value]?.filledText).map(Lyrics.init(text:))
    }
}

/// The words of a song.
public struct Lyrics: Sendable, Hashable {
    public struct Line: Sendable, Hashable {
        /// Milliseconds from the song's beginning; nil where that is not known.
        public var start: Int64?
        public var text: String

        public init(start: Int64? = nil, text: String) {
            self.start = start
            self.text = text
        }
    }

    public var lines: [Line]

    /// Whether each line says when it is sung.
    public var isSynced: Bool { !lines.isEmpty && lines.allSatisfy { $0.start != nil } }

    public init(lines: [Line]) { self.lines = lines }

    /// Reads one of the lyrics of a song; nil without lines, and for a translation or a pronunciation.
    public init?(_ json: JSON) {
        if let kind = json[.kind]?.filledText, kind != "main" { return nil }
        let isSynced = json[.synced]?.boolean ?? false
        // What is positive lets the lines come earlier.
        let offset = json[.offset]?.integer(in: -3_600_000...3_600_000) ?? 0
        lines =
            json[.line]?.list { line in
                let text = line.kind == .object ? line[.value]?.text ?? "" : line.text ?? ""
                let start = isSynced ? line[.start]?.integer.map { max(0, min($0, 86_400_000) - Int64(offset)) } : nil
                return Line(start: start, text: text)
            } ?? []
        if lines.isEmpty { return nil }
    }

    /// Reads a text, which may be plain or in the form of LRC files.
    public init(text: String) {
        let rows = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        let timed = rows.flatMap(Self.timed)
        if timed.isEmpty {
            lines = rows.map { Line(text: String($0)) }
        } else {
            lines = timed.sorted { ($0.start ?? 0) < ($1.start ?? 0) }
        }
        while lines.last?.text.isEmpty == true { lines.removeLast() }
    }

    /// `[mm:ss.xx]text`; several times may stand before one text.
    private static func timed(_ row: Substring) -> [Line] {
        var rest = row
        var starts: [Int64] = []
        while rest.first == "[", let end = rest.firstIndex(of: "]"), let start = time(rest[..<end].dropFirst()) {
            starts.append(start)
            rest = rest[rest.index(after: end)...]
        }
        let text = String(rest)
        return starts.map { Line(start: $0, text: text) }
    }

    /// Milliseconds of `mm:ss`, `mm:ss.xx` or `mm:ss.xxx`.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let minutes = UInt16(parts[0]) else { return nil }
        let seconds = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count <= 2, let whole = UInt8(seconds[0]), whole < 60 else { return nil }
        var milliseconds: Int64 = 0
        if seconds.count == 2 {
            let digits = seconds[1].prefix(3)
            guard let number = UInt16(digits) else { return nil }
            milliseconds = Int64(number) * [1000, 100, 10, 1][digits.utf8.count]
        }
        return (Int64(minutes) * 60 + Int64(whole)) * 1000 + milliseconds
    }
}
