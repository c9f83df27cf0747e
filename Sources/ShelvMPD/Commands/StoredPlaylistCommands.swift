import Library
import MPDProtocol
import Playback
import QueueEngine

/// “Stored playlists” of MPD's protocol document: looking at them, and loading. Edits are in
/// `StoredPlaylistEditCommands.swift`.
enum StoredPlaylistCommands {
    static let rows: [Command] = [
        Command(
            "listplaylist",
            .read,
            args: 1...2,
            "Lists the URIs of a stored playlist.",
            .playlist(listURIs),
            difference: "Of a song that is not in the library, `song:` and the server's id, if no URI is known."
        ),
        Command(
            "listplaylistinfo",
            .read,
            args: 1...2,
            "Lists the songs of a stored playlist, with tags.",
            .playlist(listRecords)
        ),
        Command(
            "listplaylists",
            .read,
            args: 0...0,
            "Lists the stored playlists.",
            .playlist(listPlaylists),
            difference:
                "In the order of the names, those of mounted servers as `PATH: NAME`; an empty list without playlists, where MPD complains: clients stop at an error."
        ),
        Command(
            "load",
            .add,
            args: 1...3,
            "Adds a stored playlist, or a part of it, to the queue.",
            .playlist(load),
            difference: "Also lists that are made up, such as mixes; of URLs M3U, PLS, XSPF and ASX."
        ),
        Command("playlistlength", .read, args: 1...1, "Counts the songs of a stored playlist.", .playlist(length)),
        Command(
            "searchplaylist",
            .read,
            args: 2...4,
            "Finds songs of a stored playlist, ignoring case.",
            .playlist(search)
        ),
    ]

    // MARK: Looking

    private static func listPlaylists(_ context: CommandContext, _: Arguments) -> LibraryPlan {
        context.server.noteUseOfPlaylists()
        let listing = context.server.playlists.listing
        return LibraryPlan(cost: listing.count) { .source(TextReply { listing.append(to: &$0) }) }
    }

    private static func listURIs(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try list(context, arguments, .uris)
    }

    private static func listRecords(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try list(context, arguments, .records(context.session.tagMask))
    }

    private static func list(
        _ context: CommandContext,
        _ arguments: Arguments,
        _ form: PlaylistReply.Form
    ) throws -> LibraryPlan {
        try checkName(arguments[0])
        let range = try arguments.count > 1 ? arguments.range(1) : .everything
        let library = context.server.library
        return try plan(
            context,
            arguments,
            cost: { _ in 1 },
            songs: { library, songs in
                let part = songs.window(range.asWindow)
                switch form {
                case .uris: return .source(library.reply(urisOf: part))
                case .records(let mask): return .source(library.reply(songs: part, mask: mask))
                }
            }
        ) { entries in
            let part = entries[range.clipped(to: entries.count)]
            return .source(PlaylistReply(part, library: library, form: form))
        }
    }

    private static func length(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let library = context.server.library
        return try plan(context, arguments, cost: \.count) { entries in
            var milliseconds: UInt64 = 0
            for entry in entries {
                milliseconds &+= library.song(entry).flatMap { library.duration($0) }.map { UInt64($0) } ?? 0
            }
            let total = (milliseconds + 500) / 1000
            return .source(
                TextReply { output in
                    var reply = Reply()
                    reply.pair("songs", entries.count)
                    reply.pair("playtime", total)
                    output.append(contentsOf: reply.bytes)
                }
            )
        }
    }

    private static func search(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try checkName(arguments[0])
        // Only behind one expression there is room for it.
        let hasWindow = arguments.count == 4 && arguments.spells("window", at: 2)
        let query = try FilterParser.parse(arguments, from: 1, clauses: hasWindow ? .window : [], foldsCase: true)
        let (library, mask) = (context.server.library, context.session.tagMask)
        let wanted = context.server.libraryContext(of: context.session).normalized(query.filter)
        return try plan(context, arguments, cost: \.count) { entries in
            let filter = try library.compile(wanted)
            var matches: [PlaylistMatches.Match] = []
            for (position, entry) in entries.enumerated() {
                guard let song = PlaylistSong(entry, in: library) else { continue }
                let isMatch =
                    switch song {
                    case .library(let song): filter.matches(song)
                    case .stream(let stream):
                        filter.matches(
                            uri: stream.shownURI,
                            tags: stream.tags.map { ($0.tag, $0.text) },
                            priority: 0
                        )
                    }
                if isMatch { matches.append(PlaylistMatches.Match(position: position, song: song)) }
            }
            try filter.checkExpense()
            let part = query.window.map { $0.clipped(to: matches.count) } ?? 0..<matches.count
            return .source(PlaylistMatches(matches[part], library: library, mask: mask))
        }
    }

