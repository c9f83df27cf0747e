import Library

/// What clients saw when a change was prepared.
struct SeenLibraries: Sendable {
    let library: LibrarySnapshot
    /// Of the server that is to be active.
    let own: LibrarySnapshot?
    /// Of those that are to be mounted.
    let parts: [LibraryMerge.Part]
    private let playlistChanges: Int

    init(_ server: Server, _ active: MusicServer.Reference, _ mounts: [(String, MusicServer.Reference)]) {
        library = server.library
        own = active.find(in: server)?.library
        parts = mounts.compactMap { path, reference in
            reference.find(in: server).map { LibraryMerge.Part(path: path, library: $0.library) }
        }
        playlistChanges = server.playlists.changes
    }

    /// Whether clients still see the same, whatever it was made of.
    func showsStill(_ now: SeenLibraries) -> Bool {
        now.library === library && now.playlistChanges == playlistChanges
    }

    func isStill(_ now: SeenLibraries) -> Bool {
        showsStill(now) && now.own === own
            && now.parts.elementsEqual(parts) { $0.path == $1.path && $0.library === $1.library }
    }
}
