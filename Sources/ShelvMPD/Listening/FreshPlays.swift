import Library

/// Plays of this program that the library does not show yet, so that they are seen at once: the server counts them when it
/// is told, and the next look at it brings its numbers.
struct FreshPlays: Sendable {
    private struct Numbers: Sendable {
        /// As many as there are with the new ones.
        var count: UInt32
        /// When the last one began, Unix time in seconds.
        var last: UInt32
    }
    private var byID: [String: Numbers] = [:]
    private var bySong: [SongIndex: Numbers] = [:]

    var isEmpty: Bool { bySong.isEmpty }

    /// A song counts as played.
    /// - Parameter time: when that play began, Unix time in milliseconds.
    mutating func add(_ songID: String, at time: Int64, in library: LibrarySnapshot) {
        guard let song = library.song(id: songID) else { return }
        let (count, last) = (count(.playCount, song, in: library), count(.lastPlayed, song, in: library))
        let numbers = Numbers(count: count &+ 1, last: max(last, UInt32(clamping: time / 1000)))
        byID[songID] = numbers
        bySong[song] = numbers
    }

    /// Another library: what it knows need not be known here.
    mutating func follow(_ library: LibrarySnapshot) {
        guard !byID.isEmpty else { return }
        bySong = [:]
        for (id, numbers) in byID {
            guard let song = library.song(id: id) else { continue }
            let knows = library.playCount(song) >= numbers.count
            if knows, library.played(song).map({ $0 >= Int64(numbers.last) }) ?? false {
                byID[id] = nil
            } else {
                bySong[song] = numbers
            }
        }
    }

    /// What is known of a song with these plays; 0 for nothing.
    func count(_ kept: KeptSticker, _ song: SongIndex, in library: LibrarySnapshot) -> UInt32 {
        let known = kept.count(song, in: library)
        guard !bySong.isEmpty, let numbers = bySong[song] else { return known }
        return Self.count(kept, numbers, known: known)
    }

    /// The same for a song of a library that has others' songs beside those of the server.
    func count(_ kept: KeptSticker, ofID id: String, known: UInt32) -> UInt32 {
        byID[id].map { Self.count(kept, $0, known: known) } ?? known
    }

    private static func count(_ kept: KeptSticker, _ numbers: Numbers, known: UInt32) -> UInt32 {
        switch kept {
        case .playCount: return max(known, numbers.count)
        case .lastPlayed: return max(known, numbers.last)
        case .starred, .like, .rating: return known
        }
    }
}
