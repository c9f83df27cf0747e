public import MPDProtocol
public import SubsonicKit

/// Turns a server's song into MPD's tags and facts: Docs/mapping.md as code.
public struct SongMapping: Sendable {
    public var kind: ServerKind
    /// The tags that songs are to have. MPD, too, drops the others before they come into its database.
    public var offered: TagMask

    public init(kind: ServerKind, tags offered: TagMask = .all) {
        self.kind = kind
        self.offered = offered
    }

    /// Whether a text says nothing: it is empty, or a name that servers make up for files without tags; MPD has no value there.
    private static func isPlaceholder(_ text: String) -> Bool {
        text.isEmpty
            || text.utf8.first == UInt8(ascii: "[") && (text == "[Unknown Artist]" || text == "[Unknown Album]")
    }

    /// All of a song but its URI, which depends on the other songs.
    public func record(_ song: Song, facts: LibraryFacts) -> SongRecord {
        SongRecord(
            songID: song.id,
            uri: "",
            tags: tags(song, facts: facts),
            duration: song.duration.flatMap { UInt32(exactly: $0.wholeMilliseconds) },
            lastModified: song.created,
            added: song.created,
            format: Self.format(song),
            size: song.size,
            suffix: Self.clean(song.suffix ?? ""),
            contentType: Self.clean(song.contentType ?? ""),
            bitRate: Self.bitRate(song),
            coverArt: song.coverArt,
            albumID: song.albumID,
            artistID: song.artistID,
            replayGain: song.replayGain.flatMap(ReplayGain.init),
            userRating: song.userRating.flatMap { UInt8(exactly: $0) } ?? 0,
            playCount: song.playCount.flatMap { UInt32(exactly: $0) } ?? 0,
            played: song.played
        )
    }

    /// The tags of a song. Values are free of control characters, and none is empty.
    public func tags(_ song: Song, facts: LibraryFacts) -> [TagValue] {
        let album = song.albumID.flatMap { facts.albums[$0] }
        // OpenSubsonic servers send every field they know, so what they leave empty is empty.
        let isOpenSubsonic = song.artists != nil || song.genres != nil
        let people = People(song: song, album: album)
        var tags = TagList(offered: offered)

        for artist in people.artists { tags.add(.artist, artist.name) }
        tags.add(.album, song.album)
        for artist in people.albumArtists { tags.add(.albumArtist, artist.name) }
        tags.add(.title, song.title)
        tags.add(.track, track(song).map { String($0) })
        tags.add(.disc, song.discNumber.map { String($0) })
        // The year of OpenSubsonic is the original one where both dates are there, hence the release date first.
        let year = song.year ?? (isOpenSubsonic ? nil : album?.year)
        tags.add(.date, album?.releaseDate ?? year.map { String($0) })
        tags.add(.originalDate, album?.originalDate)
        if let genres = song.genres {
            tags.add(.genre, genres)
        } else if let genre = song.genre {
            tags.add(
                .genre,
                kind.genreSeparator.map { genre.split(separator: $0).map(Self.withoutOuterSpaces) } ?? [genre]
            )
        }

        let composers = people.with(role: "composer")
        if composers.isEmpty {
            tags.add(.composer, song.displayComposer)
        } else {
            tags.add(.composer, composers.map(\.artist.name))
        }
        tags.add(.conductor, people.with(role: "conductor").map(\.artist.name))
        tags.add(.performer, people.with(role: "performer").map(Self.performer))
        tags.add(.work, song.works?.map(\.name) ?? [])
        tags.add(.musicBrainzWorkID, song.works?.compactMap(\.musicBrainzID) ?? [])
        tags.add(.movement, song.movements?.map(\.name) ?? [])
        tags.add(.movementNumber, song.movements?.compactMap { $0.number.map { String($0) } } ?? [])
        tags.add(.grouping, song.groupings ?? [])
        tags.add(.mood, song.moods ?? [])
        tags.add(.label, album?.labels ?? [])
        tags.add(.comment, song.comment)

        let known = { (references: [ArtistReference]) in
            facts.artists.isEmpty ? [] : references.compactMap { $0.id.flatMap { facts.artists[$0] } }
        }
        let (artists, albumArtists) = (known(people.artists), known(people.albumArtists))
        tags.add(.titleSort, song.sortName)
        tags.add(.albumSort, album?.sortName)
        tags.add(.artistSort, artists.compactMap(\.sortName))
        tags.add(.albumArtistSort, albumArtists.compactMap(\.sortName))
        tags.add(.composerSort, known(composers.map(\.artist)).compactMap(\.sortName))
        let disc = song.discNumber ?? 1
        tags.add(.discSubtitle, album?.discTitles.filter { $0.disc == disc }.map(\.title) ?? [])

        tags.add(.musicBrainzTrackID, song.musicBrainzID)
        tags.add(.musicBrainzAlbumID, album?.musicBrainzID)
        tags.add(.musicBrainzArtistID, artists.compactMap(\.musicBrainzID))
        tags.add(.musicBrainzAlbumArtistID, albumArtists.compactMap(\.musicBrainzID))
        return tags.values
    }

