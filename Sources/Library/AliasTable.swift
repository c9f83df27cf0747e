/// URIs that songs had before, so that playlists and queues which still name them find the songs.
public struct AliasTable: Sendable, Hashable {
    /// Song ids by former URI. Bytes, because Swift compares texts by what they look like: two normal forms of one name
    /// are two URIs.
    private var songs: [[UInt8]: String] = [:]

    public init() {}

    /// Takes up what was kept elsewhere.
    public init(_ entries: some Sequence<(uri: String, songID: String)>) {
        for entry in entries { songs[Array(entry.uri.utf8)] = entry.songID }
    }

    public var count: Int { songs.count }

    /// All entries, for keeping; in no order.
    public var entries: [(uri: String, songID: String)] {
        songs.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
    }

    /// The song that once had this URI, or nil.
    public func songID(uri: String) -> String? { songs[Array(uri.utf8)] }

    /// Notes that a song gave up a URI. The last song to give it up is found by it.
    public mutating func add(uri: String, songID: String) { songs[Array(uri.utf8)] = songID }

    /// Keeps what holds.
    public mutating func filter(_ isKept: (_ uri: String, _ songID: String) -> Bool) {
        songs = songs.filter { isKept(String(decoding: $0.key, as: UTF8.self), $0.value) }
    }
}
