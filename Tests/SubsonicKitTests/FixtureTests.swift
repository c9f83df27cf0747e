import SubsonicKit
import Support
import Testing

/// Answers of real servers and of the API's documents: every file can be read. What becomes of the values is looked at
/// in `MappingFixtureTests`.
struct FixtureTests {
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

    @Test(.enabled(if: SharedFixtures.subsonic != nil, "there is no folder of answers; see SharedFixtures"))
    func everyFileReads() throws {
        let files = SharedFixtures.documents
        #expect(!files.isEmpty)
        for file in files {
            let bytes = SharedFixtures.read(file)
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
}
