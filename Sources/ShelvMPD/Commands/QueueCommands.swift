import Library
import MPDProtocol
import QueueEngine

/// “The queue” of MPD's protocol document: edits and listings. Adding is in `AddCommands.swift`.
enum QueueCommands {
    static let rows: [Command] =
        AddCommands.rows + QueueEntryCommands.rows + [
            Command("clear", .player, args: 0...0, "Empties the queue.", .core(clear)),
            Command("delete", .player, args: 1...1, "Removes the entries at a range of positions.", .core(delete)),
            Command("deleteid", .player, args: 1...1, "Removes the entry with an id.", .core(deleteID)),
            Command(
                "move",
                .player,
                args: 2...2,
                "Moves the entries at a range of positions.",
                .core(move),
                difference: "`-N` is limited by what is before the current entry: MPD's limit is a slip."
            ),
            Command(
                "moveid",
                .player,
                args: 2...2,
                "Moves the entry with an id.",
                .core(moveID),
                difference: "`-N` is limited by what is before the current entry: MPD's limit is a slip."
            ),
            Command("playlist", .read, args: 0...0, "Lists positions and URIs; deprecated.", .listing(playlist)),
            Command("playlistid", .read, args: 0...1, "Shows the entry with an id, or all.", .listing(playlistID)),
            Command(
                "playlistinfo",
                .read,
                args: 0...1,
                "Lists the entries at a range of positions.",
                .listing(playlistInfo)
            ),
            Command(
                "plchanges",
                .read,
                args: 1...2,
                "Lists the entries that changed after a version.",
                .listing(changes),
                difference: "Versions go on after a restart: what a client remembers never means something else."
            ),
            Command(
                "plchangesposid",
                .read,
                args: 1...2,
                "Lists position and id of what changed after a version.",
                .listing(changedPositions),
                difference: "Versions go on after a restart: what a client remembers never means something else."
            ),
            Command(
                "prio",
                .player,
                args: 2...Int.max,
                "Sets the priority of ranges of positions.",
                .core(priority),
                difference:
                    "In three tiers entries with a priority move to Play Next: positions are the order of playing."
            ),
            Command(
                "prioid",
                .player,
                args: 2...Int.max,
                "Sets the priority of the entries with these ids.",
                .core(priorityByID),
                difference:
                    "In three tiers entries with a priority move to Play Next: positions are the order of playing."
            ),
            Command(
                "shelv_queue",
                .read,
                args: 0...0,
                "Lists the queue like `playlistinfo`, with the tier of each entry; not a command of MPD.",
                .listing(sections)
            ),
            Command(
                "shuffle",
                .player,
                args: 0...1,
                "Brings the entries at a range of positions into a random order.",
                .core(shuffle)
            ),
            Command("swap", .player, args: 2...2, "Exchanges the entries at two positions.", .core(swap)),
            Command("swapid", .player, args: 2...2, "Exchanges the entries with two ids.", .core(swapID)),
        ]

    private static func sections(_ context: CommandContext, _: Arguments) -> any ReplySource {
        let everything = 0..<context.partition.queue.count
        return QueueReply(
            context.partition,
            .range(everything),
            mask: context.session.tagMask,
            form: .recordWithSection
        )
    }

    // MARK: Edits

    private static func clear(_ context: CommandContext, _: Arguments, _: inout Reply) throws {
        try context.partition.edit { queue throws(QueueError) in queue.clear() }
        context.partition.lastLoadedPlaylist = ""
    }

    private static func delete(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let span = PositionSpan(try arguments.range(0))
        try context.partition.edit { queue throws(QueueError) in try queue.delete(span) }
    }

