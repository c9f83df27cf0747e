/// Which partitions there are, and which outputs are in which.
struct PartitionPlan: Sendable, Equatable {
    /// The partition that there always is.
    static let defaultName = "default"

    /// The others, in the order in which they were made.
    var names: [String] = []
    /// The partition of each output that is not in the default one, by the output's name.
    var homes: [String: String] = [:]

    /// Whether there is a partition of this name.
    func has(_ name: String) -> Bool { name == Self.defaultName || names.contains(name) }

    /// On the store's thread, as `write`.
    static func load(from database: Database) throws(StoreError) -> PartitionPlan {
        var plan = PartitionPlan()
        plan.names = try database.rows("SELECT name FROM partition ORDER BY place").compactMap { $0.first?.text }
        for row in try database.rows("SELECT output, partition FROM output_home") where row.count == 2 {
            if let output = row[0].text, let partition = row[1].text { plan.homes[output] = partition }
        }
        return plan
    }

    /// Takes the place of what was written before.
    func write(to database: Database) throws(StoreError) {
        try database.run("DELETE FROM partition")
        try database.run("DELETE FROM output_home")
        for (place, name) in names.enumerated() {
            try database.run("INSERT INTO partition (name, place) VALUES (?, ?)", .text(name), .integer(Int64(place)))
        }
        for (output, partition) in homes {
            try database.run(
                "INSERT INTO output_home (output, partition) VALUES (?, ?)",
                .text(output),
                .text(partition)
            )
        }
    }
}
