extension ImportWork {
    /// Queues and options, of each partition.
    mutating func takeState() throws {
        for room in collection.state.rooms where room.isDefault { try take(room) }
        for room in collection.state.rooms where !room.isDefault {
            if try enters(room.name) {
                try take(room)
            } else {
                // One has been counted.
                failures += max(0, room.entries.count - 1)
                console.write("Queue of \(room.name): 0 of \(room.entries.count) entries \(done)\n")
            }
        }
        if collection.state.mounts > 0 {
            console.write("Mounts: \(collection.state.mounts) not taken over; here servers are mounted\n")
        }
    }

    /// Goes to a partition, which is made where it is missing.
    private mutating func enters(_ name: String) throws -> Bool {
        let words = ServerConnection.quoted(name)
        let present = try connection.ask("listpartitions").compactMap(ServerConnection.pair).map(\.1)
        if !present.contains(name) {
            guard try tells("newpartition \(words)", "Partition \(name)") else { return false }
        }
        return try tells("partition \(words)", "Partition \(name)")
    }

    private mutating func take(_ room: OldState.Room) throws {
        let suffix = room.isDefault ? "" : " of \(room.name)"
        var options: [String] = []
        // First: switched on later, random would put the entries into another order.
        for option in room.options {
            let command = "\(option.name) \(ServerConnection.quoted(option.value))"
            if try tells(command, option.name) { options.append("\(option.name) \(option.value)") }
        }
        if !options.isEmpty { console.write("Options\(suffix): \(options.joined(separator: ", ")) \(done)\n") }
        var count = 0
        var more: [String: Int] = [:]
        for entry in room.entries {
            guard let uri = address(of: entry.song) else { continue }
            guard let reply = try reply(to: "addid \(ServerConnection.quoted(uri))", uri) else { continue }
            count += 1
            let id = reply.compactMap(ServerConnection.pair).first { $0.0 == "Id" }?.1 ?? "0"
            for (word, commands) in entry.commands(id) {
                var isDone = true
                for command in commands where try !tells(command, "\(uri), \(word)") { isDone = false }
                if isDone { more[word, default: 0] += 1 }
            }
        }
        if room.entries.isEmpty { return }
        let words = more.sorted { $0.key < $1.key }.map { ", \($0.value) with \($0.key)" }.joined()
        console.write("Queue\(suffix): \(count) of \(room.entries.count) entries \(done)\(words)\n")
    }
}

extension OldState.Entry {
    /// What makes the entry with this id as it was, and what that is.
    fileprivate func commands(_ id: String) -> [(word: String, commands: [String])] {
        var steps: [(String, [String])] = []
        if hasRange {
            let range = "\(Self.seconds(start)):\(end.map(Self.seconds) ?? "")"
            steps.append(("a part", ["rangeid \(id) \(ServerConnection.quoted(range))"]))
        }
        if song.uri.contains("://"), !tags.isEmpty {
            let commands = tags.map { tag in
                "addtagid \(id) \(ServerConnection.quoted(tag.name)) \(ServerConnection.quoted(tag.value))"
            }
            steps.append(("tags", commands))
        }
        if priority > 0 { steps.append(("a priority", ["prioid \(priority) \(id)"])) }
        return steps
    }

    /// Milliseconds as seconds.
    private static func seconds(_ milliseconds: Int) -> String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
