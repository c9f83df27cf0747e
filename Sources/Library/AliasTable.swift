/// URIs that songs had before, so that playlists and queues which still name them find the songs.
struct AliasTable: Sendable, Hashable {
    /// Song ids by former URI. Bytes, because Swift compares texts by what they look like: two normal forms of one name
    /// are two URIs.
    private var songs: [[UInt8]: String] = [:]

    init() {}

    var count: Int { songs.count }

    /// All entries, for keeping; in no order.
    var entries: [(uri: String, songID: String)] {
        songs.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
    }

    /// The song that once had this URI, or nil.
    func songID(uri: String) -> String? { songs[Array(uri.utf8)] }

    /// Notes that a song gave up a URI. The last song to give it up is found by it.
    mutating func add(uri: String, songID: String) { songs[Array(uri.utf8)] = songID }
}
