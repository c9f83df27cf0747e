import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured servers that can be asked, by their identities; for all threads.
final class MusicSources: Sendable {
    private let sources = Mutex<[ServerID: MusicSource]>([:])
    private let problems = Mutex<[ServerID: String]>([:])

    /// The server of this identity; nil where there is none, or its password cannot be had.
    subscript(id: ServerID) -> MusicSource? { sources.withLock { $0[id] } }

    /// Puts a server in the place of the one of this identity; nil for none.
    func set(_ source: MusicSource?, for id: ServerID) {
        sources.withLock { $0[id] = source }
        problems.withLock { $0[id] = nil }
    }

    /// Notes that a server cannot be asked, and why, until it can.
    func setProblem(_ problem: String, of id: ServerID) { problems.withLock { $0[id] = problem } }

    /// Why a configured server cannot be asked; nil if it can, and for what is no configured server.
    func problem(of server: String) -> String? { problems.withLock { $0[ServerID(text: server)] } }

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
