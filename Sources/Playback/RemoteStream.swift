/// The addresses of one remote stream, and what has become of them. Belongs to the player's thread.
final class RemoteStream {
    /// What libmpv is to open now.
    private(set) var address: StreamAddress

    init(_ address: StreamAddress) { self.address = address }

    /// What libmpv is told for this entry alone. Everything is decoded by FFmpeg, which may use the network and nothing
    /// else: no playlists of libmpv's own, which could name local files, and no references inside a file.
    var options: [(String, String)] {
        let protocols = "http,https,tcp,tls,httpproxy,crypto,hls"
        let whitelist = "protocol_whitelist=%\(protocols.utf8.count)%\(protocols)"
        return [
            ("demuxer", "lavf"), ("stream-lavf-o", whitelist), ("demuxer-lavf-o", whitelist),
        ]
    }
}
