import Library
import MPDProtocol
import QueueEngine

/// Gives the songs of the queue their keys, and finds them again when the library is replaced.
///
/// A key stays the same for a song as long as the process lives, whatever the snapshots do to its index, its URI and its
/// tags. A song that vanishes from the library keeps its last record, so that queue entries stay readable.
/// Owned by the core.
final class SongTable {
    /// What a key stands for at the moment.
    enum Song {
        case library(SongIndex)
        /// The server does not have it any more; this is what it was.
        case gone(GoneSong)
    }

    struct GoneSong: Sendable {
        var songID: String
        /// The whole record as it was last shown, all tags.
        var record: [UInt8]
        var uri: [UInt8]
    }

    private(set) var library: LibrarySnapshot
    /// By key: the index in the present snapshot, or `absent`.
    private var indexes: [UInt32] = []
    /// By index in the present snapshot: the key, or `absent`.
    private var keys: [UInt32]
    private var gone: [UInt32: GoneSong] = [:]

    private static let absent = UInt32.max

    init(library: LibrarySnapshot) {
        self.library = library
        keys = Array(repeating: Self.absent, count: library.statistics.songs)
    }

    /// The key of a song of the present snapshot.
    func key(for song: SongIndex) -> SongKey {
        let index = Int(song.rawValue)
        if keys[index] == Self.absent {
            keys[index] = UInt32(indexes.count)
            indexes.append(song.rawValue)
        }
        return SongKey(keys[index])
    }

    /// What a key that was given out stands for.
    func song(_ key: SongKey) -> Song? {
        let row = Int(key.rawValue)
        guard row < indexes.count else { return nil }
        if indexes[row] != Self.absent { return .library(SongIndex(rawValue: indexes[row])) }
        return gone[key.rawValue].map(Song.gone)
    }

    /// Follows the songs into a new snapshot.
    /// - Parameter translation: by index in the present snapshot the index in the new one, as
    ///   `SongTranslation` computes it off the core.
    func replaceLibrary(with snapshot: LibrarySnapshot, _ translation: SongTranslation) {
        var keys = [UInt32](repeating: Self.absent, count: snapshot.statistics.songs)
        for row in indexes.indices {
            let key = UInt32(row)
            if indexes[row] != Self.absent {
                let song = SongIndex(rawValue: indexes[row])
                if let successor = translation[song] {
                    indexes[row] = successor.rawValue
                } else {
                    var record: [UInt8] = []
                    library.appendSong(song, mask: .all, to: &record)
                    gone[key] = GoneSong(songID: library.songID(song), record: record, uri: library.uri(song))
                    indexes[row] = Self.absent
                }
            } else if let known = gone[key], let successor = snapshot.song(id: known.songID) {
                gone[key] = nil
                indexes[row] = successor.rawValue
            }
            if indexes[row] != Self.absent { keys[Int(indexes[row])] = key }
        }
        self.keys = keys
        library = snapshot
    }
}

/// Where the songs of one snapshot are in another; found by their ids.
struct SongTranslation: Sendable {
    private let successors: [UInt32]

    /// Takes some 100 ns a song: not for the core.
    init(from old: LibrarySnapshot, to new: LibrarySnapshot) {
        successors = (0..<UInt32(clamping: old.statistics.songs)).map { index in
            new.song(id: old.songID(SongIndex(rawValue: index)))?.rawValue ?? .max
        }
    }

    subscript(song: SongIndex) -> SongIndex? {
        let successor = successors[Int(song.rawValue)]
        return successor == .max ? nil : SongIndex(rawValue: successor)
    }
}

extension SongTable {
    /// The keys of songs that were found in a snapshot, which may have been replaced since; those that vanished with it
    /// are left out.
    func keys(for songs: some Collection<SongIndex>, of snapshot: LibrarySnapshot) -> [SongKey] {
        if snapshot === library { return songs.map { key(for: $0) } }
        return songs.compactMap { library.song(id: snapshot.songID($0)).map { key(for: $0) } }
    }

    /// The URI of what a key stands for, or stood for last.
    func uri(of key: SongKey) -> [UInt8] {
        switch song(key) {
        case .library(let song): library.uri(song)
        case .gone(let song): song.uri
        case nil: []
        }
    }
}
