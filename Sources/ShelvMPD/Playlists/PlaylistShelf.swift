import Glibc
import Logging
import MPDProtocol

/// The stored playlists: what clients see of them, and what is still to be told to the server.
///
/// An edit is shown at once, kept in the journal, and sent later by what `perform` stands for; it is the client's answer
/// that waits until the edit is kept. Owned by the core.
final class PlaylistShelf {
    /// What the configuration decides.
    struct Settings: Sendable {
        /// Whether there are playlists at all.
        var isEnabled = true
        /// Whether they can only be looked at: those of a mounted server. Edits that the server does not have yet wait.
        var isReadOnly = false
        /// Our name on the server; nil where it is not known.
        var user: String?
        /// Entries of a playlist, or nil for no limit.
        var maximumLength: Int?
        /// Names that lists of another kind bear.
        var reservedNames: [String] = []
        /// Time between two looks at the server's lists; nil for none but those on occasion.
        var refreshInterval: Duration?
    }

    let settings: Settings
    let log: Log
    /// What clients see.
    private(set) var book = PlaylistBook()
    var records: [PlaylistKey: PlaylistRecord] = [:]
    /// Those that are made up, in the order of their names; `add(virtual:)`.
    var virtual: [any VirtualPlaylist] = []
    /// Those of mounted servers, as they were looked at last; `mounted`.
    var seenMounted = MountedPlaylists()
    /// Nil where nothing is kept and no server is told.
    let journal: JournalWriter?
    private var lastKey: Int64
    /// How often something has changed that clients can see.
    private(set) var changes = 0

    /// The server that has them.
    weak var home: MusicServer?
    var server: Server? { home?.server }
    /// Carries out what has to be done at the server; one job at a time. Nil without a server.
    var perform: ((PlaylistJob) -> Void)?
    var work = PlaylistWork()
    let pace = DeliveryPace()

    /// - Parameter saved: what the last run left in the store.
    init(
        _ settings: Settings = Settings(),
        saved: SavedPlaylists = SavedPlaylists(),
        journal: JournalWriter? = nil,
        log: Log = .silent
    ) {
        self.settings = settings
        self.journal = journal
        self.log = log
        lastKey = max(saved.lastKey, saved.rows.map(\.record.key.rawValue).max() ?? 0)
        restore(saved)
    }

    private func restore(_ saved: SavedPlaylists) {
        let edits = Dictionary(grouping: saved.edits, by: \.subject)
        var playlists: [StoredPlaylist] = []
        for row in saved.rows {
            var record = row.record
            var playlist = StoredPlaylist(
                key: record.key,
                name: row.name,
                lastModified: row.lastModified,
                entries: record.base
            )
            for entry in edits[record.key.subject] ?? [] {
                guard let edit = try? PlaylistCoding.edit(entry.content) else { continue }
                record.edits.append(PlaylistRecord.PendingEdit(id: entry.id, edit: edit))
                edit.apply(to: &playlist.entries)
                record.take(edit)
                playlist.lastModified = max(playlist.lastModified, entry.time)
            }
            records[record.key] = record
            if !record.isDeleted { playlists.append(playlist) }
        }
        book = PlaylistBook(playlists)
    }

    // MARK: Edits

