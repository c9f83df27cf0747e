import Glibc
import Library
import MPDProtocol

/// The commands of “The music database” that MPD answers from the files themselves. There are none here: the answers
/// are what the server tells of them.
enum FileCommands {
    static let rows: [Command] = [
        Command(
            "getfingerprint",
            .read,
            args: 1...1,
            "Says that there is no fingerprint of a song.",
            .library(getFingerprint),
            difference: "Says always `Decoding failed`: the file is elsewhere."
        ),
        Command(
            "listfiles",
            .read,
            args: 0...1,
            "Lists the files of a directory.",
            .library(listFiles),
            difference:
                "Songs only: servers tell of no other files. What is no directory is named by its path, not by a folder of this machine."
        ),
        Command(
            "readcomments",
            .read,
            args: 1...1,
            "Shows all tags of a song by their names in files, and its lyrics.",
            .background(comments),
            difference: "The tags that the server tells, by their Vorbis names, and its lyrics: the file is elsewhere."
        ),
    ]

    /// Names instead of paths, and songs only: servers tell of no other files.
    private static func listFiles(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = try arguments.isEmpty ? LibraryPath([]) : LibraryPath(arguments[0])
        let library = context.library
        if let plan = context.onShelves(path.bytes, { $0.reply(contentsOf: $1, path: path.bytes, .names) }) {
            return plan
        }
        guard let directory = library.directory(path: path.bytes) else {
            // MPD passes on what the system says, for its own files.
            let reason = library.song(uri: path.bytes) == nil ? ENOENT : ENOTDIR
            let text = "Failed to open \(String(decoding: path.bytes, as: UTF8.self)): \(SystemError.text(of: reason))"
            throw ACK(.system, text).withSingleBlanks
        }
        let files = library.reply(filesOf: directory)
        guard path.bytes.isEmpty, context.shelves != nil else { return LibraryPlan(cost: 1) { .source(files) } }
        return LibraryPlan(cost: 1) { .source(RootReply(directory: files, hasShelves: true, playlists: nil)) }
    }

    private static func comments(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let unseen = context.server.unseenSong(arguments[0], in: context.partition)
        let (library, song) =
            try unseen.map { ($0.library, $0.song) }
            ?? find(context.server.libraryContext(of: context.session), arguments)
        let owner = unseen?.music.reference
        var sources: [CoverSource] = []
        if context.server.configuration.showsLyrics {
            let tags = library.tags(song)
            func first(_ tag: Tag) -> String { tags.first { $0.tag == tag }?.value ?? "" }
            sources = [.lyrics(songID: library.songID(song), artist: first(.artist), title: first(.title))]
        }
        return LibraryPlan(cost: 1) { [sources] in
            .cover(sources, of: owner) { _, lyrics in
                .source(
                    TextReply { output in
                        var reply = Reply()
                        for comment in library.comments(song) { reply.pair(comment.name, untrusted: comment.value) }
                        for line in lyrics.map({ LyricsComments.pairs($0.bytes) }) ?? [] {
                            reply.pair(line.name, untrusted: line.value)
                        }
                        output.append(contentsOf: reply.bytes)
                    }
                )
            }
        }
    }

    private static func getFingerprint(_ context: LibraryContext, _ arguments: Arguments) throws -> LibraryPlan {
        _ = try find(context, arguments)
        throw ACK(.unknown, "Decoding failed")
    }

    private static func find(
        _ context: LibraryContext,
        _ arguments: Arguments
    ) throws -> (LibrarySnapshot, SongIndex) {
        let uri = try LibraryPath(arguments[0], allowsEmpty: false)
        guard let song = context.library.song(uri: uri.bytes) else { throw ACK(.noExist, "No such song") }
        return (context.library, song)
    }
}
