/// A tag type of MPD, in the order in which `tagtypes` lists them.
///
/// Source: MPD 0.24 `src/tag/Type.hxx`, and `DiscSubtitle` of 0.25.
public enum Tag: UInt8, CaseIterable, Sendable, Comparable {
    case artist, artistSort, album, albumSort, albumArtist, albumArtistSort, title, titleSort, track, name, genre, mood
    case date, originalDate, composer, composerSort, performer, conductor, work, movement, movementNumber
    case showMovement, ensemble, location, grouping, comment, disc, discSubtitle, label
    case musicBrainzArtistID, musicBrainzAlbumID, musicBrainzAlbumArtistID, musicBrainzTrackID
    case musicBrainzReleaseTrackID, musicBrainzWorkID, musicBrainzReleaseGroupID

    /// The canonical spelling, as replies use it.
    public var name: String {
        switch self {
        case .artist: "Artist"
        case .artistSort: "ArtistSort"
        case .album: "Album"
        case .albumSort: "AlbumSort"
        case .albumArtist: "AlbumArtist"
        case .albumArtistSort: "AlbumArtistSort"
        case .title: "Title"
        case .titleSort: "TitleSort"
        case .track: "Track"
        case .name: "Name"
        case .genre: "Genre"
        case .mood: "Mood"
        case .date: "Date"
        case .originalDate: "OriginalDate"
        case .composer: "Composer"
        case .composerSort: "ComposerSort"
        case .performer: "Performer"
        case .conductor: "Conductor"
        case .work: "Work"
        case .movement: "Movement"
        case .movementNumber: "MovementNumber"
        case .showMovement: "ShowMovement"
        case .ensemble: "Ensemble"
        case .location: "Location"
        case .grouping: "Grouping"
        case .comment: "Comment"
        case .disc: "Disc"
        case .discSubtitle: "DiscSubtitle"
        case .label: "Label"
        case .musicBrainzArtistID: "MUSICBRAINZ_ARTISTID"
        case .musicBrainzAlbumID: "MUSICBRAINZ_ALBUMID"
        case .musicBrainzAlbumArtistID: "MUSICBRAINZ_ALBUMARTISTID"
        case .musicBrainzTrackID: "MUSICBRAINZ_TRACKID"
        case .musicBrainzReleaseTrackID: "MUSICBRAINZ_RELEASETRACKID"
        case .musicBrainzWorkID: "MUSICBRAINZ_WORKID"
        case .musicBrainzReleaseGroupID: "MUSICBRAINZ_RELEASEGROUPID"
        }
    }

    /// The tag with this name in any case, or nil.
    public init?(name: some Collection<UInt8>) {
        for tag in Tag.allCases where name.equalsIgnoringASCIICase(tag.name) {
            self = tag
            return
        }
        return nil
    }

    /// The tags that stand in, in this order, for a song that has no value of this one.
    ///
    /// Source: MPD 0.24 `src/tag/Fallback.hxx`.
    public var fallbacks: [Tag] {
        switch self {
        case .albumArtist: [.artist]
        case .artistSort: [.artist]
        case .albumArtistSort: [.albumArtist, .artistSort, .artist]
        case .albumSort: [.album]
        case .titleSort: [.title]
        case .composerSort: [.composer]
        default: []
        }
    }

    /// The same for sorting, where MPD has a chain of its own.
    ///
    /// Source: MPD 0.24 `src/tag/Tag.cxx`.
    public var sortFallbacks: [Tag] {
        switch self {
        case .albumArtistSort: [.albumArtist, .artist]
        case .musicBrainzAlbumArtistID: [.musicBrainzArtistID]
        default: fallbacks
        }
    }

    /// The order of `tagtypes`.
    public static func < (a: Tag, b: Tag) -> Bool { a.rawValue < b.rawValue }
}

/// A set of tag types: what a connection wants to see (`tagtypes`), or what the server offers (`metadata_to_use`).
public struct TagMask: OptionSet, Sendable, Hashable {
    public let rawValue: UInt64

    /// A set from its bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The set of this one tag.
    public init(_ tag: Tag) { rawValue = 1 << UInt64(tag.rawValue) }

    /// Every tag type.
    public static let all = TagMask(rawValue: (1 << UInt64(Tag.allCases.count)) - 1)

    /// MPD's default of `metadata_to_use`: everything but comments.
    public static let standard = TagMask.all.subtracting(TagMask(.comment))

    /// Whether the tag is in the set.
    public func contains(_ tag: Tag) -> Bool { rawValue & (1 << UInt64(tag.rawValue)) != 0 }
}

extension Collection<UInt8> {
    /// Whether these bytes spell `text`, ASCII letters compared without case.
    public func equalsIgnoringASCIICase(_ text: String) -> Bool {
        count == text.utf8.count && zip(self, text.utf8).allSatisfy { asciiLowercased($0) == asciiLowercased($1) }
    }
}

private func asciiLowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
