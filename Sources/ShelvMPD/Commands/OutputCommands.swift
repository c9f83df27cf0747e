import MPDProtocol

/// “Audio outputs” of MPD's protocol document.
enum OutputCommands {
    static let rows: [Command] = [
        Command(
            "disableoutput",
            .admin,
            args: 1...1,
            "Turns an output off.",
            .core { context, arguments, _ in try set(context, arguments, .off) }
        ),
        Command(
            "enableoutput",
            .admin,
            args: 1...1,
            "Turns an output on.",
            .core { context, arguments, _ in try set(context, arguments, .on) },
            difference:
                "Of several devices one plays at a time, as libmpv plays to one: turning one on turns the other off."
        ),
        Command(
            "outputset",
            .admin,
            args: 3...3,
            "Sets an attribute of an output; there are none.",
            .core(setAttribute),
            difference: "`Unsupported attribute` always: libmpv has nothing like the attributes of ALSA."
        ),
        Command(
            "outputs",
            .read,
            args: 0...0,
            "Lists the outputs.",
            .core(outputs),
            difference:
                "With `audio_devices \"auto\"` also devices that were found; one that is gone stays, with the attribute `problem`: ids must last."
        ),
        Command(
            "toggleoutput",
            .admin,
            args: 1...1,
            "Turns an output on or off.",
            .core { context, arguments, _ in try set(context, arguments, .toggle) },
            difference:
                "Of several devices one plays at a time, as libmpv plays to one: turning one on turns the other off."
        ),
    ]

    /// No output has an attribute that could be set; wrong requests are told apart as MPD does.
    private static func setAttribute(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        let id = try arguments.unsigned(0)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isName = arguments.slice(1).allSatisfy {
            letters.contains($0 | 0x20) || digits.contains($0) || $0 == UInt8(ascii: "_")
        }
        guard id < context.partition.outputs.count else { throw ACK(.noExist, "No such audio output") }
        guard isName, !arguments.slice(1).isEmpty else { throw ACK(.argument, "Illegal attribute name") }
        throw ACK(.argument, "Unsupported attribute")
    }

    private enum Change { case on, off, toggle }

    private static func outputs(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        for (id, output) in context.partition.outputs.enumerated() {
            reply.pair("outputid", id)
            reply.pair("outputname", untrusted: output.name)
            reply.pair("plugin", output.plugin)
            reply.pair("outputenabled", flag: output.isEnabled)
            if let problem = output.problem { reply.pair("attribute", untrusted: "problem=\(problem)") }
        }
    }

    private static func set(_ context: CommandContext, _ arguments: Arguments, _ change: Change) throws {
        let id = try arguments.unsigned(0)
        let outputs = context.partition.outputs
        guard id < outputs.count else { throw ACK(.noExist, "No such audio output") }
        let isEnabled =
            switch change {
            case .on: true
            case .off: false
            case .toggle: !outputs[id].isEnabled
            }
        context.partition.setOutput(id, enabled: isEnabled)
    }
}
