import Library

extension Server {
    /// Tells the service manager that we serve, and from then on, from the core itself, that we are alive: a core that is
    /// stuck says nothing.
    func report(to manager: ServiceManager) {
        serviceManager = manager
        manager.ready(statusLine)
        if let interval = manager.watchdogInterval { stayAlive(every: interval) }
    }

    /// What `systemctl status` shows.
    var statusLine: String { "Serving \(library.songCount) songs" }

    private func stayAlive(every interval: Duration) {
        serviceManager?.alive()
        _ = timers.schedule(at: .now.advanced(by: interval)) { $0.stayAlive(every: interval) }
    }
}
