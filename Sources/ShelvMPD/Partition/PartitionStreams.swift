import MPDProtocol
import Playback
import QueueEngine

/// Entries that are URLs: what they show.
extension Partition {
    /// The key of a URL with these tags. Now and then those are forgotten that no queue needs any more.
    func key(for stream: StreamSong) -> SongKey {
        if songs.hasManyStreams { later(.zero) { $0.forgetUnusedStreams() } }
        return songs.key(for: stream)
    }

    /// Lets an entry show other tags.
    /// - Throws: `QueueError.noSuchSong`.
    func show(_ stream: StreamSong, as id: EntryID) throws(QueueError) {
        let key = key(for: stream)
        try edit { queue throws(QueueError) in try queue.setKey(key, id: id) }
    }
}
