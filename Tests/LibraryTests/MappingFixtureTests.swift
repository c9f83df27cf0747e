import MPDProtocol
import SubsonicKit
import Support
import Testing

@testable import Library

/// Answers of real servers and of the API's documents: whatever a song or an album says, and MPD has a place for, arrives
/// there.
struct MappingFixtureTests {
    /// Fields of songs that are ignored on purpose, each with the reason.
    static let ignoredOfSongs: [String: String] = [
        "id": "the identity, not a tag", "parent": "a folder's id", "isDir": "what it is", "path": "becomes the URI",
        "mediaType": "what it is", "type": "what it is", "isVideo": "what it is",
        "artistId": "looks up the artist", "albumId": "looks up the album", "genreId": "genres have their names",
        "created": "Added and Last-Modified, looked at by themselves", "played": "a mark",
        "averageRating": "what others think", "bookmarkPosition": "bookmarks are not MPD's",
        "explicitStatus": "no place in MPD", "isrc": "no place in MPD", "bpm": "no place in MPD",
        "transcodedContentType": "the original is played", "transcodedSuffix": "the original is played",
        "bitRate": "a fact, not a tag", "size": "a fact, not a tag", "suffix": "a fact, not a tag",
        "contentType": "a fact, not a tag", "coverArt": "a fact, not a tag", "duration": "a fact, not a tag",
        "samplingRate": "Format", "bitDepth": "Format", "channelCount": "Format", "replayGain": "the player's",
        "starred": "a mark", "userRating": "a mark", "playCount": "a mark",
        "originalWidth": "videos", "originalHeight": "videos",
        "username": "who plays it now", "minutesAgo": "who plays it now", "playerId": "who plays it now",
        "playerName": "who plays it now", "state": "who plays it now", "positionMs": "who plays it now",
        "playbackRate": "who plays it now",
        "channelId": "podcasts", "streamId": "podcasts", "publishDate": "podcasts", "description": "podcasts",
        "status": "podcasts", "albumDate": "of no server's documents", "name": "title of folders",
        // Those of albums that stand where songs do.
        "version": "albums", "releaseTypes": "no place in MPD", "isCompilation": "no place in MPD",
        "songCount": "albums", "recordLabels": "albums", "originalReleaseDate": "albums", "releaseDate": "albums",
        "discTitles": "albums", "roles": "artists", "albumCount": "artists", "artistImageUrl": "artists",
    ]

    /// The same of albums.
    static let ignoredOfAlbums: [String: String] = [
        "id": "looked up by songs", "name": "songs say it", "album": "songs say it", "title": "songs say it",
        "artistId": "looked up by songs", "parent": "a folder's id", "isDir": "what it is", "genre": "songs say it",
        "genres": "songs say it", "year": "songs say it", "moods": "songs say it", "coverArt": "songs say it",
        "songCount": "a fact", "duration": "a fact", "created": "a fact", "playCount": "a mark", "starred": "a mark",
        "userRating": "a mark", "played": "a mark", "averageRating": "what others think",
        "releaseTypes": "no place in MPD", "isCompilation": "no place in MPD", "explicitStatus": "no place in MPD",
        "version": "no place in MPD", "mediaType": "what it is", "song": "the songs", "isVideo": "what it is",
        "bpm": "no place in MPD", "comment": "songs say it", "isrc": "no place in MPD",
        // In lists of the old kind an album has the fields of a folder.
        "albumArtists": "songs say it", "displayAlbumArtist": "songs say it", "contributors": "songs say it",
        "displayComposer": "songs say it", "works": "songs say it", "movements": "songs say it",
        "groupings": "songs say it", "replayGain": "songs say it", "bitDepth": "songs say it",
        "samplingRate": "songs say it", "channelCount": "songs say it", "mbid": "of no server's documents",
    ]

