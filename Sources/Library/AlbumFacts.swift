public import SubsonicKit

/// What a song's tags take from its album: the part of an `Album` that a sync keeps in memory for each.
public struct AlbumFacts: Sendable, Hashable {
    public var artists: [String]
    public var releaseDate: String?
    public var originalDate: String?
    public var year: Int?
    public var labels: [String]
    public var sortName: String?
    public var musicBrainzID: String?
    public var discTitles: [DiscTitle]
    /// The number of songs that the album should have; nil if the server does not say.
    public var songCount: Int?

    public init(_ album: Album) {
        if let names = album.artists?.map(\.name), !names.isEmpty {
            artists = names
        } else {
            artists = (album.displayArtist ?? album.artist).map { [$0] } ?? []
        }
        releaseDate = album.releaseDate?.description
        originalDate = album.originalReleaseDate?.description
        year = album.year
        labels = album.recordLabels ?? []
        sortName = album.sortName
        musicBrainzID = album.musicBrainzID
        discTitles = album.discTitles ?? []
        songCount = album.songCount
    }
}

/// What a song's tags take from its artists.
public struct ArtistFacts: Sendable, Hashable {
    public var sortName: String?
    public var musicBrainzID: String?

    /// Nil when there is nothing to keep.
    public init?(_ artist: Artist) {
        if artist.sortName == nil, artist.musicBrainzID == nil { return nil }
        sortName = artist.sortName
        musicBrainzID = artist.musicBrainzID
    }
}

/// Albums and artists by id, for mapping songs.
public struct LibraryFacts: Sendable {
    public var albums: [String: AlbumFacts] = [:]
    public var artists: [String: ArtistFacts] = [:]

    public init() {}
}
