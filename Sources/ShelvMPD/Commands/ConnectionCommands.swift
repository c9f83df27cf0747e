import MPDProtocol

/// “Connection settings” of MPD's protocol document, and `idle`.
enum ConnectionCommands {
    static let rows: [Command] = [
        Command("binarylimit", [], args: 1...1, "Sets the size of binary chunks, in bytes.", .core(binaryLimit)),
        Command("close", [], args: 0...Int.max, "Closes the connection.", .core(close)),
        Command("idle", .read, args: 0...Int.max, "Waits until one of the subsystems has changed.", .core(idle)),
        Command("password", [], args: 1...1, "Takes on the permissions of a password.", .core(password)),
        Command("ping", [], args: 0...0, "Does nothing.", .core(ping)),
        Command("protocol", [], args: 0...Int.max, "Shows or changes the protocol features.", .core(protocolFeatures)),
        Command("tagtypes", [], args: 0...Int.max, "Shows or changes the tags in replies.", .core(tagTypes)),
    ]

    private static func ping(_: CommandContext, _: Arguments, _: inout Reply) {}

    private static func close(_ context: CommandContext, _: Arguments, _: inout Reply) {
        context.connection.leave()
    }

    private static func binaryLimit(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let largest = max(context.server.configuration.maxOutputBufferSize - 4096, 64)
        let size = try arguments.unsigned(0, maximum: largest)
        guard size >= 64 else { throw ACK(.argument, "Value too small") }
        context.connection.session.binaryLimit = size
    }

    private static func password(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        guard let permissions = context.server.access.permissions(password: arguments[0]) else {
            throw ACK(.password, "incorrect password")
        }
        context.connection.session.permissions = permissions
    }

    /// What is pending is told at once; else the reply comes when something happens.
    private static func idle(_ context: CommandContext, _ arguments: Arguments, _ reply: inout Reply) throws {
        let wanted = try Subsystems(idleArguments: arguments)
        guard let report = context.connection.protocolState.beginIdle(wanted) else { return }
        for name in report.names { reply.pair("changed", name) }
    }

    // MARK: Tag types

    private static func tagTypes(_ context: CommandContext, _ arguments: Arguments, _ reply: inout Reply) throws {
        let offered = context.server.configuration.metadataToUse
        func list(_ mask: TagMask, _ reply: inout Reply) {
            for tag in Tag.allCases where mask.contains(tag) { reply.pair("tagtype", tag.name) }
        }
        guard !arguments.isEmpty else {
            list(context.session.tagMask.intersection(offered), &reply)
            return
        }
        switch arguments.text(0) {
        case "all":
            try takesNothingMore(arguments)
            context.connection.session.tagMask = .all
        case "clear":
            try takesNothingMore(arguments)
            context.connection.session.tagMask = []
        case "available":
            try takesNothingMore(arguments)
            list(offered, &reply)
        case "enable": context.connection.session.tagMask.formUnion(try tags(arguments))
        case "disable": context.connection.session.tagMask.subtract(try tags(arguments))
        case "reset": context.connection.session.tagMask = try tags(arguments)
        default: throw ACK(.argument, "Unknown sub command")
        }
    }

    private static func tags(_ arguments: Arguments) throws -> TagMask {
        guard arguments.count > 1 else { throw ACK(.argument, "Not enough arguments") }
        return try arguments.indices.dropFirst().reduce(into: TagMask()) { mask, index in
            guard let tag = Tag(name: arguments.slice(index)) else { throw ACK(.argument, "Unknown tag type") }
            mask.formUnion(TagMask(tag))
        }
    }

    private static func takesNothingMore(_ arguments: Arguments) throws {
        guard arguments.count == 1 else { throw ACK(.argument, "Too many arguments") }
    }

    // MARK: Protocol features

    private static func protocolFeatures(
        _ context: CommandContext,
        _ arguments: Arguments,
        _ reply: inout Reply
    ) throws {
        func list(_ features: ProtocolFeatures, _ reply: inout Reply) {
            for (name, feature) in ProtocolFeatures.names where features.contains(feature) {
                reply.pair("feature", name)
            }
        }
        guard !arguments.isEmpty else {
            list(context.session.features, &reply)
            return
        }
        switch arguments.text(0) {
        case "all":
            try takesNothingMore(arguments)
            context.connection.session.features = .all
        case "clear":
            try takesNothingMore(arguments)
            context.connection.session.features = []
        case "available":
            try takesNothingMore(arguments)
            list(.all, &reply)
        case "enable": context.connection.session.features.formUnion(try features(arguments))
        case "disable": context.connection.session.features.subtract(try features(arguments))
        default: throw ACK(.argument, "Unknown sub command")
        }
    }

    private static func features(_ arguments: Arguments) throws -> ProtocolFeatures {
        guard arguments.count > 1 else { throw ACK(.argument, "Not enough arguments") }
        return try arguments.indices.dropFirst().reduce(into: ProtocolFeatures()) { features, index in
            guard
                let (_, feature) = ProtocolFeatures.names.first(where: {
                    arguments.spellsIgnoringCase($0.0, at: index)
                })
            else { throw ACK(.argument, "Unknown protocol feature") }
            features.formUnion(feature)
        }
    }
}

/// Behaviour that a client switches on for its connection.
struct ProtocolFeatures: OptionSet, Sendable {
    let rawValue: UInt8

    /// `lsinfo` of the root lists no stored playlists.
    static let hidePlaylistsInRoot = ProtocolFeatures(rawValue: 1 << 0)
    static let all: ProtocolFeatures = [.hidePlaylistsInRoot]

    static let names: [(String, ProtocolFeatures)] = [("hide_playlists_in_root", .hidePlaylistsInRoot)]
}
