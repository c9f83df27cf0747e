import CLinux
import Glibc

/// What is under way in the core's loop.
struct Turn {
    /// What happens when descriptors become readable that are no clients': signals.
    fileprivate var readers: [CInt: (Server) -> Void] = [:]
    fileprivate var readBuffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Connections that have used up their share, in the order in which they get the next one.
    fileprivate var unfinished = WaitingLine<Connection.ID>()
    fileprivate var end = Instant.now
}

/// A turn of the loop: what the sockets brought, and what waits for its turn.
extension Server {
    func ready(_ descriptor: CInt, _ events: UInt32) {
        if let connection = connections[descriptor] {
            if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
                close(connection)
                return
            }
            if events & EPOLLRDHUP.rawValue != 0 { connection.asker.fallSilent() }
            if connection.isQueued {
                // It is not read from before its turn, or it could send without end.
                connection.updateWatch(core.loop)
                return
            }
            if events & EPOLLIN.rawValue != 0 {
                switch connection.read(into: &turn.readBuffer) {
                case .progress: break
                case .nothing: return
                case .closed:
                    // What was asked before is still answered: `printf 'status\n' | nc`.
                    connection.closeAfterFlush()
                }
            }
            // The next piece of a long reply takes its place in the line: it is the short ones that must not wait.
            if connection.isAtLength { queue(connection) } else { serve(connection) }
        } else if !knocked(at: descriptor) {
            turn.readers[descriptor]?(self)
        }
    }

    /// Calls `action` whenever a descriptor can be read.
    func whenReadable(_ descriptor: CInt, _ action: @escaping (Server) -> Void) throws {
        try core.loop.watch(descriptor, EPOLLIN.rawValue)
        turn.readers[descriptor] = action
    }

    /// From when on nothing long is begun in this turn of the loop.
    var turnEnd: Instant { turn.end }

    /// Whether there is something to be done without waiting for a socket.
    var hasMoreToDo: Bool { turn.unfinished.count > 0 || hasEventsToTell }

    /// A turn of the loop begins.
    func turnBegan() { turn.end = Instant.now.advanced(by: Self.turnShare) }

    func turnEnded() {
        openDoors()
        serveUnfinished()
        deliverEvents()
        tell()
    }

    /// How long the core is at work before it looks at its sockets again, unless single commands take longer.
    static let turnShare = Duration.microseconds(500)

    /// Gives the first in the line its share. Only the first: whoever has little to ask waits for one share, not for one of
    /// each who asks for much.
    private func serveUnfinished() {
        guard let id = turn.unfinished.next(), let connection = connection(id) else { return }
        connection.isQueued = false
        turn.end = max(turn.end, Instant.now.advanced(by: Connection.share))
        serve(connection)
    }

    /// Puts the connection in the line; it has had its share of this turn.
    func queue(_ connection: Connection) {
        guard !connection.isQueued else { return }
        connection.isQueued = true
        turn.unfinished.append(connection.id)
        connection.updateWatch(core.loop)
    }
}
