public import SubsonicKit

/// What a playlist on the network names: M3U, PLS, XSPF or ASX.
///
/// To be read by `load(_:by:)`. A playlist is never followed into another one here, and a row is never opened.
public struct RemotePlaylist: Sendable, Equatable {
    /// One row: an address that can be played, and what the playlist says of it.
    public struct Row: Sendable, Equatable {
        /// Absolute: what was relative is resolved against the playlist's own address.
        public var address: StreamAddress
        public var title: String?
        /// Nil where the playlist says nothing, or that it has no end.
        public var duration: Duration?

        public init(_ address: StreamAddress, title: String? = nil, duration: Duration? = nil) {
            self.address = address
            self.title = title
            self.duration = duration
        }
    }

    /// In the order of the playlist. Rows that name something else than an address of the network, such as local files,
    /// are left out.
    public var rows: [Row]

    public init(rows: [Row]) { self.rows = rows }

    /// Bytes that a playlist may have.
    public static let maximumLength = 1 << 20
    /// Rows that are read of a playlist; the others are passed over.
    public static let maximumRows = 10_000

    /// Downloads and reads a playlist. Call it from a task, never on the core; cancelling the task ends the download.
    ///
    ///     guard let address = StreamAddress(uri) else { … }     // "Unsupported URI scheme"
    ///     let playlist = try await RemotePlaylist.load(address, by: transport)
    ///     for row in playlist.rows { … StreamSong(uri: row.address.text) … }
    ///
    /// - Parameter transport: one that sends no credentials of its own; `MusicSource.audioTransport` serves.
    /// - Throws: `RemotePlaylistError`, whose message is fit for users: not reachable, refused, too long, no playlist. An HLS
    ///   playlist is refused, too: it is one stream, and its address can be played itself.
    public static func load(
        _ address: StreamAddress,
        by transport: any HTTPTransport
    ) async throws(RemotePlaylistError) -> RemotePlaylist {
        switch await RemoteProbe.ask(address, wantsPlaylist: true, by: transport) {
        case .playlist(let playlist): return playlist
        case .segments: throw RemotePlaylistError("\(address): this is one stream, not a playlist")
        case .media: throw RemotePlaylistError("\(address): no playlist")
        case .failed(let failure): throw RemotePlaylistError(failure)
        }
    }
}

/// Why a playlist could not be read; for users, without secrets.
public struct RemotePlaylistError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    /// Whether trying again later may help: the server could not be reached, or had no time.
    public let isTransient: Bool

    init(_ description: String) {
        self.description = description
        isTransient = false
    }

    init(_ failure: PlaybackFailure) {
        description = failure.message
        isTransient = if case .transport = failure { true } else { false }
    }
}

// MARK: Reading

extension RemotePlaylist {
    /// What a document turns out to be.
    enum Content: Sendable, Equatable {
        case playlist(RemotePlaylist)
        /// An HLS playlist: the pieces of one stream.
        case segments
    }

    /// Reads a document. Nil when it is no playlist.
    ///
    /// - Parameters:
    ///   - mediaType: the server's word for it, which counts where the bytes do not say.
    ///   - base: its own address, against which relative rows are resolved.
    static func read(_ body: [UInt8], mediaType: String?, base: String) -> Content? {
        let text = decoded(body)
        guard let form = form(of: text, mediaType: mediaType, base: base) else { return nil }
        let found: [RawRow]
        switch form {
        case .m3u:
            if M3U.isSegmented(text) { return .segments }
            found = M3U.rows(of: text)
        case .pls: found = PLS.rows(of: text, keys: ("file", "title", "length"))
        case .references: found = PLS.rows(of: text, keys: ("ref", "", ""))
        case .xspf: found = PlaylistMarkup.xspf(text)
        case .asx: found = PlaylistMarkup.asx(text)
        }
        let rows = found.prefix(maximumRows).compactMap { row -> Row? in
            guard let address = RelativeAddress.resolve(row.uri, against: base) else { return nil }
            return Row(address, title: row.title, duration: row.duration)
        }
        return .playlist(RemotePlaylist(rows: rows))
    }

    /// A row before its address is resolved.
    struct RawRow: Equatable {
        var uri: String
        var title: String?
        var duration: Duration?
    }

    private enum Form { case m3u, pls, references, xspf, asx }

    private static func form(of text: String, mediaType: String?, base: String) -> Form? {
        let start = text.drop { $0.isWhitespace }.prefix(4_096).lowercased()
        if start.hasPrefix("#extm3u") { return .m3u }
        if start.hasPrefix("[playlist]") { return .pls }
        if start.hasPrefix("[reference]") { return .references }
        if start.hasPrefix("<asx") { return .asx }
        if start.hasPrefix("<?xml") || start.hasPrefix("<playlist") {
            if start.contains("<playlist") { return .xspf }
            if start.contains("<asx") { return .asx }
            return nil
        }
        // Plain lines of addresses have no mark of their own, and HTML is none.
        guard !start.hasPrefix("<"), !text.utf8.contains(0) else { return nil }
        return isPlaylist(mediaType: mediaType) || isPlaylist(name: base) ? .m3u : nil
    }

    /// Whether a server calls what it sends a playlist.
    static func isPlaylist(mediaType: String?) -> Bool {
        guard let type = mediaType?.split(separator: ";").first?.lowercased() else { return false }
        return [
            "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/vnd.apple.mpegurl",
            "audio/x-scpls",
            "audio/scpls", "application/pls+xml", "application/xspf+xml", "video/x-ms-asx", "audio/x-ms-wax",
            "video/x-ms-wvx",
        ].contains(type.filter { $0 != " " })
    }

    /// Whether an address looks like that of a playlist.
    static func isPlaylist(name: String) -> Bool {
        let path = name.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let end = String(decoding: path.suffix(6), as: UTF8.self).lowercased()
        return [".m3u", ".m3u8", ".pls", ".xspf", ".asx", ".wax", ".wvx"].contains { end.hasSuffix($0) }
    }

    /// UTF-8, or what else it may be: Latin-1, in which every byte is a character.
    private static func decoded(_ body: [UInt8]) -> String {
        let body = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        if let text = String(validating: body, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(body.map { Unicode.Scalar($0) }))
    }
}
