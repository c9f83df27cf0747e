import CLinux
import Glibc
import Logging
import MPDProtocol

/// Where clients come in.
struct Doors {
    fileprivate var listeners: [CInt: Listener] = [:]
    /// Listeners with clients at the door.
    fileprivate var knocking: [Listener] = []
    /// Clients that were turned away since the log heard of it.
    fileprivate var refusals = 0
    var maximumConnections: Int

    init(maximumConnections: Int) { self.maximumConnections = maximumConnections }
}

/// How clients come in.
extension Server {
    /// Begins to accept clients of a listener.
    func listen(_ listener: Listener) throws {
        try core.loop.watch(listener.descriptor, EPOLLIN.rawValue)
        doors.listeners[listener.descriptor] = listener
        log.notice("Listening on \(listener.name)")
        if !listener.isLocal && !listener.isLoopback && access.letsAnybodyIn {
            log.notice("Whoever reaches \(listener.name) can control the music: there is no password")
        }
        if doors.listeners.count == 1 { scheduleSweep() }
    }

    /// A new client may wait at a listener: it is let in at the end of the turn. It may get the number of a descriptor that was
    /// closed in this turn, and must not get the events that are still on their way for that one.
    /// - Returns: whether the descriptor is a listener's.
    func knocked(at descriptor: CInt) -> Bool {
        guard let listener = doors.listeners[descriptor] else { return false }
        doors.knocking.append(listener)
        return true
    }

    /// Lets in who waits.
    func openDoors() {
        for listener in doors.knocking { accept(listener) }
        doors.knocking = []
    }

    /// Lets nobody in any more.
    func closeDoors() {
        for listener in doors.listeners.values { listener.close() }
        doors.listeners = [:]
    }

    private func accept(_ listener: Listener) {
        guard doors.listeners[listener.descriptor] != nil else { return }
        for _ in 0..<64 {
            let descriptor = shelv_accept_nonblocking(listener.descriptor)
            guard descriptor >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause(listener, SystemError.text(of: errno)) }
                return
            }
            guard connections.count < doors.maximumConnections else {
                noteRefusal()
                Glibc.close(descriptor)
                continue
            }
            if !listener.isLocal { setSocketOptions(descriptor) }
            let connection = Connection(
                id: clients.nextID(),
                descriptor: descriptor,
                session: Session(
                    isLocal: listener.isLocal,
                    partition: defaultPartition,
                    permissions: access.initialPermissions(descriptor, isLocal: listener.isLocal),
                    tagMask: configuration.metadataToUse
                ),
                maximumListSize: configuration.maxCommandListSize
            )
            guard (try? core.loop.watch(descriptor, EPOLLIN.rawValue)) != nil else {
                connection.close()
                continue
            }
            clients.add(connection)
            connection.reply.greeting(version: "0.24.0")
            serve(connection)
        }
    }

    /// Thousands may knock in vain: the log hears of the first one, and once a minute of how many more there were.
    private func noteRefusal() {
        doors.refusals += 1
        guard doors.refusals == 1 else { return }
        log.notice("Refused a client: max_connections reached limit=\(doors.maximumConnections)")
        _ = timers.schedule(at: .now.advanced(by: .seconds(60))) { server in
            let more = server.doors.refusals - 1
            if more > 0 {
                server.log.notice("Refused \(more) more within a minute limit=\(server.doors.maximumConnections)")
            }
            server.doors.refusals = 0
        }
    }

    /// The machine has no room for another client: the listener would ask for attention without end.
    private func pause(_ listener: Listener, _ reason: String) {
        log.notice("Cannot take a client: \(reason)")
        core.loop.rewatch(listener.descriptor, 0)
        _ = timers.schedule(at: .now.advanced(by: .seconds(1))) { server in
            guard server.doors.listeners[listener.descriptor] != nil else { return }
            server.core.loop.rewatch(listener.descriptor, EPOLLIN.rawValue)
        }
    }

    /// Replies are small and wanted at once; a phone that fell asleep is noticed after a while.
    private func setSocketOptions(_ descriptor: CInt) {
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, size)
    }
}
