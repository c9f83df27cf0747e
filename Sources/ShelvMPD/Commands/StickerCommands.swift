import Library
import MPDProtocol

/// “Stickers” of MPD's protocol document.
enum StickerCommands {
    static let rows: [Command] = [
        Command(
            "sticker",
            .admin,
            args: 3...Int.max,
            "Looks at, sets, removes and finds stickers.",
            .stickers(sticker),
            difference:
                "`rating`, `starred`, `like`, `playCount` and `lastPlayed` are what the server keeps, with the values that it can keep."
        ),
        Command("stickernames", .admin, args: 0...0, "Lists the names of stickers.", .stickers(names)),
        Command(
            "stickernamestypes",
            .admin,
            args: 0...1,
            "Lists the names of stickers with what they are on.",
            .stickers(namesAndTypes)
        ),
        Command("stickertypes", .admin, args: 0...0, "Lists what stickers can be on.", .stickers(types)),
    ]

    private static func sticker(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let count = arguments.count
        if let tag = StickerType.tagWithoutStickers(arguments[1]) { return try refuse(context, tag, arguments) }
        let type = try StickerType(arguments[1])
        switch arguments.text(0) {
        case "get" where count == 4:
            let name = arguments[3]
            return try look(context, type, arguments[2]) { view, object in
                guard let value = view.value(name, object) else { throw StickerError.noSuchSticker(name) }
                return [(name, value)]
            }
        case "list" where count == 3:
            return try look(context, type, arguments[2]) { view, object in view.all(object) }
        case "set" where count == 5:
            let (name, value) = (arguments[3], arguments[4])
            if name.isEmpty { throw StickerError.emptyName }
            return try edit(context, type, arguments[2]) { server, object, whenKept in
                try server.setSticker(object, name, value, whenKept: whenKept)
            }
        case "inc" where count == 5, "dec" where count == 5:
            let (name, value, isDecrement) = (arguments[3], arguments[4], arguments.spells("dec", at: 0))
            if name.isEmpty { throw StickerError.emptyName }
            return try edit(context, type, arguments[2]) { server, object, whenKept in
                try server.addToSticker(object, name, value, isDecrement: isDecrement, whenKept: whenKept)
            }
        case "delete" where count == 3 || count == 4:
            let name = count == 4 ? arguments[3] : nil
            return try edit(context, type, arguments[2]) { server, object, whenKept in
                try server.removeSticker(object, name, whenKept: whenKept)
            }
        case "find" where count >= 4: return try find(context, type, arguments)
        default: throw StickerError.badRequest
        }
    }

    /// A request about a tag that bears no stickers: the tag is the last thing that MPD looks at, and it finds nothing there.
    private static func refuse(
        _ context: CommandContext,
        _ tag: Tag,
        _ arguments: Arguments
    ) throws -> LibraryPlan {
        let count = arguments.count
        switch arguments.text(0) {
        case "set" where count == 5, "inc" where count == 5, "dec" where count == 5:
            if arguments[3].isEmpty { throw StickerError.emptyName }
        case "get" where count == 4, "list" where count == 3, "delete" where count == 3 || count == 4: break
        case "find" where count >= 4:
            // For what is wrong with the rest.
            _ = try find(context, .filter, arguments)
            return LibraryPlan(cost: 1) { .source(TextReply { _ in }) }
        default: throw StickerError.badRequest
        }
        throw StickerError.unsupportedTag(tag)
    }

    private static func find(
        _ context: CommandContext,
        _ type: StickerType,
        _ arguments: Arguments
    ) throws -> LibraryPlan {
        var search = StickerSearch(type: type, base: arguments[2], name: arguments[3])
        var end = arguments.count
        if end >= 6, arguments.spells("window", at: end - 2) {
            search.window = try arguments.range(end - 1)
            end -= 2
        }
        if end >= 6, arguments.spells("sort", at: end - 2) {
            let word = arguments.slice(end - 1)
            search.isDescending = word.first == UInt8(ascii: "-")
            search.order = try StickerSearch.Order(search.isDescending ? word.dropFirst() : word)
            end -= 2
        }
        if end > 4 {
            let comparison = try StickerSearch.Comparison(arguments[4])
            // MPD reads on where nothing is; what follows behind it passes over.
            if end == 5 { throw StickerError.badRequest }
            search.test = (comparison, arguments[5])
        }
        let view = context.server.stickerView
        return LibraryPlan(cost: search.cost(in: view)) { [search] in
            .source(StickerHits(try search.hits(in: view), of: search, in: view.library))
        }
    }

    // MARK: Names

    private static func names(_ context: CommandContext, _: Arguments) -> LibraryPlan {
        let view = context.server.stickerView
        return LibraryPlan(cost: view.library.songCount / 16) {
            let names = StickerType.all.reduce(into: Set<[UInt8]>()) { $0.formUnion(view.names(of: $1)) }
            let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
            return .source(TextReply { output in for name in sorted { append("name", name, &output) } })
        }
    }

