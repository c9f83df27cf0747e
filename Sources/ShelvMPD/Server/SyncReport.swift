import Library

/// How the comparison with the server stands; for `shelv_sync`. Owned by the core.
struct SyncReport: Sendable, Equatable {
    enum State: String, Sendable {
        /// Nothing is under way, and the last comparison succeeded.
        case idle
        /// The server is asked, or songs are being fetched.
        case syncing
        /// The last comparison failed; the next one comes by itself.
        case failed
    }

    var state = State.idle
    /// Songs that are in so far.
    var fetched = 0
    /// How many there are to be; nil if that is not known.
    var expected: Int?
    /// Why it failed.
    var message: String?

    /// Follows an event of the sync.
    mutating func note(_ event: LibrarySyncEvent) {
        switch event {
        case .started: self = SyncReport(state: .syncing)
        case .progress(let songs, let expected):
            state = .syncing
            fetched = songs
            self.expected = expected
        case .finished: self = SyncReport()
        case .failed(let message, _, _): self = SyncReport(state: .failed, message: message)
        }
    }
}

/// Which steps of a long sync are worth a line in the log: every tenth of the way, or every 10,000 songs where nobody knows
/// how long the way is.
struct SyncMilestones: Sendable {
    private var last = 0

    /// Whether this step is one, given that it comes after those that were asked about before.
    mutating func isDue(songs: Int, expected: Int?) -> Bool {
        if songs < last { last = 0 }
        let step = max(1, expected.map { ($0 + 9) / 10 } ?? 10_000)
        guard songs / step > last / step || songs == expected && last < songs else { return false }
        last = songs
        return true
    }
}
