import MPDProtocol

/// The connections, by descriptor and by id.
struct Clients {
    fileprivate private(set) var connections: [CInt: Connection] = [:]
    private var descriptors: [Connection.ID: CInt] = [:]
    private var lastID: UInt64 = 0

    subscript(id: Connection.ID) -> Connection? { descriptors[id].flatMap { connections[$0] } }

    /// An id that no client has had.
    mutating func nextID() -> Connection.ID {
        lastID += 1
        return Connection.ID(rawValue: lastID)
    }

    mutating func add(_ connection: Connection) {
        connections[connection.descriptor] = connection
        descriptors[connection.id] = connection.descriptor
    }

    mutating func remove(_ connection: Connection) {
        connections[connection.descriptor] = nil
        descriptors[connection.id] = nil
    }
}

/// Who is connected.
extension Server {
    /// By their descriptors.
    var connections: [CInt: Connection] { clients.connections }

    func connection(_ id: Connection.ID) -> Connection? {
        clients[id]
    }

    func close(_ connection: Connection) {
        guard !connection.isClosed else { return }
        clients.remove(connection)
        connection.close()
        if case .waitingForWorker = connection.progress { workers.noteDeparture() }
        releasePartition(of: connection)
    }

    /// Once a second: drops clients that are silent, or do not read, for too long.
    func scheduleSweep() {
        _ = timers.schedule(at: .now.advanced(by: .seconds(1))) { server in
            server.sweep()
            server.scheduleSweep()
        }
    }

    private func sweep() {
        let now = Instant.now
        let stalled = now.advanced(by: .seconds(-60))
        let silent = configuration.connectionTimeout.map { now.advanced(by: .zero - $0) }
        for connection in connections.values {
            let isStalled = connection.pendingOutput > 0 && connection.lastActivity < stalled
            let isSilent =
                switch connection.progress {
                case .ready where !connection.protocolState.idle.isWaiting && connection.pendingOutput == 0:
                    silent.map { connection.lastActivity < $0 } ?? false
                default: false
                }
            if isStalled || isSilent { close(connection) }
        }
    }
}
