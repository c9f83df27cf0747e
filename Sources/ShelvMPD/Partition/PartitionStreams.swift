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

    /// A stream tells what it plays. As in MPD that takes the place of all tags that the entry had, is kept when the stream
    /// ends, and is an event of the player, too.
    func streamTells(_ told: [StreamTag], _ id: EntryID) {
        guard let entry = queue.entry(id: id), case .stream(var stream)? = songs.song(entry.key) else { return }
        let tags = StreamSong.tags(told)
        guard !tags.isEmpty, tags != stream.tags else { return }
        stream.tags = tags
        try? show(stream, as: id)
        raise(.player)
    }

    /// Whether one can move in the current song.
    /// - Throws: MPD's ACK, which is the error of `status` as well.
    func checkSeekable() throws(ACK) {
        guard let loaded, loaded.entry == queue.currentID, !loaded.isSeekable, queue.state != .stopped else { return }
        let ack = ACK(.unknown, "Not seekable")
        errorMessage = (String(decoding: ack.message, as: UTF8.self), false)
        throw ack
    }
}