    /// Makes a playlist, at the server if it can hold the entries, else here.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func create(_ name: [UInt8], _ entries: [PlaylistEntry], whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        try checkName(name)
        try checkLength(entries.count)
        let isLocal = journal == nil || entries.contains { $0.songID == nil }
        if !isLocal, work.mayNotCreate { throw .notAllowed(settings.user) }
        let title = String(decoding: name, as: UTF8.self)
        let key = newKey()
        var record = PlaylistRecord(key: key, isLocal: isLocal, title: title, remoteTitle: title)
        if isLocal { record.base = entries }
        records[key] = record
        let now = Self.wallClock
        book.set(key, StoredPlaylist(key: key, name: title, lastModified: now, entries: isLocal ? entries : []))
        if isLocal {
            keep(key, whenKept)
        } else {
            let row = PlaylistRow(record: record, name: title, lastModified: now)
            submit(.create(title, entries), key, adding: row, whenKept)
        }
        changed()
    }

    /// Changes a playlist.
    /// - Parameter whenKept: told once the change cannot be lost any more.
    func edit(_ key: PlaylistKey, _ edit: PlaylistEdit, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        if let virtual = virtual(key) {
            guard let server else { throw .noSuchPlaylist }
            return try virtual.edit(edit, of: server, whenKept: whenKept)
        }
        guard let record = records[key], let playlist = book[key] else { throw .noSuchPlaylist }
        if let refusal = refusal(of: record) { throw .readOnly(refusal) }
        if !record.isLocal, edit.newEntries.contains(where: { $0.songID == nil }) { throw .notForServer }
        switch edit {
        case .insert(let entries, _): try checkLength(playlist.entries.count + entries.count)
        case .rename(let title): try checkName(Array(title.utf8))
        case .create, .replace, .remove, .move, .delete: break
        }
        if record.isLocal {
            apply(edit, key)
            keep(key, whenKept)
        } else {
            submit(edit, key, whenKept)
        }
        changed()
    }

    /// The playlist of this name, for an edit.
    func existing(_ name: [UInt8]) throws(PlaylistError) -> StoredPlaylist {
        guard let playlist = try playlist(named: name) else { throw .noSuchPlaylist }
        return playlist
    }

    /// The playlist of this name, for an edit; nil if there is none.
    /// - Throws: `.readOnly` for one that is made up and cannot be edited, or is a mounted server's.
    func playlist(named name: [UInt8]) throws(PlaylistError) -> StoredPlaylist? {
        try checkName(name)
        if let playlist = try editable(virtual: name) { return playlist }
        if let playlist = book[name] { return playlist }
        if let refusal = mounted.refusal(of: name) { throw .readOnly(refusal) }
        return nil
    }

    /// Whether a playlist is called so.
    func hasPlaylist(named name: [UInt8]) -> Bool {
        book[name] != nil || virtual(named: name) != nil || mounted[name] != nil
    }

    /// Why a playlist cannot be edited; nil when it can.
    func refusal(of record: PlaylistRecord) -> PlaylistRefusal? {
        record.refusal ?? (settings.isReadOnly ? .mounted(home?.name ?? "") : nil)
    }

    func checkName(_ name: [UInt8]) throws(PlaylistError) {
        if !settings.isEnabled { throw .disabled }
        if !PlaylistNames.isValid(name) { throw .badName }
    }

    private func checkLength(_ length: Int) throws(PlaylistError) {
        if let maximum = settings.maximumLength, length > maximum { throw .tooLarge }
    }

    /// Shows an edit.
    private func apply(_ edit: PlaylistEdit, _ key: PlaylistKey) {
        records[key]?.take(edit)
        let now = Self.wallClock
        switch edit {
        case .delete: book.set(key, nil)
        case .rename(let title):
            guard var playlist = book[key] else { return }
            playlist.name = title
            playlist.lastModified = now
            book.set(key, playlist)
        case .create, .insert, .remove, .move, .replace:
            book.edit(key) { playlist in
                edit.apply(to: &playlist.entries)
                playlist.lastModified = now
            }
        }
    }

    /// Shows an edit and writes it into the journal, to be sent.
    private func submit(
        _ edit: PlaylistEdit,
        _ key: PlaylistKey,
        adding row: PlaylistRow? = nil,
        _ whenKept: @escaping Store.WhenDone
    ) {
        apply(edit, key)
        guard let journal else { return whenKept(.success(())) }
        let name = book[key]?.name
        let server = journal.server.text
        let entry = journal.append(
            .playlist,
            subject: key.subject,
            content: PlaylistCoding.encode(edit),
            time: Self.wallClock,
            also: { database throws(StoreError) in
                if let row { try PlaylistTable.write(row, server: server, to: database) }
                if case .rename = edit, let name { try PlaylistTable.rename([key: name], in: database) }
            },
            whenKept: whenKept
        )
        records[key]?.edits.append(PlaylistRecord.PendingEdit(id: entry.id, edit: edit))
        pace.soon()
    }

    /// Keeps a local playlist as it is now.
    private func keep(_ key: PlaylistKey, _ whenKept: @escaping Store.WhenDone) {
        guard let journal else {
            if records[key]?.isDeleted == true {
                records[key] = nil
                home?.stickers.forget(key)
            }
            return whenKept(.success(()))
        }
        guard var record = records[key], !record.isDeleted, let playlist = book[key] else {
            records[key] = nil
            home?.stickers.forget(key)
            journal.store.submit(
                "a playlist",
                { database throws(StoreError) in try PlaylistTable.remove(key, from: database) },
                whenDone: whenKept
            )
            return
        }
        record.base = playlist.entries
        records[key]?.base = playlist.entries
        let row = PlaylistRow(record: record, name: playlist.name, lastModified: playlist.lastModified)
            .stored(by: journal.server.text)
        journal.store.submit(
            "a playlist",
            { database throws(StoreError) in try PlaylistTable.write(row, server: nil, to: database) },
            whenDone: whenKept
        )
    }

    // MARK: What others changed

    /// Shows a list as the server has it.
    func show(_ key: PlaylistKey, _ body: (inout StoredPlaylist) -> Void) { book.edit(key, body) }

    /// Shows a list no longer.
    func hide(_ key: PlaylistKey) { book.set(key, nil) }

    /// A key that no list has had. The shelves of several servers have one store.
    func newKey() -> PlaylistKey {
        lastKey = max(lastKey, server?.lastPlaylistKey ?? 0) + 1
        server?.lastPlaylistKey = lastKey
        return PlaylistKey(rawValue: lastKey)
    }

    /// Shows further lists, and gives all their names anew.
    /// - Returns: the names that are others than before.
    @discardableResult
    func assignNames(adding new: [StoredPlaylist] = []) -> [PlaylistKey: String] {
        let candidates = records.values.lazy.filter { !$0.isDeleted }.map { [book] record in
            PlaylistNames.Candidate(
                key: record.key,
                title: record.title,
                otherOwner: record.otherOwner,
                name: book[record.key]?.name
            )
        }
        let names = PlaylistNames.assign(Array(candidates), reserved: reservedNames)
        let changed = names.filter { key, name in book[key].map { $0.name != name } ?? true }
        if !new.isEmpty || !changed.isEmpty { book.add(new, names: changed) }
        return changed
    }

    /// Names that no list of the server can bear.
    var reservedNames: [String] { settings.reservedNames + virtual.map(\.name) }

    /// Tells clients that something about playlists is different.
    func changed() {
        changes += 1
        home?.raise(.storedPlaylist)
    }

    /// Unix time in seconds.
    static var wallClock: Int64 { Int64(time(nil)) }
}

extension PlaylistKey {
    /// In the journal.
    var subject: String { String(rawValue) }
}

extension PlaylistRecord {
    /// Takes note of an edit, apart from the entries.
    mutating func take(_ edit: PlaylistEdit) {
        switch edit {
        case .create(let title, _), .rename(let title): self.title = title
        case .delete: isDeleted = true
        case .insert, .remove, .move, .replace: break
        }
    }

    /// The user that it belongs to, if that is somebody else.
    var otherOwner: String? { if case .owner(let owner) = refusal { owner } else { nil } }
}
