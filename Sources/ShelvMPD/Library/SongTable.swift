import Library
import MPDProtocol
import QueueEngine

/// Gives the songs of the queue their keys, and finds them again when the library is replaced.
///
/// A key stays the same for a song as long as the process lives, whatever the snapshots do to its index, its URI and its
/// tags. A song that is not in the library, now or yet, keeps its last record, so that queue entries stay readable; it is
/// found by its id when it appears, or, where the server has given it another id, by its URI. Owned by the core.
final class SongTable {
    /// What a key stands for at the moment.
    enum Song {
        case library(SongIndex)
        /// The library does not have it; this is what it was.
        case gone(GoneSong)
        /// It comes from no library, but from a URL.
        case stream(StreamSong)
    }

    struct GoneSong: Sendable, Equatable {
        var serverID: String
        var songID: String
        /// The whole record as it was last shown, all tags; empty if it is not known.
        var record: [UInt8]
        var uri: [UInt8]
        /// Whether the server is known not to have it any more. Before a library is complete nobody can know.
        var isRemoved = true
    }

    var library: LibrarySnapshot { names.library }
    /// Everything that a copy can tell on another thread.
    private(set) var names: SongNames
    /// By index in the present snapshot: the key, or `absent`.
    private var keys: [UInt32]
    /// The keys of what has one in `names.streams`.
    private var streamKeys: [StreamSong: UInt32] = [:]
    private var streamLimit = 1_000
    /// The keys that were given to songs when the library did not have them.
    private var unseenKeys: [SongIdentity: UInt32] = [:]
    /// Whether keys stand for songs that have another id than what was saved says.
    private(set) var hasNewIDs = false

    /// Tells what configured servers there are.
    /// - Parameters:
    ///   - reachable: those whose songs can be had, though the library has none of them.
    ///   - libraries: what each has by itself.
    func setServers(reachable: Set<String>, libraries: [String: LibrarySnapshot] = [:]) {
        names.reachable = reachable
        names.ownLibraries = libraries
    }

    /// A song that the library does not show, where its own server's library has it.
    func unseen(_ song: GoneSong) -> (song: SongIndex, library: LibrarySnapshot)? { names.unseen(song) }

    private static let absent = SongNames.absent

    /// - Parameter songs: those of a stored queue, each once; their keys are their places in the array.
    init(library: LibrarySnapshot, restoring songs: [GoneSong] = []) {
        keys = Array(repeating: Self.absent, count: library.statistics.songs)
        names = SongNames(library: library)
        for (place, song) in songs.enumerated() {
            let key = UInt32(clamping: place)
            if let stream = StreamSong(SongIdentity(serverID: song.serverID, songID: song.songID)) {
                names.indexes.append(Self.absent)
                names.streams[key] = stream
                streamKeys[stream] = key
            } else if let index = names.index(of: song), keys[Int(index.rawValue)] == Self.absent {
                names.indexes.append(index.rawValue)
                keys[Int(index.rawValue)] = key
                if library.songID(index) != song.songID { hasNewIDs = true }
            } else {
                names.indexes.append(Self.absent)
                names.gone[key] = song
            }
        }
    }

    /// The key of a song of the present snapshot.
    func key(for song: SongIndex) -> SongKey {
        let index = Int(song.rawValue)
        if keys[index] == Self.absent {
            keys[index] = UInt32(names.indexes.count)
            names.indexes.append(song.rawValue)
        }
        return SongKey(keys[index])
    }

    /// The key of a URL with these tags.
    func key(for stream: StreamSong) -> SongKey {
        if let key = streamKeys[stream] { return SongKey(key) }
        let key = UInt32(clamping: names.indexes.count)
        names.indexes.append(Self.absent)
        names.streams[key] = stream
        streamKeys[stream] = key
        return SongKey(key)
    }

    /// The key of a song of a server that clients do not see.
    func key(forUnseen song: GoneSong) -> SongKey {
        if let index = names.index(of: song) { return key(for: index) }
        let identity = SongIdentity(serverID: song.serverID, songID: song.songID)
        if let key = unseenKeys[identity], names.gone[key] != nil { return SongKey(key) }
        let key = UInt32(clamping: names.indexes.count)
        names.indexes.append(Self.absent)
        names.gone[key] = song
        unseenKeys[identity] = key
        return SongKey(key)
    }

