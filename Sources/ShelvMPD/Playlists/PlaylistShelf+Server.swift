import Logging
import SubsonicKit

/// How what the server has becomes what clients see.
extension PlaylistShelf {
    /// Takes over what a refresh found.
    func take(_ news: PlaylistNews) {
        var differs = false
        var written: Set<PlaylistKey> = []
        var added: [StoredPlaylist] = []
        let byID = Dictionary(records.values.compactMap { record in record.remoteID.map { ($0, record.key) } }) { $1 }
        for item in news.items {
            if let key = byID[item.playlist.id] {
                let outcome = take(item, key)
                if outcome.isWritten { written.insert(key) }
                differs = differs || outcome.differs
            } else if !mayBeOurs(item.playlist) {
                added.append(add(item))
                differs = true
            }
        }
        let present = Set(news.items.map(\.playlist.id))
        for (id, key) in byID where !present.contains(id) {
            // What is to become of edits is found out when they can be sent.
            if settings.isReadOnly, records[key]?.edits.isEmpty == false { continue }
            differs = records[key]?.isDeleted == false || differs
            vanished(key)
        }
        if differs || !written.isEmpty {
            written.formUnion(added.map(\.key))
            written.formUnion(assignNames(adding: added).keys)
            keep(written)
        }
        if differs { changed() }
    }

    /// Whether a list of the server may be one that was sent from here without knowing whether it arrived.
    private func mayBeOurs(_ playlist: Playlist) -> Bool {
        records.values.contains { record in
            guard record.remoteID == nil, !record.isLocal, let attempt = record.attempt else { return false }
            if let id = attempt.remoteID { return id == playlist.id }
            return attempt.title == playlist.name && !attempt.knownIDs.contains(playlist.id)
        }
    }

    private func take(_ item: PlaylistNews.Item, _ key: PlaylistKey) -> (differs: Bool, isWritten: Bool) {
        guard var record = records[key] else { return (false, false) }
        let former = record
        record.takeFacts(of: item.playlist, user: settings.user)
        if record.edits.isEmpty {
            if item.wasRead { record.noteRead(item.playlist, now: Self.wallClock) }
            if let entries = item.entries {
                record.base = entries
                let time = item.playlist.changed ?? Self.wallClock
                show(key) { playlist in
                    playlist.entries = entries
                    playlist.lastModified = time
                }
            }
        }
        records[key] = record
        let isRenamed = record.title != former.title || record.refusal != former.refusal
        let differs = (item.entries != nil && record.edits.isEmpty) || isRenamed
        return (differs, differs || record.stamp != former.stamp || record.isPublic != former.isPublic)
    }

    private func add(_ item: PlaylistNews.Item) -> StoredPlaylist {
        let key = newKey()
        let title = item.playlist.name ?? ""
        var record = PlaylistRecord(
            key: key,
            isLocal: false,
            remoteID: item.playlist.id,
            title: title,
            remoteTitle: title
        )
        record.takeFacts(of: item.playlist, user: settings.user)
        record.base = item.entries ?? []
        if item.wasRead { record.noteRead(item.playlist, now: Self.wallClock) }
        records[key] = record
        let time = item.playlist.changed ?? item.playlist.created ?? Self.wallClock
        // Gets its name with all the others.
        return StoredPlaylist(key: key, name: "", lastModified: time, entries: record.base)
    }

    /// The edits of a list are on the server.
    func arrived(_ delivery: PlaylistDelivery, _ playlist: Playlist, _ entries: [PlaylistEntry]) {
        guard var record = records[delivery.key] else { return }
        let later = record.edits.filter { $0.id > delivery.through }
        record.remoteID = playlist.id
        record.base = entries
        record.attempt = nil
        record.failures = 0
        record.notBefore = nil
        record.edits = later
        record.takeFacts(of: playlist, user: settings.user)
        let isRenamedAgain = later.contains { if case .rename = $0.edit { true } else { false } }
        // As the server has it, also if it did not like the title.
        if !isRenamedAgain { record.title = record.remoteTitle }
        record.noteRead(playlist, now: Self.wallClock)
        records[delivery.key] = record
        var differs = false
        var replaced: [PlaylistEntry]?
        if entries != delivery.wanted, let shown = book[delivery.key], !delivery.isDeleted {
            // Changed elsewhere meanwhile, or the server could not hold something.
            let merged =
                later.isEmpty
                ? entries : PlaylistMerge.merge(base: delivery.wanted, mine: shown.entries, theirs: entries)
            if merged != shown.entries {
                show(delivery.key) { $0.entries = merged }
                differs = true
            }
            if !later.isEmpty { replaced = merged }
        }
        if later.isEmpty, let changed = playlist.changed { show(delivery.key) { $0.lastModified = changed } }
        if !assignNames().isEmpty { differs = true }
        settle(delivery.key, through: delivery.through, replacing: replaced)
        if differs { changed() }
    }

