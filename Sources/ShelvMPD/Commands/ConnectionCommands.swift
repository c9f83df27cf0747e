import MPDProtocol

/// “Connection settings” of MPD's protocol document, and `idle`.
enum ConnectionCommands {
    static let rows: [Command] = [
        Command("binarylimit", [], args: 1...1, "Sets the size of binary chunks, in bytes.", .core(binaryLimit)),
        Command("close", [], args: 0...Int.max, "Closes the connection.", .core(close)),
        Command("idle", .read, args: 0...Int.max, "Waits until one of the subsystems has changed.", .core(idle)),
        Command("kill", .admin, args: 0...Int.max, "Ends the server.", .core(kill)),
        Command("password", [], args: 1...1, "Takes on the permissions of a password.", .core(password)),
        Command("ping", [], args: 0...0, "Does nothing.", .core(ping)),
        Command("protocol", [], args: 0...Int.max, "Shows or changes the protocol features.", .core(protocolFeatures)),
        Command(
            "stringnormalization",
            [],
            args: 0...Int.max,
            "Shows or changes how texts are compared.",
            .core(stringNormalization),
            difference: "From MPD 0.25: clients look for the command, not for the version."
        ),
        Command("tagtypes", [], args: 0...Int.max, "Shows or changes the tags in replies.", .core(tagTypes)),
    ]

    private static func ping(_: CommandContext, _: Arguments, _: inout Reply) {}

    private static func close(_ context: CommandContext, _: Arguments, _: inout Reply) {
        context.connection.leave()
    }

    private static func binaryLimit(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        // MPD counts its smaller buffer of 16 KiB, too.
        let largest = context.server.configuration.maxOutputBufferSize + 16_384 - 4096
        let size = try arguments.unsigned(0, maximum: largest)
        guard size >= 64 else { throw ACK(.argument, "Value too small") }
        context.connection.session.binaryLimit = size
    }

    /// As in MPD, nothing is answered.
    private static func kill(_ context: CommandContext, _: Arguments, _: inout Reply) {
        context.connection.leave()
        context.server.end("a client said kill")
    }

    private static func password(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        guard let permissions = context.server.access.permissions(password: arguments[0]) else {
            throw ACK(.password, "incorrect password")
        }
        context.connection.session.permissions = permissions
        context.connection.session.password = arguments[0]
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
            list(context.session.tagMask, &reply)
            return
        }
        switch arguments.text(0) {
        case "all":
            try takesNothingMore(arguments)
            context.connection.session.tagMask = offered
        case "clear":
            try takesNothingMore(arguments)
            context.connection.session.tagMask = []
        // MPD does not look at what follows.
        case "available": list(offered, &reply)
        case "enable": context.connection.session.tagMask.formUnion(try tags(arguments).intersection(offered))
        case "disable": context.connection.session.tagMask.subtract(try tags(arguments))
        case "reset":
            // Also before a name that is unknown.
            context.connection.session.tagMask = []
            context.connection.session.tagMask = try tags(arguments).intersection(offered)
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

    // MARK: Switches

    private static func protocolFeatures(
        _ context: CommandContext,
        _ arguments: Arguments,
        _ reply: inout Reply
    ) throws {
        try change(&context.connection.session.features, arguments, &reply)
    }

    private static func stringNormalization(
        _ context: CommandContext,
        _ arguments: Arguments,
        _ reply: inout Reply
    ) throws {
        try change(&context.connection.session.stringNormalization, arguments, &reply)
    }

    /// The sub commands that all sets of switches have.
    private static func change<Switches: SessionSwitches>(
        _ switches: inout Switches,
        _ arguments: Arguments,
        _ reply: inout Reply
    ) throws {
        func list(_ switches: Switches, _ reply: inout Reply) {
            for (name, element) in Switches.names where switches.isSuperset(of: element) {
                reply.pair(Switches.key, name)
            }
        }
        func named() throws -> Switches {
            guard arguments.count > 1 else { throw ACK(.argument, "Not enough arguments") }
            return try arguments.indices.dropFirst().reduce(into: Switches()) { named, index in
                let entry = Switches.names.first { arguments.spellsIgnoringCase($0.0, at: index) }
                guard let entry else { throw ACK(.argument, "Unknown \(Switches.word)") }
                named.formUnion(entry.1)
            }
        }
        guard !arguments.isEmpty else {
            list(switches, &reply)
            return
        }
        switch arguments.text(0) {
        case "all":
            try takesNothingMore(arguments)
            switches = Switches.names.reduce(into: []) { $0.formUnion($1.1) }
        case "clear":
            try takesNothingMore(arguments)
            switches = []
        case "available":
            try takesNothingMore(arguments)
            list(Switches.names.reduce(into: []) { $0.formUnion($1.1) }, &reply)
        case "enable": switches.formUnion(try named())
        case "disable": switches.subtract(try named())
        default: throw ACK(.argument, "Unknown sub command")
        }
    }
}

/// What a client switches on and off for its connection, by name.
protocol SessionSwitches: OptionSet {
    /// In front of each name in a reply.
    static var key: String { get }
    /// What a name stands for, for complaints.
    static var word: String { get }
    static var names: [(String, Self)] { get }
}

/// Behaviour that a client switches on for its connection.
struct ProtocolFeatures: SessionSwitches, Sendable {
    let rawValue: UInt8

    /// `lsinfo` of the root lists no stored playlists.
    static let hidePlaylistsInRoot = ProtocolFeatures(rawValue: 1 << 0)

    static let key = "feature"
    static let word = "protocol feature"
    static let names: [(String, ProtocolFeatures)] = [("hide_playlists_in_root", .hidePlaylistsInRoot)]
}

/// How the texts of filters are compared, beyond what the command says.
///
/// Source: MPD 0.25 `src/client/StringNormalization.hxx`.
struct StringNormalization: SessionSwitches, Sendable {
    let rawValue: UInt8

    /// Letters are compared without their marks: `e` finds `é`.
    static let stripDiacritics = StringNormalization(rawValue: 1 << 0)

    static let key = "stringnormalization"
    static let word = "string normalization"
    static let names: [(String, StringNormalization)] = [("strip_diacritics", .stripDiacritics)]
}