    /// Whether so many URLs have keys that it is worth looking which of them no queue needs any more.
    var hasManyStreams: Bool { streamKeys.count > streamLimit }

    /// Forgets the URLs whose keys are in no queue.
    /// - Parameter living: the keys of all queues.
    func forgetStreams(except living: Set<SongKey>) {
        names.streams = names.streams.filter { living.contains(SongKey($0.key)) }
        streamKeys = Dictionary(names.streams.map { ($0.value, $0.key) }) { first, _ in first }
        streamLimit = max(1_000, 2 * streamKeys.count)
    }

    /// What a key that was given out stands for.
    func song(_ key: SongKey) -> Song? { names.song(key) }

    /// Follows the songs into a new snapshot, all at once: not for the core where there are many.
    /// - Parameter translation: where the songs of the present snapshot are in the new one. One of other libraries is not used:
    ///   it is made here then, which takes its time.
    /// - Returns: the songs that have gone or have come back.
    @discardableResult
    func replaceLibrary(with snapshot: LibrarySnapshot, _ translation: SongTranslation) -> SongKeys {
        let isRight = translation.leads(from: library, to: snapshot)
        let translation = isRight ? translation : SongTranslation(from: library, to: snapshot)
        return SongReplacement(names, translation).flatMap { replaceLibrary(by: $0) } ?? SongKeys()
    }

    /// Follows the songs into another snapshot, as it was prepared. Songs that have got keys meanwhile take some 10 ns each,
    /// some microseconds where the other snapshot does not have them.
    /// - Parameter replacement: holds afterwards what was there before; to be cleared off the core.
    /// - Returns: the songs that have gone or have come back; nil if it was prepared from another snapshot or was used before:
    ///   nothing is done then.
    func replaceLibrary(by replacement: SongReplacement) -> SongKeys? {
        guard replacement.fits(self), var tables = replacement.take() else { return nil }
        tables.catchUp(with: names)
        swap(&names, &tables.names)
        swap(&keys, &tables.keys)
        if tables.hasNewIDs { hasNewIDs = true }
        let changed = tables.changed
        replacement.leave(tables)
        return changed
    }

    /// Whether what was saved has to be written anew because of other ids; asked once.
    func takeNewIDs() -> Bool {
        defer { hasNewIDs = false }
        return hasNewIDs
    }
}

/// What the keys stood for at one moment: a cheap copy for other threads.
struct SongNames: Sendable {
    var library: LibrarySnapshot
    /// How often the library was replaced.
    var generation: UInt64 = 0
    /// By key: the index in the snapshot, or `absent`. Between two libraries only grows what is here.
    var indexes: [UInt32] = []
    /// What the library does not have. Between two libraries only songs that the queue gets from elsewhere are added.
    var gone: [UInt32: SongTable.GoneSong] = [:]
    /// What does not come from a library; the library's index of these is `absent`.
    var streams: [UInt32: StreamSong] = [:]
    /// Servers whose songs can be had, though the library has none of them.
    var reachable: Set<String> = []
    /// What each configured server has, by its own ids and paths, whether clients see it or not.
    var ownLibraries: [String: LibrarySnapshot] = [:]

    static let absent = UInt32.max

    fileprivate init(library: LibrarySnapshot) { self.library = library }

    /// How many keys were given out.
    var count: Int { indexes.count }

    /// What a key stood for.
    func song(_ key: SongKey) -> SongTable.Song? {
        let row = Int(key.rawValue)
        guard row < indexes.count else { return nil }
        if indexes[row] != Self.absent { return .library(SongIndex(rawValue: indexes[row])) }
        if let stream = streams[key.rawValue] { return .stream(stream) }
        guard var song = gone[key.rawValue] else { return nil }
        // What a mounted folder hides is not gone.
        song.isRemoved =
            library.holds(song.serverID)
            ? library.isComplete(song.serverID) && unseen(song) == nil : !reachable.contains(song.serverID)
        return .gone(song)
    }