    /// Somebody else has removed a list. What was changed here is not lost: it is made again.
    func vanished(_ key: PlaylistKey) {
        guard var record = records[key] else { return }
        if record.edits.isEmpty || record.isDeleted { return forget(key) }
        log.notice("The playlist \(record.title) was removed elsewhere while it was edited here; it is made again")
        record.remoteID = nil
        record.base = []
        record.attempt = nil
        record.stamp = PlaylistStamp()
        records[key] = record
        settle(key, through: record.edits.last?.id ?? 0, replacing: book[key]?.entries ?? [])
    }

    /// The server does not allow the edits: what it has is shown again.
    func refused(_ key: PlaylistKey, _ error: SubsonicError) {
        guard var record = records[key] else { return }
        log.error("The server refuses the changes of the playlist \(record.title), which are taken back: \(error)")
        guard record.remoteID != nil else {
            work.mayNotCreate = true
            forget(key)
            return changed()
        }
        let through = record.edits.last?.id ?? 0
        record.edits = []
        record.attempt = nil
        record.isDeleted = false
        record.title = record.remoteTitle
        record.stamp = PlaylistStamp()
        records[key] = record
        assignNames(
            adding: [StoredPlaylist(key: key, name: "", lastModified: Self.wallClock, entries: record.base)]
        )
        settle(key, through: through, replacing: nil)
        work.wanted.insert(key)
        wantRefresh()
        changed()
    }

    /// Nothing of a list is needed any more.
    func forget(_ key: PlaylistKey) {
        records[key] = nil
        hide(key)
        home?.stickers.forget(key)
        guard let journal else { return }
        let (server, isReadOnly) = (journal.server.text, settings.isReadOnly)
        journal.store.submit("that a playlist is gone") { database throws(StoreError) in
            try PlaylistTable.remove(key, from: database)
            if isReadOnly { return }
            try Journal.remove(.playlist, subject: key.subject, through: .max, for: server, from: database)
        }
    }

    /// Keeps how a list stands with the server now.
    /// - Parameters:
    ///   - through: edits up to this one are done with.
    ///   - replacing: put in the place of the later edits, which were made on another list than the present base.
    private func settle(_ key: PlaylistKey, through: Int64, replacing: [PlaylistEntry]?) {
        guard let journal, var record = records[key] else { return }
        let server = journal.server.text
        var through = through
        if let replacing {
            through = max(through, record.edits.last?.id ?? 0)
            var edits: [PlaylistEdit] = [.replace(replacing)]
            if record.title != record.remoteTitle { edits.append(.rename(record.title)) }
            if record.isDeleted { edits.append(.delete) }
            // In order: the old ones go in the same transaction in which the first of the new ones comes.
            record.edits = []
            for (place, edit) in edits.enumerated() {
                let isFirst = place == 0
                let entry = journal.append(
                    .playlist,
                    subject: key.subject,
                    content: PlaylistCoding.encode(edit),
                    time: Self.wallClock,
                    also: { [through] database throws(StoreError) in
                        guard isFirst else { return }
                        try Journal.remove(
                            .playlist,
                            subject: key.subject,
                            through: through,
                            for: server,
                            from: database
                        )
                    },
                    whenKept: { _ in }
                )
                record.edits.append(PlaylistRecord.PendingEdit(id: entry.id, edit: edit))
            }
            records[key] = record
        }
        let row = PlaylistRow(
            record: record,
            name: book[key]?.name ?? record.title,
            lastModified: book[key]?.lastModified ?? Self.wallClock
        )
        journal.store.submit("a playlist") { [through] database throws(StoreError) in
            try PlaylistTable.write(row, server: server, to: database)
            try Journal.remove(.playlist, subject: key.subject, through: through, for: server, from: database)
        }
    }

    /// Keeps lists of the server as they are now.
    private func keep(_ keys: Set<PlaylistKey>) {
        guard let journal else { return }
        let server = journal.server.text
        let rows = keys.compactMap { key -> PlaylistRow? in
            guard let record = records[key] else { return nil }
            let shown = book[key]
            return PlaylistRow(
                record: record,
                name: shown?.name ?? record.title,
                lastModified: shown?.lastModified ?? Self.wallClock
            )
            .stored(by: server)
        }
        journal.store.submit("playlists of the server") { database throws(StoreError) in
            for row in rows { try PlaylistTable.write(row, server: row.record.isLocal ? nil : server, to: database) }
        }
    }
}

extension PlaylistRecord {
    /// Takes over what a list's head says: whose it is, and what it is called.
    mutating func takeFacts(of playlist: Playlist, user: String?) {
        comment = playlist.comment
        owner = playlist.owner
        isPublic = playlist.isPublic
        let isForeign =
            playlist.owner.map { owner in user.map { $0.lowercased() != owner.lowercased() } ?? false } ?? false
        refusal = isForeign ? playlist.owner.map { .owner($0) } : playlist.isReadonly ? .readonly : nil
        let name = playlist.name ?? ""
        // One that is called otherwise here shall be called so there, also one that was renamed and renamed back meanwhile.
        let isRenamed = edits.contains { if case .rename = $0.edit { true } else { false } }
        if title == remoteTitle, !isRenamed { title = name }
        remoteTitle = name
    }
}
