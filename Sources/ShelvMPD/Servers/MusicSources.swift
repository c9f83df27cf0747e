import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured servers that can be asked, by their identities; for all threads.
final class MusicSources: Sendable {
    private let sources = Mutex<[ServerID: MusicSource]>([:])

    /// The server of this identity; nil where there is none, or its password cannot be had.
    subscript(id: ServerID) -> MusicSource? { sources.withLock { $0[id] } }

    /// Puts a server in the place of the one of this identity; nil for none.
    func set(_ source: MusicSource?, for id: ServerID) { sources.withLock { $0[id] = source } }

    /// All of them.
    var all: [MusicSource] { sources.withLock { Array($0.values) } }

    /// How the bytes of a song are fetched; nil where nobody can give them.
    func audio(_ song: SongIndex, _ library: LibrarySnapshot) -> AudioSource? {
        let identity = library.identity(song)
        return self[ServerID(text: identity.serverID)]?.audio(song, as: identity.songID, of: library)
    }

    /// How the bytes of a song are fetched that the library does not have; nil where nobody can give them.
    func audio(_ song: SongTable.GoneSong) -> AudioSource? { self[ServerID(text: song.serverID)]?.audio(song) }
}
