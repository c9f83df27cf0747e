/// A song as a server describes it (`Child` of the API), also as an entry of a playlist or folder.
///
/// Nil means that the server did not say, or said nothing usable: an empty text, 0 for a year, a number out of range.
/// Lists that OpenSubsonic added are nil where the server does not know them and empty where it knows that there is none.
public struct Song: Sendable, Hashable {
    /// As it came; a number keeps its digits. Never empty.
    public var id: String
    public var title: String?
    public var album: String?
    public var artist: String?
    public var albumID: String?
    public var artistID: String?
    /// The id of the folder that holds it.
    public var parent: String?
    public var track: Int?
    public var discNumber: Int?
    public var year: Int?
    /// One genre, or several joined in the server's own way.
    public var genre: String?
    public var coverArt: String?
    /// Bytes.
    public var size: Int64?
    public var contentType: String?
    /// Without the dot.
    public var suffix: String?
    public var duration: Duration?
    /// kbit/s.
    public var bitRate: Int?
    /// Where the file is, in one of several ways: see Docs/mapping.md.
    public var path: String?
    public var isVideo = false
    /// 1...5.
    public var userRating: Int?
    public var playCount: Int?
    /// Unix time in seconds, as all moments.
    public var created: Int64?
    public var starred: Int64?
    public var isStarred = false
    public var played: Int64?

    // OpenSubsonic.
    public var bitDepth: Int?
    /// Hertz.
    public var samplingRate: Int?
    public var channelCount: Int?
    public var bpm: Int?
    public var comment: String?
    public var sortName: String?
    /// Of the recording.
    public var musicBrainzID: String?
    public var genres: [String]?
    public var artists: [ArtistReference]?
    public var displayArtist: String?
    public var albumArtists: [ArtistReference]?
    public var displayAlbumArtist: String?
    public var contributors: [Contributor]?
    public var displayComposer: String?
    public var moods: [String]?
    public var works: [Work]?
    public var movements: [Movement]?
    public var groupings: [String]?
    public var replayGain: LoudnessFacts?

    public init(id: String) { self.id = id }

    /// Reads a song; nil for a folder and for what has no id.
    public init?(_ json: JSON) {
        self.init(id: "")
        for (field, value) in json.fields where !value.isNull {
            switch field {
            case .isDir: if value.boolean == true { return nil }
            case .id: id = value.text ?? ""
            case .title: title = value.filledText
            case .name: title = title ?? value.filledText
            case .album: album = value.filledText
            case .artist: artist = value.filledText
            case .albumId: albumID = value.filledText
            case .artistId: artistID = value.filledText
            case .parent: parent = value.filledText
            case .track: track = value.positive(upTo: 999_999)
            case .discNumber: discNumber = value.positive(upTo: 9999)
            case .year: year = value.positive(upTo: 9999)
            case .genre: genre = value.filledText
            case .coverArt: coverArt = value.filledText
            case .size: size = value.integer.flatMap { $0 > 0 ? $0 : nil }
            case .contentType: contentType = value.filledText
            case .suffix: suffix = value.filledText
            case .duration: duration = value.seconds
            case .bitRate, .lowercaseBitrate: bitRate = value.positive(upTo: 10_000_000)
            case .path: path = value.filledText
            case .isVideo: isVideo = value.boolean ?? false
            case .userRating: userRating = value.integer(in: 1...5)
            case .playCount: playCount = value.integer(in: 0...Int64(UInt32.max))
            case .created: created = value.moment
            case .starred:
                // Present means starred, whatever the date looks like; some servers write a Boolean or nothing for "no".
                isStarred = value.filledText != nil && value.boolean != false
                starred = value.moment
            case .played: played = value.moment
            case .bitDepth: bitDepth = value.positive(upTo: 64)
            case .samplingRate: samplingRate = value.positive(upTo: 50_000_000)
            case .channelCount: channelCount = value.positive(upTo: 255)
            case .bpm: bpm = value.positive(upTo: 10_000)
            case .comment: comment = value.filledText
            case .sortName: sortName = value.filledText
            case .musicBrainzId: musicBrainzID = value.filledText
            case .genres: genres = value.texts
            case .artists: artists = value.list(ArtistReference.init)
            case .displayArtist: displayArtist = value.filledText
            case .albumArtists, .lowercaseAlbumArtists: albumArtists = value.list(ArtistReference.init)
            case .displayAlbumArtist: displayAlbumArtist = value.filledText
            case .contributors: contributors = value.list(Contributor.init)
            case .displayComposer: displayComposer = value.filledText
            case .moods: moods = value.texts
            case .works: works = value.list(Work.init)
            case .movements: movements = value.list(Movement.init)
            case .groupings: groupings = value.texts
            case .replayGain: replayGain = LoudnessFacts(value)
            default: break
            }
        }
        if id.isEmpty { return nil }
    }
}

