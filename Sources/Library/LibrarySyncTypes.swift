public import MPDProtocol
public import SubsonicKit

/// What a library sync needs to know.
public struct LibrarySyncConfiguration: Sendable {
    /// Made once for the server; part of file names.
    public var serverID: String
    /// What users call the server.
    public var serverName: String
    /// Where it is, for messages: without secrets; may be empty.
    public var serverAddress: String
    /// Where the library's image and what an interrupted sync leaves stand.
    public var directory: String
    /// Names or ids of the music folders to take; empty for all.
    public var musicFolders: [String]
    /// The tags that songs have; the others are not kept.
    public var tags: TagMask
    /// Time between two questions whether anything changed.
    public var checkInterval: Duration
    /// Time after which everything is fetched again even if the server says that nothing changed.
    public var fullInterval: Duration
    /// Time after which everything is fetched again if songs were added without a look at all others.
    public var verifyInterval: Duration
    /// Song ids by URIs that songs once had, for the case that the image is lost.
    public var formerURIs: [String: String]

    public init(
        serverID: String,
        serverName: String,
        serverAddress: String = "",
        directory: String,
        musicFolders: [String] = [],
        tags: TagMask = .all,
        checkInterval: Duration = .seconds(300),
        fullInterval: Duration = .seconds(86400),
        verifyInterval: Duration = .seconds(3600),
        formerURIs: [String: String] = [:]
    ) {
        self.serverID = serverID
        self.serverName = serverName
        self.serverAddress = serverAddress
        self.directory = directory
        self.musicFolders = musicFolders
        self.tags = tags
        self.checkInterval = checkInterval
        self.fullInterval = fullInterval
        self.verifyInterval = verifyInterval
        self.formerURIs = formerURIs
    }

    /// The image of the library as the last sync left it; for `LibrarySnapshot.open` at the start.
    public var imageFile: String { "\(directory)/library-\(serverID).image" }
}

/// What happens in a sync, for `updating_db`, idle events and progress bars.
public enum LibrarySyncEvent: Sendable, Hashable {
    /// Songs are being fetched, or a request to update is being looked after.
    case started
    /// So many songs are in; the second number is how many there are to be, if that is known.
    case progress(songs: Int, expected: Int?)
    /// The library is as the server has it. `didChange`: songs or what is known of them differ from before, not only stars,
    /// ratings and plays. All requests to update up to the number `through` are answered by that; the later ones, which came
    /// while the comparison was under way, are not. 0: none yet.
    case finished(didChange: Bool, through: UInt64 = 0)
    /// It did not work; the library is as it was, and the next attempt comes after `retryAfter`. `through` as above.
    case failed(message: String, retryAfter: Duration, through: UInt64 = 0)
}

/// What a comparison with the server came to.
public struct LibraryRefresh: Sendable {
    /// Why the server was asked.
    public enum Cause: Sendable, Hashable {
        /// The start, or the timer.
        case check
        /// A client said `update`.
        case update
        /// A client said `rescan`.
        case rescan
    }

    public var cause: Cause
    public var kind: ServerKind
    /// The library as it is now; complete.
    public var library: LibrarySnapshot
    /// Whether songs, or what is known of them, differ from before.
    public var didChange: Bool
    /// What the user has starred; nil if the server does not tell.
    public var starred: SearchResult?
    /// The ids of the albums that were played last; nil if nobody asked, or the server does not tell.
    public var recentlyPlayed: [String]?
    /// How long the comparison has taken: what is older than its beginning may have been read before.
    public var duration = Duration.zero
    /// The ids that songs have now, by those that they had; only where they differ. What is kept by song id follows.
    public var successors: [String: String] = [:]
}

/// Where a sync's results go. All are called in order, off the server's core.
public struct LibrarySyncHandlers: Sendable {
    /// A new library to be shown. While the first sync runs, several that grow; `info.isComplete` tells them apart.
    public var publish: @Sendable (LibrarySnapshot) async -> Void
    /// The library has been compared with the server, and shown if it differs: the time to fetch what belongs to it. The sync
    /// waits, and tells `.finished` afterwards.
    public var refreshed: @Sendable (LibraryRefresh) async -> Void
    public var event: @Sendable (LibrarySyncEvent) -> Void

    public init(
        publish: @escaping @Sendable (LibrarySnapshot) async -> Void,
        refreshed: @escaping @Sendable (LibraryRefresh) async -> Void = { _ in },
        event: @escaping @Sendable (LibrarySyncEvent) -> Void = { _ in }
    ) {
        self.publish = publish
        self.refreshed = refreshed
        self.event = event
    }
}

/// Why a sync has no result although the server answered.
enum SyncProblem: Error, CustomStringConvertible {
    /// The server looks through its files; what it tells is neither the old library nor the new one.
    case scanning
    /// Fewer songs than albums promise, or none at all where there were some.
    case incomplete(songs: Int, missing: Int)

    var description: String {
        switch self {
        case .scanning: "the server is scanning its files"
        case .incomplete(let songs, let missing):
            missing > 0
                ? "the server gave \(songs) songs, and its albums have \(missing) more"
                : "the server gave \(songs) songs, fewer than can be believed at once"
        }
    }
}
