/// Why something cannot be done with a stored playlist.
enum PlaylistError: Error, Hashable, Sendable {
    case noSuchPlaylist
    /// `save` finds one of that name.
    case alreadyExists
    /// `rename` finds one of that name; MPD words it differently.
    case existsAlready
    case badName
    case badSongIndex
    case badRange
    case badPosition
    case tooLarge
    /// It belongs to somebody else, or the server makes it.
    case readOnly(PlaylistRefusal)
    /// The server does not let this user make lists.
    case notAllowed(String?)
    /// The server's lists hold songs of that server only.
    case notForServer
    /// Only addresses of radio stations can be held.
    case onlyStations
    /// The configuration says that there are none.
    case disabled
}
