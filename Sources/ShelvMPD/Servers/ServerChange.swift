/// What a client wants of the configured servers.
enum ServerChange: Sendable, Equatable {
    /// Show the library and the playlists of the server with this name.
    case use(String)
    /// Read the blocks of the configuration again.
    case reload
}

/// Why it was not done.
enum ServerChangeError: Error, Sendable, Equatable {
    case noSuchServer
    /// A sentence for the user.
    case failed(String)
}
