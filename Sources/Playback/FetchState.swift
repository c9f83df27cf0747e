import SubsonicKit

/// What a fetcher tells those who play or keep its song. Comes on any thread, without a lock held.
enum FetchNotice: Equatable, Sendable {
    /// An attempt failed; another one follows by itself. For users, without secrets.
    case trouble(String)
    /// Bytes come again after trouble.
    case flowing
    /// The disk is full. It is tried again if there may be room in a moment.
    case wantsRoom
    /// Some more megabytes have come since the last such notice.
    case progress
    /// Every byte is on disk.
    case complete
    /// No more bytes will come.
    case failed(PlaybackFailure)
    /// The server's file is another one than before; what was read so far belongs to the old one.
    case changed
}

/// What a fetcher knows; guarded by its lock.
struct FetchState {
    var request: @Sendable (Int64?) -> HTTPRequest
    /// Position that each blocked reader waits for.
    var wants: [UInt64: Int64] = [:]
    /// Where the last reader waited: filling goes on from there.
    var lastWant: Int64 = 0
    var transfers: [RangeTransfer] = []
    var isActive = false
    /// Whether to bring bytes before any reader waits.
    var isEager = false
    var failure: PlaybackFailure?
    /// When that was, on the monotonic clock in nanoseconds.
    var failureTime: UInt64 = 0
    var trouble: String?
    /// Failed attempts in a row, and where the last one ended.
    var attempts = 0
    var troublePlace: Int64 = 0
    /// How often in a row the disk had no room.
    var fullDisks = 0
    /// How the server fails at this song or denies it; nil after any other outcome.
    var failing: Failing?
    /// Grows with each planned retry and each reason to drop it.
    var retryNumber = 0
    var isWaitingToRetry = false
    var refusesRanges = false
    var validators = FileValidators()
    /// Bytes written since `FetchNotice.progress`.
    var unnoted: Int64 = 0
    /// Whether the server itself has told the length of the file.
    var isTotalCertain: Bool
    /// What the catalog says of the length; nil where a server's answer is known to be right.
    var catalogTotal: Int64?
    /// The length that an answer has told last: true if it is told again, whatever was known.
    var doubtfulTotal: Int64?
    /// How often the file was another one.
    var changes = 0
    /// Where a body without a length ended in order.
    var cleanEnd: Int64?
    /// The length that an answer with a range has told last.
    var totalOfRanges: Int64?
    /// Where bodies end before their length while a reader waits for more; nil after any other outcome.
    var earlyEnd: EarlyEnd?
    var isComplete = false
}

/// Bodies that all end at the same place before their length.
struct EarlyEnd {
    let place: Int64
    /// From when on that is believed, on the monotonic clock in nanoseconds.
    let patienceDue: UInt64
}

/// A server that says in each answer that it fails, or does not give the song.
struct Failing {
    /// Until when that may be its own trouble, on the monotonic clock in nanoseconds.
    let patienceDue: UInt64
    /// Whether it is being asked how it is otherwise, and whether it ever was.
    var isAsking = false
    var wasAsked = false
    /// Whether it was well otherwise, behind `patienceDue`.
    var isWellOtherwise = false
    /// Its words, where it lets us in nowhere.
    var refusal: String?
}

/// What identifies a version of the file.
struct FileValidators: Equatable, Sendable {
    var entityTag: String?
    var lastModified: String?

    init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    init(_ head: HTTPHead) {
        entityTag = head.value(of: "etag")
        lastModified = head.value(of: "last-modified")
    }

    /// Whether both tell the same of one version, and do tell something.
    func isSame(as other: FileValidators) -> Bool {
        if let date = lastModified { return date == other.lastModified }
        return entityTag != nil && entityTag == other.entityTag
    }

    /// Whether both can describe one version. Equal dates outweigh tags, which some servers make anew at each start.
    func agree(with other: FileValidators) -> Bool {
        if let a = lastModified, let b = other.lastModified { return a == b }
        if let a = entityTag, let b = other.entityTag { return a == b }
        return true
    }
}
