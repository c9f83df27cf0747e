import SubsonicKit

/// Finds what was played elsewhere since the last look: the albums that were played last, and the songs of those that have moved.
///
/// Servers that say nothing of an album's plays are left as they are: there the next full pass tells.
struct HeardAlbums: Sendable {
    /// What a server says of an album's plays.
    struct Plays: Sendable, Hashable {
        /// Unix time in seconds.
        var last: Int64?
        var count: Int?

        /// Nil if it says nothing.
        init?(_ album: Album) {
            if album.played == nil, album.playCount == nil { return nil }
            last = album.played
            count = album.playCount
        }
    }

    /// By album, as far as their songs are known to be up to date.
    private var known: [String: Plays] = [:]
    /// There is no such list.
    private var isUnsupported = false
    /// The ids of the albums that were played last, by the last look; nil if the server does not tell.
    private(set) var list: [String]?

    /// As many as a shelf shows, which takes this list.
    private static let page = Shelf.size
    /// Those whose songs are compared.
    private static let mostCompared = 50
    /// Albums to be asked for at one look; the others follow with the next ones.
    private static let mostAlbums = 10

    /// The songs of albums that were played since the last look. Of an album that was in no look yet, the songs in `library`
    /// must say the same: its time, or its count where it has none.
    ///
    /// - Throws: The `SubsonicError` of a server that is away.
    mutating func find(_ call: SyncCaller, _ library: LibrarySnapshot) async throws(SubsonicError) -> [Song] {
        list = nil
        if isUnsupported { return [] }
        let answer = try await call.ifSupported { (server) async throws(SubsonicError) in
            try await server.albumList2(type: .recent, size: Self.page)
        }
        guard let answer else {
            isUnsupported = true
            return []
        }
        list = answer.map(\.id)
        let albums = answer.prefix(Self.mostCompared)
        let unseen = albums.filter { known[$0.id] == nil && Plays($0) != nil }
        let told = library.plays(ofAlbums: Set(unseen.map(\.id)))
        var next: [String: Plays] = [:]
        var found: [Song] = []
        var asked = 0
        for album in albums {
            guard let plays = Plays(album), next[album.id] == nil else { continue }
            let former = known[album.id]
            let songs = told[album.id] ?? (0, 0)
            let isNew = plays.last.map { $0 > songs.last } ?? (plays.count != songs.count)
            let hasMoved = former.map { $0 != plays } ?? isNew
            if hasMoved, asked == Self.mostAlbums {
                next[album.id] = former
                continue
            }
            next[album.id] = plays
            if !hasMoved { continue }
            asked += 1
            let answer = try await call.ifSupported { (server) async throws(SubsonicError) in
                try await server.album(id: album.id)
            }
            found += (answer ?? nil)?.songs ?? []
        }
        known = next
        return found
    }
}