    /// A song that the library does not show, where its own server's library has it.
    func unseen(_ song: SongTable.GoneSong) -> (song: SongIndex, library: LibrarySnapshot)? {
        guard let own = ownLibraries[song.serverID], let found = own.song(id: song.songID) else { return nil }
        if own.idGeneration.isEmpty { return (found, own) }
        // The server has given its ids to other songs: the path has to agree, which may have been below a folder.
        let path = own.uri(found)
        guard
            song.uri == path
                || song.uri.count > path.count && song.uri.suffix(path.count + 1) == [UInt8(ascii: "/")] + path
        else { return nil }
        return (found, own)
    }

    /// The URI of what a key stands for, or stood for last, as replies show it: a URL without user and password.
    func uri(of key: SongKey) -> [UInt8] {
        switch song(key) {
        case .library(let song): library.uri(song)
        case .gone(let song): song.shownURI
        case .stream(let stream): stream.shownURI
        case nil: []
        }
    }

    /// The durable identity of a song.
    func identity(_ key: SongKey) -> SongIdentity? {
        switch song(key) {
        case .library(let song): library.identity(song)
        case .gone(let song): SongIdentity(serverID: song.serverID, songID: song.songID)
        case .stream(let stream): stream.identity
        case nil: nil
        }
    }

    /// What is known of a song, to be kept for the time when the library does not have it; nil for a URL, whose identity
    /// says all.
    func lastKnown(_ key: SongKey) -> SongTable.GoneSong? {
        switch song(key) {
        case .library(let song): SongTable.GoneSong(song, of: library)
        case .gone(let song): song
        case .stream, nil: nil
        }
    }

    /// The keys of songs that are not in the library.
    var absentKeys: some Collection<UInt32> { gone.keys }

    /// Where a song is that was not in an earlier library.
    func index(of song: SongTable.GoneSong) -> SongIndex? {
        guard library.holds(song.serverID) else { return nil }
        let same = library.song(SongIdentity(serverID: song.serverID, songID: song.songID))
        // Before a library is complete, a song that is not there may still come, and another one may stand in its place.
        guard library.isComplete(song.serverID), !song.uri.isEmpty else { return same }
        // Where a server has given its ids to other songs, the URI is what is left.
        guard same == nil || !library.idGeneration(of: song.serverID).isEmpty, let found = library.song(uri: song.uri),
            library.origin(found).serverID == song.serverID
        else { return same }
        return found
    }
}

/// What names a song for ever: the server's stable id, and the server's id of the song.
struct SongIdentity: Hashable, Sendable {
    var serverID: String
    var songID: String
}

extension LibrarySnapshot {
    /// The durable identity of a song.
    func identity(_ song: SongIndex) -> SongIdentity {
        let (server, id) = origin(song)
        return SongIdentity(serverID: server, songID: id)
    }

    /// The song with this identity, if the library has it.
    func song(_ identity: SongIdentity) -> SongIndex? {
        localID(identity.songID, of: identity.serverID).flatMap { song(id: $0) }
    }
}

extension SongTable.GoneSong {
    /// What a library knows of a song.
    init(_ song: SongIndex, of library: LibrarySnapshot) {
        var record: [UInt8] = []
        library.appendSong(song, mask: .all, to: &record)
        let identity = library.identity(song)
        self.init(
            serverID: identity.serverID,
            songID: identity.songID,
            record: record,
            uri: library.uri(song)
        )
    }

    /// What `playlistinfo` shows, all tags; something in any case.
    var shownRecord: [UInt8] {
        if !record.isEmpty { return record }
        var record = Array("file: ".utf8)
        record.append(contentsOf: shownURI)
        record.append(UInt8(ascii: "\n"))
        return record
    }

    /// The URI; where it is not known, the server's id of the song, which a URI cannot be mistaken for.
    var shownURI: [UInt8] {
        if !uri.isEmpty { return uri }
        return Array("song:".utf8) + songID.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
    }
}

