/// What a sync remembers about its server, with the library.
struct SyncMemory: Sendable, Hashable {
    /// The server's state when the library was compared with it.
    var stamp = SyncStamp()
    /// When everything was fetched, Unix time in seconds.
    var lastFull: Int64 = 0
    /// When that was begun.
    var lastFullBegan: Int64 = 0
    /// Since then something was added without a look at everything else.
    var isUnverified = false
    /// Songs that the server counts and does not give, as the last full pass found; nil if it does not count.
    var surplus: Int?

    /// Reads what `encoded` made; missing parts keep their defaults.
    init(_ state: [String: String] = [:]) {
        stamp = SyncStamp(state)
        lastFull = state["lastFull"].flatMap { Int64($0) } ?? 0
        lastFullBegan = state["fullBegan"].flatMap { Int64($0) } ?? 0
        isUnverified = state["unverified"] != nil
        surplus = state["surplus"].flatMap { Int($0) }
    }

    /// For `LibraryInfo.syncState`.
    var encoded: [String: String] {
        var state = stamp.encoded
        state["lastFull"] = String(lastFull)
        state["fullBegan"] = String(lastFullBegan)
        if isUnverified { state["unverified"] = "yes" }
        state["surplus"] = surplus.map { String($0) }
        return state
    }

    /// Whether so many songs are what the server counts; true if it does not count.
    func agrees(_ stamp: SyncStamp, songs: Int) -> Bool {
        guard let surplus, let count = stamp.scanCount else { return true }
        return count == songs &+ surplus
    }
}
