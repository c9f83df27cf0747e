import Library
import MPDProtocol
import SubsonicKit

/// Songs that go with others: as the server says, else as the library knows.
enum SimilarSongs {
    /// Asks the server; tells ids on any thread, none where it does not know.
    typealias Ask = @Sendable (SimilarTo, @escaping @Sendable ([String]) -> Void) -> Void

    /// Songs that are asked for, and the most that the library gives.
    static let count = 50

    /// Asks the server of the song, if there is one; tells ids as this library has them.
    static func ask(
        _ seed: SimilarTo,
        in library: LibrarySnapshot,
        of server: Server,
        _ whenDone: @escaping @Sendable ([String]) -> Void
    ) {
        guard let ask = server.musicServer(id: seed.serverID)?.askSimilar else { return whenDone([]) }
        ask(seed) { ids in whenDone(ids.compactMap { library.localID($0, of: seed.serverID) }) }
    }

    /// The content of a playlist on the shelf Radio.
    static func fetch(_ seed: RadioSeed, in library: LibrarySnapshot) -> PlaylistFetch {
        { server, whenDone in
            let (workers, asker) = (server.workers, Asker.current)
            ask(SimilarTo(seed.song, isArtist: seed.isArtist, in: library), in: library, of: server) { ids in
                workers.submit(for: asker) {
                    let known = ids.filter { library.song(id: $0) != nil }
                    if !known.isEmpty {
                        return whenDone(.success(known.compactMap { library.song(id: $0) }.map { library.entry($0) }))
                    }
                    var generator = SystemRandomNumberGenerator()
                    let songs = LocalSimilar(seed.song, in: library).songs(using: &generator)
                    whenDone(.success(songs.prefix(count).map { library.entry($0) }))
                }
            }
        }
    }
}

/// What songs shall go with.
struct SimilarTo: Sendable {
    var serverID: String
    var songID: String
    /// Whose songs it shall go with; nil for the song alone.
    var artistID: String?

    /// - Parameter isArtist: whether it shall go with all that the artist does.
    init(_ song: SongIndex, isArtist: Bool, in library: LibrarySnapshot) {
        (serverID, songID) = library.origin(song)
        artistID = isArtist ? library.artistID(song).map { library.origin(ofID: $0).id } : nil
    }
}

/// Songs of the library that go with one: of the same artist, then of the same genre.
struct LocalSimilar: Sendable {
    let library: LibrarySnapshot
    private let song: SongIndex

    init(_ song: SongIndex, in library: LibrarySnapshot) {
        self.library = library
        self.song = song
    }

    /// By chance, of the artist and the genre in turn. Looks through the library: not for the core.
    func songs(using generator: inout some RandomNumberGenerator) -> [SongIndex] {
        let artist = songs(sharing: .artist).shuffled(using: &generator)
        let genre = songs(sharing: .genre).shuffled(using: &generator)
        var mixed: [SongIndex] = []
        var seen: Set<SongIndex> = [song]
        for place in 0..<max(artist.count, genre.count) {
            if place < artist.count, seen.insert(artist[place]).inserted { mixed.append(artist[place]) }
            if place < genre.count, seen.insert(genre[place]).inserted { mixed.append(genre[place]) }
        }
        return mixed
    }

    private func songs(sharing tag: Tag) -> SongSelection {
        guard let value = library.firstText(tag, of: song) else { return SongSelection([]) }
        let filter = Filter.tag(tag, TextMatch(.equals, value, foldsCase: false))
        return (try? library.select(filter)) ?? SongSelection([])
    }
}

extension MusicSource {
    /// Asks the server for songs that go with one, as long as the present `Asker` is there.
    /// - Parameter whenDone: told on any thread; none where the server does not know.
    func similarSongs(_ seed: SimilarTo, _ whenDone: @escaping @Sendable ([String]) -> Void) {
        let task = Task { [client] in whenDone(await client.similarSongs(to: seed, count: SimilarSongs.count)) }
        Asker.current?.wants(task)
    }
}

extension SubsonicCalling {
    /// Songs that go with one: by its artist, else by itself.
    func similarSongs(to seed: SimilarTo, count: Int) async -> [String] {
        if let artist = seed.artistID, let songs = try? await similarSongs(artistID: artist, count: count),
            !songs.isEmpty
        {
            return songs
        }
        return (try? await similarSongs(songID: seed.songID, count: count)) ?? []
    }
}
