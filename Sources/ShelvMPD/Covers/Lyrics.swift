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
    /// `NAME=value` and a line end for each comment.
    static func bytes(of lyrics: [Lyrics]) -> [UInt8] {
        let synced = lyrics.first(where: \.isSynced)
        let plain = lyrics.first { !$0.isSynced } ?? synced
        var bytes: [UInt8] = []
        for line in plain?.lines ?? [] { append("LYRICS", line.text, to: &bytes) }
        for line in synced?.lines ?? [] {
            append("SYNCEDLYRICS", "[\(time(line.start ?? 0))]\(line.text)", to: &bytes)
        }
        return bytes
    }

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

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += name.utf8
        bytes.append(UInt8(ascii: "="))
        bytes += value.utf8.map { $0 < 0x20 ? 0x20 : $0 }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// `mm:ss.xx`
    private static func time(_ milliseconds: Int64) -> String {
        let hundredths = max(0, milliseconds) / 10
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(hundredths / 6000)):\(two(hundredths / 100 % 60)).\(two(hundredths % 100))"
    }
}
