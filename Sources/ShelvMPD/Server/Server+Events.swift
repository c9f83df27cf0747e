import MPDProtocol

/// Idle events that clients have not been told yet.
struct PendingEvents {
    /// For all partitions.
    fileprivate var everywhere: Subsystems = []
    /// For single clients.
    fileprivate var forOne: [Connection.ID: Subsystems] = [:]
    /// Connections that have an event in their reply which was not sent yet.
    fileprivate var untold = WaitingLine<Connection.ID>()
}

/// Idle events.
extension Server {
    /// Notes events for the clients of all partitions; told at the end of the turn.
    func raise(_ events: Subsystems) { pendingEvents.everywhere.formUnion(events) }

    /// Notes events for one client; told at the end of the turn.
    func raise(_ events: Subsystems, for connection: Connection) {
        pendingEvents.forOne[connection.id, default: []].formUnion(events)
    }

    /// Puts them into the replies of those who wait.
    func deliverEvents() {
        let everywhere = pendingEvents.everywhere
        pendingEvents.everywhere = []
        var inPartition: [PartitionID: Subsystems] = [:]
        // A list that takes several turns is one act, and is told as one.
        for partition in partitions where partition.owner == nil {
            let events = partition.takeEvents()
            if !events.isEmpty { inPartition[partition.id] = events }
        }
        let forOne = pendingEvents.forOne
        pendingEvents.forOne = [:]
        guard !everywhere.isEmpty || !inPartition.isEmpty || !forOne.isEmpty else { return }
        let now = Instant.now
        for connection in connections.values {
            let here = inPartition[connection.session.partition.id] ?? []
            let events = everywhere.union(here).union(forOne[connection.id] ?? [])
            guard !events.isEmpty, let report = connection.protocolState.raise(events) else { continue }
            connection.reply.changed(report)
            connection.lastActivity = now
            guard !connection.isQueued else { continue }
            connection.isQueued = true
            pendingEvents.untold.append(connection.id)
        }
    }

    /// Whether somebody has an event that was not sent yet.
    var hasEventsToTell: Bool { pendingEvents.untold.count > 0 }

    /// Sends what events there were, as long as the sockets can wait: thousands may have waited for the same, and to tell one
    /// of them takes as long as a `ping`.
    func tell() {
        guard hasEventsToTell else { return }
        let end = Instant.now.advanced(by: Self.turnShare)
        while let id = pendingEvents.untold.next() {
            guard let connection = connection(id) else { continue }
            connection.isQueued = false
            serve(connection)
            if Instant.now >= end { return }
        }
    }
}
