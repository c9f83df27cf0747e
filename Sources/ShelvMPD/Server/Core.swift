import Glibc
import Synchronization

/// The one actor: all sessions, partitions and queues belong to it, and it runs on the event loop's thread.
///
/// What it owns (`Server` and all below) is plain, synchronous and not `Sendable`. Other threads reach it with `post`,
/// which keeps the order of the calls.
actor Core: EventLoopOwner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var server: Server?

    /// - Throws: `SystemError` when the kernel gives no descriptors.
    init() throws {
        loop = try EventLoop()
    }

    /// Builds the server on the core's thread and serves until it is told to stop; blocks the calling thread, which
    /// becomes the core's.
    nonisolated func run(_ build: @escaping @Sendable (Core) throws -> Server) throws {
        let failure = Mutex<(any Error)?>(nil)
        loop.post {
            self.assumeIsolated { core in
                do {
                    core.server = try build(self)
                } catch {
                    failure.withLock { $0 = error }
                    self.loop.stop()
                }
            }
        }
        loop.run(self)
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Runs `body` with the server, after everything posted before; dropped once the server has ended. Any thread.
    nonisolated func post(_ body: @escaping @Sendable (Server) -> Void) {
        loop.post { [self] in
            assumeIsolated { core in
                if let server = core.server { body(server) }
            }
        }
    }

    nonisolated func loopTimeout() -> Int32 {
        assumeIsolated { core in
            if core.server?.hasMoreToDo == true { return 0 }
            guard let due = core.server?.timers.nextDue else { return -1 }
            let wait = Instant.now.duration(to: due).nanoseconds
            // Rounded up: waking too early would only go round once more.
            return wait <= 0 ? 0 : Int32(clamping: (wait + 999_999) / 1_000_000)
        }
    }

    nonisolated func loopTurnBegan() {
        assumeIsolated { $0.server?.turnBegan() }
    }

    nonisolated func loopReady(_ descriptor: CInt, _ events: UInt32) {
        assumeIsolated { $0.server?.ready(descriptor, events) }
    }

    nonisolated func loopTurnEnded() {
        assumeIsolated { core in
            guard let server = core.server else { return }
            if let due = server.timers.nextDue, due <= .now {
                for action in server.timers.takeDue(.now) { action(server) }
            }
            server.turnEnded()
        }
    }

    /// The server has the core, and the core has it: without this both would stay for ever, with workers and descriptors.
    nonisolated func loopEnded() {
        assumeIsolated { core in
            core.server?.letGo()
            core.server = nil
        }
    }
}
