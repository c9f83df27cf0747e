import Library

/// What clients see of the configured servers is the active one's.
extension Server {
    /// What was accepted and is not on the server yet; nil where nothing is kept.
    var journal: JournalWriter? {
        get { active.journal }
        set { active.journal = newValue }
    }

    /// The stored playlists.
    var playlists: PlaylistShelf {
        get { active.playlists }
        set { active.playlists = newValue }
    }

    /// Stars, ratings and likes.
    var marks: MarkKeeper {
        get { active.marks }
        set { active.marks = newValue }
    }

    /// The other stickers.
    var stickers: StickerKeeper {
        get { active.stickers }
        set { active.stickers = newValue }
    }

    /// Tells the server what is listened to; nil where nobody is told.
    var scrobbler: Scrobbler? {
        get { active.scrobbler }
        set { active.scrobbler = newValue }
    }

    /// Hands the queue over between devices; nil where that is not wanted.
    var playQueue: PlayQueueKeeper? {
        get { active.playQueue }
        set { active.playQueue = newValue }
    }

    /// The radio stations that the server keeps; nil where there are none.
    var stations: StationPlaylist? {
        get { active.stations }
        set { active.stations = newValue }
    }

    /// The pictures of songs and folders; nil where there is nobody to ask.
    var covers: Covers? {
        get { active.covers }
        set { active.covers = newValue }
    }

    /// Asks the server for songs that go with one; nil where there is nobody to ask.
    var askSimilar: SimilarSongs.Ask? {
        get { active.askSimilar }
        set { active.askSimilar = newValue }
    }

    /// Starts a comparison with the server; nil while nobody syncs.
    var requestSync: (@Sendable (_ rescan: Bool) -> UInt64)? {
        get { active.requestSync }
        set { active.requestSync = newValue }
    }

    /// Fetches what a shelf, or all of them, take from the server.
    var requestShelves: (@Sendable (_ shelf: Shelf?, _ number: UInt64) -> Void)? {
        get { active.requestShelves }
        set { active.requestShelves = newValue }
    }

    /// How the comparison with the server stands.
    var syncReport: SyncReport {
        get { active.syncReport }
        set { active.syncReport = newValue }
    }
}