    // MARK: Loading

    private static func load(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        try checkName(arguments[0])
        let range = try arguments.count > 1 ? arguments.range(1) : .everything
        let placement =
            try arguments.count > 2
            ? context.server.libraryContext(of: context.session).placement(arguments, 2) : nil
        let name = arguments.text(0)
        let (library, others) = (context.server.library, context.server.songs.names.ownLibraries)
        let isAll = range == .everything && placement == nil
        return try plan(
            context,
            arguments,
            for: .load,
            cost: { range.clipped(to: $0.count).count },
            songs: { library, songs in
                var addition = QueueAddition(library, songs.window(range.asWindow), at: placement)
                addition.playlist = (name, isAll)
                return .addition(addition)
            }
        ) { entries in
            let part = entries[range.clipped(to: entries.count)]
            var addition = QueueAddition(part, in: library, others, at: placement)
            addition.playlist = (name, isAll)
            return .addition(addition)
        }
    }

    // MARK: Inner

    /// Complains of a name that can be no path, which MPD finds first.
    private static func checkName(_ name: [UInt8]) throws(ACK) {
        if !StreamSong.hasScheme(name) { _ = try LibraryPath(name, allowsEmpty: false) }
    }

    /// What is to be done with the entries of the playlist that the first argument names.
    ///
    /// Such a name may be a path in MPD, and the complaints are those about paths. It may be an address, too: then the
    /// playlist is fetched from there.
    private static func plan(
        _ context: CommandContext,
        _ arguments: Arguments,
        for use: VirtualPlaylistUse = .look,
        cost: ([PlaylistEntry]) -> Int,
        songs answerSongs: (@Sendable (LibrarySnapshot, SongSelection) throws -> LibraryAnswer)? = nil,
        _ answer: @escaping @Sendable ([PlaylistEntry]) throws -> LibraryAnswer
    ) throws -> LibraryPlan {
        let name = arguments[0]
        if StreamSong.hasScheme(name) {
            guard let address = StreamAddress(name), address.isHTTP else { throw ACK(.unknown, "Unrecognized URI") }
            return LibraryPlan(cost: 1) { .remotePlaylist(address, then: answer) }
        }
        try checkName(name)
        if let virtual = context.server.playlists.virtual(named: name) {
            switch virtual.content(for: use, of: context.server) {
            case .made(let cost, let make): return LibraryPlan(cost: cost) { try answer(make()) }
            case .songs(let library, let cost, let make):
                return LibraryPlan(cost: cost) {
                    let songs = try make()
                    if let answerSongs { return try answerSongs(library, songs) }
                    return try answer(songs.map { library.entry($0) })
                }
            case .fetched(let fetch): return LibraryPlan(cost: 1) { .playlistFetch(fetch, then: answer) }
            }
        }
        if let shelves = context.server.libraryContext(of: context.session).shelves(for: name) {
            return LibraryPlan(cost: shelves.planningCost) {
                guard let seed = shelves.node(path: name).flatMap({ shelves.radioSeed(of: $0) }) else {
                    throw PlaylistError.noSuchPlaylist
                }
                return .playlistFetch(SimilarSongs.fetch(seed, in: shelves.library), then: answer)
            }
        }
        let shelf = context.server.playlists
        if let playlist = shelf.book[name] {
            shelf.noteUse(of: playlist.key)
            let entries = playlist.entries
            return LibraryPlan(cost: cost(entries)) { try answer(entries) }
        }
        guard let playlist = shelf.mounted[name] else { throw PlaylistError.noSuchPlaylist }
        playlist.noteUse()
        let content = playlist.content
        return LibraryPlan(cost: playlist.stored.entries.count) { try answer(content()) }
    }
}

/// Songs of a playlist that match, with their positions in it.
struct PlaylistMatches: ReplySource {
    struct Match: Sendable {
        var position: Int
        var song: PlaylistSong
    }

    private let library: LibrarySnapshot
    private let mask: TagMask
    private var rest: ArraySlice<Match>

    init(_ matches: ArraySlice<Match>, library: LibrarySnapshot, mask: TagMask) {
        self.library = library
        self.mask = mask
        rest = matches
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        while output.count < limit, let match = rest.popFirst() {
            switch match.song {
            case .library(let song): library.appendSong(song, mask: mask, to: &output)
            case .stream(let stream): stream.appendRecord(mask: mask, part: .whole, to: &output)
            }
            output.append(contentsOf: "Pos: ".utf8)
            output.appendDecimal(match.position)
            output.append(UInt8(ascii: "\n"))
        }
        return !rest.isEmpty
    }
}