    private static func deleteID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        try context.partition.edit { queue throws(QueueError) in try queue.delete(id: id) }
    }

    private static func move(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        try move(PositionSpan(arguments.range(0)), context, arguments)
    }

    private static func move(_ span: PositionSpan, _ context: CommandContext, _ arguments: Arguments) throws {
        guard let end = span.end else { throw QueueError.openRangeNotSupported }
        let destination = arguments.slice(1)
        let isRelative = destination.first == UInt8(ascii: "+") || destination.first == UInt8(ascii: "-")
        if isRelative {
            // Before the number is read, as in MPD.
            guard let current = context.partition.queue.currentPosition else { throw QueueError.noCurrentSong }
            if current >= span.start, current < end { throw QueueError.cannotMoveRelativeToItself }
        }
        let placement = Placement(try arguments.insertPosition(1))
        do {
            try context.partition.edit { queue throws(QueueError) in try queue.move(span, to: placement) }
        } catch QueueError.numberTooLarge {
            throw ACK(.argument, "Number too large", quoting: destination.dropFirst(isRelative ? 1 : 0))
                .withSingleBlanks
        }
    }

    private static func moveID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.entryID(0)
        guard let position = context.partition.queue.position(of: id) else { throw QueueError.noSuchSong(id) }
        try move(PositionSpan(position), context, arguments)
    }

    private static func swap(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let positions = try (arguments.unsigned(0), arguments.unsigned(1))
        try context.partition.edit { queue throws(QueueError) in try queue.swap(positions.0, positions.1) }
    }

    private static func swapID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let ids = try (arguments.entryID(0), arguments.entryID(1))
        try context.partition.edit { queue throws(QueueError) in try queue.swap(id: ids.0, with: ids.1) }
    }

    private static func priority(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let priority = UInt8(clamping: try arguments.unsigned(0, maximum: 255))
        let (spans, failure) = leading(arguments) { index throws(ACK) in PositionSpan(try arguments.range(index)) }
        try context.partition.editPartly { $0.setPriority(priority, spans) }
        if let failure { throw failure }
    }

    private static func priorityByID(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let priority = UInt8(clamping: try arguments.unsigned(0, maximum: 255))
        let (ids, failure) = leading(arguments) { index throws(ACK) in try arguments.entryID(index) }
        try context.partition.editPartly { $0.setPriority(priority, ids: ids) }
        if let failure { throw failure }
    }

    /// The arguments from the second on, up to one that cannot be read: what stands before it is still carried out.
    private static func leading<T>(
        _ arguments: Arguments,
        _ read: (Int) throws(ACK) -> T
    ) -> (values: [T], failure: ACK?) {
        var values: [T] = []
        for index in arguments.indices.dropFirst() {
            do throws(ACK) {
                values.append(try read(index))
            } catch {
                return (values, error)
            }
        }
        return (values, nil)
    }

    private static func shuffle(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let span: PositionSpan = arguments.isEmpty ? .everything : PositionSpan(try arguments.range(0))
        try context.partition.edit { queue throws(QueueError) in try queue.shuffle(span) }
    }

    // MARK: Listings

    private static func playlistInfo(_ context: CommandContext, _ arguments: Arguments) throws -> any ReplySource {
        let span: PositionSpan = arguments.isEmpty ? .everything : PositionSpan(try arguments.range(0))
        let positions = try context.partition.queue.positions(in: span)
        return QueueReply(context.partition, .range(positions), mask: context.session.tagMask)
    }

    private static func playlistID(_ context: CommandContext, _ arguments: Arguments) throws -> any ReplySource {
        let queue = context.partition.queue
        var positions = 0..<queue.count
        if !arguments.isEmpty {
            let id = try arguments.entryID(0)
            guard let position = queue.position(of: id) else { throw QueueError.noSuchSong(id) }
            positions = position..<position + 1
        }
        return QueueReply(context.partition, .range(positions), mask: context.session.tagMask)
    }

    private static func playlist(_ context: CommandContext, _: Arguments) throws -> any ReplySource {
        let everything = 0..<context.partition.queue.count
        return QueueReply(context.partition, .range(everything), mask: context.session.tagMask, form: .uri)
    }

    private static func changes(_ context: CommandContext, _ arguments: Arguments) throws -> any ReplySource {
        try QueueReply(context.partition, changed(arguments), mask: context.session.tagMask)
    }

    private static func changedPositions(_ context: CommandContext, _ arguments: Arguments) throws -> any ReplySource {
        try QueueReply(context.partition, changed(arguments), mask: context.session.tagMask, form: .position)
    }

    /// What changed after the version; unlike in other commands a range beyond the queue is no error.
    private static func changed(_ arguments: Arguments) throws -> QueueReply.Scope {
        let version = try arguments.version(0)
        let range = try arguments.count > 1 ? arguments.range(1) : .everything
        return .changes(since: version, in: PositionSpan(range))
    }
}

/// A reply that is short, or cheap to make at once.
struct TextReply: ReplySource {
    private let text: [UInt8]

    init(_ write: (inout [UInt8]) -> Void) {
        var text: [UInt8] = []
        write(&text)
        self.text = text
    }

    mutating func appendNext(to output: inout [UInt8], limit _: Int) -> Bool {
        output.append(contentsOf: text)
        return false
    }
}

extension PositionSpan {
    init(_ range: PositionRange) { self.init(start: range.start, end: range.end) }
}

extension Placement {
    init(_ position: InsertPosition) {
        switch position {
        case .absolute(let position): self = .absolute(position)
        case .afterCurrent(let distance): self = .afterCurrent(distance)
        case .beforeCurrent(let distance): self = .beforeCurrent(distance)
        }
    }
}

extension Arguments {
    /// An MPD song id. One that no entry can have becomes 0, which no entry has.
    func entryID(_ index: Int) throws(ACK) -> EntryID {
        EntryID(UInt32(exactly: try unsigned(index)) ?? 0)
    }
}
