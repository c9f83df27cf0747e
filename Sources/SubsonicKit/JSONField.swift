internal import CJSON

/// The names of members that are read anywhere; all others are skipped.
///
/// A name's case is its spelling on the wire. Some exist only in single servers: see Docs/mapping.md.
public enum JSONField: String, CaseIterable, Sendable {
    // The envelope.
    case subsonicResponse = "subsonic-response"
    case status, version, type, serverVersion, openSubsonic, error, code, message, helpUrl

    // Payloads and lists.
    case album, albumInfo, albumList, albumList2, artist, artistInfo, artistInfo2, artists, bookmark, bookmarks, child
    case artistInfoDash = "artist-info2"
    case directory, entry, genre, genres, index, indexes, internetRadioStation, internetRadioStations, license
    case lyrics, lyricsList, musicFolder, musicFolders, nowPlaying, openSubsonicExtensions, playlist, playlists
    case playQueue, playQueueByIndex, randomSongs, scanStatus, searchResult2, searchResult3, shortcut, similarSongs
    case similarSongs2, similarSongsByGenre = "songsByGenre", song, starred, starred2, tokenInfo, topSongs, user

    // Songs, albums, artists.
    case albumArtists, albumCount, albumId, artistId, artistImageUrl, averageRating, bitDepth, bitRate, bpm, changed,
        changedBy
    case channelCount, comment, contentType, contributors, coverArt, created, disc, discNumber, discTitles
    case displayAlbumArtist, displayArtist, displayComposer, duration, explicitStatus, groupings, id, isCompilation
    case isDir, isVideo, isrc, mediaType, moods, movements, musicBrainzId, name, number, originalReleaseDate
    case parent, path, playCount, played, recordLabels, releaseDate, releaseTypes, replayGain, role, roles
    case samplingRate, size, songCount, sortName, subRole, suffix, title, track, userRating, value, works, year
    case albumPeak, albumGain, trackPeak, trackGain, baseGain, fallbackGain
    case month, day
    /// Funkwhale's spelling of `bitRate`.
    case lowercaseBitrate = "bitrate"
    /// LMS's spelling of `albumArtists`.
    case lowercaseAlbumArtists = "albumartists"

    // Playlists, radio stations, users, scans and the rest.
    case adminRole, allowedUser, count, current, currentIndex, downloadRole, email, folder, folderCount, homePageUrl,
        kind, line
    case homepageUrl, ignoredArticles, lastModified, lastScan, licenseExpires, owner, playlistRole, position
    case `public`, readonly, scanning, scrobblingEnabled, shareRole, streamRole, streamUrl, username, valid
    case offset, start, structuredLyrics, synced, validUntil, versions

    /// The fields in the order of their numbers in the key table.
    static let all = Array(allCases)

    /// The table that the parser looks names up in; lives as long as the process.
    // Set once, never changed or freed, and the C side only reads it.
    nonisolated(unsafe) static let keys: OpaquePointer? = {
        let names = all.map { $0.rawValue + "\0" }.joined()
        return unsafe names.withCString { unsafe shelv_json_keys_create($0, all.count) }
    }()
}