    /// Text as it may stand in a reply: control characters become spaces, as MPD does it.
    static func clean(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
        return String(decoding: text.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }

    private func track(_ song: Song) -> Int? {
        guard let track = song.track, kind.addsDiscToTrack, let disc = song.discNumber, track > 100 * disc else {
            return song.track
        }
        return track - 100 * disc
    }

    private static func withoutOuterSpaces(_ text: Substring) -> String {
        var rest = text.drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }

    /// `Name (instrument)`; servers write instruments in title case, files mostly in lower case.
    private static func performer(_ contributor: Contributor) -> String {
        guard let instrument = contributor.subRole else { return contributor.artist.name }
        return "\(contributor.artist.name) (\(instrument.lowercased()))"
    }

    /// kbit/s. supysonic 0.7.2 tells bit/s: what is far more than the file's size allows is taken for that.
    private static func bitRate(_ song: Song) -> Int? {
        guard let rate = song.bitRate, rate >= 8000, let size = song.size, let duration = song.duration else {
            return song.bitRate
        }
        let possible = Double(size) * 8 / Double(max(1, duration.wholeMilliseconds))
        return Double(rate) > 100 * possible ? rate / 1000 : rate
    }

    /// What MPD's decoder makes of the file: servers tell 0 or 16 bits for lossy codecs.
    private static func format(_ song: Song) -> AudioFormat? {
        guard let rate = song.samplingRate.flatMap({ UInt32(exactly: $0) }),
            let channels = song.channelCount.flatMap({ UInt8(exactly: $0) })
        else { return nil }
        let sampleFormat: SampleFormat =
            switch (song.suffix ?? "").lowercased() {
            case "mp3", "mp2": .s24
            case "opus": .s16
            case "ogg", "oga", "m4a", "m4b", "mp4", "aac", "wma", "mpc": .float
            case "dsf", "dff": .dsd
            default:
                switch song.bitDepth ?? 0 {
                case 0: .float
                case 1: .dsd
                case 2...8: .s8
                case 9...16: .s16
                case 17...24: .s24
                default: .s32
                }
            }
        // MPD counts DSD in bytes of eight samples.
        return AudioFormat(
            sampleRate: sampleFormat == .dsd ? rate / 8 : rate,
            sampleFormat: sampleFormat,
            channels: channels
        )
    }

    /// Who took part in a song, with the fallbacks for servers that only know one name.
    private struct People {
        let artists: [ArtistReference]
        let albumArtists: [ArtistReference]
        let contributors: [Contributor]

        init(song: borrowing Song, album: AlbumFacts?) {
            let single = { (name: String?, id: String?) in name.map { [ArtistReference(id: id, name: $0)] } ?? [] }
            if let list = song.artists, !list.isEmpty {
                artists = list
            } else {
                artists = single(song.artist ?? song.displayArtist, song.artistID)
            }
            if let list = song.albumArtists {
                albumArtists = list
            } else if let name = song.displayAlbumArtist {
                albumArtists = single(name, nil)
            } else {
                albumArtists = (album?.artists ?? []).map { ArtistReference(id: nil, name: $0) }
            }
            contributors = song.contributors ?? []
        }

        func with(role: String) -> [Contributor] { contributors.filter { $0.role == role } }
    }

    /// Collects values that say something.
    private struct TagList {
        let offered: TagMask
        var values: [TagValue] = []

        init(offered: TagMask) {
            self.offered = offered
            values.reserveCapacity(24)
        }

        mutating func add(_ tag: Tag, _ value: String?) {
            guard let value, offered.contains(TagMask(tag)), !SongMapping.isPlaceholder(value) else { return }
            values.append(TagValue(tag, SongMapping.clean(value)))
        }

        mutating func add(_ tag: Tag, _ list: [String]) {
            for value in list { add(tag, value) }
        }
    }
}

extension ReplayGain {
    /// Nil when nothing in it is in a range that loudness can have; a peak of 0 means that nobody measured.
    init?(_ facts: LoudnessFacts) {
        let gain = { (value: Double?) in value.flatMap { abs($0) <= 100 ? Float($0) : nil } }
        let peak = { (value: Double?) in value.flatMap { $0 > 0 && $0 <= 100 ? Float($0) : nil } }
        self.init(
            trackGain: gain(facts.trackGain),
            albumGain: gain(facts.albumGain),
            trackPeak: peak(facts.trackPeak),
            albumPeak: peak(facts.albumPeak),
            baseGain: gain(facts.baseGain),
            fallbackGain: gain(facts.fallbackGain)
        )
        if self == ReplayGain() { return nil }
    }
}

extension Duration {
    /// Rounded towards zero; clamped where it does not fit.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000_000_000
    }
}
