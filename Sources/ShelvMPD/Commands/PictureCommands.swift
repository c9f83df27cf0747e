import Library
import MPDProtocol
import Playback

/// The commands of “The music database” that give out pictures, in pieces of the connection's `binarylimit`.
///
/// Most servers have one picture for a song, be it from the file or from its folder, and both commands give that one. Where a
/// song and its album have one each, `albumart` gives the album's.
enum PictureCommands {
    static let rows: [Command] = [
        Command(
            "albumart",
            .read,
            args: 2...2,
            "Gives a piece of the cover of a song or, with a final slash, of a directory.",
            .background(albumArt),
            difference:
                "The picture that the server has for the song, or for a directory; of Navidrome the album's. Most servers have one for both commands."
        ),
        Command(
            "readpicture",
            .read,
            args: 2...2,
            "Gives a piece of the picture of a song or, with a final slash, of a directory.",
            .background(readPicture),
            difference:
                "The picture that the server has for the song, and that of a directory too. Most servers have one for both commands."
        ),
    ]

    /// The two ways to ask; they differ in their complaints.
    enum Kind: Sendable { case albumArt, readPicture }

    private static func albumArt(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try plan(.albumArt, context, arguments)
    }

    private static func readPicture(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try plan(.readPicture, context, arguments)
    }

    private static func plan(_ kind: Kind, _ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let offset = try arguments.unsigned(1)
        let path = try path(kind, arguments[0])
        let limit = context.session.binaryLimit
        if offset > 0, let reading = context.session.reading, reading.command == kind, reading.path == arguments[0] {
            let piece = try CoverPiece(reading.cover, kind, offset: offset, limit: limit)
            if piece.isLast { context.connection.session.reading = nil }
            return LibraryPlan(cost: 1) { .source(piece) }
        }
        let library = context.server.libraryContext(of: context.session)
        let asked = arguments[0]
        let unseen = path == nil ? nil : context.server.unseenSong(asked, in: context.partition)
        let owner = unseen?.music.reference
        let answer: @Sendable ([CoverSource]) -> LibraryAnswer = { sources in
            .cover(sources, of: owner) { context, cover in
                context.connection.session.reading = nil
                guard let cover else {
                    guard kind == .readPicture else { throw ACK(.noExist, "No file exists") }
                    return .source(TextReply { _ in })
                }
                let piece = try CoverPiece(cover, kind, offset: offset, limit: limit)
                if !piece.isLast {
                    context.connection.session.reading = CoverReading(command: kind, path: asked, cover: cover)
                }
                return .source(piece)
            }
        }
        guard let path else { return LibraryPlan(cost: 1) { answer([]) } }
        if let unseen {
            let sources = unseen.library.coverSources(of: unseen.song, asAlbum: path.isAlbumArt)
            return LibraryPlan(cost: 1) { answer(sources) }
        }
        let find: @Sendable () throws -> LibraryAnswer = {
            guard let sources = sources(of: path, in: library) else {
                // As MPD says of all that end in a slash.
                if path.isDirectory { throw ACK(.argument, "Bad relative path") }
                throw kind == .readPicture ? ACK(.noExist, "No such song") : ACK(.noExist, "No file exists")
            }
            return answer(sources)
        }
        return LibraryPlan(cost: library.shelves(for: path.bytes)?.planningCost ?? 1, find)
    }

    /// What a client asks for: a song, or a directory if there is a final slash. Nil for URLs, which have no pictures.
    private struct Path {
        var bytes: [UInt8]
        var isDirectory: Bool
        var isAlbumArt: Bool
    }

    private static func path(_ kind: Kind, _ argument: [UInt8]) throws -> Path? {
        if StreamSong.hasScheme(argument), StreamAddress(argument) != nil { return nil }
        let isDirectory =
            argument.count > 1 && argument.last == UInt8(ascii: "/") && !StreamSong.hasScheme(argument)
        let path = try LibraryPath(isDirectory ? Array(argument.dropLast()) : argument, allowsEmpty: false)
        return Path(bytes: path.bytes, isDirectory: isDirectory, isAlbumArt: kind == .albumArt)
    }

    /// Where the picture may come from; nil if there is no such path.
    private static func sources(of path: Path, in context: LibraryContext) -> [CoverSource]? {
        if let shelves = context.shelves(for: path.bytes) {
            guard let node = shelves.node(path: path.bytes) else { return nil }
            if case .song = node {} else if !path.isDirectory && !path.isAlbumArt { return nil }
            return shelves.coverSources(of: node, asAlbum: path.isAlbumArt)
        }
        let library = context.library
        if !path.isDirectory, let song = library.song(uri: path.bytes) {
            return library.coverSources(of: song, asAlbum: path.isAlbumArt)
        }
        guard path.isDirectory || path.isAlbumArt else { return nil }
        if let directory = library.directory(path: path.bytes) { return library.coverSources(of: directory) }
        // As in MPD, the song itself need not exist.
        guard !path.isDirectory, let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return library.directory(path: Array(path.bytes[..<slash])).map { library.coverSources(of: $0) }
    }
}

/// One piece of a picture: the size of the whole, then the bytes. Large pieces are given out as the client reads.
struct CoverPiece: ReplySource {
    private let cover: Cover
    private let showsType: Bool
    private let start: Int
    private let end: Int
    private var next: Int?

    /// Whether it reaches the end of the picture.
    var isLast: Bool { end == cover.bytes.count }

    /// - Throws: an ACK when `offset` lies behind the end.
    init(_ cover: Cover, _ kind: PictureCommands.Kind, offset: Int, limit: Int) throws(ACK) {
        guard offset <= cover.bytes.count else {
            throw ACK(.argument, kind == .albumArt ? "Offset too large" : "Bad file offset")
        }
        self.cover = cover
        showsType = kind == .readPicture
        start = offset
        end = offset + min(limit, cover.bytes.count - offset)
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        var position = start
        if let next {
            position = next
        } else {
            var reply = Reply()
            reply.pair("size", cover.bytes.count)
            if showsType, !cover.type.isEmpty { reply.pair("type", untrusted: cover.type) }
            reply.pair("binary", end - start)
            output.append(contentsOf: reply.bytes)
        }
        let count = min(end - position, max(0, limit - output.count))
        output.append(contentsOf: cover.bytes[position..<position + count])
        next = position + count
        guard position + count == end else { return true }
        output.append(UInt8(ascii: "\n"))
        return false
    }
}