    @Test(.enabled(if: SharedFixtures.subsonic != nil, "there is no folder of answers; see SharedFixtures"))
    func everyFieldOfASongArrives() throws {
        var songs = 0
        try forEachObject(["song", "entry", "child"]) { json, file in
            guard let song = Song(json) else { return }
            songs += 1
            let tags = SongMapping(kind: .navidrome).tags(song, facts: LibraryFacts())
            for (field, value) in json.members where !value.isNull && Self.ignoredOfSongs[field] == nil {
                let missing = Self.expected(field, value, beside: json).filter { !tags.contains($0) }
                #expect(missing.isEmpty, "\(field) of \(song.id) in \(file)")
            }
        }
        #expect(songs > 100)
    }

    @Test(.enabled(if: SharedFixtures.subsonic != nil, "there is no folder of answers; see SharedFixtures"))
    func everyFieldOfAnAlbumArrives() throws {
        var albums = 0
        try forEachObject(["album"]) { json, file in
            guard json.kind == .object, let album = Album(json) else { return }
            albums += 1
            var facts = LibraryFacts()
            facts.albums[album.id] = AlbumFacts(album)
            var song = Song(id: "s")
            song.albumID = album.id
            for (field, value) in json.members where !value.isNull && Self.ignoredOfAlbums[field] == nil {
                if field == "discTitles" {
                    for title in value.elements {
                        guard let text = Self.text(title, .title) else { continue }
                        song.discNumber = title[.disc]?.integer.map { Int($0) }
                        let tags = SongMapping(kind: .navidrome).tags(song, facts: facts)
                        #expect(tags.contains(TagValue(.discSubtitle, text)), "\(field) of \(album.id) in \(file)")
                    }
                    continue
                }
                let tags = SongMapping(kind: .navidrome).tags(song, facts: facts)
                let missing = Self.expectedOfAlbum(field, value, beside: json).filter { !tags.contains($0) }
                #expect(missing.isEmpty, "\(field) of \(album.id) in \(file)")
            }
        }
        #expect(albums > 50)
    }

    /// The tags that a field of a song has to become; a field that is known nowhere is a failure.
    private static func expected(_ field: String, _ value: JSON, beside song: JSON) -> [TagValue] {
        let members = Dictionary(song.members.map { ($0.name, $0.value) }) { $1 }
        func has(_ name: String) -> Bool { members[name].map { $0.kind == .array && names($0).count > 0 } ?? false }
        switch field {
        case "title": return tag(.title, text(value))
        case "album": return tag(.album, text(value))
        case "artist": return has("artists") ? [] : tag(.artist, text(value))
        case "artists": return names(value).map { TagValue(.artist, $0) }
        case "displayArtist": return has("artists") || text(members["artist"]) != nil ? [] : tag(.artist, text(value))
        case "albumArtists", "albumartists": return names(value).map { TagValue(.albumArtist, $0) }
        case "displayAlbumArtist":
            return members["albumArtists"] != nil || members["albumartists"] != nil
                ? [] : tag(.albumArtist, text(value))
        case "track": return number(value).map { tag(.track, $0) } ?? []
        case "discNumber": return number(value).map { tag(.disc, $0) } ?? []
        case "year": return number(value).map { tag(.date, $0) } ?? []
        case "genre": return members["genres"] != nil ? [] : tag(.genre, text(value))
        case "genres": return names(value).map { TagValue(.genre, $0) }
        case "comment": return tag(.comment, text(value))
        case "sortName": return tag(.titleSort, text(value))
        case "musicBrainzId": return tag(.musicBrainzTrackID, text(value))
        case "moods": return names(value).map { TagValue(.mood, $0) }
        case "groupings": return names(value).map { TagValue(.grouping, $0) }
        case "works":
            return names(value).map { TagValue(.work, $0) }
                + value.elements.compactMap { text($0, .musicBrainzId) }.map { TagValue(.musicBrainzWorkID, $0) }
        case "movements": return names(value).map { TagValue(.movement, $0) }
        case "displayComposer":
            let hasComposer = (members["contributors"]?.elements.compactMap { text($0, .role) } ?? []).contains(
                "composer"
            )
            return hasComposer ? [] : tag(.composer, text(value))
        case "contributors":
            return value.elements.flatMap { contributor -> [TagValue] in
                guard let name = contributor[.artist].flatMap({ text($0, .name) }) else { return [] }
                switch text(contributor, .role) {
                case "composer": return [TagValue(.composer, name)]
                case "conductor": return [TagValue(.conductor, name)]
                case "performer":
                    let instrument = text(contributor, .subRole).map { " (\($0.lowercased()))" } ?? ""
                    return [TagValue(.performer, name + instrument)]
                // MPD has no tag for lyricists, producers and so on.
                default: return []
                }
            }
        default: return [TagValue(.comment, "a field that nobody knows: \(field)")]
        }
    }

