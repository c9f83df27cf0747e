/// What a client wants of the configured servers.
enum ServerChange: Sendable, Equatable {
    /// Show the library and the playlists of the server with this name.
    case use(String)
    /// Show the library of a server, named in one of several ways, as a folder.
    case mount(path: String, uri: String)
    case unmount(path: String)
    /// Read the blocks of the configuration again.
    case reload
    /// Put the libraries that are shown together anew.
    case merge
}

/// Why it was not done.
enum ServerChangeError: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchServer
    case badMountPoint
    case mountPointBusy
    case alreadyMounted
    case unrecognizedURI
    case notAMountPoint
    /// A sentence for the user.
    case failed(String)

    /// As a client reads it.
    var description: String {
        switch self {
        case .noSuchServer: "No such server"
        case .badMountPoint: "Bad mount point"
        case .mountPointBusy: "Mount point busy"
        case .alreadyMounted: "This storage is already mounted"
        case .unrecognizedURI: "Unrecognized storage URI"
        case .notAMountPoint: "Not a mount point"
        case .failed(let message): message
        }
    }
}
