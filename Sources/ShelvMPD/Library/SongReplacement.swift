import Library
import QueueEngine
import Synchronization

/// What the keys stand for in another library: worked out on any thread, from a copy of what they stand for in the present one,
/// and exchanged for it by the core.
///
/// Until a library is replaced, keys are only added, so a copy that is a little old is brought up to date by those.
final class SongReplacement: Sendable {
    /// What a `SongTable` consists of.
    struct Tables: Sendable {
        var names: SongNames
        /// By index in the library: the key, or `absent`.
        var keys: [UInt32]
        /// The songs that have gone or have come back.
        var changed = SongKeys()
        var hasNewIDs = false
        private let translation: SongTranslation

        fileprivate init(_ former: SongNames, _ translation: SongTranslation) {
            let (old, new) = (translation.old, translation.new)
            self.translation = translation
            names = former
            names.library = new
            names.generation += 1
            keys = Array(repeating: SongNames.absent, count: new.statistics.songs)
            if old.info.isComplete != new.info.isComplete {
                // Those that are not found are known to be gone now.
                for key in former.gone.keys { changed.insert(SongKey(key)) }
            }
            for row in names.indexes.indices { follow(row) }
        }

        /// Takes over what has changed since in what it was made of.
        mutating func catchUp(with present: SongNames) {
            names.streams = present.streams
            names.reachable = present.reachable
            names.ownLibraries = present.ownLibraries
            for row in names.indexes.count..<present.indexes.count {
                names.indexes.append(present.indexes[row])
                let key = UInt32(clamping: row)
                if let song = present.gone[key] { names.gone[key] = song }
                follow(row)
            }
        }

        /// The song of one key.
        private mutating func follow(_ row: Int) {
            let key = UInt32(clamping: row)
            let index = names.indexes[row]
            if index != SongNames.absent {
                let song = SongIndex(rawValue: index)
                if let successor = translation[song] {
                    names.indexes[row] = successor.rawValue
                    if translation.hasNewIDs, translation.old.songID(song) != names.library.songID(successor) {
                        hasNewIDs = true
                    }
                } else {
                    names.gone[key] = SongTable.GoneSong(song, of: translation.old)
                    names.indexes[row] = SongNames.absent
                    changed.insert(SongKey(key))
                }
            } else if let known = names.gone[key], let successor = names.index(of: known) {
                names.gone[key] = nil
                names.indexes[row] = successor.rawValue
                changed.insert(SongKey(key))
                if names.library.songID(successor) != known.songID { hasNewIDs = true }
            }
            if names.indexes[row] != SongNames.absent { keys[Int(names.indexes[row])] = key }
        }
    }

    /// So many keys the core follows by itself.
    static let fewKeys = 500

    private let tables: Mutex<Tables?>
    private let new: LibrarySnapshot
    private let generation: UInt64
    private let count: Int

    /// Takes some 100 ns a key, some microseconds for a song that goes.
    /// Nil if the translation is from another library than that of `names`.
    init?(_ names: SongNames, _ translation: SongTranslation) {
        guard translation.old === names.library else { return nil }
        new = translation.new
        generation = names.generation
        count = names.indexes.count
        tables = Mutex(Tables(names, translation))
    }

    /// Whether it was made of what the keys stand for now, but for some that were added.
    func fits(_ songs: SongTable) -> Bool { generation == songs.names.generation }

    /// Whether it leads to this library.
    func leads(to library: LibrarySnapshot) -> Bool { new === library }

    /// Whether so many keys have been added since that it had better be made anew.
    func isOutdated(for songs: SongTable) -> Bool { songs.names.indexes.count - count > Self.fewKeys }

    /// The only copy, so that it can be changed in place.
    func take() -> Tables? { tables.withLock { $0.take() } }

    func leave(_ former: Tables) { tables.withLock { $0 = former } }

    /// Gives the memory back, which takes a while where many songs have gone.
    func clear() { tables.withLock { $0 = nil } }
}
