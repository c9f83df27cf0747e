import Library
import MPDProtocol
import QueueEngine

/// Commands about single entries of the queue, and the search in it.
enum QueueEntryCommands {
    static let rows: [Command] = [
        Command(
            "addtagid",
            .add,
            args: 3...3,
            "Adds a tag to an entry; refused for songs of the library.",
            .core(addTag)
        ),
        Command(
            "cleartagid",
            .add,
            args: 1...2,
            "Removes tags of an entry; refused for songs of the library.",
            .core(clearTag)
        ),
        Command(
            "playlistfind",
            .read,
            args: 1...Int.max,
            "Lists the entries that match, case-sensitively.",
            .queueSearch { try search($0, $1, foldsCase: false) }
        ),
        Command(
            "playlistsearch",
            .read,
            args: 1...Int.max,
            "Lists the entries that match, ignoring case.",
            .queueSearch { try search($0, $1, foldsCase: true) }
        ),
        Command("rangeid", .add, args: 2...2, "Chooses the part of the song that an entry plays.", .core(range)),
    ]

    private static func search(
        _ context: CommandContext,
        _ arguments: Arguments,
        foldsCase: Bool
    ) throws -> LibraryPlan {
        let query = try FilterParser.parse(arguments, clauses: [.sort, .queueSort, .window], foldsCase: foldsCase)
        let queue = context.partition.queue
        let everything = QueueReply(context.partition, positions: 0..<queue.count, mask: context.session.tagMask)
        return LibraryPlan(cost: queue.count) {
            var reply = everything
            try reply.select(query)
            return .source(reply)
        }
    }

    private static func range(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        var range = try arguments.timeRange(1)
        let queue = context.partition.queue
        guard let entry = queue.entry(id: id) else { throw QueueError.noSuchSong(id) }
        if id == queue.currentID, queue.state != .stopped { throw QueueError.cannotEditCurrentSong }
        if let duration = context.partition.duration(of: entry) {
            if range.start > duration { throw ACK(.argument, "Invalid start offset") }
            if let end = range.end, end >= duration { range.end = nil }
        }
        let part = PlaybackRange(start: UInt32(clamping: range.start), end: UInt32(clamping: range.end ?? 0))
        try context.partition.edit { queue throws(QueueError) in try queue.setRange(part, id: id) }
    }

    private static func addTag(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        _ = try arguments.tag(1)
        try refuseTags(context, id)
    }

    private static func clearTag(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        if arguments.count > 1 { _ = try arguments.tag(1) }
        try refuseTags(context, id)
    }

    /// Every song is one of the library, whose tags are the server's; MPD says the same of its files.
    private static func refuseTags(_ context: CommandContext, _ id: EntryID) throws {
        guard context.partition.queue.entry(id: id) != nil else { throw QueueError.noSuchSong(id) }
        throw ACK(.permission, "Cannot edit tags of local file")
    }
}
