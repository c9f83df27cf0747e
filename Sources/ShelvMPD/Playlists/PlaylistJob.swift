import SubsonicKit

/// Something to be done at the server for the stored playlists; with all that is needed, so that it can be done anywhere.
enum PlaylistJob: Sendable {
    case refresh(PlaylistRefresh)
    case deliver(PlaylistDelivery)
}

/// To find out what others have changed.
struct PlaylistRefresh: Sendable {
    struct Known: Sendable {
        var stamp: PlaylistStamp
        var entries: [PlaylistEntry]
        /// Whether its content is fetched even if the stamp is the same.
        var isWanted: Bool
        /// Whether its content is left alone: edits are on their way.
        var isBusy: Bool
    }

    /// By the server's id.
    var known: [String: Known]
}

/// What a refresh found.
struct PlaylistNews: Sendable {
    struct Item: Sendable {
        var playlist: Playlist
        /// Nil where the content is not known to differ.
        var entries: [PlaylistEntry]?
        /// Whether the content was looked at.
        var wasRead: Bool
    }

    /// All that the server has.
    var items: [Item]
}

/// To bring the edits of one playlist to the server.
struct PlaylistDelivery: Sendable {
    var key: PlaylistKey
    /// Nil for one that the server does not have yet.
    var remoteID: String?
    var title: String
    /// Whether it shall get this title.
    var isRenamed: Bool
    var isPublic: Bool?
    /// The list on which the edits were made, and as it shall be.
    var base: [PlaylistEntry]
    var wanted: [PlaylistEntry]
    var isDeleted: Bool
    var attempt: PlaylistAttempt?
    /// The server's ids of the other playlists, and what was there before the attempts to make others.
    var otherIDs: Set<String>
    var knownToOthers: Set<String>
    /// The last edit that is in `wanted`.
    var through: Int64
}

/// What became of a delivery.
enum PlaylistReceipt: Sendable {
    /// The server's playlist as it was read back.
    case arrived(Playlist, [PlaylistEntry])
    case removed
    /// Somebody else has removed the playlist.
    case vanished
    /// It did not work; what may have been sent, for the next time.
    case failed(SubsonicError, PlaylistAttempt?)
}

/// What the shelf has in mind.
struct PlaylistWork {
    /// A refresh is wanted; with `readsAll` the content of lists whose changes the server does not tell, too.
    var wantsRefresh = false
    var readsAll = false
    /// Lists that somebody looked at, whose changes the server does not tell.
    var wanted: Set<PlaylistKey> = []
    /// When the server's lists were looked at last.
    var refreshedAt: Instant?
    /// Whether the server has refused to make a list; believed until the library is compared next time.
    var mayNotCreate = false
}
