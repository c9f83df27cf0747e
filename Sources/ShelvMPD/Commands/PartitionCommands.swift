import MPDProtocol

/// “Partition commands” of MPD's protocol document.
enum PartitionCommands {
    static let rows: [Command] = [
        Command("partition", .read, args: 1...1, "Goes to another partition.", .core(partition)),
        Command("listpartitions", .read, args: 0...0, "Lists the partitions.", .core(list)),
        Command("newpartition", .admin, args: 1...1, "Makes a partition.", .background(make)),
        Command(
            "delpartition",
            .admin,
            args: 1...1,
            "Removes a partition that has neither clients nor outputs.",
            .background(delete)
        ),
        Command(
            "moveoutput",
            .admin,
            args: 1...1,
            "Moves an output to the client's partition.",
            .background(moveOutput)
        ),
    ]

    private static func partition(_ context: CommandContext, _ arguments: Arguments, _: inout Reply) throws {
        guard let partition = context.server.partition(named: arguments.text(0)) else {
            throw ACK(.noExist, "partition does not exist")
        }
        context.server.move(context.connection, to: partition)
    }

    private static func list(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        for partition in context.server.partitions { reply.pair("partition", partition.name) }
    }

    private static func make(_: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let name = try name(arguments)
        return LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in try context.server.makePartition(name, whenKept: whenKept) }
        }
    }

    private static func delete(_: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let name = try name(arguments)
        return LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in
                guard let partition = context.server.partition(named: name) else {
                    throw ACK(.noExist, "no such partition")
                }
                try context.server.deletePartition(partition, whenKept: whenKept)
            }
        }
    }

    private static func moveOutput(_: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let name = arguments.text(0)
        return LibraryPlan(cost: 1) {
            .keptEdit { context, whenKept in
                try context.server.moveOutput(name, to: context.partition, whenKept: whenKept)
            }
        }
    }

    /// The first argument, if it can be the name of a partition: letters, digits, `-` and `_`.
    private static func name(_ arguments: Arguments) throws -> String {
        let name = arguments[0]
        let isName = name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, !name.isEmpty else { throw ACK(.argument, "bad name") }
        return arguments.text(0)
    }
}
