import Library
import Logging
import MPDProtocol

/// The stickers that clients have set: held in memory, and kept in the store. Owned by the core.
final class StickerKeeper {
    /// What clients see.
    private(set) var book: StickerBook
    private let store: Store?
    private let serverID: ServerID?
    /// The server whose songs they are on.
    weak var home: MusicServer?

    /// - Parameters:
    ///   - book: what the last run left in the store.
    ///   - store: nil where nothing is kept.
    init(_ book: StickerBook = StickerBook(), store: Store? = nil, serverID: ServerID? = nil) {
        self.book = book
        self.store = store
        self.serverID = serverID
    }

    /// Sets one, in the place of the former one of this name.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func set(
        _ type: StickerType,
        _ object: [UInt8],
        _ sticker: StickerBook.Sticker,
        whenKept: @escaping Store.WhenDone
    ) {
        book.set(type, object, sticker)
        let uri = uri(type, object)
        keep(whenKept) { server, database throws(StoreError) in
            try StickerTable.write(sticker, on: object, type, uri: uri, for: server, to: database)
        }
    }

    /// Removes one, or all of an object.
    /// - Parameter whenKept: told once it cannot come back any more.
    func remove(_ type: StickerType, _ object: [UInt8], _ name: [UInt8]?, whenKept: @escaping Store.WhenDone) {
        if let name { book.remove(type, object, name) } else { book.removeAll(type, object) }
        keep(whenKept) { server, database throws(StoreError) in
            try StickerTable.remove(name, of: object, type, for: server, from: database)
        }
    }

    /// A playlist is gone, and its stickers with it.
    func forget(_ key: PlaylistKey) {
        let object = StickerObject.playlist(key)
        guard book.removeAll(.playlist, object) else { return }
        keep({ _ in }) { server, database throws(StoreError) in
            try StickerTable.remove(nil, of: object, .playlist, for: server, from: database)
        }
    }

    /// Told once all before cannot be lost any more.
    func whenKept(_ whenKept: @escaping Store.WhenDone) { keep(whenKept) { _, _ throws(StoreError) in } }

    private func keep(
        _ whenKept: @escaping Store.WhenDone,
        _ body: @escaping @Sendable (String, Database) throws(StoreError) -> Void
    ) {
        guard let store, let serverID else { return whenKept(.success(())) }
        store.submit(
            "a sticker",
            { database throws(StoreError) in try body(serverID.text, database) },
            whenDone: whenKept
        )
    }

    private func uri(_ type: StickerType, _ object: [UInt8]) -> [UInt8]? {
        guard type == .song, let library = home?.library else { return nil }
        return library.song(id: String(decoding: object, as: UTF8.self)).map { library.uri($0) }
    }

    // MARK: Other ids

    /// Follows songs that have other ids in a new library. What is looked for takes time, and is not done here.
    func follow(from old: LibrarySnapshot, to new: LibrarySnapshot, _ translation: SongTranslation) {
        guard translation.hasNewIDs, let home, let server = home.server else { return }
        let (book, marks) = (book, home.marks.book)
        server.workers.submit { [reference = home.reference] in
            var ids: Set<String> = []
            book.forEach(.song) { object, _ in ids.insert(String(decoding: object, as: UTF8.self)) }
            marks.forEach(.song) { id, _ in ids.insert(id) }
            for key in marks.pending.keys where key.kind == .song { ids.insert(key.id) }
            var moved: [String: String] = [:]
            for id in ids {
                guard let successor = old.song(id: id).flatMap({ translation[$0] }) else { continue }
                let newID = new.songID(successor)
                if newID != id { moved[id] = newID }
            }
            reference.post { [moved] in $0.stickers.rename(moved) }
        }
    }

    /// Songs have other ids now: by the old ones.
    func rename(_ songs: [String: String]) {
        guard !songs.isEmpty else { return }
        home?.marks.rename(songs)
        renameStickers(songs)
        keep({ _ in }) { server, database throws(StoreError) in
            try StickerTable.rename(songs, for: server, in: database)
        }
    }

    private func renameStickers(_ songs: [String: String]) {
        guard let home, let server = home.server, book.count(of: .song) > 0 else { return }
        let former = book
        server.workers.submit { [reference = home.reference] in
            var book = former
            book.rename(
                .song,
                Dictionary(songs.map { (Array($0.key.utf8), Array($0.value.utf8)) }, uniquingKeysWith: { $1 })
            )
            reference.post { [book] home in
                let keeper = home.stickers
                // Something was set meanwhile: once more.
                guard keeper.book.version == former.version else { return keeper.renameStickers(songs) }
                keeper.book = book
            }
        }
    }
}

extension SavedStickers {
    /// For songs that the library does not have by their ids, the ids of those that stand under their URIs now. Takes a
    /// microsecond for each song: not for the core.
    func moved(in library: LibrarySnapshot) -> [String: String] {
        guard library.info.isComplete else { return [:] }
        var moved: [String: String] = [:]
        for (id, uri) in uris where library.song(id: id) == nil || library.hasReassignedIDs {
            guard let song = library.song(uri: uri) else { continue }
            let newID = library.songID(song)
            if newID != id { moved[id] = newID }
        }
        return moved
    }
}
