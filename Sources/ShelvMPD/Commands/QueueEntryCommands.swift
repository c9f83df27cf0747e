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
            "Adds a tag to an entry that is a URL.",
            .core(addTag)
        ),
        Command(
            "cleartagid",
            .add,
            args: 1...2,
            "Removes one tag, or all, of an entry that is a URL.",
            .core(clearTag)
        ),
        Command(
            "playlistfind",
            .read,
            args: 1...Int.max,
            "Lists the entries that match, case-sensitively.",
            .queueSearch { try search($0, $1, foldsCase: false) },
            difference:
                "Sorted by a tag, URLs come first; songs that have gone from the server match by priority only: their tags are not kept up."
        ),
        Command(
            "playlistsearch",
            .read,
            args: 1...Int.max,
            "Lists the entries that match, ignoring case.",
            .queueSearch { try search($0, $1, foldsCase: true) },
            difference:
                "Sorted by a tag, URLs come first; songs that have gone from the server match by priority only: their tags are not kept up."
        ),
        Command(
            "rangeid",
            .add,
            args: 2...2,
            "Chooses the part of the song that an entry plays.",
            .core(range),
            difference: "Lengths are compared in whole seconds: servers tell nothing else."
        ),
    ]

    private static func search(
        _ context: CommandContext,
        _ arguments: Arguments,
        foldsCase: Bool
    ) throws -> LibraryPlan {
        var query = try FilterParser.parse(arguments, clauses: [.sort, .queueSort, .window], foldsCase: foldsCase)
        if context.session.stringNormalization.contains(.stripDiacritics) {
            query.filter = query.filter.strippingDiacritics()
        }
        let parsed = query
        let queue = context.partition.queue
        let everything = QueueReply(context.partition, .range(0..<queue.count), mask: context.session.tagMask)
        return LibraryPlan(cost: queue.count) {
            var reply = everything
            try reply.select(parsed)
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
        let tag = try arguments.tag(1)
        try editTags(context, id) { tags in
            // A tag that the server does not keep, and an empty value, change nothing, and yet count as a change.
            guard TagMask.standard.contains(tag), let value = StreamSong.Value(tag, arguments[2]) else { return }
            tags.append(value)
        }
    }

    private static func clearTag(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        let tag = try arguments.count > 1 ? arguments.tag(1) : nil
        try editTags(context, id) { tags in tags.removeAll { tag == nil || $0.tag == tag } }
    }

    /// Changes what an entry shows of a URL. The tags of songs of the library are the server's; MPD says of its files what
    /// is said of them here.
    private static func editTags(
        _ context: CommandContext,
        _ id: EntryID,
        _ change: (inout [StreamSong.Value]) -> Void
    ) throws {
        guard let entry = context.partition.queue.entry(id: id) else { throw QueueError.noSuchSong(id) }
        guard case .stream(var stream)? = context.partition.songs.song(entry.key) else {
            throw ACK(.permission, "Cannot edit tags of local file")
        }
        change(&stream.tags)
        try context.partition.show(stream, as: id)
    }
}
