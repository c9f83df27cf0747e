import SubsonicKit

/// What a server tells about the state of its library in one or two small answers; equal stamps mean that nothing was
/// added since, and with `isStrong` that nothing else happened either.
struct SyncStamp: Sendable, Hashable {
    /// Navidrome: the end of the last scan, in its own words.
    var lastScan: String?
    /// Songs, as far as the scanner counted them.
    var scanCount: Int?
    /// Milliseconds since 1970: the last change as `getIndexes` tells it.
    var lastModified: Int64?
    /// The newest albums with their songs, as text.
    var newest: String?

    /// Whether changes of tags and removals move it too.
    var isStrong: Bool { lastScan != nil || lastModified != nil }

    /// Reads what `encoded` made; missing parts stay nil.
    init(_ state: [String: String] = [:]) {
        lastScan = state["stamp.lastScan"]
        scanCount = state["stamp.scanCount"].flatMap { Int($0) }
        lastModified = state["stamp.lastModified"].flatMap { Int64($0) }
        newest = state["stamp.newest"]
    }

    /// For `LibraryInfo.syncState`.
    var encoded: [String: String] {
        var state: [String: String] = [:]
        state["stamp.lastScan"] = lastScan
        state["stamp.scanCount"] = scanCount.map { String($0) }
        state["stamp.lastModified"] = lastModified.map { String($0) }
        state["stamp.newest"] = newest
        return state
    }

    /// Whether this stamp, taken now, says that nothing happened since `former`.
    ///
    /// Only parts that both have count; stamps without a common part say nothing.
    func matches(_ former: SyncStamp) -> Bool {
        if let lastScan, let formerScan = former.lastScan {
            return lastScan == formerScan && scanCount == former.scanCount
        }
        if let lastModified, let formerModified = former.lastModified { return lastModified == formerModified }
        if let newest, let formerNewest = former.newest {
            return newest == formerNewest && scanCount == former.scanCount
        }
        return false
    }
}

extension SyncCaller {
    /// Takes a stamp.
    ///
    /// - Parameter former: The last one; what it has not will not be asked for again.
    /// - Returns: Nil while the server scans: what it tells then is neither the old library nor the new one.
    func stamp(kind: ServerKind, former: SyncStamp?) async throws(SubsonicError) -> SyncStamp? {
        var stamp = SyncStamp()
        if let status = try await ifSupported({ (server) async throws(SubsonicError) in try await server.scanStatus() })
        {
            if status.isScanning { return nil }
            stamp.lastScan = status.lastScan
            // LMS counts only while it scans.
            stamp.scanCount = kind == .lms ? nil : status.count
            if stamp.lastScan != nil { return stamp }
        }
        if Self.hasModificationTime(kind) {
            stamp.lastModified = try await lastModified(former: former?.lastModified)
            if stamp.lastModified != nil { return stamp }
        }
        let albums = try await ifSupported { (server) async throws(SubsonicError) in
            try await server.albumList2(type: .newest, size: 20)
        }
        stamp.newest = albums.map { albums in
            albums.map { "\($0.id):\($0.songCount ?? -1):\($0.created ?? -1)" }.joined(separator: " ")
        }
        return stamp
    }

    /// LMS and gonic have a constant there; Funkwhale and Nextcloud nothing.
    private static func hasModificationTime(_ kind: ServerKind) -> Bool {
        switch kind {
        case .supysonic, .airsonic, .ampache, .subsonic, .unknown: true
        case .navidrome, .gonic, .lms, .nextcloud, .funkwhale: false
        }
    }

    /// The last change by `getIndexes`, asked so that an unchanged library is a small answer.
    private func lastModified(former: Int64?) async throws(SubsonicError) -> Int64? {
        if let former {
            let indexes = try await ifSupported { (server) async throws(SubsonicError) in
                try await server.indexes(modifiedSince: former)
            }
            guard let indexes else { return nil }
            return indexes.isUnmodified ? former : indexes.lastModified
        }
        let indexes = try await ifSupported { (server) async throws(SubsonicError) in try await server.indexes() }
        // Dummies: 0, and LMS's 1 January 2000 under another name.
        guard let modified = indexes?.lastModified, modified > 0, modified != 946_684_800_000 else { return nil }
        return modified
    }
}
