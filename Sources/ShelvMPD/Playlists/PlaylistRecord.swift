import SubsonicKit

/// What is known of a stored playlist besides what clients see: whose it is, and how it stands with the server.
struct PlaylistRecord: Sendable {
    let key: PlaylistKey
    /// Whether it is kept here only.
    var isLocal: Bool
    /// The server's id; nil for a local one, and for one that the server does not have yet.
    var remoteID: String?
    /// What the server calls it, or shall call it.
    var title: String
    /// What the server calls it.
    var remoteTitle: String
    var comment: String?
    /// The user that it belongs to.
    var owner: String?
    var isPublic: Bool?
    /// Why it cannot be edited; nil when it can.
    var refusal: PlaylistRefusal?
    /// What tells whether the server's list has changed.
    var stamp = PlaylistStamp()
    /// The server's list as it was read last; the edits in `edits` are made on it, in their order.
    var base: [PlaylistEntry] = []
    /// Edits that are not known to be on the server, by their numbers in the journal.
    var edits: [PendingEdit] = []
    /// What was being sent last, when it is not known whether it arrived.
    var attempt: PlaylistAttempt?
    /// Whether a client has removed it; it is not shown any more, and the server shall forget it.
    var isDeleted = false
    /// When it was read last, for servers that do not tell of changes.
    var readAt: Instant?
    /// The same by the wall clock, Unix time in seconds.
    var readAtWallClock: Int64?
    /// Attempts that failed since the last one that did not, and the moment before which there is no other.
    var failures = 0
    var notBefore: Instant?

    /// The list was just read.
    mutating func noteRead(_ playlist: Playlist, now: Int64) {
        stamp = PlaylistStamp(playlist)
        readAt = .now
        readAtWallClock = now
    }

    /// An edit and its number in the journal.
    struct PendingEdit: Sendable {
        var id: Int64
        var edit: PlaylistEdit
    }
}

/// Why a playlist of the server cannot be edited.
enum PlaylistRefusal: Sendable, Hashable {
    /// It belongs to this user.
    case owner(String)
    /// The server makes it by rules, or from a file.
    case readonly
    /// It is made up here.
    case madeUp
    /// It is what is starred, in the order in which it was.
    case favorites
    /// It belongs to the mounted server of this name.
    case mounted(String)
}

/// What `getPlaylists` tells of a list's content: as long as it stays, the content does.
struct PlaylistStamp: Sendable, Hashable {
    /// Unix time in seconds; nil on servers that do not tell.
    var changed: Int64?
    var songCount: Int?
    /// Seconds.
    var duration: Int64?

    init() {}

    init(_ playlist: Playlist) {
        changed = playlist.changed
        songCount = playlist.songCount
        duration = playlist.duration?.components.seconds
    }
}

/// What was sent without knowing whether it arrived. Kept before it is sent, so that it is never sent twice.
struct PlaylistAttempt: Sendable, Hashable {
    /// The title of a list that was to be made.
    var title: String
    /// The server's lists before that.
    var knownIDs: [String]
    /// The whole list as it was to be.
    var entries: [PlaylistEntry]
    /// The list that the edits were made on, as far as was known then; nil where that is the record's base. An attempt
    /// before this one may have arrived without an answer.
    var base: [PlaylistEntry]?
    /// The server's id of a list that was to be made, once it is known.
    var remoteID: String?
    /// How the list stood on the server when this was sent; nil for a list that was to be made.
    var start: Start?

    /// Where an attempt began.
    struct Start: Sendable, Hashable {
        /// What the server's list held.
        var present: [PlaylistEntry]
        /// The list as others have left it: the present one, unless that is one of ours on its way.
        var theirs: [PlaylistEntry]
        /// Whether songs are taken off and put on part by part.
        var isPiecewise = false
    }
}
