import Library
import MPDProtocol

/// All stickers at one moment, those that the server keeps included: a value that any thread can read.
struct StickerView: Sendable {
    /// What is known of the things of one server.
    struct Part: Sendable {
        let serverID: String
        let stickers: StickerBook
        let marks: MarkBook
        let freshPlays: FreshPlays
    }

    let library: LibrarySnapshot
    /// Those of the servers that the library holds.
    let parts: [Part]
    /// What has stickers of things that are no server's.
    let own: Part
    let playlists: PlaylistBook
    /// Those of mounted servers.
    let mountedPlaylists: PlaylistBook
    /// Whether there are stars.
    let hasFavorites: Bool

    /// The stickers among which those of an object are.
    func stickers(of object: StickerObject) -> StickerBook {
        object.serverID.flatMap { id in parts.first { $0.serverID == id } }?.stickers ?? own.stickers
    }

    private func mark(_ mark: ServerMark) -> Mark? { parts.first { $0.serverID == mark.serverID }?.marks[mark.key] }

    /// What the server keeps under a name for such an object; nil for an ordinary sticker.
    func kept(_ name: [UInt8], _ object: StickerObject) -> KeptSticker? {
        guard let kept = KeptSticker(name), !object.marks.isEmpty, hasFavorites || !kept.isStar,
            !kept.isCounted || object.song != nil
        else { return nil }
        return kept
    }

    /// The value of a sticker; an empty one counts as none, as in MPD.
    func value(_ name: [UInt8], _ object: StickerObject) -> [UInt8]? {
        let value: [UInt8]?
        if let kept = kept(name, object) {
            value = self.value(kept, object)
        } else {
            value = stickers(of: object).sticker(of: object.type, object.key, name)?.value
        }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// All stickers of an object, in the order of their names.
    func all(_ object: StickerObject) -> [(name: [UInt8], value: [UInt8])] {
        var all = stickers(of: object).stickers(of: object.type, object.key).filter { kept($0.name, object) == nil }
            .map { (name: $0.name, value: $0.value) }
        for kept in KeptSticker.allCases where self.kept(kept.name, object) != nil {
            if let value = value(kept, object), !value.isEmpty { all.append((kept.name, value)) }
        }
        return all.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private func value(_ kept: KeptSticker, _ object: StickerObject) -> [UInt8]? {
        if let song = object.song { return value(kept, song, object) }
        return object.marks.compactMap { mark($0)?.value(of: kept) }.max().map { StickerNumber.text($0) }
    }

    private func value(_ kept: KeptSticker, _ song: SongIndex, _ object: StickerObject) -> [UInt8]? {
        if kept.isCounted {
            return count(kept, song, stickers(of: object).sticker(of: .song, object.key, kept.name))
        }
        let mark = object.marks.isEmpty ? nil : self.mark(object.marks[0])
        if kept == .rating, mark?.rating == nil {
            let stars = library.userRating(song)
            return stars > 0 ? StickerNumber.text(Int64(stars) * 2) : nil
        }
        return mark?.value(of: kept).map { StickerNumber.text($0) }
    }

    /// What a client has set, until the server counts more than at that time.
    func count(_ kept: KeptSticker, _ song: SongIndex, _ own: StickerBook.Sticker?) -> [UInt8]? {
        let count = counted(kept, song)
        guard let own else { return count > 0 ? StickerNumber.text(Int64(count)) : nil }
        guard let counted = own.counted, counted != count else { return own.value }
        return StickerNumber.text(max(StickerNumber.integer(own.value), Int64(count)))
    }

    /// How often a song was played, or when; 0 for never.
    func counted(_ kept: KeptSticker, _ song: SongIndex) -> UInt32 {
        if parts.count == 1 { return own.freshPlays.count(kept, song, in: library) }
        let known = kept.count(song, in: library)
        if parts.allSatisfy(\.freshPlays.isEmpty) { return known }
        let (server, id) = library.origin(song)
        return parts.first { $0.serverID == server }?.freshPlays.count(kept, ofID: id, known: known) ?? known
    }

    /// What bears stickers of a type that songs are not, with all that it bears. Playlists are named as clients name them.
    func forEachObject(_ type: StickerType, _ body: ([UInt8], [StickerBook.Sticker]) -> Void) {
        guard type == .playlist else { return own.stickers.forEach(type) { body($0, $1) } }
        // Those of a playlist that clients have removed stay until the server has removed it, too.
        own.stickers.forEach(type) { key, all in
            if key.first == UInt8(ascii: "=") { return body(Array(key.dropFirst()), all) }
            if let name = Self.name(of: key, playlists) { body(name, all) }
        }
        for part in parts where part.serverID != own.serverID {
            part.stickers.forEach(type) { key, all in
                if let name = Self.name(of: key, mountedPlaylists) { body(name, all) }
            }
        }
    }

    /// What the playlist is called that a key stands for; nil if it is not there.
    private static func name(of key: [UInt8], _ playlists: PlaylistBook) -> [UInt8]? {
        guard let number = Int64(String(decoding: key, as: UTF8.self)) else { return nil }
        return playlists[PlaylistKey(rawValue: number)].map { Array($0.name.utf8) }
    }

    // MARK: Names

    /// The names in use, by type. Looks at the ratings and plays of all songs.
    func names(of type: StickerType) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        if type == .playlist {
            forEachObject(type) { _, all in names.formUnion(all.map(\.name)) }
        } else {
            names.formUnion(own.stickers.names(of: type))
        }
        if type == .song { for part in parts { names.formUnion(part.stickers.names(of: type)) } }
        for kept in KeptSticker.allCases where (hasFavorites || !kept.isStar) && has(kept, type) {
            names.insert(kept.name)
        }
        return names
    }

    private func has(_ kept: KeptSticker, _ type: StickerType) -> Bool {
        switch type {
        case .song:
            switch kept {
            case .rating where library.hasSongs { library.userRating($0) > 0 }: return true
            case .playCount, .lastPlayed: return library.hasSongs { counted(kept, $0) > 0 }
            default: return has(kept, MarkKey.Kind.song)
            }
        case .filter, .tag(.album): return has(kept, MarkKey.Kind.album)
        case .tag(.artist), .tag(.albumArtist): return has(kept, MarkKey.Kind.artist)
        case .playlist, .tag: return false
        }
    }

    private func has(_ kept: KeptSticker, _ kind: MarkKey.Kind) -> Bool {
        parts.contains { Self.has(kept, kind, $0.marks) }
    }

    private static func has(_ kept: KeptSticker, _ kind: MarkKey.Kind, _ marks: MarkBook) -> Bool {
        if kept.isStar, !marks.starred(kind).isEmpty { return true }
        if kept == .starred || marks.count(kind) == 0 { return false }
        var found = false
        marks.forEach(kind) { _, mark in
            if !found, mark.value(of: kept) != nil { found = true }
        }
        return found
    }
}
