/// The addresses of one remote stream, and what is known of the one that plays. Belongs to the player's thread.
///
/// At first that is one address. If it turns out to be a playlist, its rows take its place: they are played one after the
/// other, and those that cannot be had are passed over.
final class RemoteStream {
    /// Playlists may name playlists, so many deep.
    private static let maximumDepth = 4
    /// A playlist that is played has no more rows than this in all; the others are left out.
    private static let maximumRows = 1_000
    /// How long a stream that cannot be reached is tried.
    private static let patience = Duration.seconds(300)

    private struct Row {
        var address: StreamAddress
        var depth: Int
        /// Whether it has been looked at.
        var isKnown = false
        /// Whether it is HLS, and so may refer to other addresses.
        var isSegmented = false
    }

    private var rows: [Row]
    private var place = 0

    /// Whether a place in it can be gone to; nil until libmpv has said so.
    var isSeekable: Bool?
    /// Whether one could move in it when it was open last, so that it may be opened at a place.
    private var couldSeek = false
    /// Where to go once libmpv has said that one can.
    var wantedPlace: Duration?
    /// Whether it tells of itself as radios do: then an end is a cut.
    var isRadio = false
    /// Whether anything of it has been heard.
    private(set) var hasSounded = false
    /// As it was told last, in order.
    var tags: [StreamTag] = []
    /// What libmpv takes for the length.
    var claimedDuration: Duration?
    /// Why it does not play at the moment; for users.
    private(set) var trouble: String?
    /// Whether a row could not be reached, so that trying again makes sense.
    private(set) var isUnreached = false
    /// Where it was heard last when it was cut.
    var cutAt: Duration?

    private var troubleSince: UInt64?
    private var attempts = 0
    private(set) var question: UInt64 = 0
    private var probe: RemoteProbe?

    init(_ address: StreamAddress) { rows = [Row(address: address, depth: 0)] }

    /// What libmpv is to open now.
    var address: StreamAddress { rows[place].address }

    /// Whether the address looks like that of a playlist and has not been looked at.
    var isToBeRead: Bool {
        let row = rows[place]
        return !row.isKnown && row.address.isHTTP && RemotePlaylist.isPlaylist(name: row.address.url)
    }

    /// Whether nothing of this stream follows when the present address ends. Not known before libmpv has opened it.
    var isLast: Bool { isSeekable != nil && !isRadio && place + 1 == rows.count }

    /// What libmpv is told for this entry alone. Everything is decoded by FFmpeg, which may use the network and nothing
    /// else: no playlists of libmpv's own, which could name local files. Only HLS may refer to other addresses.
    var options: [(String, String)] {
        let protocols = address.protocols
        let whitelist = "protocol_whitelist=%\(protocols.utf8.count)%\(protocols)"
        return [
            ("demuxer", "lavf"), ("stream-lavf-o", whitelist), ("demuxer-lavf-o", whitelist),
            ("access-references", rows[place].isSegmented ? "yes" : "no"),
        ]
    }

    // MARK: Looking

    /// Keeps what asks about the address; an earlier question is dropped. Returns the number of the new one.
    func ask(_ begin: (UInt64) -> RemoteProbe) {
        forgetQuestion()
        question += 1
        probe = begin(question)
    }

    /// Drops the question that is open.
    func forgetQuestion() {
        probe?.cancel()
        probe = nil
        question += 1
    }

    /// The present address is no playlist.
    func isNoPlaylist() { rows[place].isKnown = true }

    /// The present address is HLS. Returns false when that was known.
    func isHLS() -> Bool {
        guard !rows[place].isSegmented else { return false }
        rows[place].isKnown = true
        rows[place].isSegmented = true
        return true
    }

    /// The present address is a playlist: its rows take its place. Returns false when there are too many playlists in each
    /// other.
    func unfold(_ playlist: RemotePlaylist) -> Bool {
        let depth = rows[place].depth + 1
        guard depth <= Self.maximumDepth else { return false }
        let room = max(1, Self.maximumRows - rows.count)
        let found = playlist.rows.prefix(room).map { Row(address: $0.address, depth: depth) }
        rows.replaceSubrange(place...place, with: found)
        return !found.isEmpty
    }

    // MARK: Places

    /// Where libmpv is to open it, if it is wanted at a place: at the beginning as long as nobody knows whether one can move
    /// in it. A live stream would be silent until that place is reached.
    func opening(at place: Duration) -> Duration {
        isSeekable = nil
        wantedPlace = couldSeek || place == .zero ? nil : place
        return couldSeek ? place : .zero
    }

    /// What libmpv says of moving in it. Returns the place to go to, if there is one.
    func canSeek(_ isSeekable: Bool) -> Duration? {
        self.isSeekable = isSeekable
        couldSeek = isSeekable
        // Files of an archive may bear a radio's headers.
        if isSeekable { isRadio = false }
        defer { wantedPlace = nil }
        return isSeekable ? wantedPlace : nil
    }

    // MARK: Going on

    /// Goes to the next row, if there is one.
    func advance() -> Bool {
        guard place + 1 < rows.count else { return false }
        place += 1
        isSeekable = nil
        couldSeek = false
        claimedDuration = nil
        return true
    }

    /// Something of it is heard.
    func sounds() {
        hasSounded = true
        trouble = nil
        troubleSince = nil
        attempts = 0
        isUnreached = false
    }

    /// The present row cannot be reached, or has been cut.
    func isUnreachable(_ message: String) {
        isUnreached = true
        trouble = message
        if troubleSince == nil { troubleSince = monotonicNow() }
    }

    /// How long to wait before all is tried anew; nil when that has been done long enough.
    func nextDelay() -> Duration? {
        if let since = troubleSince, monotonicNow() >= since.advanced(by: Self.patience) { return nil }
        attempts += 1
        return .seconds(min(attempts, 5))
    }

    /// Begins anew: a radio where it was, which has sounded, all else with the first row.
    func beginAnew() {
        isUnreached = false
        if !hasSounded { place = 0 }
    }
}
