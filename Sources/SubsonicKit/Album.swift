/// An album as a server describes it (`AlbumID3` of the API).
public struct Album: Sendable, Hashable {
    /// Never empty.
    public var id: String
    public var name: String?
    public var artist: String?
    public var artistID: String?
    public var coverArt: String?
    public var songCount: Int?
    public var duration: Duration?
    public var playCount: Int?
    /// Unix time in seconds, as all moments.
    public var created: Int64?
    public var isStarred = false
    public var starred: Int64?
    public var year: Int?
    public var genre: String?

    // OpenSubsonic.
    public var played: Int64?
    public var userRating: Int?
    public var recordLabels: [String]?
    /// Of the release.
    public var musicBrainzID: String?
    public var genres: [String]?
    public var artists: [ArtistReference]?
    public var displayArtist: String?
    public var releaseTypes: [String]?
    public var moods: [String]?
    public var sortName: String?
    public var originalReleaseDate: ItemDate?
    public var releaseDate: ItemDate?
    public var isCompilation: Bool?
    public var discTitles: [DiscTitle]?

    /// Empty where the answer lists albums only.
    public var songs: [Song] = []

    public init(id: String) { self.id = id }

    /// Reads an album; nil for what has no id.
    public init?(_ json: JSON) {
        self.init(id: "")
        for (field, value) in json.fields where !value.isNull {
            switch field {
            case .id: id = value.text ?? ""
            case .name: name = value.filledText
            case .title, .album: name = name ?? value.filledText
            case .artist: artist = value.filledText
            case .artistId: artistID = value.filledText
            case .coverArt: coverArt = value.filledText
            case .songCount: songCount = value.integer(in: 0...10_000_000)
            case .duration: duration = value.seconds
            case .playCount: playCount = value.integer(in: 0...Int64(UInt32.max))
            case .created: created = value.moment
            case .starred:
                isStarred = value.filledText != nil && value.boolean != false
                starred = value.moment
            case .year: year = value.positive(upTo: 9999)
            case .genre: genre = value.filledText
            case .played: played = value.moment
            case .userRating: userRating = value.integer(in: 1...5)
            case .recordLabels: recordLabels = value.texts
            case .musicBrainzId: musicBrainzID = value.filledText
            case .genres: genres = value.texts
            case .artists: artists = value.list(ArtistReference.init)
            case .displayArtist: displayArtist = value.filledText
            case .releaseTypes: releaseTypes = value.texts
            case .moods: moods = value.texts
            case .sortName: sortName = value.filledText
            case .originalReleaseDate: originalReleaseDate = ItemDate(value)
            case .releaseDate: releaseDate = ItemDate(value)
            case .isCompilation: isCompilation = value.boolean
            case .discTitles: discTitles = value.list(DiscTitle.init)
            case .song: songs = value.list(Song.init)
            default: break
            }
        }
        if id.isEmpty { return nil }
    }
}

/// A date that may lack its month and its day.
public struct ItemDate: Sendable, Hashable, CustomStringConvertible {
    public var year: Int
    public var month: Int?
    public var day: Int?

    public init(year: Int, month: Int? = nil, day: Int? = nil) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Nil without a year.
    public init?(_ json: JSON) {
        guard let year = json[.year]?.positive(upTo: 9999) else { return nil }
        self.init(year: year, month: json[.month]?.positive(upTo: 12), day: json[.day]?.positive(upTo: 31))
    }

    /// `1999`, `1999-03` or `1999-03-01`.
    public var description: String {
        let padded = { (number: Int, width: Int) in
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        guard let month else { return padded(year, 4) }
        guard let day else { return "\(padded(year, 4))-\(padded(month, 2))" }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

/// The name of one disc of an album.
public struct DiscTitle: Sendable, Hashable {
    public var disc: Int
    public var title: String

    public init(disc: Int, title: String) {
        self.disc = disc
        self.title = title
    }

    /// Nil without a title.
    public init?(_ json: JSON) {
        guard let title = json[.title]?.filledText else { return nil }
        self.init(disc: json[.disc]?.integer(in: 0...9999) ?? 0, title: title)
    }
}

/// An artist as a server describes it (`ArtistID3` of the API).
public struct Artist: Sendable, Hashable {
    /// Never empty.
    public var id: String
    public var name: String?
    public var coverArt: String?
    public var albumCount: Int?
    /// Unix time in seconds.
    public var starred: Int64?
    public var isStarred = false
    public var userRating: Int?
    public var musicBrainzID: String?
    public var sortName: String?
    public var roles: [String]?
    /// Empty where the answer lists artists only.
    public var albums: [Album] = []

    public init(id: String) { self.id = id }

    /// Reads an artist; nil for what has no id.
    public init?(_ json: JSON) {
        self.init(id: "")
        for (field, value) in json.fields where !value.isNull {
            switch field {
            case .id: id = value.text ?? ""
            case .name: name = value.filledText
            case .coverArt: coverArt = value.filledText
            case .albumCount: albumCount = value.integer(in: 0...10_000_000)
            case .starred:
                isStarred = value.filledText != nil && value.boolean != false
                starred = value.moment
            case .userRating: userRating = value.integer(in: 1...5)
            case .musicBrainzId: musicBrainzID = value.filledText
            case .sortName: sortName = value.filledText
            case .roles: roles = value.texts
            case .album: albums = value.list(Album.init)
            default: break
            }
        }
        if id.isEmpty { return nil }
    }
}
