import MPDProtocol

/// What a sticker is on.
enum StickerType: Hashable, Sendable {
    case song, playlist, filter
    /// All songs with one value of a tag.
    case tag(Tag)

    /// The tags that stickers may be on, in the order of replies.
    ///
    /// Source: MPD 0.24 `src/sticker/AllowedTags.hxx`.
    static let tags: [Tag] = [
        .artist, .album, .albumArtist, .title, .genre, .composer, .performer, .conductor, .work, .ensemble, .location,
        .label, .musicBrainzArtistID, .musicBrainzAlbumID, .musicBrainzAlbumArtistID, .musicBrainzReleaseTrackID,
        .musicBrainzWorkID,
    ]

    /// All types, in the order of replies.
    static let all: [StickerType] = [.filter, .playlist, .song] + tags.map { .tag($0) }

    /// As replies write it.
    var name: String {
        switch self {
        case .song: "song"
        case .playlist: "playlist"
        case .filter: "filter"
        case .tag(let tag): tag.name
        }
    }

    /// Before the object in the reply of `sticker find`.
    var label: String { self == .song ? "file" : name }

    /// What a client means; tags in any case.
    init(_ word: [UInt8]) throws(StickerError) {
        for type in [StickerType.song, .playlist, .filter] where word.elementsEqual(type.name.utf8) {
            self = type
            return
        }
        guard let tag = Tag(name: word) else { throw .unknownType(word) }
        guard Self.tags.contains(tag) else { throw .unsupportedTag(tag) }
        self = .tag(tag)
    }

    /// The tag of this name, if it is one that stickers may not be on.
    static func tagWithoutStickers(_ word: [UInt8]) -> Tag? {
        Tag(name: word).flatMap { tags.contains($0) ? nil : $0 }
    }

    /// The type with exactly this name, as the store has it.
    init?(stored name: String) {
        guard let type = Self.all.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}

/// Why something cannot be done with a sticker.
enum StickerError: Error, Hashable, Sendable {
    /// No such sub command, or not with so many arguments.
    case badRequest
    case unknownType([UInt8])
    case unsupportedTag(Tag)
    case noSuchSong
    case noSuchValue(Tag, [UInt8])
    case noSuchPlaylist([UInt8])
    /// No song matches the filter, which is given in its normal form.
    case noMatches([UInt8])
    /// The filter cannot be read, with the code that MPD has for that here: not that of the other commands.
    case badFilter(ACK)
    /// PCRE2 refused an expression in the filter.
    case badRegex(offset: Int, message: String)
    /// Without the name when all were to be removed.
    case noSuchSticker([UInt8]?)
    case emptyName
    case badOperator([UInt8])
    case badSort([UInt8])
    /// `stickernamestypes` with a word that is no type.
    case noSuchTag([UInt8])
    case tagWithoutStickers([UInt8])
    /// A value that the server could not keep: the sticker's name, and what it may be.
    case badValue(String, String)
}
