/// The numbers of `update`: MPD counts jobs from 1, and shows the one under way in `status`.
struct UpdateJobs {
    /// The job under way.
    private(set) var running: UInt32?
    /// Servers that it waits for, by the numbers of their references.
    var servers: Set<UInt64> = []
    /// The job that begins when that one has ended, with all requests that came meanwhile.
    private var queued: UInt32?
    private var last: UInt32 = 0
    /// Whether a client wanted everything read again; what came of it counts as a change then, as in MPD.
    private var rescans = false

    /// A request: the number of the job that will answer it, and whether it begins now.
    mutating func request(rescans: Bool = false) -> (job: UInt32, begins: Bool) {
        if rescans { self.rescans = true }
        if running == nil {
            last = next(last)
            running = last
            return (last, true)
        }
        if let queued { return (queued, false) }
        last = next(last)
        queued = last
        return (last, false)
    }

    /// The job under way has ended, and the queued one begins. Returns whether everything was to be read again.
    mutating func end() -> Bool {
        running = queued
        queued = nil
        defer { rescans = false }
        return rescans
    }

    private func next(_ job: UInt32) -> UInt32 { job >= 1 << 15 ? 1 : job + 1 }
}
