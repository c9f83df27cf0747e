import MPDProtocol

/// “Client to client” of MPD's protocol document: messages that clients send each other.
enum ChannelCommands {
    static let rows: [Command] = [
        Command("subscribe", .read, args: 1...1, "Subscribes to a channel.", .core(subscribe)),
        Command("unsubscribe", .read, args: 1...1, "Leaves a channel.", .core(unsubscribe)),
        Command("channels", .read, args: 0...0, "Lists the channels that somebody has subscribed to.", .core(channels)),
        Command("readmessages", .read, args: 0...0, "Takes the messages that have come.", .core(readMessages)),
        Command(
            "sendmessage",
            .control,
            args: 2...2,
            "Sends a message to all that have subscribed to a channel.",
            .core(sendMessage)
        ),
    ]

    private static func subscribe(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let channel = try channel(arguments)
        try context.connection.session.mailbox.subscribe(channel)
        context.partition.raise(.subscription)
    }

    private static func unsubscribe(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        guard context.connection.session.mailbox.channels.remove(arguments[0]) != nil else {
            throw ACK(.noExist, "not subscribed to this channel")
        }
        context.partition.raise(.subscription)
    }

    private static func channels(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let channels = context.server.connections.values.lazy
            .filter { $0.session.partition === context.partition }
            .reduce(into: Set<[UInt8]>()) { $0.formUnion($1.session.mailbox.channels) }
        for channel in channels.sorted(by: { $0.lexicographicallyPrecedes($1) }) { reply.pair("channel", channel) }
    }

    private static func readMessages(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        for message in context.connection.session.mailbox.take() {
            reply.pair("channel", message.channel)
            reply.pair("message", message.text)
        }
    }

    private static func sendMessage(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let message = Mailbox.Message(channel: try channel(arguments), text: arguments[1])
        var hasArrived = false
        for connection in context.server.connections.values where connection.session.partition === context.partition {
            switch connection.session.mailbox.put(message) {
            case .refused: continue
            case .first: context.server.raise(.message, for: connection)
            case .further: break
            }
            hasArrived = true
        }
        guard hasArrived else { throw ACK(.noExist, "nobody is subscribed to this channel") }
    }

    /// The name of a channel, which is the first argument.
    private static func channel(_ arguments: Arguments) throws -> [UInt8] {
        let name = arguments[0]
        guard Mailbox.isName(name) else { throw ACK(.argument, "invalid channel name") }
        return name
    }
}
