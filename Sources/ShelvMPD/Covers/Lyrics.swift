import SubsonicKit
import Synchronization

/// How one server is asked for lyrics; found out at the first time.
final class LyricsSource: Sendable {
    /// Whether it knows them by the song's id; nil before the first answer.
    private let knowsIDs = Mutex<Bool?>(nil)

    /// All lyrics of a song, none if there are none.
    func fetch(
        songID: String,
        artist: String,
        title: String,
        from server: some SubsonicCalling
    ) async throws(SubsonicError) -> [Lyrics] {
        if try await knowsIDs(server) { return try await server.lyrics(songID: songID) }
        if artist.isEmpty || title.isEmpty { return [] }
        return try await server.lyrics(artist: artist, title: title).map { [$0] } ?? []
    }

    private func knowsIDs(_ server: some SubsonicCalling) async throws(SubsonicError) -> Bool {
        if let known = knowsIDs.withLock({ $0 }) { return known }
        var answer = false
        do throws(SubsonicError) {
            answer = try await server.openSubsonicExtensions().contains { $0.name == "songLyrics" }
        } catch {
            // Servers without extensions do not know the question.
            switch error {
            case .server where !error.isAuthentication, .http(status: 404, _): break
            default: throw error
            }
        }
        knowsIDs.withLock { $0 = answer }
        return answer
    }
}

/// Lyrics as comments of a file: `LYRICS` for the words, `SYNCEDLYRICS` for LRC, a comment for each line, because a comment
/// of several lines has no place in a reply.
enum LyricsComments {
    /// Bytes of the words, and as many of LRC: a reply of these is made on the core. Whole books have less.
    static let largest = 128 << 10
    /// Bytes of a line; clients have room for little more.
    static let longestLine = 4000

    /// `NAME=value` and a line end for each comment. What is too long ends with `…`.
    static func bytes(of lyrics: [Lyrics]) -> [UInt8] {
        let synced = lyrics.first(where: \.isSynced)
        let plain = lyrics.first { !$0.isSynced } ?? synced
        var bytes: [UInt8] = []
        for line in plain?.lines ?? [] where append("LYRICS", line.text, to: &bytes, from: 0) == .cut { break }
        let start = bytes.count
        for line in synced?.lines ?? [] {
            let text = "[\(time(line.start ?? 0))]\(line.text)"
            if append("SYNCEDLYRICS", text, to: &bytes, from: start) == .cut { break }
        }
        return bytes
    }

    private enum Appending { case whole, cut }

    /// What `bytes` holds.
    static func pairs(_ bytes: [UInt8]) -> [(name: String, value: String)] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (
                String(decoding: line[..<equals], as: UTF8.self),
                String(decoding: line[line.index(after: equals)...], as: UTF8.self)
            )
        }
    }

    /// - Parameter start: Where the comments of this name begin.
    private static func append(
        _ name: String,
        _ value: String,
        to bytes: inout [UInt8],
        from start: Int
    ) -> Appending {
        let isFull = bytes.count - start >= largest
        bytes += name.utf8
        bytes.append(UInt8(ascii: "="))
        let text = value.utf8
        var end =
            text.index(text.startIndex, offsetBy: isFull ? 0 : longestLine, limitedBy: text.endIndex) ?? text.endIndex
        // At the border of a character.
        while end != text.startIndex, end != text.endIndex, text[end] & 0xC0 == 0x80 { end = text.index(before: end) }
        bytes += text[..<end].map { $0 < 0x20 ? 0x20 : $0 }
        if end != text.endIndex || isFull { bytes += "…".utf8 }
        bytes.append(UInt8(ascii: "\n"))
        return isFull ? .cut : .whole
    }

    /// `mm:ss.xx`
    private static func time(_ milliseconds: Int64) -> String {
        let hundredths = max(0, milliseconds) / 10
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(hundredths / 6000)):\(two(hundredths / 100 % 60)).\(two(hundredths % 100))"
    }
}