/// The songs of an answer, made as they are asked for.
public struct SongList: Sequence, Sendable {
    private let json: JSON?

    init(_ json: JSON?) { self.json = json }

    public func makeIterator() -> Iterator { Iterator(elements: json?.elements) }

    public struct Iterator: IteratorProtocol {
        fileprivate var elements: JSON.Elements?

        public mutating func next() -> Song? {
            while let json = elements?.next() {
                if let song = Song(json) { return song }
            }
            return nil
        }
    }
}

/// An artist by name, and by id where the server has one for it.
public struct ArtistReference: Sendable, Hashable {
    public var id: String?
    public var name: String

    public init(id: String?, name: String) {
        self.id = id
        self.name = name
    }

    /// Nil without a name. A bare text is a name.
    public init?(_ json: JSON) {
        guard let name = (json.kind == .object ? json[.name] : json)?.filledText else { return nil }
        self.init(id: json[.id]?.filledText, name: name)
    }
}

/// Somebody's part in a song.
public struct Contributor: Sendable, Hashable {
    /// `composer`, `conductor`, `performer` …, in lower case.
    public var role: String
    /// The performer's instrument.
    public var subRole: String?
    public var artist: ArtistReference

    public init(role: String, subRole: String? = nil, artist: ArtistReference) {
        self.role = role
        self.subRole = subRole
        self.artist = artist
    }

    /// Nil without a role or a name.
    public init?(_ json: JSON) {
        guard let role = json[.role]?.filledText, let artist = json[.artist].flatMap(ArtistReference.init) else {
            return nil
        }
        self.init(role: role.lowercased(), subRole: json[.subRole]?.filledText, artist: artist)
    }
}

/// A work that a song belongs to.
public struct Work: Sendable, Hashable {
    public var name: String
    public var musicBrainzID: String?

    public init(name: String, musicBrainzID: String? = nil) {
        self.name = name
        self.musicBrainzID = musicBrainzID
    }

    public init?(_ json: JSON) {
        guard let name = (json.kind == .object ? json[.name] : json)?.filledText else { return nil }
        self.init(name: name, musicBrainzID: json[.musicBrainzId]?.filledText)
    }
}

/// A movement of a work.
public struct Movement: Sendable, Hashable {
    public var name: String
    public var number: Int?

    public init(name: String, number: Int? = nil) {
        self.name = name
        self.number = number
    }

    public init?(_ json: JSON) {
        guard let name = (json.kind == .object ? json[.name] : json)?.filledText else { return nil }
        self.init(name: name, number: json[.number]?.positive(upTo: 99_999))
    }
}

/// ReplayGain as the server knows it: gains in dB, peaks as factors.
public struct LoudnessFacts: Sendable, Hashable {
    public var trackGain: Double?
    public var albumGain: Double?
    public var trackPeak: Double?
    public var albumPeak: Double?
    public var baseGain: Double?
    public var fallbackGain: Double?

    public init() {}

    /// Nil when it holds no number.
    public init?(_ json: JSON) {
        var isEmpty = true
        for (field, value) in json.fields {
            guard let number = value.double else { continue }
            isEmpty = false
            switch field {
            case .trackGain: trackGain = number
            case .albumGain: albumGain = number
            case .trackPeak: trackPeak = number
            case .albumPeak: albumPeak = number
            case .baseGain: baseGain = number
            case .fallbackGain: fallbackGain = number
            default: break
            }
        }
        if isEmpty { return nil }
    }
}
