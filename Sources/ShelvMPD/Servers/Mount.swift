/// A server whose library clients see as a folder beside the active one's.
struct Mount {
    /// The folder: one segment.
    let path: String
    let music: MusicServer
}