    private static func expectedOfAlbum(_ field: String, _ value: JSON, beside album: JSON) -> [TagValue] {
        let members = Dictionary(album.members.map { ($0.name, $0.value) }) { $1 }
        let hasArtists = members["artists"].map { names($0).count > 0 } ?? false
        switch field {
        case "artist":
            return hasArtists || text(members["displayArtist"]) != nil ? [] : tag(.albumArtist, text(value))
        case "artists": return names(value).map { TagValue(.albumArtist, $0) }
        case "displayArtist": return hasArtists ? [] : tag(.albumArtist, text(value))
        case "sortName": return tag(.albumSort, text(value))
        case "musicBrainzId": return tag(.musicBrainzAlbumID, text(value))
        case "recordLabels": return names(value).map { TagValue(.label, $0) }
        case "releaseDate": return date(value).map { [TagValue(.date, $0)] } ?? []
        case "originalReleaseDate": return date(value).map { [TagValue(.originalDate, $0)] } ?? []
        default: return [TagValue(.comment, "a field that nobody knows: \(field)")]
        }
    }

    // MARK: Reading the documents

    private static func tag(_ tag: Tag, _ value: String?) -> [TagValue] { value.map { [TagValue(tag, $0)] } ?? [] }

    private static func text(_ json: JSON?) -> String? {
        guard let text = json?.text, !text.isEmpty, text != "[Unknown Artist]", text != "[Unknown Album]" else {
            return nil
        }
        return SongMapping.clean(text)
    }

    private static func text(_ json: JSON, _ field: JSONField) -> String? { text(json[field]) }

    /// The texts of a list, or the names of its objects.
    private static func names(_ json: JSON) -> [String] {
        json.elements.compactMap { $0.kind == .object ? text($0, .name) : text($0) }
    }

    private static func number(_ json: JSON) -> String? {
        json.integer.flatMap { $0 > 0 && $0 < 10_000 ? String($0) : nil }
    }

    private static func date(_ json: JSON) -> String? {
        guard let year = json[.year]?.integer, year > 0 else { return nil }
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        guard let month = json[.month]?.integer, month > 0 else { return "\(year)" }
        guard let day = json[.day]?.integer, day > 0 else { return "\(year)-\(padded(month))" }
        return "\(year)-\(padded(month))-\(padded(day))"
    }

    private func forEachObject(_ names: Set<String>, _ body: (JSON, String) throws -> Void) throws {
        for file in SharedFixtures.documents where !file.contains("invalid-json") {
            try visit(try JSON.parse(SharedFixtures.read(file)), names, file, body)
        }
    }

    private func visit(
        _ json: JSON,
        _ names: Set<String>,
        _ file: String,
        _ body: (JSON, String) throws -> Void
    ) throws {
        if json.kind == .object {
            for (name, value) in json.members {
                if names.contains(name) {
                    for element in value.elements where element.kind == .object { try body(element, file) }
                }
                try visit(value, names, file, body)
            }
        } else if json.kind == .array {
            for value in json.elements { try visit(value, names, file, body) }
        }
    }
}
