import Logging
import SubsonicKit

/// When what is done at the server. The core decides; others carry it out, one job at a time.
extension PlaylistShelf {
    /// A copy that was looked at so long ago is looked at again when somebody uses it.
    private static let staleAfter = Duration.seconds(30)
    /// The moment of the server's `changed` counts in seconds, and clocks differ.
    private static let uncertainty: UInt64 = 10

    /// Begins: there is somebody to carry things out.
    func connect(_ perform: @escaping (PlaylistJob) -> Void) {
        self.perform = perform
        if let server { pace.connect(to: server) { [unowned self] in next() } }
        wantRefresh(readsAll: true)
    }

    /// Somebody uses the copy of all lists, or of one; the answer does not wait for what comes of it.
    func noteUse(of key: PlaylistKey? = nil) {
        guard perform != nil, settings.isEnabled else { return }
        let now = Instant.now
        if let key, let record = records[key], record.stamp.changed == nil, record.remoteID != nil,
            Self.isStale(record.readAt, now)
        {
            work.wanted.insert(key)
            wantRefresh()
        } else if Self.isStale(work.refreshedAt, now) {
            wantRefresh()
        }
    }

    private static func isStale(_ moment: Instant?, _ now: Instant) -> Bool {
        moment.map { $0.duration(to: now) > staleAfter } ?? true
    }

    /// The server's lists are to be looked at.
    /// - Parameter readsAll: also inside of those whose changes the server does not tell.
    func wantRefresh(readsAll: Bool = false) {
        guard settings.isEnabled else { return }
        work.wantsRefresh = true
        if readsAll {
            work.readsAll = true
            work.mayNotCreate = false
        }
        pace.soon()
    }

    /// The server has given its songs other ids: what was read of its lists says nothing any more.
    func forgetContents() {
        for key in records.keys where records[key]?.edits.isEmpty == true { records[key]?.stamp = PlaylistStamp() }
        wantRefresh(readsAll: true)
    }

    /// Starts the next job, if there is one.
    private func next() {
        guard let perform, pace.isTime() else { return }
        if let delivery = nextDelivery(.now) {
            pace.began()
            perform(.deliver(delivery))
        } else if work.wantsRefresh {
            pace.began()
            perform(.refresh(nextRefresh()))
        } else if let due = records.values.filter({ !$0.edits.isEmpty }).compactMap(\.notBefore).min() {
            pace.wait(until: due)
        }
    }

    /// The edits of the list whose first edit is the oldest.
    private func nextDelivery(_ now: Instant) -> PlaylistDelivery? {
        if settings.isReadOnly { return nil }
        let waiting = records.values.filter { record in
            !record.edits.isEmpty && !record.isLocal && record.notBefore.map { $0 <= now } ?? true
        }
        guard let record = waiting.min(by: { $0.edits[0].id < $1.edits[0].id }), let last = record.edits.last else {
            return nil
        }
        let others = records.values.filter { $0.key != record.key }
        let unmade = record.remoteID == nil ? others.filter { $0.remoteID == nil } : []
        // Renamed and renamed back: the first may be on the server, without our knowing.
        let hasRename = record.edits.contains { if case .rename = $0.edit { true } else { false } }
        return PlaylistDelivery(
            key: record.key,
            remoteID: record.remoteID,
            title: record.title,
            isRenamed: hasRename || record.title != record.remoteTitle,
            isPublic: record.isPublic,
            base: record.base,
            wanted: book[record.key]?.entries ?? [],
            isDeleted: record.isDeleted,
            attempt: record.attempt,
            otherIDs: Set(others.compactMap { $0.remoteID ?? $0.attempt?.remoteID }),
            knownToOthers: Set(unmade.flatMap { $0.attempt?.knownIDs ?? [] }),
            through: last.id
        )
    }

    private func nextRefresh() -> PlaylistRefresh {
        defer {
            work.wantsRefresh = false
            work.readsAll = false
            work.wanted = []
        }
        var known: [String: PlaylistRefresh.Known] = [:]
        for record in records.values {
            guard let id = record.remoteID else { continue }
            let isSilent = record.stamp.changed == nil
            // A list that changed in the second in which it was read may have changed again.
            let isFresh =
                record.stamp.changed.map { ($0 &- (record.readAtWallClock ?? 0)).magnitude < Self.uncertainty } ?? false
            known[id] = PlaylistRefresh.Known(
                stamp: record.stamp,
                entries: record.base,
                isWanted: (isSilent && work.readsAll) || work.wanted.contains(record.key) || isFresh,
                isBusy: !record.edits.isEmpty
            )
        }
        return PlaylistRefresh(known: known)
    }

    // MARK: What came of it

    /// A refresh has ended.
    func refreshed(_ result: Result<PlaylistNews, SubsonicError>) {
        // Meant for the shelf that stood here before.
        guard perform != nil else { return }
        pace.ended()
        switch result {
        case .success(let news):
            succeeded()
            work.refreshedAt = .now
            take(news)
        case .failure(let error):
            // The next use, or the next comparison of the library, asks again.
            failed(error, "Cannot look at the playlists of \(serverName)")
        }
    }

    /// A delivery has ended.
    func delivered(_ delivery: PlaylistDelivery, _ receipt: PlaylistReceipt) {
        guard perform != nil else { return }
        pace.ended()
        switch receipt {
        case .arrived(let playlist, let entries):
            succeeded()
            arrived(delivery, playlist, entries)
        case .removed:
            succeeded()
            forget(delivery.key)
        case .vanished:
            succeeded()
            vanished(delivery.key)
        case .failed(let error, let attempt):
            if let attempt { records[delivery.key]?.attempt = attempt }
            if error.serverCode == 50 {
                refused(delivery.key, error)
            } else if error.serverCode == nil || error.isAuthentication {
                failed(error, "Cannot bring changes of playlists to \(serverName); they are kept")
            } else {
                putOff(delivery.key, error)
            }
        }
    }

    private var serverName: String { home?.name ?? "the server" }

    private func succeeded() {
        if pace.succeeded() { log.info("\(serverName) answers again") }
    }

    private func failed(_ error: SubsonicError, _ what: String) {
        let line = "\(what): \(error); again in \(pace.failed(error)) s"
        // Once is news; after that it is the same news.
        if pace.failures == 1 { log.notice(line) } else { log.info(line) }
    }

    /// The server does not take this list; others go on.
    private func putOff(_ key: PlaylistKey, _ error: SubsonicError) {
        guard var record = records[key] else { return }
        record.failures += 1
        let seconds = min(3600, 5 << Int64(min(record.failures - 1, 10)))
        record.notBefore = Instant.now.advanced(by: .seconds(seconds))
        records[key] = record
        let line =
            "The server does not take the changes of the playlist \(record.title): \(error); again in \(seconds) s"
        if record.failures == 1 { log.error(line) } else { log.info(line) }
    }
}
