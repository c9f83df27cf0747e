import Glibc
import SubsonicKit
import Testing

/// Answers of real servers and of the API's documents, from the folder that SHELV_SHARED_FIXTURES names.
struct FixtureTests {
    static let folder: String? = unsafe getenv("SHELV_SHARED_FIXTURES").map { unsafe String(cString: $0) }

    /// Fields of songs that nothing here reads: MPD has no place for them, or another field says the same.
    static let ignored: Set<String> = [
        "averageRating", "bookmarkPosition", "explicitStatus", "isrc", "mediaType", "originalHeight", "originalWidth",
        "transcodedContentType", "transcodedSuffix", "type", "genreId", "username", "minutesAgo", "playerId",
        "playerName",
        "channelId", "streamId", "publishDate", "description", "status", "state", "positionMs", "playbackRate",
        "albumDate",
        "version", "releaseTypes", "recordLabels", "originalReleaseDate", "releaseDate", "isCompilation", "discTitles",
        "songCount", "roles", "albumCount", "artistImageUrl",
    ]

    @Test(.enabled(if: folder != nil, "SHELV_SHARED_FIXTURES names no folder"))
    func everyFileReads() throws {
        let files = Self.files(below: try #require(Self.folder)).filter { $0.hasSuffix(".json") }
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Self.read(file)
            if file.contains("invalid-json") {
                // Some only have a bracket too many behind the document, which is cut off.
                #expect((try? JSON.parse(bytes))?.wasRepaired != false, "\(file)")
                continue
            }
            let json = try JSON.parse(bytes)
            #expect(!json.wasRepaired, "\(file)")
            visit(json, file: file)
            if let envelope = try? Envelope(bytes) { visit(envelope.content, file: file) }
        }
    }

    /// Reads every object as everything it could be, and checks the names of those that are songs.
    private func visit(_ json: JSON, file: String) {
        if json.kind == .object {
            _ = (Album(json), Artist(json), Playlist(json), MusicFolder(json), ScanStatus(json), User(json))
            _ = (ServerExtension(json), Indexes(json), Directory(json), SearchResult(json), ItemDate(json))
            for (name, value) in json.members {
                if ["song", "entry", "child"].contains(name) {
                    for element in value.elements where Song(element) != nil {
                        for (field, _) in element.members where !Self.ignored.contains(field) {
                            #expect(JSONField(rawValue: field) != nil, "\(field) of a song in \(file)")
                        }
                    }
                }
                visit(value, file: file)
            }
        } else if json.kind == .array {
            for value in json.elements { visit(value, file: file) }
        }
    }

    private static func files(below folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var found: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name.hasPrefix(".") { continue }
            let path = "\(folder)/\(name)"
            found += name.contains(".") ? [path] : files(below: path)
        }
        return found.sorted()
    }

    private static func read(_ file: String) -> [UInt8] {
        let descriptor = unsafe open(file, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
