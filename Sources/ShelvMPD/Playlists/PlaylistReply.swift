import Library
import MPDProtocol

/// What a stored playlist holds, given out as the client reads it: URIs, or records with tags.
struct PlaylistReply: ReplySource {
    /// What is written for each entry.
    enum Form: Sendable {
        case uris
        case records(TagMask)
    }

    private let library: LibrarySnapshot
    private let form: Form
    private let entries: ArraySlice<PlaylistEntry>
    private var next: Int

    init(_ entries: ArraySlice<PlaylistEntry>, library: LibrarySnapshot, form: Form) {
        self.library = library
        self.form = form
        self.entries = entries
        next = entries.startIndex
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        while next < entries.endIndex, output.count < limit {
            append(entries[next], to: &output)
            next += 1
        }
        return next < entries.endIndex
    }

    private func append(_ entry: PlaylistEntry, to output: inout [UInt8]) {
        if case .records(let mask) = form, let song = library.song(entry) {
            library.appendSong(song, mask: mask, to: &output)
        } else if case .records(let mask) = form, case .stream(let stream) = entry {
            stream.appendRecord(mask: mask, part: .whole, to: &output)
        } else {
            output.append(contentsOf: "file: ".utf8)
            output.append(contentsOf: library.uri(entry))
            output.append(UInt8(ascii: "\n"))
        }
    }
}

/// What an entry of a playlist plays.
enum PlaylistSong: Sendable {
    case library(SongIndex)
    case stream(StreamSong)

    /// Nil for a song that the library does not have.
    init?(_ entry: PlaylistEntry, in library: LibrarySnapshot) {
        if case .stream(let stream) = entry {
            self = .stream(stream)
        } else if let song = library.song(entry) {
            self = .library(song)
        } else {
            return nil
        }
    }
}

extension LibrarySnapshot {
    /// The song that an entry of a playlist is; nil for one that the library does not have.
    func song(_ entry: PlaylistEntry) -> SongIndex? {
        switch entry {
        case .song(let id): song(id: id)
        case .foreign(let identity): song(identity)
        case .stream: nil
        }
    }

    /// A song as an entry of a playlist.
    func entry(_ song: SongIndex) -> PlaylistEntry {
        let identity = identity(song)
        return identity.serverID == info.serverID ? .song(identity.songID) : .foreign(identity)
    }

    /// The URI of an entry of a playlist; of a song that the library does not have, one made of its id.
    func uri(_ entry: PlaylistEntry) -> [UInt8] {
        if let song = song(entry) { return uri(song) }
        switch entry {
        case .stream(let stream): return stream.shownURI
        case .song(let id): return Self.uri(ofAbsent: id)
        case .foreign(let song): return Self.uri(ofAbsent: song.songID)
        }
    }

    /// As the queue shows a song of which nothing is known.
    private static func uri(ofAbsent id: String) -> [UInt8] {
        SongTable.GoneSong(serverID: "", songID: id, record: [], uri: []).shownURI
    }
}
