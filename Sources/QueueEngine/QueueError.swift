/// Why an operation was refused. A refused operation changed nothing.
public enum QueueError: Error, Sendable, Equatable {
    /// A position or the start of a range lies beyond the queue. MPD: code 2, `Bad song index`.
    case badSongIndex
    /// No entry has this id. MPD: code 50, `No such song`.
    case noSuchSong(EntryID)
    /// The command needs a song that plays or is paused. MPD: code 55, `Not playing`.
    case notPlaying
    /// A relative position was given without a current entry. MPD: code 55, `No current song`.
    case noCurrentSong
    /// A position to insert at, as the client wrote it without its sign, is out of bounds. MPD: code 2, `Number too large`.
    case numberTooLarge(Int)
    /// No further entry fits. MPD: code 51, `Playlist is too large`.
    case playlistFull
    /// MPD: code 2, `Cannot move current song relative to itself`.
    case cannotMoveRelativeToItself
    /// MPD: code 2, `Open-ended range not supported`.
    case openRangeNotSupported
    /// The range of an entry that plays or is paused cannot be edited. MPD: code 4, `Cannot edit the current song`.
    case cannotEditCurrentSong
}
