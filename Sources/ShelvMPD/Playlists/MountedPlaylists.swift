import Library

/// The stored playlists of mounted servers, as clients see them beside the active one's: they are listed and loaded as
/// `PATH: NAME`, and edited where their server is the active one. Docs/servers.md, “Mounting”. Owned by the core.
struct MountedPlaylists {
    /// Under the names that clients use.
    private(set) var book = PlaylistBook()
    private var shelves: [PlaylistKey: PlaylistShelf] = [:]
    private var parts: [Part] = []
    private var reserved: [String] = []
    private var ownVersion = 0

    /// What they were made of.
    private struct Part {
        let path: String
        let shelf: PlaylistShelf
        let version: Int
    }

    /// One of them.
    struct Playlist {
        let stored: StoredPlaylist
        fileprivate let shelf: PlaylistShelf
    }

    init() {}

    /// - Parameter own: the active server's; what is called so there is called so.
    init(_ mounts: [Mount], beside own: PlaylistShelf) {
        var lists: [StoredPlaylist] = []
        var candidates: [PlaylistNames.Candidate] = []
        for mount in mounts {
            let shelf = mount.music.playlists
            let prefix = mount.path + ": "
            parts.append(Part(path: mount.path, shelf: shelf, version: shelf.book.version))
            for list in shelf.book.all {
                let title = prefix + list.name
                lists.append(list)
                candidates.append(PlaylistNames.Candidate(key: list.key, title: title, otherOwner: nil, name: nil))
                shelves[list.key] = shelf
            }
        }
        reserved = Self.reserved(mounts, own)
        let names = PlaylistNames.assign(candidates, reserved: reserved)
        for index in lists.indices { lists[index].name = names[lists[index].key] ?? candidates[index].title }
        book = PlaylistBook(lists)
        ownVersion = own.book.version
    }

    /// Names that are another playlist's.
    private static func reserved(_ mounts: [Mount], _ own: PlaylistShelf) -> [String] {
        let prefixes = mounts.map { Array("\($0.path): ".utf8) }
        return own.reservedNames
            + own.book.all.lazy.map(\.name).filter { name in prefixes.contains { name.utf8.starts(with: $0) } }
    }

    /// Follows what has changed since. Edits of the active server's playlists mostly leave all as it is.
    mutating func follow(_ mounts: [Mount], beside own: PlaylistShelf) {
        let isSame = parts.elementsEqual(mounts) { part, mount in
            part.path == mount.path && part.shelf === mount.music.playlists
                && part.version == mount.music.playlists.book.version
        }
        if isSame {
            if mounts.isEmpty || ownVersion == own.book.version { return }
            ownVersion = own.book.version
            let now = Self.reserved(mounts, own)
            if now.elementsEqual(reserved, by: { $0.utf8.elementsEqual($1.utf8) }) { return }
        }
        self = MountedPlaylists(mounts, beside: own)
    }

    /// The playlist with exactly this name.
    subscript(name: [UInt8]) -> Playlist? {
        guard let stored = book[name], let shelf = shelves[stored.key] else { return nil }
        return Playlist(stored: stored, shelf: shelf)
    }

    /// Why the playlist of this name cannot be edited; nil if there is none.
    func refusal(of name: [UInt8]) -> PlaylistRefusal? {
        guard let playlist = self[name], let record = playlist.shelf.records[playlist.stored.key] else { return nil }
        return playlist.shelf.refusal(of: record)
    }
}

extension MountedPlaylists.Playlist {
    /// The server that it belongs to.
    var serverID: String? { shelf.home?.library.info.serverID }

    /// Somebody uses it; the answer does not wait for what comes of it.
    func noteUse() { shelf.noteUse(of: stored.key) }

    /// Works out what it holds, as a list of the active server would hold it; for any thread.
    var content: @Sendable () -> [PlaylistEntry] {
        let (entries, serverID) = (stored.entries, serverID ?? "")
        return {
            entries.map { entry in
                entry.songID.map { .foreign(SongIdentity(serverID: serverID, songID: $0)) } ?? entry
            }
        }
    }
}

extension PlaylistShelf {
    /// Those of the mounted servers, if this is the active one's shelf. Put together anew only if one of them has changed.
    var mounted: MountedPlaylists {
        seenMounted.follow(server?.playlists === self ? server?.mounts ?? [] : [], beside: self)
        return seenMounted
    }
}

extension Server {
    /// Somebody uses the lists of playlists; the answer does not wait for what comes of it.
    func noteUseOfPlaylists() {
        for music in attached { music.playlists.noteUse() }
    }
}
