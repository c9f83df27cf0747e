import Library
import QueueEngine

/// A song of the queue whose server clients do not see, in that server's own library. For the core.
struct UnseenSong {
    let song: SongIndex
    let library: LibrarySnapshot
    let music: MusicServer
}

extension Server {
    /// What a URI means that does not mean a song of the library: an entry of a queue whose server clients do not see.
    ///
    /// The current entry comes before everything, for what is said about the song that plays must never go to another
    /// account. Else what clients see comes first, then the queue of the client's partition, then the others.
    /// - Returns: nil where the URI is the library's, or nobody's.
    /// - Complexity: for a URI that the library does not have, the number of songs that it does not show.
    func unseenSong(_ uri: [UInt8], in partition: Partition) -> UnseenSong? {
        guard !uri.isEmpty else { return nil }
        if let current = partition.queue.currentEntry, let song = unseenSong(current.key, uri) { return song }
        guard library.song(uri: uri) == nil else { return nil }
        // Looked through once, whatever the queue holds.
        let keys = songs.names.gone.filter { $0.value.uri == uri }.keys.map { SongKey($0) }
        let found = keys.compactMap { key in unseenSong(key, uri).map { (key: key, song: $0) } }
        if found.isEmpty { return nil }
        for partition in [partition] + partitions {
            for entry in partition.queue.entries {
                if let match = found.first(where: { $0.key == entry.key }) { return match.song }
            }
        }
        return nil
    }

    private func unseenSong(_ key: SongKey, _ uri: [UInt8]) -> UnseenSong? {
        guard case .gone(let gone)? = songs.song(key), gone.uri == uri, let music = musicServer(id: gone.serverID),
            !music.isAttached, let (song, library) = songs.unseen(gone)
        else { return nil }
        return UnseenSong(song: song, library: library, music: music)
    }
}