    private static func namesAndTypes(_ context: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        var types = StickerType.all
        if !arguments.isEmpty {
            let word = arguments.text(0)
            if let type = StickerType(stored: word) {
                types = [type]
            } else if Tag.allCases.contains(where: { $0.name == word }) {
                throw StickerError.tagWithoutStickers(arguments[0])
            } else {
                throw StickerError.noSuchTag(arguments[0])
            }
        }
        let view = context.server.stickerView
        return LibraryPlan(cost: view.library.songCount / 16) { [types] in
            let pairs = types.flatMap { type in view.names(of: type).map { (name: $0, type: Array(type.name.utf8)) } }
                .sorted {
                    $0.name == $1.name
                        ? $0.type.lexicographicallyPrecedes($1.type) : $0.name.lexicographicallyPrecedes($1.name)
                }
            return .source(
                TextReply { output in
                    for pair in pairs {
                        append("name", pair.name, &output)
                        append("type", pair.type, &output)
                    }
                }
            )
        }
    }

    private static func types(_ context: CommandContext, _: Arguments) -> LibraryPlan {
        let mask = context.session.tagMask
        return LibraryPlan(cost: 1) {
            .source(
                TextReply { output in
                    for type in StickerType.all {
                        if case .tag(let tag) = type, !mask.contains(tag) { continue }
                        append("stickertype", Array(type.name.utf8), &output)
                    }
                }
            )
        }
    }

    private static func append(_ key: String, _ value: [UInt8], _ output: inout [UInt8]) {
        output.append(contentsOf: key.utf8)
        output.append(contentsOf: ": ".utf8)
        output.append(contentsOf: value)
        output.append(UInt8(ascii: "\n"))
    }

    // MARK: Objects

    /// Stickers of one object.
    private static func look(
        _ context: CommandContext,
        _ type: StickerType,
        _ word: [UInt8],
        _ find: @escaping @Sendable (StickerView, StickerObject) throws -> [(name: [UInt8], value: [UInt8])]
    ) throws -> LibraryPlan {
        let unseen = type == .song ? context.server.unseenSong(word, in: context.partition) : nil
        let view = unseen.map { context.server.stickerView(of: $0.music) } ?? context.server.stickerView
        return try plan(context, type, word, unseen) { object in
            let found = try find(view, object)
            return .source(
                TextReply { output in
                    for sticker in found { append("sticker", sticker.name + Array("=".utf8) + sticker.value, &output) }
                }
            )
        }
    }

    /// A change of the stickers of one object.
    private static func edit(
        _ context: CommandContext,
        _ type: StickerType,
        _ word: [UInt8],
        _ change: @escaping @Sendable (Server, StickerObject, @escaping Store.WhenDone) throws -> Void
    ) throws -> LibraryPlan {
        let unseen = type == .song ? context.server.unseenSong(word, in: context.partition) : nil
        return try plan(context, type, word, unseen) { object in
            .keptEdit { context, whenKept in
                var object = object
                // The library may be another one by now.
                if type == .song {
                    let unseen = context.server.unseenSong(word, in: context.partition)
                    object =
                        try unseen.map { StickerObject($0.song, in: $0.library) }
                        ?? StickerObject(song: word, in: context.server.library)
                }
                try change(context.server, object, whenKept)
            }
        }
    }

    /// Finds the object, then goes on with it.
    private static func plan(
        _ context: CommandContext,
        _ type: StickerType,
        _ word: [UInt8],
        _ unseen: UnseenSong?,
        _ answer: @escaping @Sendable (StickerObject) throws -> LibraryAnswer
    ) throws -> LibraryPlan {
        if let unseen {
            let object = StickerObject(unseen.song, in: unseen.library)
            return LibraryPlan(cost: 1) { try answer(object) }
        }
        let library = context.server.libraryContext(of: context.session)
        switch type {
        case .song: return LibraryPlan(cost: 1) { try answer(StickerObject(song: word, in: library.library)) }
        case .playlist:
            let object = try playlist(word, context.server.playlists)
            return LibraryPlan(cost: 1) { try answer(object) }
        case .filter:
            let filter = try filter(word)
            return LibraryPlan(cost: library.library.estimatedCost(filter)) {
                do {
                    return try answer(StickerObject(filter, in: library.library, shelves: library.shelves))
                } catch FilterError.regex(let offset, let message) {
                    throw StickerError.badRegex(offset: offset, message: message)
                }
            }
        case .tag(let tag):
            let filter = Filter.tag(tag, TextMatch(.equals, word, foldsCase: false))
            return LibraryPlan(cost: library.library.estimatedCost(filter)) {
                try answer(StickerObject(tag, word, in: library.library))
            }
        }
    }

    private static func playlist(_ name: [UInt8], _ shelf: PlaylistShelf) throws(StickerError) -> StickerObject {
        if shelf.settings.isEnabled {
            if shelf.virtual(named: name) != nil {
                return StickerObject(playlist: StickerObject.playlist(madeUp: name))
            }
            if let playlist = shelf.book[name] { return StickerObject(playlist: StickerObject.playlist(playlist.key)) }
            if let playlist = shelf.mounted[name] {
                return StickerObject(playlist: StickerObject.playlist(playlist.stored.key), of: playlist.serverID)
            }
        }
        throw .noSuchPlaylist(name)
    }

    private static func filter(_ word: [UInt8]) throws(StickerError) -> Filter {
        do {
            return try FilterParser.parse(Arguments([word]), clauses: [], foldsCase: false, syntaxError: .unknown)
                .filter
        } catch {
            throw .badFilter(error)
        }
    }
}
