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
            .core { context, arguments, _ in try set(context, arguments, .on) }
        ),
        Command("outputs", .read, args: 0...0, "Lists the outputs.", .core(outputs)),
        Command(
            "toggleoutput",
            .admin,
            args: 1...1,
            "Turns an output on or off.",
            .core { context, arguments, _ in try set(context, arguments, .toggle) }
        ),
    ]

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