/// Where the songs of one snapshot are in another: found by their ids, else by their URIs, which lead to songs that have
/// other ids now.
struct SongTranslation: Sendable {
    let old: LibrarySnapshot
    let new: LibrarySnapshot
    private let successors: [UInt32]
    /// Whether some songs have other ids.
    let hasNewIDs: Bool

    /// Takes some 100 ns a song: not for the core.
    init(from old: LibrarySnapshot, to new: LibrarySnapshot) {
        (self.old, self.new) = (old, new)
        let moves = SongMoves(from: old, to: new)
        var hasNewIDs = false
        successors = (0..<UInt32(clamping: old.statistics.songs)).map { index in
            guard let (song, hasNewID) = moves.successor(of: SongIndex(rawValue: index)) else { return .max }
            if hasNewID { hasNewIDs = true }
            return song.rawValue
        }
        self.hasNewIDs = hasNewIDs
    }

    /// Whether it tells about these two. About others its numbers mean nothing.
    func leads(from old: LibrarySnapshot, to new: LibrarySnapshot) -> Bool { old === self.old && new === self.new }

    /// Nil also for a song that the old library does not have.
    subscript(song: SongIndex) -> SongIndex? {
        guard successors.indices.contains(Int(song.rawValue)) else { return nil }
        let successor = successors[Int(song.rawValue)]
        return successor == .max ? nil : SongIndex(rawValue: successor)
    }
}

/// Finds single songs of one snapshot in another.
private struct SongMoves {
    private let old: LibrarySnapshot
    private let new: LibrarySnapshot
    private let servers: [String: ServerMove]

    init(from old: LibrarySnapshot, to new: LibrarySnapshot) {
        (self.old, self.new) = (old, new)
        // Ids and paths of one server say nothing about songs of another.
        servers = old.serverIDs.reduce(into: [:]) { $0[$1] = ServerMove($1, from: old, to: new) }
    }

    /// Where a song is now, and whether its server calls it otherwise there.
    func successor(of song: SongIndex) -> (song: SongIndex, hasNewID: Bool)? {
        let (server, id) = old.origin(song)
        guard let move = servers[server] else { return nil }
        if move.keepsIDs, let same = new.localID(id, of: server).flatMap({ new.song(id: $0) }) { return (same, false) }
        guard move.isComplete, let same = new.song(uri: move.uri(old.uri(song))),
            case let origin = new.origin(same), origin.serverID == server
        else { return nil }
        // What was there before under its own id is another song, which has taken this one's place.
        if move.keepsIDs, let former = old.localID(origin.id, of: server), old.song(id: former) != nil { return nil }
        return (same, true)
    }

    /// How the songs of one server are found in another snapshot.
    private struct ServerMove {
        let keepsIDs: Bool
        let isComplete: Bool
        /// What stands before its paths, with the slash.
        private let oldRoot: [UInt8]
        private let newRoot: [UInt8]

        /// Nil if the new one has none of them.
        init?(_ server: String, from old: LibrarySnapshot, to new: LibrarySnapshot) {
            guard new.holds(server) else { return nil }
            keepsIDs = old.idGeneration(of: server) == new.idGeneration(of: server)
            isComplete = new.isComplete(server)
            func root(_ library: LibrarySnapshot) -> [UInt8] {
                let root = library.root(of: server)
                return root.isEmpty ? [] : Array("\(root)/".utf8)
            }
            (oldRoot, newRoot) = (root(old), root(new))
        }

        func uri(_ uri: [UInt8]) -> [UInt8] { newRoot + uri.dropFirst(oldRoot.count) }
    }
}

extension SongTable {
    /// The keys of songs that were found in a snapshot, which may have been replaced since; those that vanished with it
    /// are left out.
    func keys(for songs: some Collection<SongIndex>, of snapshot: LibrarySnapshot) -> [SongKey] {
        if snapshot === library { return songs.map { key(for: $0) } }
        // An id alone may be that of another server's song here.
        let moves = SongMoves(from: snapshot, to: library)
        return songs.compactMap { moves.successor(of: $0).map { key(for: $0.song) } }
    }

    /// The URI of what a key stands for, or stood for last, as replies show it.
    func uri(of key: SongKey) -> [UInt8] { names.uri(of: key) }
}
